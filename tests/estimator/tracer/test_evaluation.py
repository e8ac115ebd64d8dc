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
PLAIN = HEAD.format(checked=700, drop=False)
SOURCES = {
    "kept": PLAIN + TRAIN + KEPT,
    "kept-whole-batches": HEAD.format(checked=700, drop=True) + TRAIN + KEPT,
    "more-than-an-epoch-is-cut-to": HEAD.format(checked=64 * 80, drop=False) + TRAIN + KEPT,
    "joined": PLAIN + TRAIN + JOINED,
    "dropped": PLAIN + TRAIN + DROPPED,
    "numbers": PLAIN + FUNCTION + TRAIN + "    history = evaluate()\n",
    "only-at-the-end": PLAIN + TRAIN + KEPT.replace("\n    ", "\n"),
}


@pytest.fixture(scope="module")
def measured(run_child):
    return run_child("real", SOURCES), run_child("trace", SOURCES)


@pytest.mark.parametrize("name", SOURCES)
def test_a_step_after_an_evaluation_is_a_real_ones(measured, name):
    real, traced = measured[0][name], measured[1][name]
    assert real["failure"] is None
    assert traced["peak"] is not None, traced["questions"]
    # three steps an epoch: the fifth update is a second epoch's second, beyond what spans the evaluation
    steady = real["peaks"][4]
    assert traced["peak"] == pytest.approx(steady, rel=0.001)
    assert traced["notes"] == []
