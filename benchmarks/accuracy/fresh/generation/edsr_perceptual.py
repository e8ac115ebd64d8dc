# model: EDSR with frozen VGG
# batch: 4
# optimizer: Adam
# feature: pixel shuffle, fold, perceptual loss
import paddle
import paddle.nn as nn
import paddle.nn.functional as F
from paddle.vision.models import vgg11


class ChannelAttention(nn.Layer):
    def __init__(self, c):
        super().__init__()
        self.gate = nn.Sequential(
            nn.AdaptiveAvgPool2D(1), nn.Conv2D(c, c // 4, 1), nn.ReLU(), nn.Conv2D(c // 4, c, 1), nn.Sigmoid()
        )

    def forward(self, x):
        return x * self.gate(x)


class Block(nn.Layer):
    def __init__(self, c):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2D(c, c, 3, padding=1), nn.ReLU(), nn.Conv2D(c, c, 3, padding=1), ChannelAttention(c)
        )

    def forward(self, x):
        return x + self.body(x) * 0.1


class EDSR(nn.Layer):
    def __init__(self, c=32, depth=4):
        super().__init__()
        self.head, self.body = nn.Conv2D(3, c, 3, padding=1), nn.Sequential(*[Block(c) for _ in range(depth)])
        self.tail = nn.Sequential(
            nn.Conv2D(c, 4 * c, 3, padding=1),
            nn.PixelShuffle(2),
            nn.Conv2D(c, 4 * c, 3, padding=1),
            nn.PixelShuffle(2),
            nn.Conv2D(c, 3, 3, padding=1),
        )

    def forward(self, x):
        h = self.head(x)
        return self.tail(h + self.body(h)) + F.interpolate(x, scale_factor=4, mode="bicubic")


model = EDSR()
vgg = nn.Sequential(*list(vgg11().features)[:8])
vgg.eval()
for p in vgg.parameters():
    p.stop_gradient = True
optimizer = paddle.optimizer.Adam(2e-4, parameters=model.parameters())
for step in range(6):
    low, high = paddle.rand([4, 3, 24, 24]), paddle.rand([4, 3, 96, 96])
    out = model(low)
    patches = F.unfold(out, 8, strides=8)
    folded = F.fold(patches, [96, 96], 8, strides=8)
    loss = F.l1_loss(out, high) + 0.01 * F.mse_loss(vgg(out), vgg(high)) + 0.1 * F.l1_loss(folded, high)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
