"""How many places of a picture an assigner takes that chooses `topk` of them for each object, against real steps whose
objects choose different places."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import cast

import pytest

from jupyter_paddle_gpu.estimator.tracer.eager.marks import Marks
from jupyter_paddle_gpu.estimator.tracer.kernels.rules import Choice
from jupyter_paddle_gpu.estimator.tracer.memory.arrays import Array, State

pytestmark = pytest.mark.paddle

SOURCE = """
import numpy as np, paddle, paddle.nn.functional as F
from paddle import nn
paddle.seed(0)
PICTURES, OBJECTS, PLACES, BEST, CLASSES = 2, 3, 2048, 8, 4
wanted = np.zeros([PICTURES, OBJECTS, PLACES], "float32")
for one in range(OBJECTS):
    wanted[:, one, BEST * one : BEST * (one + 1)] = 1 + one / 10
wanted = paddle.to_tensor(wanted)
labels = paddle.zeros([PICTURES, PLACES], "int64")
body, head = nn.Linear(4, 4), nn.Sequential(nn.Linear(4, 2048), nn.Tanh(), nn.Linear(2048, 1))
optimizer = paddle.optimizer.SGD(1e-6, parameters=body.parameters() + head.parameters())
for step in range(5):
    boxes = body(paddle.ones([PICTURES, PLACES, 4]))
    with paddle.no_grad():
        scores = wanted + 0 * boxes.sum(-1).unsqueeze(1)
        chosen = F.one_hot(paddle.topk(scores, BEST, axis=-1)[1], PLACES).sum(-2) * (scores > 0).astype("float32")
        several = (chosen.sum(-2).unsqueeze(1) > 1).tile([1, OBJECTS, 1])
        nearest = F.one_hot(scores.argmax(1), OBJECTS).transpose([0, 2, 1])
        chosen = paddle.where(several, nearest, chosen)
        assigned = paddle.where(chosen.sum(-2) > 0, labels, paddle.full_like(labels, CLASSES))
        positive = assigned != CLASSES
    mask = positive.unsqueeze(-1).tile([1, 1, 4])
    each = [boxes[i][positive[i]] for i in range(PICTURES)]
    weights = paddle.masked_select(F.one_hot(assigned, CLASSES + 1).sum(-1), positive)
    chosen = paddle.masked_select(boxes, mask).reshape([-1, 4]) + 0 * paddle.concat(each)
    loss = (head(chosen) * weights.unsqueeze(-1)).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
SOURCES = {
    "assigner": SOURCE,
    "other background": SOURCE.replace("positive = assigned != CLASSES", "positive = assigned != CLASSES - 1"),
}


def test_an_assigner_takes_as_many_places_as_it_chooses(measured):
    peaks, traced = measured.pair("assigner")
    assert traced["peak"] == pytest.approx(peaks[-1], rel=0.001)
    assert traced["extents"]["high"] < 0.6 * measured.traced["other background"]["peak"]
    assert traced["notes"] == ["unknown_shape_share"]


def test_what_differs_from_another_number_may_be_everything(measured):
    peaks, traced = measured.pair("other background")
    assert traced["peak"] == pytest.approx(peaks[-1], rel=0.001)


def _state(*shape: int, dtype: str = "float32") -> State:
    tensor = cast("State", type("Held", (), {"__slots__": ("__weakref__", "array")})())
    tensor.array = cast("Array", SimpleNamespace(shape=shape, numel=math.prod(shape), dtype=dtype))
    return tensor


def test_a_picture_has_its_own_part_of_the_most():
    """Of 4 pictures with 3 objects and 2 places each: `one_hot`, its sum, a picture, the marks twice in `where`."""
    marks, chosen, of_objects, one = Marks(), _state(4, 3, 2, 50), _state(4, 3, 50), _state(3, 50)
    marks.follow(Choice.MARKS, [], [chosen], None)
    marks.follow(Choice.ADDS, [chosen], [of_objects], None)
    assert marks.counts[of_objects] == (24, 24, True)
    marks.follow(Choice.PASSES, [of_objects], [one], None)
    assert marks.counts[one] == (6, 6, False)
    moved = _state(4, 3, 50)
    marks.follow(Choice.SELECTS, [of_objects, of_objects, of_objects], [moved], None)
    assert marks.counts[moved] == (24, 48, True)
    flat = _state(600)
    marks.follow(Choice.PASSES, [moved], [flat], None)
    part = _state(60)
    marks.follow(Choice.PASSES, [flat], [part], None)
    assert marks.counts[part] == (pytest.approx(2.4), 48, False)
