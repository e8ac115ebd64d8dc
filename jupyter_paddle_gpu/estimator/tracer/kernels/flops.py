"""Floating point operations of an operator; a multiply-add counts as two."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from ..memory.arrays import Array
from . import einsums

Arrays = list[list[Array]]


def _first(group: list[Array]) -> Array:
    return group[0]


def _matmul(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    x = operands[0][0].shape
    inner = x[-2] if attrs.get("transpose_x") and len(x) > 1 else x[-1]
    return 2 * results[0][0].numel * inner


def _matmul_grad(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    x, out_grad = operands[0][0].shape, operands[2][0]
    inner = x[-2] if attrs.get("transpose_x") and len(x) > 1 else x[-1]
    return 2 * out_grad.numel * inner * sum(bool(group) for group in results)


def _linear(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    return results[0][0].numel * (2 * operands[0][0].shape[-1] + 1)


def _linear_grad(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    out_grad = operands[3][0]
    products = sum(bool(group) for group in results[:2])
    return 2 * out_grad.numel * operands[0][0].shape[-1] * products + out_grad.numel * bool(results[2])


def _convolution(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    weight = operands[1][0].shape  # [out, in / groups, *kernel]
    return 2 * results[0][0].numel * prod(weight[1:])


def _convolution_grad(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    weight, out_grad = operands[1][0].shape, operands[2][0]
    return 2 * out_grad.numel * prod(weight[1:]) * sum(bool(group) for group in results)


def _transposed(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    weight = operands[1][0].shape  # [in, out / groups, *kernel]
    return 2 * operands[0][0].numel * prod(weight[1:])


def _transposed_grad(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    return _transposed(attrs, operands, results) * sum(bool(group) for group in results)


def _per_element(factor: int) -> Callable[[dict[str, Any], Arrays, Arrays], int]:
    def count(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
        sizes = [array.numel for group in (*operands[:1], *results[:1]) for array in group]
        return factor * max(sizes, default=0)

    return count


def _rnn(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    steps, batch = operands[0][0].shape[:2]
    weights = sum(array.numel for array in operands[2] if len(array.shape) == 2)
    return 2 * steps * batch * weights


def _rnn_grad(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    return 2 * _rnn(attrs, operands, results)


def _nothing(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    return 0


_RULES: dict[str, Callable[[dict[str, Any], Arrays, Arrays], int]] = {
    "matmul": _matmul, "matmul_grad": _matmul_grad, "bmm": _matmul, "bmm_grad": _matmul_grad,
    "linear_v2": _linear, "linear_v2_grad": _linear_grad,
    "conv2d": _convolution, "conv2d_grad": _convolution_grad, "conv3d": _convolution, "conv3d_grad": _convolution_grad,
    "depthwise_conv2d": _convolution, "depthwise_conv2d_grad": _convolution_grad,
    "conv2d_transpose": _transposed, "conv2d_transpose_grad": _transposed_grad,
    "conv3d_transpose": _transposed, "conv3d_transpose_grad": _transposed_grad,
    "einsum": einsums.flops, "rnn": _rnn, "rnn_grad": _rnn_grad,
    "batch_norm": _per_element(5), "batch_norm_": _per_element(5), "batch_norm_grad": _per_element(8),
    "layer_norm": _per_element(5), "layer_norm_grad": _per_element(8),
    "softmax": _per_element(4), "softmax_grad": _per_element(3),
    "cross_entropy_with_softmax": _per_element(5), "cross_entropy_with_softmax_grad": _per_element(2),
    "adam_": _per_element(12), "adamw_": _per_element(14), "momentum_": _per_element(4), "sgd_": _per_element(2),
    "gelu": _per_element(8), "gelu_grad": _per_element(12),
    **dict.fromkeys(
        ("embedding", "embedding_grad", "concat", "concat_grad", "split", "stack", "cast", "full", "full_like",
         "gather", "gather_grad", "gather_nd", "gather_nd_grad", "slice_grad", "assign", "arange", "gaussian",
         "uniform", "tile", "expand", "pad", "pad3d", "one_hot", "transpose", "reshape", "data", "to_tensor"),
        _nothing,
    ),
}  # fmt: skip
_ELEMENTWISE = _per_element(1)


def flops_of(name: str, attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """Floating point operations of one operator; one an element where no rule says more."""
    try:
        return _RULES.get(name, _ELEMENTWISE)(attrs, operands, results)
    except (IndexError, KeyError, TypeError):
        return 0
