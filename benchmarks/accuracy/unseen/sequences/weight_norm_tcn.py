# model: temporal convolutions
# batch: 16
# optimizer: Momentum
# feature: weight_norm, causal padding, residuals
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

from paddle.nn.utils import weight_norm


class Block(nn.Layer):
    def __init__(self, a, b, dilation):
        super().__init__()
        self.pad = 2 * dilation
        self.one = weight_norm(nn.Conv1D(a, b, 3, dilation=dilation))
        self.two = weight_norm(nn.Conv1D(b, b, 3, dilation=dilation))
        self.skip = nn.Conv1D(a, b, 1) if a != b else None
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        y = self.dropout(F.relu(self.one(F.pad(x, [self.pad, 0], data_format="NCL"))))
        y = self.dropout(F.relu(self.two(F.pad(y, [self.pad, 0], data_format="NCL"))))
        return F.relu(y + (x if self.skip is None else self.skip(x)))


model = nn.Sequential(Block(4, 24, 1), Block(24, 24, 2), Block(24, 24, 4), nn.Conv1D(24, 1, 1))
optimizer = paddle.optimizer.Momentum(1e-2, parameters=model.parameters())
for step in range(6):
    series = paddle.randn([16, 4, 200])
    loss = F.l1_loss(model(series[:, :, :-1]), series[:, :1, 1:])
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
