# model: restoration network
# batch: 4
# optimizer: Adam
# feature: structural similarity by a fixed depthwise kernel, pixel shuffle
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.into = nn.Conv2D(12, 32, 3, padding=1)
        self.body = nn.LayerList(
            [
                nn.Sequential(nn.Conv2D(32, 32, 3, padding=1), nn.GELU(), nn.Conv2D(32, 32, 3, padding=1))
                for _ in range(3)
            ]
        )
        self.out = nn.Conv2D(32, 12, 3, padding=1)

    def forward(self, x):
        y = self.into(F.pixel_unshuffle(x, 2))
        for block in self.body:
            y = y + block(y)
        return x + F.pixel_shuffle(self.out(y), 2)


line = paddle.exp(-((paddle.arange(11, dtype="float32") - 5) ** 2) / 4.5)
window = (line.unsqueeze(1) * line.unsqueeze(0) / line.sum() ** 2).expand([3, 1, 11, 11])


def ssim(a, b):
    mean = lambda x: F.conv2d(x, window, padding=5, groups=3)
    ma, mb = mean(a), mean(b)
    va, vb, cov = mean(a * a) - ma * ma, mean(b * b) - mb * mb, mean(a * b) - ma * mb
    return ((2 * ma * mb + 1e-4) * (2 * cov + 9e-4) / ((ma * ma + mb * mb + 1e-4) * (va + vb + 9e-4))).mean()


model = Net()
optimizer = paddle.optimizer.Adam(1e-3, parameters=model.parameters())
for step in range(6):
    sharp = paddle.rand([4, 3, 64, 64])
    restored = model(F.avg_pool2d(sharp, 3, stride=1, padding=1))
    loss = 0.2 * F.l1_loss(restored, sharp) + 0.8 * (1 - ssim(restored, sharp))
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
