"""A condition on a number that is drawn in each step goes both ways; data that is drawn keeps its sizes."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

HEAD = """
import random
import numpy as np, paddle
from paddle import nn
paddle.seed(0), np.random.seed(0), random.seed(0)
x = paddle.rand([64, 200])
"""
MODEL = """
class Model(nn.Layer):
    def __init__(self):
        super().__init__()
        self.first, self.wide, self.back = nn.Linear(200, 300), nn.Linear(300, 2000), nn.Linear(2000, 300)
    def forward(self, x):
        h = self.first(x)
        {condition}
            h = self.back(self.wide(h))
        return h
"""
LOOP = """
model = Model()
optimizer = paddle.optimizer.Adam(1e-5, parameters=model.parameters())
for step in range(9):
    h = model(x)
    loss = h.mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
AROUND = """
first, wide, back = nn.Linear(200, 300), nn.Linear(300, 2000), nn.Linear(2000, 300)
optimizer = paddle.optimizer.Adam(1e-5, parameters=[*first.parameters(), *wide.parameters(), *back.parameters()])
for step in range(9):
    h = first(x)
    if {condition}:
        h = back(wide(h))
    loss = h.mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
DATA = """
model = nn.Linear(200, 10)
optimizer = paddle.optimizer.Adam(1e-5, parameters=model.parameters())
rows = [row for row in range(2000) if random.random() < 0.3]
for step in range(9):
    loss = model(paddle.ones([len(rows), 200])).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""


def _model(condition: str) -> str:
    return HEAD + MODEL.format(condition=condition) + LOOP


SOMETIMES = {
    "tensor": _model("if paddle.rand([1]) < 0.9:"),
    "tensor-asked-before": _model("drawn = paddle.rand([1])\n        print(drawn.numpy())\n        if drawn < 0.9:"),
    "item": _model("if paddle.rand([1]).item() < 0.9:"),
    "python": _model("if random.random() < 0.9:"),
    "numpy": _model("if 0.9 > np.random.rand():"),
    "generator": _model("if np.random.default_rng(0).random() < 0.9:"),
    "between": _model("if random.uniform(2, 3) <= 2.9:"),
    "kept": _model("takes = True if np.random.uniform() < 0.9 else False\n        if takes:"),
    "around-python": HEAD + AROUND.format(condition="random.random() < 0.9"),
    "around-tensor": HEAD + AROUND.format(condition="paddle.rand([1]) < 0.9"),
}
NEVER = {
    "tensor-below-zero": _model("if paddle.rand([1]) < 0:"),
    "python-below-zero": _model("if random.random() < 0.0:"),
    "above-its-end": _model("if random.uniform(2, 3) > 3:"),
    "data": HEAD + DATA,
}
SOURCES = {**SOMETIMES, **NEVER}


@pytest.mark.parametrize("name", SOMETIMES)
def test_the_larger_way_is_shown_and_the_smaller_one_is_the_low_end(measured, name):
    peaks, traced = measured.pair(name)
    assert traced["peak"] == pytest.approx(max(peaks), abs=8)
    assert traced["branches"]["low"] < traced["peak"]
    assert "branches_followed" in traced["notes"]


@pytest.mark.parametrize("name", NEVER)
def test_what_is_certain_and_data_that_is_drawn_is_taken_as_it_comes(measured, name):
    peaks, traced = measured.pair(name)
    assert traced["peak"] == pytest.approx(max(peaks[1:]), abs=8)
    assert traced["branches"] is None
