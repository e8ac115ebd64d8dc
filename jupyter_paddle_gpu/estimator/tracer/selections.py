"""Transients of kernels that sort and select on a CPU, read from their sources and verified to the byte."""

from __future__ import annotations

from math import prod
from typing import Any

from .arrays import Array
from .dtypes import SIZE

Arrays = list[list[Array]]
_INDEX = 8
"""Bytes of an index (int64)."""


def _is_last(axis: int, rank: int) -> bool:
    return rank == 0 or axis % rank == rank - 1


def forward(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """argsort, topk, kthvalue, mode: along an inner axis the operand and both results once more, transposed."""
    x = operands[0][0]
    if _is_last(int(attrs.get("axis", -1)), len(x.shape)):
        return 0
    return x.nbytes + sum(group[0].nbytes for group in results)


def ordered_grad(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """argsort_grad (indices, x, gradient): gradient, indices and result transposed, along an inner axis."""
    indices, x, grad = (group[0] for group in operands)
    return _transposed(attrs, x, indices, grad)


def topk_grad(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """topk_grad (x, indices, gradient): the same."""
    x, indices, grad = (group[0] for group in operands[:3])
    return _transposed(attrs, x, indices, grad)


def one_grad(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """kthvalue_grad, mode_grad: without `keepdim` gradient and indices are copied first, to have the axis again."""
    x, indices, grad = (group[0] for group in operands[:3])
    transposed, pair = _transposed(attrs, x, indices, grad), indices.nbytes + grad.nbytes
    if attrs.get("keepdim"):
        return transposed
    return max(2 * pair, transposed) if transposed else pair


def _transposed(attrs: dict[str, Any], x: Array, indices: Array, grad: Array) -> int:
    if _is_last(int(attrs.get("axis", -1)), len(x.shape)):
        return 0
    return x.nbytes + indices.nbytes + grad.nbytes


def median(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """median takes the upper half (`n // 2 + 1` values, with indices) by topk; with axes of a transposed operand."""
    x = operands[0][0]
    axes = attrs.get("axis") or ()
    count = prod(x.shape[axis] for axis in axes) if axes else x.numel
    rows = x.numel // max(count, 1)
    return (x.nbytes if axes else 0) + rows * (count // 2 + 1) * (SIZE[x.dtype] + _INDEX)


def nanmedian(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """nanmedian sorts all values, with indices; with axes of a transposed operand."""
    x = operands[0][0]
    return (x.nbytes if attrs.get("axis") else 0) + x.numel * (SIZE[x.dtype] + _INDEX)


def median_grad(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """median_grad: with axes the transposed operand and its gradient."""
    return 2 * operands[0][0].nbytes if attrs.get("axis") else 0


def logcumsumexp_grad(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """logcumsumexp_grad: positive part, negative part, one logarithm; at least in single precision."""
    x = operands[0][0]
    return 3 * x.numel * max(SIZE[x.dtype], 4)


def index_put(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """index_put with integers for the first axes: indices of all others, and all of them broadcast to one shape."""
    x, indices = operands[0][0], operands[1]
    rest = x.shape[len(indices) :]
    if not rest or any(index.dtype == "bool" for index in indices):
        return 0
    common = max(index.numel for index in indices) * prod(rest)
    return _INDEX * (len(x.shape) * common + sum(rest))


RULES = {
    **dict.fromkeys(("argsort", "topk", "kthvalue", "mode"), forward),
    "argsort_grad": ordered_grad, "topk_grad": topk_grad, "kthvalue_grad": one_grad, "mode_grad": one_grad,
    "median": median, "median_grad": median_grad, "nanmedian": nanmedian, "nanmedian_grad": median_grad,
    "logcumsumexp_grad": logcumsumexp_grad,
    "index_put": index_put, "index_put_grad": index_put,
}  # fmt: skip
"""Rules of the kernels here, by operator."""
