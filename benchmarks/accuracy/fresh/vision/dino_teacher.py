# model: DINO
# batch: 8
# optimizer: AdamW
# feature: momentum teacher, crops, centring
import paddle
import paddle.nn as nn
import paddle.nn.functional as F
from paddle.vision.models import resnet18


class Network(nn.Layer):
    def __init__(self, out=512):
        super().__init__()
        self.backbone = resnet18(num_classes=0)
        self.mlp = nn.Sequential(nn.Linear(512, 256), nn.GELU(), nn.Linear(256, 64))
        self.last = nn.utils.weight_norm(nn.Linear(64, out, bias_attr=False), dim=1)

    def forward(self, x):
        return self.last(F.normalize(self.mlp(self.backbone(x).flatten(1)), axis=-1))


student, teacher = Network(), Network()
teacher.set_state_dict(student.state_dict())
for p in teacher.parameters():
    p.stop_gradient = True
optimizer = paddle.optimizer.AdamW(5e-4, parameters=student.parameters(), weight_decay=0.04)
center = paddle.zeros([1, 512])
for step in range(6):
    crops = [paddle.rand([8, 3, 64, 64]) for _ in range(2)] + [paddle.rand([8, 3, 32, 32]) for _ in range(3)]
    with paddle.no_grad():
        targets = [F.softmax((teacher(c) - center) / 0.04, axis=-1) for c in crops[:2]]
    outputs = [F.log_softmax(student(c) / 0.1, axis=-1) for c in crops]
    loss, terms = 0.0, 0
    for i, target in enumerate(targets):
        for j, output in enumerate(outputs):
            if i == j:
                continue
            loss = loss + (-target * output).sum(-1).mean()
            terms += 1
    loss = loss / terms
    optimizer.clear_grad()
    loss.backward()
    optimizer.step()
    with paddle.no_grad():
        for s, t in zip(student.parameters(), teacher.parameters()):
            t.scale_(0.996)
            t.add_(s * 0.004)
        center = center * 0.9 + paddle.concat(targets).mean(0, keepdim=True) * 0.1
