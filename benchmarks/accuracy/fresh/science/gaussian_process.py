# model: deep-kernel Gaussian process
# batch: 200
# optimizer: Adam
# feature: cholesky, solves
import math

import paddle
import paddle.nn as nn

x, y = paddle.rand([200, 12]), paddle.randn([200, 1])
features = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 4))
log_scale = paddle.create_parameter([4], "float32", default_initializer=nn.initializer.Constant(0.0))
log_noise = paddle.create_parameter([1], "float32", default_initializer=nn.initializer.Constant(-1.0))
optimizer = paddle.optimizer.Adam(1e-2, parameters=features.parameters() + [log_scale, log_noise])
for step in range(6):
    z = features(x) / log_scale.exp()
    difference = z.unsqueeze(1) - z.unsqueeze(0)
    kernel = paddle.exp(-0.5 * difference.square().sum(-1))
    kernel = kernel + (log_noise.exp() + 1e-3) * paddle.eye(200)
    factor = paddle.linalg.cholesky(kernel)
    alpha = paddle.linalg.triangular_solve(factor, y, upper=False)
    loss = 0.5 * alpha.square().sum() + paddle.log(paddle.diagonal(factor)).sum() + 100 * math.log(2 * math.pi)
    loss = loss / 200
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
