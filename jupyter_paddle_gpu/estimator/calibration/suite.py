"""The programs of a calibration: small trainings that a person could have written, one for each kind of kernel.

Each is traced like a notebook and then run for real on the device; what lies between is what is learned. Together they
take about a minute on a GPU. Sizes are chosen so that tensors outweigh the driver's pages.
"""

from __future__ import annotations

_HEAD = """
import paddle
import paddle.nn as nn
import paddle.nn.functional as F
"""
_LOOP = """
model.train()
optimizer = paddle.optimizer.Adam(learning_rate=1e-3, parameters=model.parameters())
for step in range(4):
    x, y = make_batch()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""

PROGRAMS: dict[str, str] = {
    "linear": _HEAD
    + """
model = nn.Sequential(nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 4096), nn.ReLU(), nn.Linear(4096, 10))
def make_batch():
    return paddle.rand([2048, 1024]), paddle.randint(0, 10, [2048])
"""
    + _LOOP,
    "convolution": _HEAD
    + """
model = nn.Sequential(
    nn.Conv2D(3, 64, 3, padding=1), nn.BatchNorm2D(64), nn.ReLU(),
    nn.Conv2D(64, 128, 3, stride=2, padding=1), nn.BatchNorm2D(128), nn.ReLU(),
    nn.Conv2D(128, 128, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2D(1), nn.Flatten(), nn.Linear(128, 10))
def make_batch():
    return paddle.rand([32, 3, 64, 64]), paddle.randint(0, 10, [32])
"""
    + _LOOP,
    "residual network": _HEAD
    + """
model = paddle.vision.models.resnet18(num_classes=10)
def make_batch():
    return paddle.rand([16, 3, 64, 64]), paddle.randint(0, 10, [16])
"""
    + _LOOP,
    "attention": _HEAD
    + """
class Encoder(nn.Layer):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(5000, 256)
        layer = nn.TransformerEncoderLayer(256, 4, 1024, dropout=0.1)
        self.encoder = nn.TransformerEncoder(layer, 4)
        self.head = nn.Linear(256, 10)
    def forward(self, tokens):
        return self.head(self.encoder(self.embedding(tokens)).mean(axis=1))
model = Encoder()
def make_batch():
    return paddle.randint(0, 5000, [16, 128]), paddle.randint(0, 10, [16])
"""
    + _LOOP,
    "recurrent": _HEAD
    + """
class Reader(nn.Layer):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(5000, 128)
        self.rnn = nn.LSTM(128, 128, num_layers=2)
        self.head = nn.Linear(128, 10)
    def forward(self, tokens):
        states, _ = self.rnn(self.embedding(tokens))
        return self.head(states.mean(axis=1))
model = Reader()
def make_batch():
    return paddle.randint(0, 5000, [32, 64]), paddle.randint(0, 10, [32])
"""
    + _LOOP,
}
