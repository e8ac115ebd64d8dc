# model: deep residual CNN
# batch: 16
# optimizer: NAdam
# feature: recompute of every second pair of blocks, without PyLayer
import paddle
import paddle.nn as nn
import paddle.nn.functional as F
from paddle.distributed.fleet.utils import recompute


class Residual(nn.Layer):
    def __init__(self, c):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2D(c, c, 3, padding=1), nn.BatchNorm2D(c)
        self.conv2, self.bn2 = nn.Conv2D(c, c, 3, padding=1), nn.BatchNorm2D(c)

    def forward(self, x):
        return F.relu(x + self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x))))))


class Deep(nn.Layer):
    def __init__(self, c=32, depth=8):
        super().__init__()
        self.stem = nn.Conv2D(3, c, 3, padding=1)
        self.body = nn.Sequential(*[Residual(c) for _ in range(depth)])
        self.head = nn.Linear(c, 10)

    def forward(self, x):
        x = F.relu(self.stem(x))
        for i in range(0, len(self.body), 2):
            pair = nn.Sequential(self.body[i], self.body[i + 1])
            x = pair(x) if i % 4 else recompute(pair, x, use_reentrant=False)
        return self.head(F.adaptive_avg_pool2d(x, 1).flatten(1))


model = Deep()
optimizer = paddle.optimizer.NAdam(1e-3, parameters=model.parameters())
for step in range(6):
    x, y = paddle.randn([16, 3, 32, 32]), paddle.randint(0, 10, [16])
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
