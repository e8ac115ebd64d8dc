"""Gradients in float32 beside parameters, as fleet keeps them: made under another name, added to, then cleared."""

from __future__ import annotations

import pytest

from tests.estimator.tracer.measuring import steady

pytestmark = pytest.mark.paddle

KEPT = """
import paddle
from paddle.base import core
weight = paddle.create_parameter([400, 400], "float32")
optimizer = paddle.optimizer.SGD(1e-4, parameters=[weight])
x = paddle.rand([64, 400])
kept = []
def hook(gradient):
    half = gradient.cast("{low}")
    if kept:
        kept[0].{adds}(half)
    else:
        whole = half.cast("float32")
        kept.append(core.eager.Tensor(value=whole.value(), place=half.place, name="main_grad@weight"))
    half._clear_data()
    {clears}
weight.{registers}(hook)
for step in range(8):
    (x @ weight).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
    {forgets}
"""


def kept(
    low: str = "bfloat16",
    adds: str = "add_",
    registers: str = "register_hook",
    clears: str = "",
    forgets: str = "",
) -> str:
    return KEPT.format(low=low, adds=adds, registers=registers, clears=clears, forgets=forgets)


SOURCES = {
    "added": kept(),
    "added-float16": kept("float16"),
    "multiplied": kept(adds="multiply_"),
    "cleared": kept(registers="_register_grad_hook", clears="gradient._clear_data()"),
    "cleared-anew": kept(registers="_register_grad_hook", clears="gradient._clear_data()", forgets="kept.clear()"),
}


@pytest.mark.parametrize("name", SOURCES)
def test_the_peak_is_that_of_real_steps(measured, name):
    peaks, traced = measured.pair(name)
    assert traced["peak"] == steady(peaks)
