"""Transient memory of kernels, by rule. CPU rules are measured against Paddle's own allocator."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from . import recurrent
from .arrays import Array
from .dtypes import SIZE

Arrays = list[list[Array]]
Rule = Callable[[dict[str, Any], Arrays, Arrays], int]

CONVOLUTION_LIMIT = 512 << 20
"""kDefaultConvWorkspaceSizeLimitMB (paddle/phi/backends/gpu/cuda/cudnn_workspace_helper.h): cuDNN's limit."""


def _is_pointwise(attrs: dict[str, Any], kernel: tuple[int, ...]) -> bool:
    return (
        all(size == 1 for size in kernel)
        and all(s == 1 for s in attrs.get("strides", ()))
        and not any(attrs.get("paddings", ()))
    )


def _im2col(x: Array, weight: Array, output: Array, attrs: dict[str, Any]) -> int:
    """One image's columns (phi/kernels/impl/conv_kernel_impl.h): C / groups * kernel * output positions."""
    kernel = weight.shape[2:]
    if _is_pointwise(attrs, kernel):
        return 0
    positions = output.shape[2:] if attrs.get("data_format", "NCHW").startswith("NC") else output.shape[1:-1]
    return prod(weight.shape[1:]) * prod(positions) * SIZE[x.dtype]


def _convolution(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    return _im2col(operands[0][0], operands[1][0], results[0][0], attrs)


def _convolution_grad(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    return _im2col(operands[0][0], operands[1][0], operands[2][0], attrs)


def _transposed(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """One image's columns of the output: Cout / groups * kernel * input positions."""
    x, weight = operands[0][0], operands[1][0]
    return prod(weight.shape[1:]) * prod(x.shape[2:]) * SIZE[x.dtype]


def _broadcast_grad(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """The gradient of a same-rank broadcast operand ([1, C, 1, 1]) is not reduced in place: two copies."""
    if len(results) < 2 or not results[1]:
        return 0
    x, y = operands[0][0], operands[1][0]
    return 2 * x.nbytes if x.shape != y.shape and len(x.shape) == len(y.shape) else 0


def _merged_rows(copies: int) -> Rule:
    """Optimizers first merge the rows of a sparse gradient (phi MergeAdd): distinct rows, if indices are uniform."""

    def rule(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
        gradient = operands[1][0]
        if not gradient.sparse:
            return 0
        rows, width = gradient.shape[0], gradient.numel // max(gradient.shape[0], 1)
        distinct = gradient.sparse * (1 - (1 - 1 / gradient.sparse) ** rows)
        return copies * int(distinct) * width * SIZE[gradient.dtype]

    return rule


_CPU: dict[str, Rule] = {
    "conv2d": _convolution, "conv2d_grad": _convolution_grad,
    "conv3d": _convolution, "conv3d_grad": _convolution_grad,
    "conv2d_transpose": _transposed, "conv2d_transpose_grad": _transposed,
    "conv3d_transpose": _transposed, "conv3d_transpose_grad": _transposed,
    "adam_": _merged_rows(1), "momentum_": _merged_rows(1), "adagrad_": _merged_rows(2),
    "rnn": recurrent.forward_workspace, "rnn_grad": recurrent.backward_workspace,
    "add_grad": _broadcast_grad, "subtract_grad": _broadcast_grad,
}  # fmt: skip
_CUDNN = frozenset(
    {"conv2d", "conv2d_grad", "conv3d", "conv3d_grad", "conv2d_transpose", "conv2d_transpose_grad",
     "conv3d_transpose", "conv3d_transpose_grad", "depthwise_conv2d", "depthwise_conv2d_grad"}
)  # fmt: skip


def cpu_workspace(name: str, attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """Transient bytes of the CPU kernel."""
    rule = _CPU.get(name)
    return 0 if rule is None else rule(attrs, operands, results)


def gpu_workspace(name: str, attrs: dict[str, Any], operands: Arrays, results: Arrays) -> tuple[int, int]:
    """Range of the GPU kernel's transient bytes; cuDNN's algorithm is not known beforehand."""
    if name not in _CUDNN:
        return 0, 0
    touched = sum(array.nbytes for group in (*operands, *results) for array in group)
    return 0, min(CONVOLUTION_LIMIT, touched)
