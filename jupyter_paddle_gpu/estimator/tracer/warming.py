"""Small programs that a warm process traces while nobody asks: what they load and fill, the next estimate finds ready.

A first trace reads Paddle's signatures, loads what is loaded late and touches memory that a child has to copy: some
0.04 s of a ResNet-50's 0.2 s. No two sizes are equal that differ in real programs, so that what is built here of
operators that keep sizes (`program.patterns`) serves them. Each program takes at most 0.2 s, for which a request that
comes just then waits.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator

from .notebook.requests import trace_notebook

_HEAD = """
import numpy
import paddle
from paddle import nn
class Data(paddle.io.Dataset):
    def __getitem__(self, index):
        return numpy.zeros([3, 10, 10], "float32"), numpy.zeros([5], "int64"), 1
    def __len__(self):
        return 12
"""
_LOOP = """
for pictures, words, labels in paddle.io.DataLoader(Data(), batch_size=6, shuffle=True):
    loss = nn.functional.cross_entropy(net({given}), labels)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
_PICTURES = """
net = nn.Sequential(
    nn.Conv2D(3, 12, 3, padding=1), nn.BatchNorm2D(12), nn.ReLU(), nn.MaxPool2D(2),
    nn.Conv2D(12, 20, 1), nn.Conv2D(20, 20, 3, padding=1),
    nn.AdaptiveAvgPool2D(1), nn.Flatten(), nn.Linear(20, 4),
)
optimizer = paddle.optimizer.Momentum(0.1, parameters=net.parameters(), weight_decay=1e-4)
"""
_WORDS = """
encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(14, 2, 16, activation="gelu"), 1)
net = nn.Sequential(nn.Embedding(18, 14), encoder, nn.Flatten(), nn.Linear(70, 4))
optimizer = paddle.optimizer.AdamW(parameters=net.parameters())
"""
_RECURRENT = """
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.words, self.lstm, self.head = nn.Embedding(18, 14), nn.LSTM(14, 9), nn.Linear(9, 4)
    def forward(self, words):
        found, _ = self.lstm(self.words(words))
        return self.head(found.mean(axis=1))
net = Net()
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
"""
PROGRAMS = tuple(
    _HEAD + program + _LOOP.format(given=given)
    for program, given in ((_PICTURES, "pictures"), (_WORDS, "words"), (_RECURRENT, "words"))
)


def warm_up() -> Iterator[None]:
    """Traces one program at each turn. What it leaves is kept from the collector, as children share it."""
    for program in PROGRAMS:
        with contextlib.suppress(Exception):  # nobody has asked, so nobody is told
            trace_notebook({"cells": [{"index": 0, "source": program}], "folder": "", "target": "cpu"})
        gc.collect()
        gc.freeze()
        yield
