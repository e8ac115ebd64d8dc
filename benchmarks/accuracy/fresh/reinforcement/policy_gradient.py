# model: actor-critic (PPO)
# batch: 128
# optimizer: Adam
# feature: rollout, several epochs of mini-batches, clipped ratio
import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F
from paddle.distribution import Categorical


class Environment:
    def reset(self):
        self.t = 0
        return np.zeros(24, "float32")

    def step(self, action):
        self.t += 1
        return np.random.rand(24).astype("float32"), float(action == self.t % 4), self.t >= 64


class ActorCritic(nn.Layer):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(24, 256), nn.Tanh(), nn.Linear(256, 256), nn.Tanh())
        self.actor, self.critic = nn.Linear(256, 4), nn.Linear(256, 1)

    def forward(self, x):
        h = self.body(x)
        return self.actor(h), self.critic(h).squeeze(-1)


environment, model = Environment(), ActorCritic()
optimizer = paddle.optimizer.Adam(3e-4, parameters=model.parameters(), grad_clip=nn.ClipGradByGlobalNorm(0.5))
for iteration in range(3):
    states, actions, rewards, logs, values = [], [], [], [], []
    state = environment.reset()
    for _ in range(256):
        with paddle.no_grad():
            logits, value = model(paddle.to_tensor(state).unsqueeze(0))
            policy = Categorical(logits)
            action = policy.sample([1]).reshape([1])
            log_probability = policy.log_prob(action)
        following, reward, done = environment.step(action.item())
        states.append(state)
        actions.append(action.item())
        rewards.append(reward)
        logs.append(log_probability.item())
        values.append(value.item())
        state = environment.reset() if done else following
    returns, running = [], 0.0
    for reward in reversed(rewards):
        running = reward + 0.99 * running
        returns.insert(0, running)
    states, actions = paddle.to_tensor(np.array(states)), paddle.to_tensor(np.array(actions))
    logs, returns = paddle.to_tensor(np.array(logs, "float32")), paddle.to_tensor(np.array(returns, "float32"))
    advantages = returns - paddle.to_tensor(np.array(values, "float32"))
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    for epoch in range(2):
        order = np.random.permutation(256)
        for start in range(0, 256, 128):
            index = paddle.to_tensor(order[start : start + 128])
            logits, value = model(states[index])
            log_p = F.log_softmax(logits)
            new = paddle.take_along_axis(log_p, actions[index].unsqueeze(1), 1).squeeze(1)
            ratio = paddle.exp(new - logs[index])
            adv = advantages[index]
            surrogate = paddle.minimum(ratio * adv, paddle.clip(ratio, 0.8, 1.2) * adv).mean()
            entropy = -(F.softmax(logits) * log_p).sum(-1).mean()
            loss = -surrogate + 0.5 * F.mse_loss(value, returns[index]) - 0.01 * entropy
            optimizer.clear_grad()
            loss.backward()
            optimizer.step()
