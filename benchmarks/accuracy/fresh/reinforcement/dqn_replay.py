# model: DQN
# batch: 32
# optimizer: RMSProp
# feature: target network, replay buffer
import random
from collections import deque, namedtuple

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

Transition = namedtuple("Transition", "state action reward following done")


class Q(nn.Layer):
    def __init__(self, actions=6):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2D(4, 16, 8, 4), nn.ReLU(), nn.Conv2D(16, 32, 4, 2), nn.ReLU(), nn.Flatten())
        self.value, self.advantage = nn.Linear(32 * 6 * 6, 1), nn.Linear(32 * 6 * 6, actions)

    def forward(self, x):
        h = self.conv(x)
        a = self.advantage(h)
        return self.value(h) + a - a.mean(axis=1, keepdim=True)


online, target = Q(), Q()
target.set_state_dict(online.state_dict())
target.eval()
optimizer = paddle.optimizer.RMSProp(2.5e-4, rho=0.95, parameters=online.parameters())
memory = deque(maxlen=200)
epsilon = 1.0
state = np.zeros((4, 64, 64), "float32")
for frame in range(64):
    if random.random() < epsilon:
        action = random.randrange(6)
    else:
        with paddle.no_grad():
            action = int(online(paddle.to_tensor(state[None])).argmax(1)[0])
    following = np.random.rand(4, 64, 64).astype("float32")
    memory.append(Transition(state, action, random.random(), following, frame % 20 == 19))
    state, epsilon = following, max(0.1, epsilon * 0.95)
    if len(memory) < 32 or frame % 4:
        continue
    batch = Transition(*zip(*random.sample(list(memory), 32)))
    states = paddle.to_tensor(np.stack(batch.state))
    followings = paddle.to_tensor(np.stack(batch.following))
    actions = paddle.to_tensor(np.array(batch.action)).unsqueeze(1)
    rewards = paddle.to_tensor(np.array(batch.reward, "float32"))
    done = paddle.to_tensor(np.array(batch.done, "float32"))
    chosen = paddle.take_along_axis(online(states), actions, axis=1).squeeze(1)
    with paddle.no_grad():
        best = online(followings).argmax(axis=1, keepdim=True)
        goal = rewards + 0.99 * (1 - done) * paddle.take_along_axis(target(followings), best, 1).squeeze(1)
    loss = F.smooth_l1_loss(chosen, goal)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    for p, q in zip(target.parameters(), online.parameters()):
        p.set_value(p * 0.99 + q.detach() * 0.01)
