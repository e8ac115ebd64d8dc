"""Transient memory of CPU kernels that need more than their operands and results, to the byte."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

SCRIPT = """
import paddle
from paddle import nn
import paddle.nn.functional as F
from paddle.vision.ops import deform_conv2d
paddle.seed(0)
w = paddle.create_parameter([{shape}], 'float32')
optimizer = paddle.optimizer.SGD(1e-6, parameters=[w])
for step in range(6):
    loss = {result}.mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
GRID = "F.grid_sample(w, paddle.rand([4, {size}, 48, 2]) * 2 - 1{options})"
DEFORMABLE = "deform_conv2d(paddle.rand([4, 16, {size}, {size}]), paddle.rand([4, 18, {size}, {size}]), w, padding=1)"
CASES = {
    "inverse": ("8, 60, 60", "paddle.inverse(w + paddle.eye(60) * 9)"),
    "inverse-one": ("60, 60", "paddle.inverse(w + paddle.eye(60) * 9)"),
    "kron": ("300, 40", "paddle.kron(w, paddle.ones([2, 10]))"),
    "kron-both": ("300, 40", "paddle.kron(w, w[:3])"),
    "grid": ("4, 16, 32, 32", GRID.format(size=48, options="")),
    "grid-tall": ("4, 8, 64, 32", GRID.format(size=96, options=", align_corners=False")),
    "grid-border": ("4, 8, 32, 32", GRID.format(size=48, options=", padding_mode='border'")),
    "grid-nearest": ("4, 16, 32, 32", GRID.format(size=48, options=", mode='nearest'")),
    "spectral-norm": ("200, 300", "nn.SpectralNorm([200, 300], dim=1, power_iters=2)(w)"),
    "spectral-norm-image": ("64, 32, 3, 3", "nn.SpectralNorm([64, 32, 3, 3], dim=0)(w)"),
    "batched-broadcast": ("1, 12, 30, 20", "paddle.matmul(w, paddle.ones([6, 1, 20, 40]))"),
    "batched-both": ("6, 1, 30, 30", "paddle.matmul(w, w.reshape([1, 6, 30, 30]))"),
    "batched-matrix": ("30, 20", "paddle.matmul(w, paddle.ones([6, 20, 100]))"),
    "batched-transposed": ("6, 20, 30", "paddle.matmul(w, paddle.ones([20, 40]), transpose_x=True)"),
    "deformable": ("24, 16, 3, 3", DEFORMABLE.format(size=24)),
    "deformable-image": ("4, 16, 24, 24", "deform_conv2d(w, paddle.rand([4, 2, 24, 24]), paddle.rand([24, 16, 1, 1]))"),
    "cholesky": ("8, 60, 60", "paddle.linalg.cholesky(w * 0.01 + paddle.eye(60) * 9)"),
    "cholesky-upper": ("60, 60", "paddle.linalg.cholesky(w * 0.01 + paddle.eye(60) * 9, upper=True)"),
    "triangular": ("8, 60, 60", "paddle.linalg.triangular_solve(w + paddle.eye(60), paddle.ones([8, 60, 5]))"),
    "sum-row-first": ("500", "paddle.add(w, paddle.ones([60, 500]))"),
    "sum-outer": ("600, 1", "w - w.reshape([1, 600])"),
    "sum-column-first": ("60, 1", "paddle.subtract(w, paddle.ones([60, 500]))"),
    "sum-channel": ("1, 8, 1, 1", "paddle.ones([6, 8, 50, 50]) + w"),
    "product-outer": ("60, 1, 40", "w * w.reshape([1, 60, 40])"),
    "product-channel": ("1, 8, 1, 1", "paddle.ones([6, 8, 50, 50]) * w"),
    "product-whole": ("60, 50, 40", "w * paddle.ones([60, 1, 40])"),
    "fft": ("64, 1000", "paddle.fft.fft(w).abs()"),
}
SOURCES = {name: SCRIPT.format(shape=shape, result=result) for name, (shape, result) in CASES.items()}


@pytest.fixture(scope="module")
def measured(run_child):
    return run_child("real", SOURCES), run_child("trace", SOURCES)


@pytest.mark.parametrize("name", SOURCES)
def test_the_peak_is_the_allocators(measured, name):
    real, traced = measured[0][name], measured[1][name]
    assert real["failure"] is None
    assert traced["peak"] == real["peaks"][-1], traced["questions"]
