# ruff: noqa: E501 - one script a line reads as a table
"""Notebooks that train on images, volumes and clips: one script each, the size that is asked for, and the edits by which a
person would have had it."""

from __future__ import annotations

from tests.estimator.tracer.scripts import ADAM, DATASET, HEAD, STEP

CNN = (
    HEAD
    + """
model = nn.Sequential(nn.Conv2D(3, 16, 3, padding=1), nn.BatchNorm2D(16), nn.ReLU(), nn.MaxPool2D(2), nn.Conv2D(16, 32, 3, padding=1),
                      nn.AdaptiveAvgPool2D(1), nn.Flatten(), nn.Linear(32, 10))
"""
    + ADAM
    + """
images, labels = paddle.rand([64, 3, 64, 64]), paddle.randint(0, 10, [64])
for epoch in range(3):
    for i in range(0, 64, 16):
        loss = F.cross_entropy(model(images[i:i + 16]), labels[i:i + 16])
"""
    + STEP.replace("\n", "\n    ")
)

UNET = (
    DATASET.format(sample="return np.zeros((3, 64, 64), 'float32'), np.zeros((64, 64), 'int64')")
    + """
def block(a, b):
    return nn.Sequential(nn.Conv2D(a, b, 3, padding=1), nn.BatchNorm2D(b), nn.ReLU())
class UNet(nn.Layer):
    def __init__(self):
        super().__init__()
        self.down1, self.down2, self.up = block(3, 8), block(8, 16), block(24, 8)
        self.transposed, self.head = nn.Conv2DTranspose(16, 16, 2, stride=2), nn.Conv2D(8, 5, 1)
    def forward(self, x):
        a = self.down1(x)
        b = self.transposed(self.down2(F.max_pool2d(a, 2)))
        return self.head(self.up(paddle.concat([a, b], 1)))
model = UNet()
"""
    + ADAM
    + """
for epoch in range(3):
    for x, y in paddle.io.DataLoader(Data(), batch_size=8):
        loss = F.cross_entropy(model(x), y, axis=1)
"""
    + STEP.replace("\n", "\n    ")
)

VIT = (
    HEAD
    + """
IMG_SIZE, PATCH = 64, 8
class ViT(nn.Layer):
    def __init__(self, img_size=64, width=48):
        super().__init__()
        self.patches = nn.Conv2D(3, width, PATCH, stride=PATCH)
        self.positions = self.create_parameter([1, (img_size // PATCH) ** 2, width])
        self.blocks = nn.TransformerEncoder(nn.TransformerEncoderLayer(width, 4, 96, dropout=0.0), 2)
        self.head = nn.Linear(width, 10)
    def forward(self, x):
        x = self.patches(x).flatten(2).transpose([0, 2, 1]) + self.positions
        return self.head(self.blocks(x).mean(1))
model = ViT(IMG_SIZE)
"""
    + ADAM
    + """
for step in range(9):
    x, y = paddle.randn([8, 3, IMG_SIZE, IMG_SIZE]), paddle.randint(0, 10, [8])
    loss = F.cross_entropy(model(x), y)
"""
    + STEP
)

PLAIN_VIT = VIT.replace(
    "        self.positions = self.create_parameter([1, (img_size // PATCH) ** 2, width])\n", ""
).replace(" + self.positions", "")
PLAIN_VIT = (
    PLAIN_VIT.replace("IMG_SIZE, PATCH = 64, 8", "PATCH = 8")
    .replace("ViT(IMG_SIZE)", "ViT()")
    .replace("IMG_SIZE, IMG_SIZE", "64, 64")
)

SEGMENTATION = (
    DATASET.format(sample="return paddle.zeros([48, 64, 3]).transpose([2, 0, 1]), np.zeros((1, 48, 64), 'float32')")
    + """
network = nn.Sequential(nn.Conv2D(3, 8, 3, stride=2, padding=1), nn.ReLU(), nn.Conv2D(8, 16, 3, padding=1), nn.ReLU(), nn.Upsample(scale_factor=2), nn.Conv2D(16, 1, 1))
model = paddle.Model(network)
model.prepare(paddle.optimizer.Momentum(1e-5, parameters=network.parameters()), nn.BCEWithLogitsLoss())
model.fit(Data(), epochs=2, batch_size=8, verbose=0)
"""
)

SUPER = (
    DATASET.format(
        sample="return np.zeros((1, 40, 40), 'float32'), np.zeros((1, 120, 120), 'float32'), np.zeros((1, 20, 20), 'float32')"
    )
    + """
model = nn.Sequential(nn.Conv2D(1, 9, 3, padding=1), nn.PixelShuffle(3))
"""
    + ADAM
    + """
blur = paddle.ones([1, 1, 5, 5]) / 25
for epoch in range(3):
    for x, large, small in paddle.io.DataLoader(Data(), batch_size=16):
        out = model(F.conv2d(x, blur, padding=2))
        loss = F.mse_loss(out, large) + F.mse_loss(F.avg_pool2d(out, 6), small)
"""
    + STEP.replace("\n", "\n    ")
)

CHANNELS_LAST = (
    HEAD
    + """
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv, self.head = nn.Conv2D(3, 16, 3, data_format='NHWC'), nn.Linear(16, 4)
    def forward(self, x):
        return self.head(self.conv(x).mean([1, 2]))
model = Net()
"""
    + ADAM
    + """
data = np.zeros((40, 32, 32, 3), 'uint8')
for step in range(9):
    x = paddle.to_tensor(data[:8]).astype('float32') / 255
    loss = F.cross_entropy(model(x), paddle.randint(0, 4, [8]))
"""
    + STEP
)

