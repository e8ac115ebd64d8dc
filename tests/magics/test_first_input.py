"""What is suggested for a live model that was not called yet."""

from __future__ import annotations

import pytest

paddle = pytest.importorskip("paddle")
from jupyter_paddle_gpu.magics.first_input import suggested  # noqa: E402 - it is asked of Paddle's layers

pytestmark = pytest.mark.paddle
nn = paddle.nn


@pytest.mark.parametrize(
    ("model", "batch"),
    [
        (nn.Sequential(nn.Flatten(), nn.Linear(20, 3)), "float32[32,20]"),
        (nn.Sequential(nn.Conv2D(3, 4, 3), nn.Linear(4, 2)), "float32[32,3,224,224]"),
        (nn.Conv2D(1, 4, 3), "float32[32,1,28,28]"),
        (nn.Conv1D(6, 4, 3), "float32[32,6,128]"),
        (nn.Sequential(nn.Embedding(100, 8), nn.LSTM(8, 8)), "int64[32,128]"),
        (nn.LSTM(5, 8), "float32[32,128,5]"),
        (paddle.Model(nn.Linear(7, 3)), "float32[32,7]"),
    ],
)
def test_the_first_layer_tells_what_it_takes(model, batch):
    assert suggested(model, {"model": model}) == (batch, "assumed")


def test_an_array_of_the_kernel_that_fits_comes_first():
    names = {"_old": paddle.rand([1, 20]), "y": paddle.rand([16, 3]), "x": paddle.rand([16, 20])}
    assert suggested(nn.Linear(20, 3), names) == ("float32[16,20]", "kernel")


@pytest.mark.parametrize(
    "cell",
    [
        "for _ in range(3):\n    x = paddle.rand([128, 20])",
        "x = np.random.rand(BATCH, 20)",
        "noise = paddle.rand([64, 3])\nx = paddle.randn(shape=(BATCH, 20))",
    ],
)
def test_what_the_cells_make_comes_before_an_assumption(cell):
    cells = ["!pip list", "def broken(", cell]
    assert suggested(nn.Linear(20, 3), {"BATCH": 128}, cells) == ("float32[128,20]", "cells")


def test_a_model_without_weights_tells_nothing():
    assert suggested(nn.ReLU(), {}) is None
