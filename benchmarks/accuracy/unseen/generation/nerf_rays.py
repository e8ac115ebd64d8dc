# model: radiance field
# batch: 256
# optimizer: Adam
# feature: positional encoding, cumprod along rays
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Field(nn.Layer):
    def __init__(self):
        super().__init__()
        self.first = nn.Sequential(nn.Linear(39, 96), nn.ReLU(), nn.Linear(96, 96), nn.ReLU())
        self.second = nn.Sequential(nn.Linear(96 + 39, 96), nn.ReLU(), nn.Linear(96, 4))

    def forward(self, points):
        waves = [points]
        for power in range(6):
            waves += [paddle.sin(2.0**power * points), paddle.cos(2.0**power * points)]
        x = paddle.concat(waves, -1)
        return self.second(paddle.concat([self.first(x), x], -1))


model = Field()
rate = paddle.optimizer.lr.ExponentialDecay(5e-4, gamma=0.999)
optimizer = paddle.optimizer.Adam(rate, parameters=model.parameters())
for step in range(6):
    origin, direction = paddle.randn([256, 1, 3]), F.normalize(paddle.randn([256, 1, 3]), axis=-1)
    depth = paddle.linspace(2.0, 6.0, 32).reshape([1, 32, 1]) + paddle.rand([256, 32, 1]) * 0.1
    out = model(origin + depth * direction)
    colour, density = F.sigmoid(out[..., :3]), F.relu(out[..., 3])
    gap = paddle.concat([depth[:, 1:, 0] - depth[:, :-1, 0], paddle.full([256, 1], 1e10)], 1)
    alpha = 1 - paddle.exp(-density * gap)
    seen = paddle.cumprod(paddle.concat([paddle.ones([256, 1]), 1 - alpha + 1e-10], 1), dim=1)[:, :-1]
    picture = ((alpha * seen).unsqueeze(-1) * colour).sum(1)
    loss = F.mse_loss(picture, paddle.rand([256, 3]))
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    rate.step()
