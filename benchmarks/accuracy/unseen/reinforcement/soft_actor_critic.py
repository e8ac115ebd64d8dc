# model: SAC
# batch: 256
# optimizer: Adam
# feature: three optimisers, soft target update, learned temperature
# updates: 3
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


def net(a, b):
    return nn.Sequential(nn.Linear(a, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, b))


actor, one, two = net(17, 12), net(23, 1), net(23, 1)
slow = [net(23, 1), net(23, 1)]
log_alpha = paddle.create_parameter([1], "float32", default_initializer=nn.initializer.Constant(0.0))
for_actor = paddle.optimizer.Adam(3e-4, parameters=actor.parameters())
for_critics = paddle.optimizer.Adam(3e-4, parameters=one.parameters() + two.parameters())
for_alpha = paddle.optimizer.Adam(3e-4, parameters=[log_alpha])


def act(state):
    mean, log_std = paddle.split(actor(state), 2, axis=-1)
    noise = paddle.randn(mean.shape)
    raw = mean + noise * paddle.exp(paddle.clip(log_std, -5, 2))
    action = paddle.tanh(raw)
    density = -0.5 * noise * noise - log_std - paddle.log(1 - action * action + 1e-6)
    return action, density.sum(-1, keepdim=True)


for step in range(6):
    state, action, following = paddle.randn([256, 17]), paddle.rand([256, 6]), paddle.randn([256, 17])
    reward = paddle.randn([256, 1])
    with paddle.no_grad():
        chosen, density = act(following)
        joined = paddle.concat([following, chosen], -1)
        target = reward + 0.99 * (paddle.minimum(slow[0](joined), slow[1](joined)) - log_alpha.exp() * density)
    seen = paddle.concat([state, action], -1)
    critic_loss = F.mse_loss(one(seen), target) + F.mse_loss(two(seen), target)
    critic_loss.backward()
    for_critics.step()
    for_critics.clear_grad()
    chosen, density = act(state)
    joined = paddle.concat([state, chosen], -1)
    actor_loss = (log_alpha.exp().detach() * density - paddle.minimum(one(joined), two(joined))).mean()
    actor_loss.backward()
    for_actor.step()
    for_actor.clear_grad()
    for_critics.clear_grad()
    alpha_loss = -(log_alpha * (density + 6).detach()).mean()
    alpha_loss.backward()
    for_alpha.step()
    for_alpha.clear_grad()
    with paddle.no_grad():
        for fast, kept in zip((one, two), slow):
            for new, old in zip(fast.parameters(), kept.parameters()):
                old.set_value(old * 0.995 + new * 0.005)
