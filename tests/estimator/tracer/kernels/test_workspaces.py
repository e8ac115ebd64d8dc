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
SELECTIONS = {
    "sort": "paddle.sort(w, axis={axis})", "topk": "paddle.topk(w, 3, axis={axis})[0]",
    "argsort": "paddle.take_along_axis(w, paddle.argsort(w, {axis}), {axis})",
    "nanmedian": "paddle.nanmedian(w, axis={axis})",
    "median": "paddle.median(w, axis={axis})", "logcumsumexp": "paddle.logcumsumexp(w, axis={axis})",
    "kthvalue": "paddle.kthvalue(w, 2, axis={axis})[0]", "mode": "paddle.mode(w, axis={axis}, keepdim=True)[0]",
}  # fmt: skip
REGULAR = "(w * 0.01 + paddle.eye(w.shape[-1]) * 9)"
MATRICES = {
    "solve": f"paddle.linalg.solve({REGULAR}, w[..., :5] * 2)",
    "solve-column": f"paddle.linalg.solve({REGULAR}, w[..., :1] * 2)",
    "cholesky-solve": f"paddle.linalg.cholesky_solve(w[..., :5] * 2, {REGULAR})",
    "lstsq": f"w.mean() + paddle.linalg.lstsq({REGULAR}, w[..., :5])[0].mean()",
    "det": "paddle.linalg.det(w * 0.01 + paddle.eye(w.shape[-1]))", "slogdet": f"paddle.linalg.slogdet({REGULAR})",
    "power-2": "paddle.linalg.matrix_power(w, 2)", "power-3": "paddle.linalg.matrix_power(w, 3)",
    "power-5": "paddle.linalg.matrix_power(w, 5)", "power-inverse": f"paddle.linalg.matrix_power({REGULAR}, -2)",
    "qr": f"paddle.matmul(*paddle.linalg.qr({REGULAR}))", "lu": f"paddle.linalg.lu({REGULAR})[0]",
    "eigh": f"sum(x.mean() for x in paddle.linalg.eigh({REGULAR}))",
    "eigvalsh": f"paddle.linalg.eigvalsh({REGULAR})",
}  # fmt: skip
BOXES = "paddle.to_tensor([[0.0, 0.0, 4.0, 4.0]] * 600), paddle.to_tensor([200, 400], dtype='int32')"
CTC = (
    "F.ctc_loss({logits}, paddle.ones([w.shape[1], 7], 'int32'), paddle.full([w.shape[1]], w.shape[0], 'int64'), "
    "paddle.full([w.shape[1]], 7, 'int64'))"
)
YOLO = (
    "paddle.vision.ops.yolo_loss({maps}, paddle.rand([2, 50, 4], {maps}.dtype), paddle.ones([2, 50], 'int32'), "
    "[10, 13, 16, 30], [0, 1], class_num=2, ignore_thresh=0.7, downsample_ratio=8{options})"
)
RECTANGLE = "paddle.eye(w.shape[-2], w.shape[-1])"
CASES = {
    "inverse": ("8, 60, 60", "paddle.inverse(w + paddle.eye(60) * 9)"),
    "inverse-one": ("60, 60", "paddle.inverse(w + paddle.eye(60) * 9)"),
    "kron": ("300, 40", "paddle.kron(w, paddle.ones([2, 10]))"),
    "kron-both": ("300, 40", "paddle.kron(w, w[:3])"),
    "cross": ("400, 3", "paddle.cross(w, w * 2)"), "cross-batches": ("2, 60, 3", "paddle.cross(w, w * 2, axis=2)"),
    **{f"dist-{name}": ("40, 50", f"paddle.dist({operands})") for name, operands in {
        "same": "w, w * 2, 3", "row": "w, w[0] * 2", "both": "w[:, :1] * 2, w[:1] * 3",
        "constant": "w, paddle.ones([50])",
        "last": "paddle.ones([40, 50]), w[:1] * 2", "last-same": "paddle.ones([40, 50]), w", "first": "w, w[0] * 2, 1",
        "largest": "w, w[0] * 2, float('inf')", "batches": "w.reshape([4, 10, 50]), w[:10] * 2"}.items()},
    "bilinear": ("20, 30", "F.bilinear(w, w[:, :9] * 2, paddle.ones([7, 30, 9]))"),
    "ctc": ("20, 4, 30", CTC.format(logits="w")), "ctc-double": ("33, 9, 11", CTC.format(logits="w.astype('float64')")),
    "affine": ("24", "F.affine_grid(w.reshape([4, 2, 3]), [4, 3, 64, 64])"),
    "affine-edges": ("48", "F.affine_grid(w.reshape([8, 2, 3]), [8, 3, 40, 24], align_corners=False)"),
    "affine-double": ("24", "F.affine_grid(w.astype('float64').reshape([4, 2, 3]), paddle.to_tensor([4, 3, 9, 5]))"),
    "affine-volume": ("24", "F.affine_grid(w.reshape([2, 3, 4]), [2, 1, 5, 6, 7])"),
    "boxes-align": ("2, 3, 16, 16", f"paddle.vision.ops.roi_align(w, {BOXES}, 5)"),
    "boxes-align-alone": ("2, 3, 16, 16", f"w + paddle.vision.ops.roi_align(w.detach(), {BOXES}, 1).mean()"),
    "boxes-pool": ("2, 3, 16, 16", f"paddle.vision.ops.roi_pool(w, {BOXES}, 5)"),
    "boxes-pool-parts": ("2, 50, 16, 16", f"paddle.vision.ops.psroi_pool(w, {BOXES}, 5)"),
    "yolo": ("2, 14, 8, 8", YOLO.format(maps="w", options="")),
    "yolo-double": ("2, 14, 8, 8", YOLO.format(maps="w.astype('float64')", options="")),
    "yolo-scores": ("2, 14, 8, 8", YOLO.format(maps="w", options=", gt_score=paddle.ones([2, 50])")),
    "yolo-forward": ("2, 14, 8, 8", "w.mean() + " + YOLO.format(maps="w.detach()", options="")),
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
    "dropout-that-drops-nothing": ("160, 1000", "F.dropout(w * 1, 0.5, training=False).square()"),
    "dropout": ("160, 1000", "F.dropout(w * 1, 0.5).square()"),
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
    "rfft": ("64, 1000", "paddle.fft.rfft(w).abs()"),
    "rfft-odd": ("16, 33", "paddle.fft.rfft(w).abs()"),
    "rfft-image": ("8, 40, 64", "paddle.fft.rfft2(w).abs()"),
    "irfft": ("8, 40, 64", "paddle.fft.irfft(paddle.fft.rfft(w) * 2)"),
    "stft": ("4, 4000", "paddle.signal.stft(w, 64, 16).abs()"),
    "volume": ("2, 8, 8, 16, 16", "F.grid_sample(w, paddle.rand([2, 6, 10, 12, 3]) * 2 - 1)"),
    "volume-odd": ("3, 4, 5, 6, 7", "F.grid_sample(w, paddle.rand([3, 9, 8, 7, 3]), padding_mode='border')"),
    "volume-nearest": ("1, 16, 4, 4, 4", "F.grid_sample(w, paddle.rand([1, 20, 5, 5, 3]), mode='nearest')"),
    "volume-grid": ("2, 6, 10, 12, 3", "F.grid_sample(w * 2, w)"),
    "grid-learned": ("4, 20, 30, 2", "F.grid_sample(w * 1, w * 2 - 1)"),
    "index-put": ("8, 40, 100", "paddle.index_put(w * 1, (paddle.arange(2),), paddle.ones([1]))"),
    "index-put-table": ("64, 512", "paddle.index_put(w * 1, (paddle.arange(2),), paddle.ones([1]))"),
    "index-put-pairs": ("3, 1000", "paddle.index_put(w * 1, (paddle.arange(2), paddle.arange(2)), paddle.ones([1]))"),
    "nanmedian-all": ("8, 40, 100", "paddle.nanmedian(w)"),
    "median-all": ("8, 40, 100", "paddle.median(w)"),
    **{f"{name}-{axis}{'-odd' * odd}": (shape, expression.format(axis=axis)) for name, expression in SELECTIONS.items()
       for axis in (0, -1) for odd, shape in enumerate(("64, 512", "3, 41, 100"))},
    **{f"{name}-{shape.replace(', ', 'x')}": (shape, expression) for name, expression in MATRICES.items()
       for shape in ("8, 60, 60", "60, 60", "2, 3, 20, 20")},
    **{f"{name}-{shape.replace(', ', 'x')}": (shape, MATRICES[name].replace("paddle.eye(w.shape[-1])", RECTANGLE))
       for name in ("qr", "lu", "lstsq")
       for shape in ("60, 40", "40, 60", "20, 100", "3, 40, 20", "3, 20, 40")},
    **{f"lstsq-{driver}-{shape.replace(', ', 'x')}":
       (shape, f"w.mean() + paddle.linalg.lstsq(w * 2, w[..., :{sides}], driver='{driver}')[0].mean()")
       for driver in ("gels", "gelsd", "gelss") for sides, shapes in {
           5: ("60, 60", "60, 40", "40, 60", "20, 100", "100, 20", "3, 40, 20", "3, 20, 40", "2, 3, 20, 20"),
           1: ("200, 200", "103, 64"), 60: ("12, 60", "70, 60")}.items() for shape in shapes},
    **{f"matrix-exp-{shape.replace(', ', 'x')}": (shape, "paddle.linalg.matrix_exp(w * 0.01)")
       for shape in ("8, 60, 60", "60, 60", "2, 3, 20, 20", "4, 1, 1")},
    "matrix-exp-double": ("4, 30, 30", "paddle.linalg.matrix_exp(w.astype('float64') * 0.01)"),
    "repeat": ("64, 96", "w.repeat_interleave(2, 0)"), "repeat-columns": ("64, 96", "w.repeat_interleave(2, 1)"),
    "repeat-by-data": ("64, 96", "paddle.repeat_interleave(w, paddle.arange(64) % 3, 0)"),
    "repeat-by-integers": ("64, 96", "paddle.repeat_interleave(w, paddle.ones([96], dtype='int32') * 2, 1)"),
    "einsum-constant": ("64, 96", "paddle.einsum('ij,kj->ik', w * 1, paddle.ones([64, 96]))"),
    "einsum-first-constant": ("64, 96", "paddle.einsum('ij,kj->ik', paddle.ones([64, 96]), w * 1)"),
    "einsum-detached": ("64, 96", "paddle.einsum('ij,kj->ik', w * 1, (w * 2).detach())"),
    "einsum-batches": ("8, 8, 96", "paddle.einsum('bhd,khd->bkh', w * 1, paddle.ones([8, 8, 96]))"),
    "einsum-turned": ("64, 96", "paddle.einsum('ij->ji', w)"),
    "chain-left": ("10, 30", "paddle.linalg.multi_dot([w, w.T * 2, w * 3])"),
    "chain-right": ("30, 10", "paddle.linalg.multi_dot([w, w.T * 2, w * 3])"),
    "qr-tall": ("4, 50, 20", "paddle.matmul(*paddle.linalg.qr(w))"),
    "solve-broadcast": ("20, 20", "paddle.linalg.solve(w + paddle.eye(20) * 9, w[:, :5] * paddle.ones([6, 20, 5]))"),
    "solve-vector": ("20, 20", "paddle.linalg.solve(w + paddle.eye(20) * 9, w[0] * 2)"),
    "cholesky-solve-wide": ("20, 200", "paddle.linalg.cholesky_solve(w, w[:, :20] + paddle.eye(20) * 9)"),
}  # fmt: skip
SOURCES = {name: SCRIPT.format(shape=shape, result=result) for name, (shape, result) in CASES.items()}


@pytest.mark.parametrize("name", SOURCES)
def test_the_peak_is_the_allocators(measured, name):
    peaks, traced = measured.pair(name)
    assert traced["peak"] == peaks[-1], traced["questions"]
