# model: actor-critic
# batch: 128
# optimizer: Adam
# feature: clipped surrogate, entropy, rollouts without gradients
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

from paddle.distribution import Categorical


class Policy(nn.Layer):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(24, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh())
        self.actor, self.critic = nn.Linear(128, 6), nn.Linear(128, 1)

    def forward(self, x):
        h = self.body(x)
        return F.log_softmax(self.actor(h), -1), self.critic(h).squeeze(-1)


model = Policy()
optimizer = paddle.optimizer.Adam(3e-4, parameters=model.parameters(), grad_clip=nn.ClipGradByGlobalNorm(0.5))
for rollout in range(3):
    states = paddle.randn([512, 24])
    with paddle.no_grad():
        old, values = model(states)
        actions = Categorical(old).sample([1]).squeeze(0)
        before = paddle.take_along_axis(old, actions.unsqueeze(1), 1).squeeze(1)
    returns = paddle.randn([512])
    advantages = returns - values
    for start in range(0, 512, 128):
        part = slice(start, start + 128)
        log, value = model(states[part])
        now = paddle.take_along_axis(log, actions[part].unsqueeze(1), 1).squeeze(1)
        ratio = paddle.exp(now - before[part])
        surrogate = paddle.minimum(ratio * advantages[part], paddle.clip(ratio, 0.8, 1.2) * advantages[part])
        entropy = -(log.exp() * log).sum(-1).mean()
        loss = -surrogate.mean() + 0.5 * F.mse_loss(value, returns[part]) - 0.01 * entropy
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
