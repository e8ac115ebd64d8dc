"""What an evaluation between epochs keeps is there in the next epoch's steps."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

HEAD = """
import numpy as np, paddle, paddle.nn.functional as F
from paddle import nn
paddle.seed(0)
class Data(paddle.io.Dataset):
    def __init__(self, count):
        self.count = count
    def __getitem__(self, i):
        return np.full(8, i, 'float32'), np.int64(i % 3)
    def __len__(self):
        return self.count
model = nn.Sequential(nn.Linear(8, 300), nn.ReLU(), nn.Linear(300, 1000))
optimizer = paddle.optimizer.Adam(1e-5, parameters=model.parameters())
training = paddle.io.DataLoader(Data(192), batch_size=64, use_buffer_reader=False)
checking = paddle.io.DataLoader(Data({checked}), batch_size=64, drop_last={drop}, use_buffer_reader=False)
"""
TRAIN = """
for epoch in range(9):
    model.train()
    for x, y in training:
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
    model.eval()
"""
KEPT = """
    outputs = []
    with paddle.no_grad():
        for x, y in checking:
            outputs.append(model(x))
"""
JOINED = KEPT + "    outputs = paddle.concat(outputs)\n"
DROPPED = KEPT + "    accuracy = [o.argmax(-1) for o in outputs]\n    del outputs\n"
FUNCTION = """
def evaluate():
    kept = []
    for x, y in checking:
        with paddle.no_grad():
            kept.append(float(model(x).mean()))
    return kept
"""
RETURNED = """
@paddle.no_grad()
def predict(data):
    model.eval()
    return [model(x) for x, y in data]
"""
COLLECTED = """
def collect(data, into):
    for x, y in data:
        into.append(model(x))
def evaluate(data):
    outputs = []
    with paddle.no_grad():
        collect(data, outputs)
    return outputs
"""
WRAPPED = """
class Trainer:
    kept = None
    def epoch(self):
        model.train()
        for x, y in training:
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
    def check(self):
        self.kept = predict(checking)
    def fit(self):
        for epoch in range(9):
            self.epoch()
            self.check()
"""
RAW = """
X, Y = np.zeros((192, 8), 'float32'), np.zeros(192, 'int64')
for epoch in range(9):
    for i in range(0, 192, 64):
        loss = F.cross_entropy(model(paddle.to_tensor(X[i:i + 64])), paddle.to_tensor(Y[i:i + 64]))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
    model.eval()
    kept = [model(paddle.to_tensor(X[i:i + 64])).detach() for i in range(0, 192, 64)]
"""
FULL = """
X, Y = paddle.zeros([192, 8]), paddle.zeros([192], dtype='int64')
for epoch in range(9):
    loss = F.cross_entropy(model(X), Y)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    with paddle.no_grad():
        kept = [model(X) for _ in range(3)]
"""
PLAIN = HEAD.format(checked=700, drop=False)
SOURCES = {
    "kept": PLAIN + TRAIN + KEPT,
    "kept-whole-batches": HEAD.format(checked=700, drop=True) + TRAIN + KEPT,
    "more-than-an-epoch-is-cut-to": HEAD.format(checked=64 * 80, drop=False) + TRAIN + KEPT,
    "joined": PLAIN + TRAIN + JOINED,
    "dropped": PLAIN + TRAIN + DROPPED,
    "numbers": PLAIN + FUNCTION + TRAIN + "    history = evaluate()\n",
    "returned-in-another-cell": PLAIN + "#---\n" + RETURNED + "#---\n" + TRAIN + "    outputs = predict(checking)\n",
    "collected-by-another-function": PLAIN + COLLECTED + "#---\n" + TRAIN + "    outputs = evaluate(checking)\n",
    "methods-of-a-class": PLAIN + "#---\n" + RETURNED + "#---\n" + WRAPPED + "#---\nTrainer().fit()",
    "raw-loops": PLAIN + RAW,
    "whole-data-a-step": PLAIN + FULL,
    "only-at-the-end": PLAIN + TRAIN + KEPT.replace("\n    ", "\n"),
}


@pytest.mark.parametrize("name", SOURCES)
def test_a_step_after_an_evaluation_is_a_real_ones(measured, name):
    peaks, traced = measured.pair(name)
    assert traced["peak"] is not None, traced["questions"]
    # three steps an epoch: the fifth update is a second epoch's second, beyond what spans the evaluation
    assert traced["peak"] == pytest.approx(peaks[4], rel=0.001)
    assert set(traced["notes"]) <= {"more_elsewhere"}


LONG = (
    HEAD.format(checked=128, drop=False).replace(
        "Data(192), batch_size=64, use_buffer_reader=False", "Data(6400), batch_size=64"
    )
    + """
for epoch in range(9):
    model.train()
    for number, (x, y) in enumerate(training):
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
    model.eval()
    for x, y in checking:
        with paddle.no_grad():
            seen = []
            seen.append(model(x).argmax(-1))
        seen.clear()
"""
)


def test_an_epoch_that_only_the_trace_leaves_early_leaves_no_batches_behind(measure):
    """The reader of a loader that is not read to its end keeps its batches; here the program reads to the end."""
    peaks, traced = measure({"long": LONG}).pair("long")
    assert traced["peak"] == peaks[-1]
