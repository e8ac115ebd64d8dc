"""Recurrent layers whose input is wider than their state: the gradient kernel holds its size once more."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

SCRIPT = """
import paddle
from paddle import nn
paddle.seed(0)
w = paddle.create_parameter([10, 8, {width}], 'float32')
recurrent = nn.{cell}({width}, 8, num_layers={layers}, direction='{direction}', time_major=True)
optimizer = paddle.optimizer.SGD(1e-6, parameters=[w, *recurrent.parameters()])
for step in range(6):
    recurrent({given})[0].mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""
SHAPES = (
    (200, 1, "forward", "w * 1.0"),
    (200, 1, "forward", "w.detach() * 1.0"),
    (200, 1, "bidirect", "w * 1.0"),
    (200, 2, "forward", "w * 1.0"),
    (200, 2, "bidirect", "w * 1.0"),
    (400, 3, "bidirect", "w * 1.0"),
    (400, 4, "forward", "w * 1.0"),
    (400, 5, "forward", "w * 1.0"),
)
SOURCES = {
    f"{cell}-{layers}-{direction}-{given.split()[0]}": SCRIPT.format(
        cell=cell, width=width, layers=layers, direction=direction, given=given
    )
    for cell in ("SimpleRNN", "GRU", "LSTM")
    for width, layers, direction, given in SHAPES
}


@pytest.mark.parametrize("name", SOURCES)
def test_the_peak_is_the_allocators(measured, name):
    peaks, traced = measured.pair(name)
    assert abs(traced["peak"] - peaks[-1]) <= 1, traced["questions"]
