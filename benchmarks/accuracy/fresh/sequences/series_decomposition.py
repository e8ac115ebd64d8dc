# model: Autoformer-like forecaster
# batch: 32
# optimizer: ASGD
# feature: moving averages, cumsum, unfold
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Decompose(nn.Layer):
    def __init__(self, kernel=25):
        super().__init__()
        self.kernel, self.average = kernel, nn.AvgPool1D(kernel, stride=1, padding=0)

    def forward(self, x):
        half = (self.kernel - 1) // 2
        padded = paddle.concat([x[:, :1].tile([1, half, 1]), x, x[:, -1:].tile([1, half, 1])], axis=1)
        trend = self.average(padded.transpose([0, 2, 1])).transpose([0, 2, 1])
        return x - trend, trend


class Forecaster(nn.Layer):
    def __init__(self, length=96, horizon=24, channels=7, patch=12):
        super().__init__()
        self.patch, self.decompose = patch, Decompose()
        self.trend = nn.Linear(length, horizon)
        self.embed = nn.Linear(patch, 64)
        self.mixer = nn.TransformerEncoder(nn.TransformerEncoderLayer(64, 4, 128, 0.1), 1)
        self.season = nn.Linear(64 * (length // 6 - 1), horizon)
        self.scale, self.shift = self.create_parameter([channels]), self.create_parameter([channels], is_bias=True)

    def forward(self, x):
        mean, std = x.mean(1, keepdim=True), x.std(1, keepdim=True) + 1e-5
        x = (x - mean) / std * self.scale + self.shift
        season, trend = self.decompose(x)
        b, l, c = x.shape
        patches = F.unfold(season.transpose([0, 2, 1]).reshape([b * c, 1, 1, l]), [1, self.patch], strides=[1, 6])
        h = self.mixer(self.embed(patches.transpose([0, 2, 1])))
        out = self.season(h.flatten(1)).reshape([b, c, -1]) + self.trend(trend.transpose([0, 2, 1]))
        out = out.transpose([0, 2, 1])
        return ((out - self.shift) / (self.scale + 1e-5)) * std + mean


model = Forecaster()
optimizer = paddle.optimizer.ASGD(1e-3, batch_num=4, parameters=model.parameters())
series = paddle.cumsum(paddle.randn([32, 120, 7]), axis=1)
for step in range(6):
    x, y = series[:, :96], series[:, 96:]
    prediction = model(x)
    error = (prediction - y).abs()
    loss = paddle.where(error < 1, 0.5 * error**2, error - 0.5).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
