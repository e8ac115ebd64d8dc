"""A small training, traced and run for real: may a version of Paddle that was never checked be trusted?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from ...domain.decoding import convert
from ...domain.messages import Message
from .. import messages
from ..memory.assemble import cpu_peak
from ..trace import Trace
from ..workers.worker import Worker
from .fallback import Measured

CHECKED = ("3.3.1",)
"""Versions of Paddle against which the accuracy benchmark was run."""
TOLERANCE = 0.01
"""Relative difference of traced and measured peak up to which a version is trusted."""
PROGRAM = """
import paddle
import paddle.nn as nn
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.convolution, self.norm = nn.Conv2D(3, 16, 3, padding=1), nn.BatchNorm2D(16)
        self.attention = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.1)
        self.head = nn.Linear(16, 10)
    def forward(self, x):
        x = nn.functional.relu(self.norm(self.convolution(x)))
        x = x.reshape([x.shape[0], 16, -1]).transpose([0, 2, 1])
        return self.head(self.attention(x).mean(axis=1))
net = Net()
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
images, labels = paddle.rand([8, 3, 16, 16]), paddle.randint(0, 10, [8])
for step in range(4):
    loss = nn.functional.cross_entropy(net(images), labels)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""


class Trust(msgspec.Struct, frozen=True):
    """Whether traces of an interpreter are used, and the notes that go with every estimate of it."""

    traces: bool
    notes: tuple[Message, ...] = ()


def examine(worker: Worker, folder: Path) -> Trust:
    """Trust a checked version as it is; let any other one show itself on the small training."""
    greeting = worker.start()
    version = greeting.paddle_version
    unpatched = messages.about_unpatched(version, greeting.unpatched)
    if version in CHECKED or greeting.error:
        return Trust(True, unpatched)
    if greeting.tracer_error:
        return Trust(False, (messages.UNTRACED_VERSION.filled(version=version),))
    request: dict[str, Any] = {"cells": [{"index": 0, "source": PROGRAM}], "target": "cpu", "answers": {}}
    traced = worker.request("trace", request, folder)
    measured = worker.request("measure", {**request, "measured_batch": 8}, folder)
    if measured.kind != "answer":  # nothing to compare with; the trace is all there is
        return Trust(True, unpatched)
    truth = max(convert(measured.value, Measured).phases.values(), default=0)
    found = _peak(traced.value) if traced.kind == "answer" else 0
    difference = abs(found - truth) / max(truth, 1)
    agrees = difference <= TOLERANCE
    note = (messages.UNCHECKED_VERSION if agrees else messages.DISAGREEING_VERSION).filled(
        version=version,
        checked=", ".join(CHECKED),
        percent=round(100 * (TOLERANCE if agrees else difference), 1),
    )
    return Trust(agrees, (note, *unpatched) if agrees else (note,))


def _peak(value: Any) -> int:
    try:
        trace = convert(value, Trace)
    except msgspec.ValidationError:
        return 0
    return cpu_peak(trace).likely if trace.status == "ok" else 0
