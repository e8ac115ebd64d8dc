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


WRAPPED = """
import paddle
from paddle import nn
from paddle.distributed.fleet.utils import mix_precision_utils
layers = paddle.amp.decorate(nn.Sequential(nn.Linear(400, 400), nn.Linear(400, 10)), level="O2", dtype="bfloat16")
layers = mix_precision_utils.MixPrecisionLayer(layers, dtype="bfloat16")
optimizer = paddle.optimizer.AdamW(1e-4, parameters=layers.parameters(), multi_precision=True)
optimizer = mix_precision_utils.MixPrecisionOptimizer(optimizer)
x = paddle.rand([4096, 400]).astype("bfloat16")
for step in range(6):
    with paddle.amp.auto_cast(level="O2", dtype="bfloat16"):
        loss = layers(x).astype("float32").mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
BY_HAND = WRAPPED.replace("clear_grad()", "clear_grad(set_to_zero=False)")


def test_what_clears_them_is_asked_not_to_zero(run_child):
    """The wrapper applies them without the optimizer's own `step`, and that is a step."""
    asked = {"kept": {}, "asked": {"set_to_zero": False}, "by hand": {}}
    sources = {"kept": WRAPPED, "asked": WRAPPED, "by hand": BY_HAND}
    rows = run_child("trace", sources, {name: {"target": "gpu", **more} for name, more in asked.items()})
    assert [row["status"] for row in rows.values()] == ["ok"] * 3
    assert rows["asked"]["peak"] == rows["by hand"]["peak"] < rows["kept"]["peak"]
