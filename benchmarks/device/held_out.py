"""Trainings that no card was asked of while the range was made: whether nine of ten of them lie within it.

Chosen and written down before the first of them was asked. Those of `programs.py` made the range.
"""

from __future__ import annotations

from .programs import AMP_LOOP, HEAD, LOOP, Program, classifier

DILATED = """
def conv(a, b, k, s=1, d=1):
    return nn.Sequential(nn.Conv2D(a, b, k, s, d * (k // 2), d, bias_attr=False), nn.BatchNorm2D(b), nn.ReLU())
class Segmenter(nn.Layer):
    def __init__(self, classes=19):
        super().__init__()
        self.body = nn.Sequential(conv(3, 64, 3, 2), conv(64, 64, 3), conv(64, 128, 3, 2), conv(128, 256, 3, 2),
                                  conv(256, 256, 3, d=2), conv(256, 512, 3, d=4))
        self.pyramid = nn.LayerList([conv(512, 128, 1), *(conv(512, 128, 3, d=rate) for rate in (6, 12, 18))])
        self.head = nn.Sequential(conv(512, 256, 3), nn.Dropout2D(0.1), nn.Conv2D(256, classes, 1))
    def forward(self, x):
        y = self.body(x)
        y = self.head(paddle.concat([branch(y) for branch in self.pyramid], 1))
        return F.interpolate(y, size=x.shape[2:], mode="bilinear")
model = Segmenter()
def batch():
    return paddle.rand([4, 3, 512, 512]), paddle.randint(0, 19, [4, 512, 512])
loss_of = lambda out, y: F.cross_entropy(out, y, axis=1)
"""
RECOGNISER = """
class Recogniser(nn.Layer):
    def __init__(self, letters=97):
        super().__init__()
        widths, layers, before = (64, 128, 256, 256, 512, 512), [], 3
        for at, width in enumerate(widths):
            layers += [nn.Conv2D(before, width, 3, padding=1), nn.BatchNorm2D(width), nn.ReLU()]
            if at in (0, 1, 3, 5):
                layers.append(nn.MaxPool2D(2, (2, 2) if at < 2 else (2, 1)))
            before = width
        self.body = nn.Sequential(*layers)
        self.neck = nn.Conv2D(before, 256, (2, 1))
        self.head = nn.Linear(256, letters)
    def forward(self, x):
        y = self.neck(self.body(x)).squeeze(2).transpose([0, 2, 1])
        return self.head(y)
model = Recogniser()
def batch():
    return paddle.rand([64, 3, 32, 320]), paddle.randint(0, 97, [64])
loss_of = lambda out, y: F.cross_entropy(out.mean(1), y)
"""
CRITIC = """
layers, before = [], 3
for after in (64, 128, 256, 512):
    layers += [nn.Conv2D(before, after, 4, 2, 1), nn.LeakyReLU(0.2)]
    before = after
model = nn.Sequential(*layers, nn.Conv2D(before, 1, 4), nn.Flatten())
def batch():
    return paddle.rand([256, 3, 64, 64]), paddle.rand([256, 1])
loss_of = F.mse_loss
"""
TRANSLATOR = """
class Translator(nn.Layer):
    def __init__(self, widths=(64, 128, 256, 512, 512, 512)):
        super().__init__()
        self.down = nn.LayerList([nn.Sequential(nn.Conv2D(a, b, 4, 2, 1), nn.InstanceNorm2D(b), nn.LeakyReLU(0.2))
                                  for a, b in zip((3, *widths), widths)])
        back = widths[::-1]
        self.up = nn.LayerList([nn.Sequential(nn.Conv2DTranspose(a if at == 0 else 2 * a, b, 4, 2, 1),
                                              nn.InstanceNorm2D(b), nn.ReLU())
                                for at, (a, b) in enumerate(zip(back, (*back[1:], 64)))])
        self.head = nn.Conv2D(64, 3, 3, padding=1)
    def forward(self, x):
        kept = []
        for stage in self.down:
            x = stage(x)
            kept.append(x)
        x = self.up[0](kept.pop())
        for stage in self.up[1:]:
            x = stage(paddle.concat([x, kept.pop()], 1))
        return paddle.tanh(self.head(x))
model = Translator()
def batch():
    return paddle.rand([8, 3, 256, 256]), paddle.rand([8, 3, 256, 256])
loss_of = F.l1_loss
"""
SHARPENER = """
class Block(nn.Layer):
    def __init__(self, width=64):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2D(width, width, 3, padding=1), nn.ReLU(), nn.Conv2D(width, width, 3, padding=1))
    def forward(self, x):
        return x + 0.1 * self.body(x)
model = nn.Sequential(nn.Conv2D(3, 64, 3, padding=1), *(Block() for _ in range(16)),
                      nn.Conv2D(64, 256, 3, padding=1), nn.PixelShuffle(2), nn.Conv2D(64, 3, 3, padding=1))
def batch():
    return paddle.rand([16, 3, 96, 96]), paddle.rand([16, 3, 192, 192])
loss_of = F.l1_loss
"""
PATCHES = """
class Patches(nn.Layer):
    def __init__(self, width=384):
        super().__init__()
        self.cut = nn.Conv2D(3, width, 16, 16)
        block = nn.TransformerEncoderLayer(width, 6, 4 * width, activation="gelu", dropout=0.0)
        self.encoder = nn.TransformerEncoder(block, 12)
        self.head = nn.Linear(width, 1000)
    def forward(self, x):
        return self.head(self.encoder(self.cut(x).flatten(2).transpose([0, 2, 1])).mean(1))
model = Patches()
def batch():
    return paddle.rand([64, 3, 224, 224]), paddle.randint(0, 1000, [64])
loss_of = F.cross_entropy
"""
VOLUMES = """
def conv(a, b):
    return nn.Sequential(nn.Conv3D(a, b, 3, padding=1), nn.BatchNorm3D(b), nn.ReLU())
class Volumes(nn.Layer):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.third = conv(1, 32), conv(32, 64), conv(64, 128)
        self.up = nn.Conv3DTranspose(128, 64, 2, 2)
        self.last = nn.Sequential(conv(128, 32), nn.Conv3D(32, 4, 1))
    def forward(self, x):
        x = self.first(x)
        y = self.second(F.max_pool3d(x, 2))
        z = self.third(F.max_pool3d(y, 2))
        return self.last(paddle.concat([y, self.up(z)], 1))
model = Volumes()
def batch():
    return paddle.rand([2, 1, 64, 64, 64]), paddle.randint(0, 4, [2, 32, 32, 32])
loss_of = lambda out, y: F.cross_entropy(out, y, axis=1)
"""
SOUNDS = """
layers, before = [], 1
for after in (64, 128, 256, 512):
    layers += [nn.Conv1D(before, after, 9, 4, 4), nn.BatchNorm1D(after), nn.ReLU()]
    before = after
model = nn.Sequential(*layers, nn.AdaptiveAvgPool1D(1), nn.Flatten(), nn.Linear(before, 50))
def batch():
    return paddle.rand([64, 1, 80000]), paddle.randint(0, 50, [64])
loss_of = F.cross_entropy
"""
AUTOENCODER = """
model = nn.Sequential(
    nn.Conv2D(1, 32, 3, 2, 1), nn.ReLU(), nn.Conv2D(32, 64, 3, 2, 1), nn.ReLU(),
    nn.Conv2DTranspose(64, 32, 3, 2, 1, output_padding=1), nn.ReLU(),
    nn.Conv2DTranspose(32, 1, 3, 2, 1, output_padding=1), nn.Sigmoid())
def batch():
    return paddle.rand([256, 1, 28, 28]), paddle.rand([256, 1, 28, 28])
loss_of = F.mse_loss
"""
BEGINNERS = """
model = nn.Sequential(
    nn.Conv2D(3, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2D(2), nn.Conv2D(32, 64, 3, padding=1), nn.ReLU(),
    nn.MaxPool2D(2), nn.Conv2D(64, 128, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(128 * 64, 10))
def batch():
    return paddle.rand([128, 3, 32, 32]), paddle.randint(0, 10, [128])
loss_of = F.cross_entropy
"""
SOURCES = {
    "ResNet-34, 224 px, batch 64": classifier("resnet34()", 64),
    "ResNet-152, 224 px, batch 16": classifier("resnet152()", 16),
    "ResNet-50, 448 px, batch 16": classifier("resnet50()", 16, 448),
    "ResNeXt-101 64x4d, 224 px, batch 16": classifier("resnext101_64x4d()", 16),
    "VGG-19, 224 px, batch 64": classifier("vgg19()", 64),
    "VGG-11 with normalisation, 224 px, batch 32": classifier("vgg11(batch_norm=True)", 32),
    "MobileNetV1, 224 px, batch 128": classifier("mobilenet_v1()", 128),
    "MobileNetV3 small, 224 px, batch 256": classifier("mobilenet_v3_small()", 256),
    "DenseNet-169, 224 px, batch 16": classifier("densenet169()", 16),
    "SqueezeNet 1.0, 224 px, batch 64": classifier("squeezenet1_0()", 64),
    "ShuffleNetV2 x2, 224 px, batch 64": classifier("shufflenet_v2_x2_0()", 64),
    "dilated segmenter, 512 px, batch 4": DILATED,
    "recogniser of lines, 32 x 320, batch 64": RECOGNISER,
    "critic of a GAN, 64 px, batch 256": CRITIC,
    "pix2pix generator, 256 px, batch 8": TRANSLATOR,
    "EDSR, 96 px, batch 16": SHARPENER,
    "ViT-S/16, 224 px, batch 64": PATCHES,
    "3D U-Net, 64 voxels a side, batch 2": VOLUMES,
    "Conv1D classifier, 80,000 samples, batch 64": SOUNDS,
    "autoencoder, 28 px, batch 256": AUTOENCODER,
    "a beginner's CNN, 32 px, batch 128": BEGINNERS,
}


def held_out() -> list[Program]:
    """All of them in float32 and in float16 (O1)."""
    loop = AMP_LOOP.format(dtype="float16", scaled=True)
    plain = [Program(name, HEAD + source + LOOP, "float32") for name, source in SOURCES.items()]
    return plain + [Program(name, HEAD + source + loop, "float16") for name, source in SOURCES.items()]
