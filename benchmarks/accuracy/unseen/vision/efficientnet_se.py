# model: EfficientNet-like
# batch: 8
# optimizer: RMSProp
# feature: squeeze-excitation, swish, batch norm momentum
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class MBConv(nn.Layer):
    def __init__(self, inside, outside, stride, expand):
        super().__init__()
        wide = inside * expand
        self.residual = stride == 1 and inside == outside
        self.expand = nn.Sequential(
            nn.Conv2D(inside, wide, 1, bias_attr=False), nn.BatchNorm2D(wide, momentum=0.99), nn.Swish()
        )
        self.depthwise = nn.Sequential(
            nn.Conv2D(wide, wide, 3, stride=stride, padding=1, groups=wide, bias_attr=False),
            nn.BatchNorm2D(wide),
            nn.Swish(),
        )
        self.squeeze = nn.Sequential(
            nn.AdaptiveAvgPool2D(1),
            nn.Conv2D(wide, inside // 4, 1),
            nn.Swish(),
            nn.Conv2D(inside // 4, wide, 1),
            nn.Sigmoid(),
        )
        self.project = nn.Sequential(nn.Conv2D(wide, outside, 1, bias_attr=False), nn.BatchNorm2D(outside))

    def forward(self, x):
        y = self.depthwise(self.expand(x))
        y = self.project(y * self.squeeze(y))
        return x + y if self.residual else y


model = nn.Sequential(
    nn.Conv2D(3, 16, 3, stride=2, padding=1, bias_attr=False),
    nn.BatchNorm2D(16),
    nn.Swish(),
    MBConv(16, 16, 1, 4),
    MBConv(16, 24, 2, 6),
    MBConv(24, 24, 1, 6),
    MBConv(24, 40, 2, 6),
    nn.AdaptiveAvgPool2D(1),
    nn.Flatten(),
    nn.Dropout(0.2),
    nn.Linear(40, 5),
)
optimizer = paddle.optimizer.RMSProp(1e-3, parameters=model.parameters(), weight_decay=paddle.regularizer.L2Decay(1e-5))
for step in range(6):
    loss = F.cross_entropy(model(paddle.rand([8, 3, 80, 80])), paddle.randint(0, 5, [8]))
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
