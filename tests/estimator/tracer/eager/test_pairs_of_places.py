"""`scores[rows, cols]`: what tensors of places choose along several axes, where the places take more than the rest."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

SCRIPT = """
import numpy as np, paddle
import paddle.nn.functional as F
from paddle import nn
net = nn.Linear(16, 64)
optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())
x, mask = paddle.rand([32, 16]), paddle.arange(32) % 2 == 0
for step in range(5):
    rows, cols, kinds = (paddle.randint(0, high, [20000]) for high in (32, 16, 4))
    few = cols.astype('int32')
    pairs = paddle.randint(0, 16, [20000, 2])
    scores = net(x)
    cube = scores.reshape([32, 4, 16])
    loss = ({expression}).square().mean()
    del rows, cols, kinds, pairs
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    del loss
"""
EXPRESSIONS = {
    "pairs": "scores[rows, cols]",
    "rows": "scores[rows]",
    "three": "cube[rows, kinds, cols]",
    "apart": "cube[rows, :, cols]",
    "middle": "cube[:, kinds[:500]]",
    "last": "cube[..., cols[:500]]",
    "last two": "cube[:, kinds[:500], cols[:500]]",
    "of a part": "cube[rows % 10, 1:3, cols]",
    "behind a number": "cube[3, kinds, cols]",
    "around a number": "cube[rows, 2, cols]",
    "of two types": "scores[rows, few]",
    "of short integers": "scores[few, few]",
    "every second row": "scores[::2][kinds, cols]",
    "columns of a tensor": "scores[pairs[:, 0], pairs[:, 1]]",
    "a column by a row": "scores[rows[:300].unsqueeze(1), cols[:200]]",
    "of two axes": "scores[rows.reshape([100, 200]), cols.reshape([100, 200])]",
    "numpy": "scores[rows.numpy(), cols.numpy()]",
    "list": "scores[list(range(32)), [3] * 32] + cols.sum()",
    "a mask of rows": "scores[mask] + cols.sum()",
    "a mask and a number of each": "scores[mask, cols[:16]] + rows.sum()",
    "of a transposed one": "scores.t()[cols, rows]",
    "short integers of a transposed one": "scores.t()[few]",
    "columns of a transposed one": "scores.t()[:, rows]",
    "a list of columns of a transposed one": "scores.t()[:, list(range(16)) * 40]",
    "columns of a part": "scores[:, 10:50][:, cols]",
    "last axis of a transposed one": "cube.transpose([2, 1, 0])[..., kinds]",
    "neighbours in a transposed one": "cube.transpose([2, 0, 1])[:, cols, kinds]",
    "a mask of columns of a transposed one": "scores.t()[:, mask] + cols.sum()",
    "apart in a transposed one": "cube.transpose([2, 1, 0])[cols, :, rows]",
    "of the weight": "net.weight[cols, rows] + scores.mean()",
    "differences of pairs": "(scores[pairs[:, 0]] - scores[pairs[:, 1]])",
    "twice": "scores[rows, cols] * scores[rows, few]",
}
SOURCES = {name: SCRIPT.format(expression=expression) for name, expression in EXPRESSIONS.items()}


@pytest.mark.parametrize("name", SOURCES)
def test_a_step_takes_what_the_allocator_says(measured, name):
    peaks, traced = measured.pair(name)
    assert traced["peak"] == peaks[-1], traced["questions"]


CHOSEN = """
import paddle
data, target = paddle.rand([96, 16]), paddle.arange(96) % 20
table = paddle.arange(12).reshape([3, 4])
net = paddle.nn.Linear(16, 20)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for step in range(4):
    places = paddle.randperm(96)[:24]
    rows = int(table[paddle.to_tensor([2, 0]), 1:][:, paddle.to_tensor([0, 2])].sum())
    x = paddle.concat([data[places], paddle.rand([rows, 16])])
    labels = paddle.concat([target[places], target[paddle.to_tensor([95] * rows)]])
    loss = paddle.nn.functional.cross_entropy(net(x), labels)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""


def test_numbers_that_are_chosen_are_known(measure):
    """Labels are within their classes, and a sum of them says a size."""
    peaks, traced = measure({"chosen": CHOSEN}).pair("chosen")
    assert (traced["peak"], traced["notes"]) == (peaks[-1], [])


BEYOND = """
import paddle
net = paddle.nn.Linear(16, 20)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
rows = paddle.rand([8, 16])
for step in range(4):
    places = {places}
    loss = net(rows[places]).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
UNCHECKED = {
    "fixed": "paddle.to_tensor([1, 9])", "drawn": "paddle.randperm(12)", "low": "paddle.to_tensor([-9])",
    "within": "paddle.to_tensor([-8, 7])",
}  # fmt: skip


def test_paddle_does_not_look_for_places_that_are_not_there(measure):
    """It runs with what stands in memory: no stop, and a note."""
    found = measure({name: BEYOND.format(places=places) for name, places in UNCHECKED.items()})
    for name in UNCHECKED:
        peaks, traced = found.pair(name)
        assert (traced["status"], traced["stop"], traced["peak"]) == ("ok", None, peaks[-1]), name
        assert traced["notes"] == ([] if name == "within" else ["index_unchecked"]), name
