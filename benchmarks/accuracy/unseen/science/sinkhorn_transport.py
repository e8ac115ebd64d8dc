# model: optimal transport
# batch: 64
# optimizer: Adam
# feature: log-domain iterations, cdist, broadcasting
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

model = nn.Sequential(nn.Linear(16, 64), nn.Silu(), nn.Linear(64, 32))
optimizer = paddle.optimizer.Adam(1e-3, parameters=model.parameters(), grad_clip=nn.ClipGradByGlobalNorm(1.0))
for step in range(6):
    a, b = model(paddle.randn([64, 16])), model(paddle.randn([64, 16]) + 1.0)
    cost = ((a.unsqueeze(1) - b.unsqueeze(0)) ** 2).sum(-1)
    kernel = -cost / 0.1
    f, g = paddle.zeros([64]), paddle.zeros([64])
    for _ in range(8):
        f = -paddle.logsumexp(kernel + g.unsqueeze(0), axis=1)
        g = -paddle.logsumexp(kernel + f.unsqueeze(1), axis=0)
    plan = paddle.exp(kernel + f.unsqueeze(1) + g.unsqueeze(0))
    loss = (plan * cost).sum()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
