# model: mixture density network
# batch: 512
# optimizer: RAdam
# feature: logsumexp of components, softplus, slices
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

model = nn.Sequential(nn.Linear(10, 128), nn.ELU(), nn.Linear(128, 128), nn.ELU(), nn.Linear(128, 3 * 20))
optimizer = paddle.optimizer.RAdam(1e-3, parameters=model.parameters())
for step in range(6):
    x, y = paddle.randn([512, 10]), paddle.randn([512, 1])
    weight, mean, scale = paddle.chunk(model(x), 3, axis=-1)
    scale = F.softplus(scale) + 1e-3
    density = -0.5 * ((y - mean) / scale) ** 2 - paddle.log(scale) + F.log_softmax(weight, -1)
    loss = -paddle.logsumexp(density, axis=-1).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
