# model: deformable CNN
# batch: 8
# optimizer: Adam
# feature: deform_conv2d, ROI align
import paddle
import paddle.nn as nn
import paddle.nn.functional as F
from paddle.vision.ops import DeformConv2D, roi_align


class Deformable(nn.Layer):
    def __init__(self, cin, cout):
        super().__init__()
        self.offset, self.mask = nn.Conv2D(cin, 18, 3, padding=1), nn.Conv2D(cin, 9, 3, padding=1)
        self.conv = DeformConv2D(cin, cout, 3, padding=1)

    def forward(self, x):
        return self.conv(x, self.offset(x), F.sigmoid(self.mask(x)))


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2D(3, 24, 3, 2, 1), nn.BatchNorm2D(24), nn.ReLU())
        self.a, self.b = Deformable(24, 32), Deformable(32, 48)
        self.fc = nn.Sequential(nn.Linear(48 * 5 * 5, 64), nn.ReLU(), nn.Linear(64, 8))

    def forward(self, x, boxes, counts):
        x = F.relu(self.a(self.stem(x)))
        x = F.relu(self.b(F.max_pool2d(x, 2)))
        rois = roi_align(x, boxes, counts, output_size=5, spatial_scale=0.25)
        return self.fc(rois.flatten(1))


model = Net()
optimizer = paddle.optimizer.Adam(1e-3, parameters=model.parameters())
counts = paddle.full([8], 6, dtype="int32")
for step in range(6):
    x = paddle.randn([8, 3, 64, 64])
    corner = paddle.rand([48, 2]) * 24
    boxes = paddle.concat([corner, corner + 4 + paddle.rand([48, 2]) * 30], axis=1)
    loss = F.cross_entropy(model(x, boxes, counts), paddle.randint(0, 8, [48]))
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
