# model: physics-informed network
# batch: 2000
# optimizer: Adam
# feature: second derivatives by paddle.grad
import math

import paddle
import paddle.nn as nn

model = nn.Sequential(
    nn.Linear(2, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1)
)
optimizer = paddle.optimizer.Adam(1e-3, parameters=model.parameters())
boundary = paddle.rand([200, 2])
wanted = -paddle.sin(math.pi * boundary[:, :1])


def residual(x, t):
    x.stop_gradient = False
    t.stop_gradient = False
    u = model(paddle.concat([x, t], axis=1))
    u_x = paddle.grad(u, x, create_graph=True)[0]
    u_t = paddle.grad(u, t, create_graph=True)[0]
    u_xx = paddle.grad(u_x, x, create_graph=True)[0]
    return u_t + u * u_x - 0.01 / math.pi * u_xx


for step in range(6):
    x, t = paddle.rand([2000, 1]) * 2 - 1, paddle.rand([2000, 1])
    physics = residual(x, t).square().mean()
    data = (model(boundary) - wanted).square().mean()
    loss = physics + data
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
