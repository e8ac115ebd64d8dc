# model: face network
# batch: 16
# optimizer: Momentum
# feature: angular margin, one_hot, PReLU, clip by norm
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

import math


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        layers, inside = [], 3
        for width in (16, 32, 64):
            layers += [nn.Conv2D(inside, width, 3, stride=2, padding=1), nn.BatchNorm2D(width), nn.PReLU(width)]
            inside = width
        self.body = nn.Sequential(*layers, nn.Flatten(), nn.Linear(64 * 7 * 7, 128), nn.BatchNorm1D(128))
        self.weight = self.create_parameter([128, 400])

    def forward(self, x, labels):
        cosine = paddle.matmul(F.normalize(self.body(x)), F.normalize(self.weight, axis=0))
        sine = paddle.sqrt(paddle.clip(1 - cosine * cosine, min=1e-6))
        shifted = cosine * math.cos(0.5) - sine * math.sin(0.5)
        hot = F.one_hot(labels, 400)
        return 30.0 * (hot * shifted + (1 - hot) * cosine)


model = Net()
optimizer = paddle.optimizer.Momentum(0.1, parameters=model.parameters(), grad_clip=nn.ClipGradByNorm(5.0))
for step in range(6):
    labels = paddle.randint(0, 400, [16])
    loss = F.cross_entropy(model(paddle.randn([16, 3, 56, 56]), labels), labels)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
