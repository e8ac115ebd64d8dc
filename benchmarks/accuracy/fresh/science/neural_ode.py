# model: neural ODE
# batch: 256
# optimizer: Adam
# feature: Runge-Kutta in a loop
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Field(nn.Layer):
    def __init__(self, dim=16):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(dim + 1, 96), nn.Softplus(), nn.Linear(96, 96), nn.Softplus(), nn.Linear(96, dim)
        )

    def forward(self, t, y):
        return self.net(paddle.concat([y, paddle.full([y.shape[0], 1], t)], axis=1))


def rk4(f, y, times):
    path = [y]
    for a, b in zip(times[:-1], times[1:]):
        h = b - a
        k1 = f(a, y)
        k2 = f(a + h / 2, y + h / 2 * k1)
        k3 = f(a + h / 2, y + h / 2 * k2)
        k4 = f(b, y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        path.append(y)
    return paddle.stack(path)


field, head = Field(), nn.Linear(16, 3)
optimizer = paddle.optimizer.Adam(1e-3, parameters=[*field.parameters(), *head.parameters()])
times = [i / 12 for i in range(13)]
for step in range(6):
    start = paddle.randn([256, 16])
    path = rk4(field, start, times)
    loss = F.cross_entropy(head(path[-1]), paddle.randint(0, 3, [256])) + 1e-3 * (path[1:] - path[:-1]).abs().sum()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
