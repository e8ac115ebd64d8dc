"""Trainings of a size that people run on a card: nets with convolutions of all kinds, and recurrent ones."""

from __future__ import annotations

from typing import NamedTuple

HEAD = """
import paddle
import paddle.nn as nn
import paddle.nn.functional as F
"""
CLASSIFIER = """
model = paddle.vision.models.{model}
def batch():
    return paddle.rand([{batch}, 3, {size}, {size}]), paddle.randint(0, {classes}, [{batch}])
loss_of = F.cross_entropy
"""
LENET = """
model = paddle.vision.models.LeNet()
def batch():
    return paddle.rand([64, 1, 28, 28]), paddle.randint(0, 10, [64])
loss_of = F.cross_entropy
"""
UNET = """
def block(before, after):
    return nn.Sequential(
        nn.Conv2D(before, after, 3, padding=1), nn.BatchNorm2D(after), nn.ReLU(),
        nn.Conv2D(after, after, 3, padding=1), nn.BatchNorm2D(after), nn.ReLU())
class UNet(nn.Layer):
    def __init__(self, widths=(64, 128, 256, 512), classes=21):
        super().__init__()
        self.down = nn.LayerList([block(a, b) for a, b in zip((3, *widths), widths)])
        self.bottom = block(widths[-1], 2 * widths[-1])
        self.up = nn.LayerList([nn.Conv2DTranspose(2 * w, w, 2, stride=2) for w in widths[::-1]])
        self.merge = nn.LayerList([block(2 * w, w) for w in widths[::-1]])
        self.head = nn.Conv2D(widths[0], classes, 1)
    def forward(self, x):
        kept = []
        for stage in self.down:
            x = stage(x)
            kept.append(x)
            x = F.max_pool2d(x, 2)
        x = self.bottom(x)
        for up, merge in zip(self.up, self.merge):
            x = merge(paddle.concat([kept.pop(), up(x)], 1))
        return self.head(x)
model = UNet()
def batch():
    return paddle.rand([8, 3, 256, 256]), paddle.randint(0, 21, [8, 256, 256])
loss_of = lambda out, y: F.cross_entropy(out, y, axis=1)
"""
GENERATOR = """
layers, before = [], 100
for after, stride, padding in ((512, 1, 0), (256, 2, 1), (128, 2, 1), (64, 2, 1)):
    layers += [nn.Conv2DTranspose(before, after, 4, stride, padding), nn.BatchNorm2D(after), nn.ReLU()]
    before = after
model = nn.Sequential(*layers, nn.Conv2DTranspose(before, 3, 4, 2, 1), nn.Tanh())
def batch():
    return paddle.rand([128, 100, 1, 1]), paddle.rand([128, 3, 64, 64])
loss_of = F.mse_loss
"""
C3D = """
layers, before = [], 3
for after, pool in ((64, (1, 2, 2)), (128, 2), (256, 2), (512, 2)):
    layers += [nn.Conv3D(before, after, 3, padding=1), nn.ReLU(), nn.MaxPool3D(pool, pool)]
    before = after
model = nn.Sequential(*layers, nn.AdaptiveAvgPool3D(1), nn.Flatten(), nn.Linear(before, 101))
def batch():
    return paddle.rand([8, 3, 16, 112, 112]), paddle.randint(0, 101, [8])
loss_of = F.cross_entropy
"""
WAVES = """
class Waves(nn.Layer):
    def __init__(self, width=128):
        super().__init__()
        self.first = nn.Conv1D(1, width, 7, padding=3)
        self.blocks = nn.LayerList([nn.Conv1D(width, width, 3, padding=2 ** i, dilation=2 ** i) for i in range(8)])
        self.head = nn.Linear(width, 10)
    def forward(self, x):
        x = self.first(x)
        for block in self.blocks:
            x = x + F.relu(block(x))
        return self.head(x.mean(-1))
model = Waves()
def batch():
    return paddle.rand([32, 1, 16000]), paddle.randint(0, 10, [32])
loss_of = F.cross_entropy
"""
DETECTOR = """
def conv(a, b, k, s=1):
    return nn.Sequential(nn.Conv2D(a, b, k, s, k // 2, bias_attr=False), nn.BatchNorm2D(b), nn.LeakyReLU(0.1))
class Darknet(nn.Layer):
    def __init__(self):
        super().__init__()
        self.stem = conv(3, 32, 3)
        self.stages = nn.LayerList()
        for a, b, n in ((32, 64, 1), (64, 128, 2), (128, 256, 8), (256, 512, 8), (512, 1024, 4)):
            self.stages.append(nn.LayerList([conv(a, b, 3, 2), *(
                nn.Sequential(conv(b, b // 2, 1), conv(b // 2, b, 3)) for _ in range(n))]))
        self.head = nn.Conv2D(1024, 255, 1)
    def forward(self, x):
        x = self.stem(x)
        for down, *blocks in self.stages:
            x = down(x)
            for block in blocks:
                x = x + block(x)
        return self.head(x)
model = Darknet()
def batch():
    return paddle.rand([8, 3, 608, 608]), paddle.rand([8, 255, 19, 19])
loss_of = F.mse_loss
"""
RECURRENT = """
class Words(nn.Layer):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(20000, 256)
        self.cells = nn.{cell}(256, {hidden}, num_layers={layers}, direction="{direction}")
        self.head = nn.Linear({hidden} * (2 if "{direction}" != "forward" else 1), 2)
    def forward(self, x):
        return self.head(self.cells(self.words(x))[0].mean(1))
model = Words()
def batch():
    return paddle.randint(0, 20000, [{batch}, {length}]), paddle.randint(0, 2, [{batch}])
loss_of = F.cross_entropy
"""
LOOP = """
model.train()
optimizer = paddle.optimizer.Momentum(0.01, parameters=model.parameters())
for step in range(3):
    x, y = batch()
    loss = loss_of(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
AMP_LOOP = """
model.train()
optimizer = paddle.optimizer.Momentum(0.01, parameters=model.parameters())
scaler = paddle.amp.GradScaler(enable={scaled})
for step in range(3):
    x, y = batch()
    with paddle.amp.auto_cast(dtype="{dtype}", level="O1"):
        loss = loss_of(model(x), y)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    optimizer.clear_grad()
