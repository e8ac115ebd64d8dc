"""Operators in place over a strided view: what they write lies beside the view until it goes to its place."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

SCRIPT = """
import paddle
import paddle.nn.functional as F
w = paddle.create_parameter([160, 100], 'float32')
i = paddle.arange(40)
mask = paddle.arange(160)[None, :] < paddle.full([100, 1], 80, dtype='int64')
optimizer = paddle.optimizer.SGD(1e-6, parameters=[w])
for step in range(6):
    X = {base}
    {line}
    {loss}.mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""
LINES = {
    "add": "X.add_(paddle.ones([100, 160]) * 2)", "scale": "X.scale_(2.0)", "relu": "F.relu_(X)", "exp": "X.exp_()",
    "multiply": "X.multiply_(paddle.ones([100, 160]) * 2)", "sum": "X += 1", "product": "X *= 2", "zero": "X.zero_()",
    "masked-fill": "X.masked_fill_(mask, 0.5)", "part": "X[3:50] = 1.0", "row": "X[3] = paddle.ones([160])",
    "mask": "X[mask] = paddle.ones([8000])", "rows": "X[i] = paddle.ones([40, 160])",
    "scatter": "X.scatter_(i, paddle.ones([40, 160]))",
    "where": "paddle.where_(mask, X, paddle.ones([100, 160]))", "clip": "X.clip_(0.1, 0.2)", "cumsum": "X.cumsum_(0)",
}  # fmt: skip
BASES = {
    "learned": ("(w * 1).t()", "X"),
    "data": ("paddle.ones([160, 100]).t()", "(X.reshape([100, 160]) * w.reshape([100, 160]))"),
}
SOURCES = {
    f"{name}-{kind}": SCRIPT.format(base=base, line=line, loss=loss)
    for name, line in LINES.items()
    for kind, (base, loss) in BASES.items()
}


@pytest.fixture(scope="module")
def measured(run_child):
    return run_child("real", SOURCES), run_child("trace", SOURCES)


@pytest.mark.parametrize("name", SOURCES)
def test_a_step_takes_what_the_allocator_says(measured, name):
    real, traced = measured[0][name], measured[1][name]
    assert real["failure"] is None
    assert traced["peak"] == pytest.approx(real["peaks"][-1], abs=8), traced["questions"]
