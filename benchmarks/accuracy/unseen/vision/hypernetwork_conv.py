# model: hypernetwork
# batch: 8
# optimizer: Adam
# feature: weights made by a network, functional convolution
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Hyper(nn.Layer):
    def __init__(self):
        super().__init__()
        self.codes = self.create_parameter([3, 16])
        self.maker = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 16 * 16 * 9))
        self.stem, self.head = nn.Conv2D(3, 16, 3, padding=1), nn.Linear(16, 10)

    def forward(self, x):
        x = F.relu(self.stem(x))
        for code in self.codes.unbind(0):
            weight = self.maker(code).reshape([16, 16, 3, 3])
            x = F.relu(F.conv2d(x, weight, padding=1) + x)
            x = F.avg_pool2d(x, 2)
        return self.head(x.mean([2, 3]))


model = Hyper()
optimizer = paddle.optimizer.Adam(1e-3, parameters=model.parameters())
for step in range(6):
    loss = F.cross_entropy(model(paddle.randn([8, 3, 40, 40])), paddle.randint(0, 10, [8]))
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
