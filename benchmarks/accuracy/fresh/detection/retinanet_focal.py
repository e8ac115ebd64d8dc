# model: RetinaNet on ResNet-18
# batch: 4
# optimizer: AdamW
# feature: FPN, focal loss, smooth L1 on positives
import paddle
import paddle.nn as nn
import paddle.nn.functional as F
from paddle.vision.models import resnet18

CLASSES, ANCHORS = 10, 3


class RetinaNet(nn.Layer):
    def __init__(self, width=64):
        super().__init__()
        self.body = resnet18(num_classes=0, with_pool=False)
        self.lateral = nn.LayerList([nn.Conv2D(c, width, 1) for c in (128, 256, 512)])
        self.smooth = nn.LayerList([nn.Conv2D(width, width, 3, padding=1) for _ in range(3)])
        self.extra = nn.Conv2D(512, width, 3, stride=2, padding=1)
        tower = lambda: nn.Sequential(
            *[nn.Sequential(nn.Conv2D(width, width, 3, padding=1), nn.ReLU()) for _ in range(2)]
        )
        self.cls_tower, self.box_tower = tower(), tower()
        self.cls = nn.Conv2D(width, ANCHORS * CLASSES, 3, padding=1, bias_attr=nn.initializer.Constant(-4.6))
        self.box = nn.Conv2D(width, ANCHORS * 4, 3, padding=1)

    def forward(self, x):
        b = self.body
        x = b.maxpool(b.relu(b.bn1(b.conv1(x))))
        c2 = b.layer1(x)
        c3 = b.layer2(c2)
        c4 = b.layer3(c3)
        c5 = b.layer4(c4)
        p5 = self.lateral[2](c5)
        p4 = self.lateral[1](c4) + F.interpolate(p5, scale_factor=2)
        p3 = self.lateral[0](c3) + F.interpolate(p4, scale_factor=2)
        levels = [smooth(p) for smooth, p in zip(self.smooth, (p3, p4, p5))] + [self.extra(c5)]
        classes, boxes = [], []
        for p in levels:
            classes.append(self.cls(self.cls_tower(p)).transpose([0, 2, 3, 1]).reshape([x.shape[0], -1, CLASSES]))
            boxes.append(self.box(self.box_tower(p)).transpose([0, 2, 3, 1]).reshape([x.shape[0], -1, 4]))
        return paddle.concat(classes, 1), paddle.concat(boxes, 1)


model = RetinaNet()
for layer in model.sublayers():
    if isinstance(layer, nn.BatchNorm2D):
        layer.eval()
optimizer = paddle.optimizer.AdamW(1e-4, parameters=model.parameters(), weight_decay=1e-4)
for step in range(6):
    images = paddle.rand([4, 3, 128, 128])
    scores, deltas = model(images)
    n = scores.shape[1]
    labels = paddle.randint(-1, CLASSES, [4, n])
    target = F.one_hot(paddle.clip(labels, min=0), CLASSES) * (labels >= 0).astype("float32").unsqueeze(-1)
    positive = (labels >= 0).astype("float32")
    count = paddle.clip(positive.sum(), min=1.0)
    focal = F.sigmoid_focal_loss(scores, target, normalizer=count, reduction="sum")
    regression = F.smooth_l1_loss(deltas, paddle.randn([4, n, 4]), reduction="none").sum(-1)
    loss = focal + (regression * positive).sum() / count
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