RESIZED = (
    HEAD
    + """
from paddle.vision.transforms import Compose, Resize, ToTensor
data = paddle.vision.datasets.MNIST(mode='train', transform=Compose([Resize(48), ToTensor()]))
model = nn.Sequential(nn.Conv2D(1, 8, 3), nn.ReLU(), nn.AdaptiveMaxPool2D(2), nn.Flatten(), nn.Linear(32, 10))
"""
    + ADAM
    + """
for x, y in paddle.io.DataLoader(data, batch_size=32, shuffle=True):
    loss = F.cross_entropy(model(x), y)
"""
    + STEP
)

TENSORS = (
    HEAD
    + """
data = paddle.io.TensorDataset([paddle.randn([60, 3, 32, 32]), paddle.randint(0, 4, [60])])
model = nn.Sequential(nn.Conv2D(3, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2D(1), nn.Flatten(), nn.Linear(8, 4))
"""
    + ADAM
    + """
for epoch in range(3):
    for x, y in paddle.io.DataLoader(data, batch_size=10):
        loss = F.cross_entropy(model(x), y)
"""
    + STEP.replace("\n", "\n    ")
)

ROWS = (
    HEAD
    + """
model = nn.Sequential(nn.Conv2D(1, 8, 3), nn.AdaptiveAvgPool2D(1), nn.Flatten(), nn.Linear(8, 10))
"""
    + ADAM
    + """
pixels = np.zeros((600, 784), 'float32')
for step in range(9):
    x = paddle.reshape(paddle.to_tensor(pixels[:32]), [-1, 1, 28, 28])
    loss = F.cross_entropy(model(x), paddle.randint(0, 10, [32]))
"""
    + STEP
)

VOLUMES = (
    HEAD
    + """
model = nn.Sequential(nn.Conv3D(2, 8, 3, padding=1), nn.BatchNorm3D(8), nn.ReLU(), nn.MaxPool3D(2), nn.Conv3D(8, 4, 3, padding=1))
volumes = paddle.rand([24, 2, 16, 32, 32])
"""
    + ADAM
    + "for i in range(0, 24, 4):\n    loss = model(volumes[i:i + 4]).mean()"
    + STEP
)

CLIPS = (
    DATASET.format(sample="return np.zeros((6, 3, 32, 32), 'float32'), np.zeros((1,), 'int64')")
    + """
class Frames(nn.Layer):
    def __init__(self):
        super().__init__()
        self.frames = nn.Sequential(nn.Conv2D(3, 8, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2D(2), nn.Flatten())
        self.rnn, self.head = nn.GRU(32, 16), nn.Linear(16, 5)
    def forward(self, x):
        b, t = x.shape[:2]
        return self.head(self.rnn(self.frames(x.flatten(0, 1)).reshape([b, t, 32]))[0][:, -1])
model = Frames()
"""
    + ADAM
    + "for x, y in paddle.io.DataLoader(Data(), batch_size=8):\n    loss = F.cross_entropy(model(x), y)"
    + STEP
)

CLIPS_LAST = (
    HEAD
    + """
model = nn.Sequential(nn.Conv3D(3, 8, 3, padding=1, data_format="NDHWC"), nn.ReLU(), nn.MaxPool3D(2, data_format="NDHWC"))
clips = paddle.rand([24, 8, 32, 32, 3])
"""
    + ADAM
    + "for i in range(0, 24, 4):\n    loss = model(clips[i:i + 4]).mean()"
    + STEP
)

CASES = {
    "rows-of-pixels": (ROWS, {"image_size": 56}, {"600, 784": "600, 3136", "28, 28": "56, 56"}),
    "cnn": (CNN, {"image_size": 96}, {"64, 64]": "96, 96]"}),
    "unet": (UNET, {"image_size": 48}, {"64, 64)": "48, 48)"}),
    "vit": (VIT, {"image_size": 96}, {"IMG_SIZE, PATCH = 64": "IMG_SIZE, PATCH = 96"}),
    "plain-vit": (PLAIN_VIT, {"image_size": 40}, {"64, 64]": "40, 40]"}),
    "segmentation": (SEGMENTATION, {"image_size": 96}, {"48, 64": "96, 96"}),
    "super-resolution": (SUPER, {"image_size": 64}, {"40, 40": "64, 64", "120, 120": "192, 192", "20, 20": "32, 32"}),
    "channels-last": (CHANNELS_LAST, {"image_size": 20}, {"32, 32": "20, 20"}),
    "resized": (RESIZED, {"image_size": 64}, {"Resize(48)": "Resize(64)"}),
    "tensors": (TENSORS, {"image_size": 50}, {"32, 32]": "50, 50]"}),
    "volumes": (VOLUMES, {"image_size": 24}, {"16, 32, 32": "16, 24, 24"}),
    "clips": (CLIPS, {"image_size": 48}, {"6, 3, 32, 32": "6, 3, 48, 48"}),
    "clips-last": (CLIPS_LAST, {"image_size": 20}, {"8, 32, 32, 3": "8, 20, 20, 3"}),
}  # fmt: skip
