# model: CapsNet
# batch: 16
# optimizer: Adam
# feature: routing by agreement
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


def squash(x, axis=-1):
    square = paddle.sum(x * x, axis=axis, keepdim=True)
    return square / (1 + square) * x / paddle.sqrt(square + 1e-8)


class Capsules(nn.Layer):
    def __init__(self, count=288, cin=8, cout=12, classes=10, iterations=3):
        super().__init__()
        self.weight = self.create_parameter(
            [1, count, classes, cout, cin], default_initializer=nn.initializer.Normal(std=0.05)
        )
        self.iterations = iterations

    def forward(self, u):
        u_hat = paddle.matmul(self.weight, u.unsqueeze(2).unsqueeze(-1)).squeeze(-1)
        frozen = u_hat.detach()
        logits = paddle.zeros([u.shape[0], u_hat.shape[1], u_hat.shape[2], 1])
        for i in range(self.iterations):
            coupling = F.softmax(logits, axis=2)
            if i == self.iterations - 1:
                return squash((coupling * u_hat).sum(1))
            v = squash((coupling * frozen).sum(1, keepdim=True))
            logits = logits + (frozen * v).sum(-1, keepdim=True)


class CapsNet(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv, self.primary, self.digits = nn.Conv2D(1, 48, 9), nn.Conv2D(48, 64, 9, stride=2), Capsules()
        self.decoder = nn.Sequential(nn.Linear(120, 256), nn.ReLU(), nn.Linear(256, 784), nn.Sigmoid())

    def forward(self, x, labels):
        h = self.primary(F.relu(self.conv(x)))
        h = squash(h.reshape([x.shape[0], 8, -1]).transpose([0, 2, 1]))
        v = self.digits(h)
        masked = v * F.one_hot(labels, 10).unsqueeze(-1)
        return paddle.norm(v, axis=-1), self.decoder(masked.flatten(1))


model = CapsNet()
optimizer = paddle.optimizer.Adam(1e-3, parameters=model.parameters())
for step in range(6):
    x, y = paddle.rand([16, 1, 28, 28]), paddle.randint(0, 10, [16])
    length, image = model(x, y)
    t = F.one_hot(y, 10)
    margin = t * F.relu(0.9 - length) ** 2 + 0.5 * (1 - t) * F.relu(length - 0.1) ** 2
    loss = margin.sum(1).mean() + 0.0005 * F.mse_loss(image, x.flatten(1), reduction="sum")
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
