"""What in-place operators and assignments to a part leave: gradients at what was written over, copies; to the byte."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

SCRIPT = """
import paddle
import paddle.nn.functional as F
paddle.seed(0)
w = paddle.create_parameter([64, 100], 'float32')
v = paddle.create_parameter([64, 100], 'float32')
optimizer = paddle.optimizer.SGD(1e-6, parameters=[w, v])
for step in range(6):
    x = {start}
    {write}
    loss = (x * 1).mean() + w.mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
ZEROS, ONES, GRAPH = "paddle.zeros([64, 100])", "paddle.ones([64, 100])", "w * 2"
OPERATORS = ("add_", "subtract_", "multiply_", "divide_", "hypot_", "copysign_")
CASES = {
    "part": (ZEROS, "x[:4] = w[:4] * 2"),
    "row": (ZEROS, "x[3] = w[3] * 2"),
    "rows": (ZEROS, "for i in range(4): x[i] = w[i] * v[i]"),
    "part-broadcast": (GRAPH, "x[:, :50] = v[:, :50].sum(1, keepdim=True)"),
    "part-strided": (ZEROS, "x[1:9:2, 5] = w[:1, 5] * 2"),
    "part-number": (GRAPH, "x[:4] = 0.0"),
    "part-number-strided": (GRAPH, "x[1:9:2, 5] = 3"),
    "whole": (GRAPH, "x[:] = v * 2"), "whole-broadcast": (GRAPH, "x[:] = v[0] * 2"),
    "whole-number": (GRAPH, "x[:] = 0"), "turned-number": (GRAPH, "x[::-1] = 0"),
    "by-indices": (ZEROS, "x[paddle.arange(4)] = w[:4] * 2"),
    **{f"{name}{where}": (start, f"x.{name}(v * 2)")
       for name in OPERATORS for where, start in (("constant", ONES), ("graph", GRAPH))},
    "lerp": (ZEROS, "x.lerp_(v * 2, 0.5)"),
    "add-sign": (ZEROS, "x += v * 2"), "multiply-sign": (ONES, "x *= v"),
    "relu": (GRAPH, "F.relu_(x)"), "exp": (GRAPH, "x.exp_()"), "clip": (GRAPH, "x.clip_(0.1, 0.5)"),
    "sin": (GRAPH, "x.sin_()"), "tanh": (GRAPH, "x.tanh_()"), "scale": (GRAPH, "x.scale_(3.0, 1.0)"),
    "scatter": (GRAPH, "x.scatter_(paddle.arange(4), v[:4] * 2)"),
    "masked-fill": (GRAPH, "x.masked_fill_(v > 0, 1.0)"),
    "cast": (GRAPH, "x.cast_('float64'); x = x.astype('float32')"),
}  # fmt: skip
SOURCES = {name: SCRIPT.format(start=start, write=write) for name, (start, write) in CASES.items()}


@pytest.mark.parametrize("name", SOURCES)
def test_the_peak_is_the_allocators(measured, name):
    peaks, traced = measured.pair(name)
    assert traced["peak"] == peaks[-1], traced["questions"]