"""


class Program(NamedTuple):
    """A training: what is in its cells, and in which precision."""

    name: str
    source: str
    precision: str


def classifier(model: str, batch: int, size: int = 224, classes: int = 1000) -> str:
    """A net of `paddle.vision.models` on random pictures."""
    return CLASSIFIER.format(model=model, batch=batch, size=size, classes=classes)


def _recurrent(cell: str, hidden: int, *, layers: int, direction: str, batch: int, length: int) -> str:
    return RECURRENT.format(cell=cell, hidden=hidden, layers=layers, direction=direction, batch=batch, length=length)


CONVOLUTIONS = {
    "LeNet, 28 px, batch 64": LENET,
    "ResNet-18, 32 px, batch 128": classifier("resnet18(num_classes=10)", 128, 32, 10),
    "ResNet-18, 224 px, batch 64": classifier("resnet18()", 64),
    "ResNet-50, 224 px, batch 32": classifier("resnet50()", 32),
    "ResNet-50, 224 px, batch 128": classifier("resnet50()", 128),
    "ResNet-101, 224 px, batch 32": classifier("resnet101()", 32),
    "ResNeXt-50 32x4d, 224 px, batch 32": classifier("resnext50_32x4d()", 32),
    "Wide ResNet-50-2, 224 px, batch 32": classifier("wide_resnet50_2()", 32),
    "VGG-16, 224 px, batch 32": classifier("vgg16()", 32),
    "AlexNet, 224 px, batch 128": classifier("alexnet()", 128),
    "SqueezeNet 1.1, 224 px, batch 128": classifier("squeezenet1_1()", 128),
    "MobileNetV2, 224 px, batch 64": classifier("mobilenet_v2()", 64),
    "MobileNetV3 large, 224 px, batch 64": classifier("mobilenet_v3_large()", 64),
    "ShuffleNetV2 x1, 224 px, batch 128": classifier("shufflenet_v2_x1_0()", 128),
    "DenseNet-121, 224 px, batch 32": classifier("densenet121()", 32),
    "Inception v3, 299 px, batch 32": classifier("inception_v3()", 32, 299),
    "U-Net, 256 px, batch 8": UNET,
    "Darknet-53, 608 px, batch 8": DETECTOR,
    "generator of a DCGAN, 64 px, batch 128": GENERATOR,
    "C3D, 16 frames of 112 px, batch 8": C3D,
    "dilated Conv1D, 16,000 samples, batch 32": WAVES,
}
RECURRENCES = {
    "LSTM, 256, T 100, batch 64": _recurrent("LSTM", 256, layers=1, direction="forward", batch=64, length=100),
    "LSTM, 512, 2 layers, both ways, T 200, batch 64": _recurrent(
        "LSTM", 512, layers=2, direction="bidirect", batch=64, length=200
    ),
    "GRU, 512, 2 layers, T 100, batch 128": _recurrent(
        "GRU", 512, layers=2, direction="forward", batch=128, length=100
    ),
    "SimpleRNN, 256, 3 layers, both ways, T 50, batch 32": _recurrent(
        "SimpleRNN", 256, layers=3, direction="bidirect", batch=32, length=50
    ),
}


def programs() -> list[Program]:
    """All of them, in float32, and those with convolutions in float16 and bfloat16 (O1) too."""
    found = [Program(name, HEAD + source + LOOP, "float32") for name, source in {**CONVOLUTIONS, **RECURRENCES}.items()]
    for dtype in ("float16", "bfloat16"):
        loop = AMP_LOOP.format(dtype=dtype, scaled=dtype == "float16")
        found += [Program(name, HEAD + source + loop, dtype) for name, source in CONVOLUTIONS.items()]
    return found
