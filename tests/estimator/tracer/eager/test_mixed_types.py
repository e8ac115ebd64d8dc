"""Two floating types in one call: eager mode casts one of them first, and saves that cast for the backward pass."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

HEAD = """
import paddle
from paddle import nn
paddle.seed(0)
wide = paddle.create_parameter([512, 256], "float32")
low = paddle.create_parameter([512, 256], "float32").astype("bfloat16").detach()
low.stop_gradient = False
row = paddle.create_parameter([512, 1], "float32")
number = paddle.ones([])
optimizer = paddle.optimizer.SGD(1e-3, parameters=[wide, row])
for step in range(6):
    low.clear_gradient(False)
"""
STEP = """
    made.astype("float32").mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""
SOURCES = {
    "multiply": "(low * wide) * wide",
    "multiply-wide-first": "(row * low).exp()",
    "subtract": "(low - wide).exp()",
    "divide": "low / (wide * wide + 1)",
    "maximum": "paddle.maximum(wide, low) * wide",
    "fmin": "paddle.fmin(low, wide) * wide",
    "power": "paddle.pow(low * low + 1, wide)",
    "where": "paddle.where(wide > low, low, wide).exp()",
    "compared": "wide * (low >= wide).astype('float32')",
    "of-no-dimensions": "(low * number) * low",
    "norm": "(paddle.rsqrt(low.astype('float32').pow(2).mean(-1, keepdim=True) + 1e-5) * low).exp()",
}


def program(made: str) -> str:
    return f"{HEAD}    made = {made}\n{STEP}"


@pytest.fixture(scope="module")
def measured(measure):
    return measure({name: program(made) for name, made in SOURCES.items()})


@pytest.fixture(scope="module")
def on_gpu(run_child):
    sums = {"wide first": "wide + low", "low first": "low + wide"}
    programs = {name: program(f"row; {made}") for name, made in sums.items()}
    return run_child("trace", programs, {name: {"target": "gpu"} for name in sums})


@pytest.mark.parametrize("name", SOURCES)
def test_the_cast_is_in_the_step_as_the_allocator_says(measured, name):
    peaks, traced = measured.pair(name)
    assert traced["peak"] is not None, traced["stop"]
    assert traced["peak"] == pytest.approx(peaks[-1], abs=8)


def test_a_sum_on_a_gpu_takes_low_precision_beside_float32_as_it_is(on_gpu):
    peaks = {name: one["peak"] for name, one in on_gpu.items()}
    assert peaks["low first"] - peaks["wide first"] == 4 * 512 * 256
