# ruff: noqa: E501, N812, B905 - models as their users write them
"""Models of the accuracy benchmark: what people train, small enough to run for real in seconds on a CPU."""

from __future__ import annotations

import math
from typing import Any

import paddle
import paddle.nn.functional as F
from paddle import nn
from paddle.vision import models as vision


class MLP(nn.Layer):
    def __init__(self, width: int = 1024) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(784, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Dropout(0.2), nn.Linear(width, 10)
        )

    def forward(self, x: Any) -> Any:
        return self.body(x)


class SmallCNN(nn.Layer):
    """Functional calls and rebinding of one name, as tutorials write it."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2D(3, 32, 3, padding=1)
        self.conv2 = nn.Conv2D(32, 64, 3, padding=1)
        self.conv3 = nn.Conv2D(64, 64, 3, padding=1)
        self.fc1 = nn.Linear(64 * 8 * 8, 64)
        self.fc2 = nn.Linear(64, 10)

    def forward(self, x: Any) -> Any:
        x = F.relu(self.conv1(x))
        x = F.max_pool2d(x, 2)
        x = F.relu(self.conv2(x))
        x = F.max_pool2d(x, 2)
        x = F.relu(self.conv3(x))
        x = paddle.flatten(x, 1)
        x = F.relu(self.fc1(x))
        return self.fc2(x)


class Recurrent(nn.Layer):
    def __init__(self, cell: str, layers: int = 1, direction: str = "forward", dropout: float = 0.0) -> None:
        super().__init__()
        self.embedding = nn.Embedding(5000, 128)
        self.rnn = getattr(nn, cell)(128, 128, num_layers=layers, direction=direction, dropout=dropout)
        self.head = nn.Linear(256 if direction != "forward" else 128, 2)

    def forward(self, x: Any) -> Any:
        outputs, _ = self.rnn(self.embedding(x))
        return self.head(outputs.mean(axis=1))


class LastState(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(5000, 128)
        self.rnn = nn.GRU(128, 128)
        self.head = nn.Linear(128, 2)

    def forward(self, x: Any) -> Any:
        _, state = self.rnn(self.embedding(x))
        return self.head(state[-1])


class Encoder(nn.Layer):
    def __init__(self, length: int, width: int = 128, layers: int = 2, dropout: float = 0.1) -> None:
        super().__init__()
        self.length = length
        self.embedding = nn.Embedding(5000, width)
        self.position = nn.Embedding(length, width)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=dropout), layers)
        self.head = nn.Linear(width, 2)

    def forward(self, x: Any) -> Any:
        h = self.embedding(x) + self.position(paddle.arange(self.length))
        return self.head(self.encoder(h).mean(axis=1))


class Block(nn.Layer):
    def __init__(self, width: int, heads: int, length: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.heads = heads
        self.register_buffer(
            "mask", paddle.tril(paddle.ones([length, length], dtype="float32")).reshape([1, 1, length, length])
        )

    def forward(self, x: Any) -> Any:
        batch, length, width = x.shape
        q, k, v = (
            self.qkv(self.norm1(x))
            .reshape([batch, length, 3, self.heads, width // self.heads])
            .transpose([2, 0, 3, 1, 4])
            .unbind(0)
        )
        scores = paddle.matmul(q, k, transpose_y=True) / math.sqrt(width // self.heads)
        scores = paddle.where(self.mask == 0, paddle.full_like(scores, -1e9), scores)
        weights = F.dropout(F.softmax(scores, axis=-1), 0.1, training=self.training)
        y = paddle.matmul(weights, v).transpose([0, 2, 1, 3]).reshape([batch, length, width])
        x = x + self.out(y)
        return x + self.mlp(self.norm2(x))


class GPT(nn.Layer):
    def __init__(self, vocabulary: int = 2000, width: int = 128, layers: int = 4, length: int = 128) -> None:
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
        self.blocks = nn.LayerList([Block(width, 4, length) for _ in range(layers)])
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias_attr=False)

    def forward(self, x: Any) -> Any:
        h = self.tokens(x) + self.positions(paddle.arange(0, x.shape[1]).unsqueeze(0))
        for block in self.blocks:
            h = block(h)
        return self.head(self.norm(h))


def _double(channels: int, out: int) -> nn.Layer:
    return nn.Sequential(
        nn.Conv2D(channels, out, 3, padding=1), nn.BatchNorm2D(out), nn.ReLU(),
        nn.Conv2D(out, out, 3, padding=1), nn.BatchNorm2D(out), nn.ReLU(),
    )  # fmt: skip


class UNet(nn.Layer):
    def __init__(self, c: int = 16) -> None:
        super().__init__()
        self.down1, self.down2, self.down3 = _double(3, c), _double(c, 2 * c), _double(2 * c, 4 * c)
        self.up2, self.side2 = nn.Conv2DTranspose(4 * c, 2 * c, 2, 2), _double(4 * c, 2 * c)
        self.up1, self.side1 = nn.Conv2DTranspose(2 * c, c, 2, 2), _double(2 * c, c)
        self.out, self.pool = nn.Conv2D(c, 4, 1), nn.MaxPool2D(2)

    def forward(self, x: Any) -> Any:
        a = self.down1(x)
        b = self.down2(self.pool(a))
        c = self.down3(self.pool(b))
        y = self.side2(paddle.concat([self.up2(c), b], axis=1))
        y = self.side1(paddle.concat([self.up1(y), a], axis=1))
        return self.out(y)


class ViT(nn.Layer):
    def __init__(self, width: int = 128, layers: int = 4, patch: int = 8, size: int = 64) -> None:
        super().__init__()
        self.patches = nn.Conv2D(3, width, patch, patch)
        self.cls = self.create_parameter([1, 1, width])
        self.position = self.create_parameter([1, (size // patch) ** 2 + 1, width])
        self.blocks = nn.LayerList(
            [
                nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.0, activation="gelu", normalize_before=True)
                for _ in range(layers)
            ]
        )
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 10)

    def forward(self, x: Any) -> Any:
        x = self.patches(x).flatten(2).transpose([0, 2, 1])
        x = paddle.concat([self.cls.expand([x.shape[0], -1, -1]), x], axis=1) + self.position
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x)[:, 0])


class AutoEncoder(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.encode = nn.Sequential(
            nn.Conv2D(3, 32, 3, stride=2, padding=1), nn.LeakyReLU(),
            nn.Conv2D(32, 64, 3, stride=2, padding=1), nn.Sigmoid(),
        )  # fmt: skip
        self.decode = nn.Sequential(
            nn.Conv2DTranspose(64, 32, 4, 2, 1), nn.ReLU(), nn.Conv2DTranspose(32, 3, 4, 2, 1), nn.Tanh()
        )

    def forward(self, x: Any) -> Any:
        return self.decode(self.encode(x))


class VAE(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(784, 400), nn.ReLU())
        self.mean, self.log_variance = nn.Linear(400, 20), nn.Linear(400, 20)
        self.decode = nn.Sequential(nn.Linear(20, 400), nn.ReLU(), nn.Linear(400, 784), nn.Sigmoid())

    def forward(self, x: Any) -> Any:
        h = self.encode(x)
        mean, log_variance = self.mean(h), self.log_variance(h)
        z = mean + paddle.randn(mean.shape) * paddle.exp(0.5 * log_variance)
        return self.decode(z), mean, log_variance


class Recommender(nn.Layer):
    def __init__(self, sparse: bool = False) -> None:
        super().__init__()
        self.user, self.item = nn.Embedding(10000, 64, sparse=sparse), nn.Embedding(20000, 64, sparse=sparse)
        self.user_bias, self.item_bias = nn.Embedding(10000, 1), nn.Embedding(20000, 1)
        self.mlp = nn.Sequential(nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 1))

    def forward(self, x: Any) -> Any:
        user, item = self.user(x[:, 0]), self.item(x[:, 1])
        dot = (user * item).sum(axis=1, keepdim=True)
        deep = self.mlp(paddle.concat([user, item], axis=-1))
        return F.sigmoid(dot + self.user_bias(x[:, 0]) + self.item_bias(x[:, 1]) + deep)


class Seq2Seq(nn.Layer):
    def __init__(self, vocabulary: int = 3000, width: int = 128) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.transformer = nn.Transformer(width, 4, 2, 2, 256, dropout=0.1)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, x: Any) -> Any:
        length = x.shape[1]
        mask = paddle.triu(paddle.full([length, length], -1e9), 1)
        return self.head(self.transformer(self.embedding(x), self.embedding(x), tgt_mask=mask))


class ConvNeXt(nn.Layer):
    def __init__(self, width: int = 64, layers: int = 3) -> None:
        super().__init__()
        self.stem = nn.Conv2D(3, width, 4, 4)
        self.deep = nn.LayerList([nn.Conv2D(width, width, 7, padding=3, groups=width) for _ in range(layers)])
        self.norm = nn.LayerList([nn.LayerNorm(width) for _ in range(layers)])
        self.grow = nn.LayerList([nn.Linear(width, 4 * width) for _ in range(layers)])
        self.shrink = nn.LayerList([nn.Linear(4 * width, width) for _ in range(layers)])
        self.gamma, self.head = self.create_parameter([width]), nn.Linear(width, 10)

    def forward(self, x: Any) -> Any:
        x = self.stem(x)
        for deep, norm, grow, shrink in zip(self.deep, self.norm, self.grow, self.shrink):
            y = deep(x).transpose([0, 2, 3, 1])
            y = shrink(F.gelu(grow(norm(y)))) * self.gamma
            x = x + y.transpose([0, 3, 1, 2])
        return self.head(x.mean(axis=[2, 3]))


class SuperResolution(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.convs = nn.LayerList(
            [nn.Conv2D(1, 64, 5, padding=2), nn.Conv2D(64, 64, 3, padding=1), nn.Conv2D(64, 32, 3, padding=1)]
        )
        self.last, self.shuffle = nn.Conv2D(32, 9, 3, padding=1), nn.PixelShuffle(3)

    def forward(self, x: Any) -> Any:
        for conv in self.convs:
            x = F.tanh(conv(x))
        return self.shuffle(self.last(x))


class PointNet(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.points = nn.Sequential(
            nn.Conv1D(3, 64, 1), nn.BatchNorm1D(64), nn.ReLU(),
            nn.Conv1D(64, 128, 1), nn.BatchNorm1D(128), nn.ReLU(),
            nn.Conv1D(128, 512, 1), nn.BatchNorm1D(512),
        )  # fmt: skip
        self.head = nn.Sequential(nn.Linear(512, 256), nn.ReLU(), nn.Dropout(0.3), nn.Linear(256, 10))

    def forward(self, x: Any) -> Any:
        return self.head(paddle.max(self.points(x), axis=-1))


class TemporalCNN(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.LayerList([nn.Conv1D(32, 32, 3, padding=2 * d, dilation=d) for d in (1, 2, 4)])
        self.first, self.head = nn.Conv1D(8, 32, 1), nn.Linear(32, 10)

    def forward(self, x: Any) -> Any:
        x = self.first(x)
        for layer in self.layers:
            y = F.relu(layer(x)[:, :, : x.shape[2]])
            x = F.relu(x + F.dropout(y, 0.1))
        return self.head(x[:, :, -1])


class Volume(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv3D(1, 8, 3, padding=1), nn.BatchNorm3D(8), nn.ReLU(), nn.MaxPool3D(2),
            nn.Conv3D(8, 16, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool3D(1), nn.Flatten(), nn.Linear(16, 5),
        )  # fmt: skip

    def forward(self, x: Any) -> Any:
        return self.body(x)


class GroupNormNet(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2D(3, 32, 3, padding=1), nn.GroupNorm(4, 32), nn.Silu(), nn.AvgPool2D(2),
            nn.Conv2D(32, 64, 3, padding=1), nn.InstanceNorm2D(64), nn.Hardswish(), nn.AdaptiveAvgPool2D(1),
        )  # fmt: skip
        self.head = nn.Linear(64, 10)

    def forward(self, x: Any) -> Any:
        return self.head(self.body(x).flatten(1))


class Generator(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2DTranspose(64, 64, 4, 1, 0), nn.BatchNorm2D(64), nn.ReLU(),
            nn.Conv2DTranspose(64, 32, 4, 2, 1), nn.BatchNorm2D(32), nn.ReLU(),
            nn.Conv2DTranspose(32, 16, 4, 2, 1), nn.BatchNorm2D(16), nn.ReLU(),
            nn.Conv2DTranspose(16, 3, 4, 2, 1), nn.Tanh(),
        )  # fmt: skip

    def forward(self, z: Any) -> Any:
        return self.body(z)


class Discriminator(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2D(3, 16, 4, 2, 1), nn.LeakyReLU(0.2),
            nn.Conv2D(16, 32, 4, 2, 1), nn.BatchNorm2D(32), nn.LeakyReLU(0.2),
            nn.Conv2D(32, 64, 4, 2, 1), nn.BatchNorm2D(64), nn.LeakyReLU(0.2), nn.Conv2D(64, 1, 4, 1, 0),
        )  # fmt: skip

    def forward(self, x: Any) -> Any:
        return self.body(x).flatten()


class CRNN(nn.Layer):
    """Text recognition: convolution, recurrence, CTC."""

    def __init__(self) -> None:
        super().__init__()
        self.convs = nn.Sequential(
            nn.Conv2D(1, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2D(2), nn.Conv2D(32, 64, 3, padding=1), nn.ReLU()
        )
        self.linear, self.rnn, self.head = (
            nn.Linear(64 * 16, 64),
            nn.GRU(64, 64, direction="bidirect"),
            nn.Linear(128, 40),
        )

    def forward(self, x: Any) -> Any:
        x = self.convs(x)
        x = x.transpose([0, 3, 1, 2]).flatten(2)
        x, _ = self.rnn(self.linear(x))
        return self.head(x)


VISION = {
    name: (lambda name=name: getattr(vision, name)(num_classes=10))
    for name in (
        "LeNet", "resnet18", "resnet34", "resnet50", "resnext50_32x4d", "wide_resnet50_2", "vgg11", "vgg16", "mobilenet_v1",
        "mobilenet_v2", "mobilenet_v3_small", "mobilenet_v3_large", "densenet121", "shufflenet_v2_x1_0", "squeezenet1_1",
        "alexnet", "inception_v3", "googlenet",
    )
}  # fmt: skip
