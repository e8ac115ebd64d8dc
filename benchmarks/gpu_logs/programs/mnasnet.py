"""MnasNet-B1 on zeros, as the paper's table (Tan et al., 2019) and torchvision have it."""

import argparse

import numpy as np
import paddle
from paddle import nn

STAGES = ((24, 3, 2, 3, 3), (40, 5, 2, 3, 3), (80, 5, 2, 6, 3), (96, 3, 1, 6, 2), (192, 5, 2, 6, 4), (320, 3, 1, 6, 1))
"""Channels, side of the kernel, stride, expansion, blocks."""
parser = argparse.ArgumentParser()
parser.add_argument("--batch", type=int, default=692)
parser.add_argument("--depth", type=float, default=1.0)
asked = parser.parse_args()


def channels(base: int) -> int:
    """The nearest multiple of eight, at least 90 % of what is asked for."""
    near = max(8, int(base * asked.depth + 4) // 8 * 8)
    return near if near >= 0.9 * base * asked.depth else near + 8


def convolved(inner: int, outer: int, side: int, stride: int = 1, groups: int = 1) -> list[nn.Layer]:
    """A convolution and its normalisation."""
    convolution = nn.Conv2D(inner, outer, side, stride, side // 2, groups=groups, bias_attr=False)
    return [convolution, nn.BatchNorm2D(outer)]


class Inverted(nn.Layer):
    """Wide inside, with a shortcut where shapes are equal."""

    def __init__(self, inner: int, outer: int, side: int, stride: int, expansion: int) -> None:
        super().__init__()
        wide = inner * expansion
        self.is_short = inner == outer and stride == 1
        self.body = nn.Sequential(
            *convolved(inner, wide, 1), nn.ReLU(), *convolved(wide, wide, side, stride, wide), nn.ReLU(),
            *convolved(wide, outer, 1),
        )  # fmt: skip

    def forward(self, images: paddle.Tensor) -> paddle.Tensor:
        found = self.body(images)
        return images + found if self.is_short else found


width, last = channels(32), channels(16)
layers = [
    *convolved(3, width, 3, 2), nn.ReLU(), *convolved(width, width, 3, groups=width), nn.ReLU(),
    *convolved(width, last, 1),
]  # fmt: skip
for base, side, first, expansion, count in STAGES:
    for stride in (first, *[1] * (count - 1)):
        layers.append(Inverted(last, channels(base), side, stride, expansion))
        last = channels(base)
pooled = [nn.ReLU(), nn.AdaptiveAvgPool2D(1), nn.Flatten(), nn.Dropout(0.2), nn.Linear(1280, 1000)]
model = nn.Sequential(*layers, *convolved(last, 1280, 1), *pooled)
optimizer = paddle.optimizer.Momentum(0.1, 0.9, model.parameters(), weight_decay=1e-5)


class Zeros(paddle.io.Dataset):
    """Pictures and classes."""

    def __len__(self):
        return 10 * asked.batch

    def __getitem__(self, index):
        return np.zeros([3, 224, 224], "float32"), np.zeros([], "int64")


for images, classes in paddle.io.DataLoader(Zeros(), batch_size=asked.batch):
    loss = nn.functional.cross_entropy(model(images), classes)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
