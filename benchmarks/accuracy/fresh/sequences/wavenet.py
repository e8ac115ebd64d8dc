# model: WaveNet
# batch: 4
# optimizer: Adam
# feature: weight_norm, dilated causal convolutions, gates
import paddle
import paddle.nn as nn
import paddle.nn.functional as F
from paddle.nn.utils import weight_norm


class Gated(nn.Layer):
    def __init__(self, c, dilation):
        super().__init__()
        self.pad = dilation
        self.conv = weight_norm(nn.Conv1D(c, 2 * c, 2, dilation=dilation))
        self.residual, self.skip = weight_norm(nn.Conv1D(c, c, 1)), weight_norm(nn.Conv1D(c, 48, 1))

    def forward(self, x):
        h = F.glu(self.conv(F.pad(x, [self.pad, 0], data_format="NCL")), axis=1)
        return x + self.residual(h), self.skip(h)


class WaveNet(nn.Layer):
    def __init__(self, c=24, classes=256):
        super().__init__()
        self.embedding = nn.Embedding(classes, c)
        self.blocks = nn.LayerList([Gated(c, 2**i) for _ in range(2) for i in range(5)])
        self.out = nn.Sequential(nn.ReLU(), nn.Conv1D(48, 48, 1), nn.ReLU(), nn.Conv1D(48, classes, 1))

    def forward(self, x):
        x = self.embedding(x).transpose([0, 2, 1])
        skips = []
        for block in self.blocks:
            x, skip = block(x)
            skips.append(skip)
        return self.out(paddle.add_n(skips))


model = WaveNet()
optimizer = paddle.optimizer.Adam(1e-3, parameters=model.parameters(), grad_clip=nn.ClipGradByValue(0.5))
for step in range(6):
    wave = paddle.randint(0, 256, [4, 513])
    loss = F.cross_entropy(model(wave[:, :-1]), wave[:, 1:], axis=1)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
