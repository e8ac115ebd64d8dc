# model: DeepLab-like
# batch: 4
# optimizer: Momentum
# feature: dilation, separable convolutions, two rates, ignored pixels
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Separable(nn.Layer):
    def __init__(self, cin, cout, dilation=1, stride=1):
        super().__init__()
        self.depth = nn.Conv2D(cin, cin, 3, stride, dilation, dilation, groups=cin, bias_attr=False)
        self.point = nn.Conv2D(cin, cout, 1, bias_attr=False)
        self.bn = nn.BatchNorm2D(cout)

    def forward(self, x):
        return F.relu6(self.bn(self.point(self.depth(x))))


class DeepLab(nn.Layer):
    def __init__(self, classes=21, c=32):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2D(3, c, 3, 2, 1), nn.BatchNorm2D(c), nn.Hardswish())
        self.low = Separable(c, 48, stride=2)
        self.backbone = nn.Sequential(Separable(48, 96, stride=2), Separable(96, 96, 2), Separable(96, 96, 4))
        self.aspp = nn.LayerList(
            [nn.Conv2D(96, 64, 1)] + [nn.Conv2D(96, 64, 3, padding=r, dilation=r) for r in (3, 6, 9)]
        )
        self.pool = nn.Sequential(nn.AdaptiveAvgPool2D(1), nn.Conv2D(96, 64, 1), nn.ReLU())
        self.project = nn.Sequential(nn.Conv2D(64 * 5, 64, 1), nn.BatchNorm2D(64), nn.ReLU(), nn.Dropout2D(0.1))
        self.decode = nn.Sequential(Separable(64 + 48, 64), nn.Conv2D(64, classes, 1))

    def forward(self, x):
        size = x.shape[2:]
        low = self.low(self.stem(x))
        deep = self.backbone(low)
        branches = [F.relu(conv(deep)) for conv in self.aspp]
        pooled = F.interpolate(self.pool(deep), size=deep.shape[2:], mode="bilinear", align_corners=True)
        deep = self.project(paddle.concat(branches + [pooled], axis=1))
        deep = F.interpolate(deep, size=low.shape[2:], mode="bilinear", align_corners=False)
        out = self.decode(paddle.concat([deep, low], axis=1))
        return F.interpolate(out, size=size, mode="bilinear", align_corners=False)


model = DeepLab()
backbone = model.stem.parameters() + model.low.parameters() + model.backbone.parameters()
rest = [p for layer in (model.aspp, model.pool, model.project, model.decode) for p in layer.parameters()]
optimizer = paddle.optimizer.Momentum(
    0.01,
    parameters=[{"params": backbone, "learning_rate": 0.1}, {"params": rest}],
    weight_decay=paddle.regularizer.L2Decay(5e-4),
)
for step in range(6):
    image = paddle.rand([4, 3, 96, 96])
    mask = paddle.randint(0, 21, [4, 96, 96])
    mask[:, :8] = 255
    logits = model(image)
    loss = F.cross_entropy(logits, mask, axis=1, ignore_index=255)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
