"""Transients of kernels that sort and select on a CPU, read from their sources and verified to the byte."""

from __future__ import annotations

from math import prod
from typing import Any

from ..memory.arrays import Array
from ..memory.dtypes import SIZE

Arrays = list[list[Array]]
_WRITTEN = ("axes", "starts", "ends", "steps")
"""Attributes that say which part of a tensor an assignment writes to."""
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


def _chosen(mask: Array) -> int:
    """Elements that a mask chooses; all of them where that hangs on the model."""
    from ..eager.interception import tracing

    if mask.value is None:
        return mask.numel
    with tracing(None):
        return int(mask.value.get().numpy().sum())


def _laid_out(x: Array, indices: list[Array]) -> tuple[int, int, int]:
    """What index_put makes of its indices (phi/kernels/funcs/index_put_utils.h).

    Returns:
        Elements that are written, and bytes of transient indices: the most while a mask becomes integers (`nonzero`,
        cut into columns), and those that stay (the columns; of a part of the axes, indices for each element and axis).
    """
    is_mask = indices[0].dtype == "bool"
    axes = len(indices[0].shape) if is_mask else len(indices)
    rest = x.shape[axes:]
    rows = _chosen(indices[0]) if is_mask else max(index.numel for index in indices)
    columns = _INDEX * axes * rows if is_mask else 0
    written = rows * prod(rest)
    return written, 2 * columns, columns + (_INDEX * (len(x.shape) * written + sum(rest)) if rest else 0)


def index_put(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """index_put: its indices; the result is not there before a mask has become integers (index_put_kernel.cc)."""
    x, made = operands[0][0], results[0][0]
    _, first, then = _laid_out(x, operands[1])
    return max(then, first if made.storage is x.storage else first - made.nbytes)


def index_put_grad(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """index_put_grad (x, indices, value, gradient): its indices, and the gradient of all values before it is summed."""
    x, value = operands[0][0], operands[2][0]
    written, first, then = _laid_out(x, operands[1])
    is_summed = len(results) > 1 and results[1] and value.numel != written
    summed = written * SIZE[x.dtype] if is_summed else 0
    return max(then + summed, first - sum(group[0].nbytes for group in results if group))


def repeat(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """repeat_interleave: for each row of the result where it comes from, of int32 or of the repeats' type."""
    return _sources(attrs, operands, results[0][0])


def repeat_grad(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """repeat_interleave_grad: the same for each row of the gradient."""
    return _sources(attrs, operands, next(group[0] for group in reversed(operands) if group))


def _sources(attrs: dict[str, Any], operands: Arrays, repeated: Array) -> int:
    axis = int(attrs.get("dim", attrs.get("axis", 0)))
    repeats = [group[0] for group in operands if group and group[0].dtype in {"int32", "int64"}]
    return repeated.shape[axis] * (SIZE[repeats[0].dtype] if repeats else 4)


def masked_fill(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """masked_fill and its gradient: a mask of another shape is laid out for every element (measured)."""
    x, mask = operands[0][0], operands[1][0]
    return 0 if mask.shape == x.shape else x.numel


def _part(attrs: dict[str, Any], x: Array) -> tuple[int, ...]:
    """Shape of the part of `x` that is written to; a single place where tensors say which one."""
    shape = [1 if axis in attrs.get("decrease_axes", ()) else size for axis, size in enumerate(x.shape)]
    for axis, start, end, step in zip(*(attrs.get(name, ()) for name in _WRITTEN), strict=False):
        shape[axis] = len(range(*slice(start, end, step).indices(x.shape[axis])))
    return tuple(shape)


def _is_whole(attrs: dict[str, Any], part: tuple[int, ...], x: Array) -> bool:
    return part == x.shape and all(step == 1 for step in attrs.get("steps", ()))


def set_value(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """`x[1:4] = y`: y at the part's size; of a number also that as a tensor, unless it fills the whole (measured)."""
    x = operands[0][0]
    part = _part(attrs, x)
    if "values" not in attrs:
        return prod(part) * SIZE[x.dtype]
    return 0 if _is_whole(attrs, part, x) else (prod(part) + 1) * SIZE[x.dtype]


def set_value_grad(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """The part of the gradient, beside that of a y of another shape; not of the whole (measured)."""
    gradient = next(group[0] for group in reversed(operands) if group)
    part = _part(attrs, gradient)
    if _is_whole(attrs, part, gradient) or any(group and group[0].shape == part for group in results[1:]):
        return 0
    return prod(part) * SIZE[gradient.dtype]


RULES = {
    **dict.fromkeys(("set_value_", "set_value_with_tensor_"), set_value),
    **dict.fromkeys(("set_value_grad", "set_value_with_tensor_grad"), set_value_grad),
    **dict.fromkeys(("argsort", "topk", "kthvalue", "mode"), forward),
    "argsort_grad": ordered_grad, "topk_grad": topk_grad, "kthvalue_grad": one_grad, "mode_grad": one_grad,
    "median": median, "median_grad": median_grad, "nanmedian": nanmedian, "nanmedian_grad": median_grad,
    "logcumsumexp_grad": logcumsumexp_grad,
    **dict.fromkeys(("repeat_interleave", "repeat_interleave_with_tensor_index"), repeat),
    **dict.fromkeys(("repeat_interleave_grad", "repeat_interleave_with_tensor_index_grad"), repeat_grad),
    **dict.fromkeys(("masked_fill", "masked_fill_", "masked_fill_grad"), masked_fill),
    "index_put": index_put, "index_put_": index_put, "index_put_grad": index_put_grad,
}  # fmt: skip
"""Rules of the kernels here, by operator."""
