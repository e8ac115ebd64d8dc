"""Kernels that sort and choose: along an inner axis they first transpose."""

from __future__ import annotations

from math import prod

from ..memory.arrays import Array
from ..memory.dtypes import SIZE, name_of
from . import bounds
from .rules import (
    SCALAR,
    WITHOUT_MEMORY,
    Arrays,
    Asked,
    Attributes,
    Choice,
    Meta,
    Number,
    Operator,
    Place,
    Rule,
    Strides,
)

_INDEX = SIZE["int64"]
"""Bytes of an index."""
_INVERSE = 2
"""The result of `unique` that says where each element went."""


def _is_last(axis: int, rank: int) -> bool:
    return rank == 0 or axis % rank == rank - 1


def _forward(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """Along an inner axis the operand and both results once more, transposed."""
    x = operands[0][0]
    if _is_last(int(attrs.get("axis", -1)), len(x.shape)):
        return 0
    return x.nbytes + sum(group[0].nbytes for group in results)


def _ordered_grad(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """Along an inner axis gradient, indices and result transposed (operands: indices, x, gradient)."""
    indices, x, grad = (group[0] for group in operands)
    return _transposed(attrs, x, indices, grad)


def _topk_grad(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """Along an inner axis gradient, indices and result transposed (operands: x, indices, gradient)."""
    x, indices, grad = (group[0] for group in operands[:3])
    return _transposed(attrs, x, indices, grad)


def _one_grad(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """As `topk`; without `keepdim` gradient and indices are copied first, to have the axis again."""
    x, indices, grad = (group[0] for group in operands[:3])
    transposed, pair = _transposed(attrs, x, indices, grad), indices.nbytes + grad.nbytes
    if attrs.get("keepdim"):
        return transposed
    return max(2 * pair, transposed) if transposed else pair


def _transposed(attrs: Attributes, x: Array, indices: Array, grad: Array) -> int:
    if _is_last(int(attrs.get("axis", -1)), len(x.shape)):
        return 0
    return x.nbytes + indices.nbytes + grad.nbytes


def _median(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """The upper half (`n // 2 + 1` values, with indices) by topk; with axes of a transposed operand."""
    x = operands[0][0]
    axes = attrs.get("axis") or ()
    count = prod(x.shape[axis] for axis in axes) if axes else x.numel
    rows = x.numel // max(count, 1)
    return (x.nbytes if axes else 0) + rows * (count // 2 + 1) * (SIZE[x.dtype] + _INDEX)


def _nanmedian(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """All values, sorted, with indices; with axes of a transposed operand."""
    x = operands[0][0]
    return (x.nbytes if attrs.get("axis") else 0) + x.numel * (SIZE[x.dtype] + _INDEX)


def _median_grad(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """With axes the transposed operand and its gradient."""
    return 2 * operands[0][0].nbytes if attrs.get("axis") else 0


def _places_of_unique(attrs: Attributes, operands: Arrays, place: Place) -> Meta | None:
    """Of all elements the builder says the operand's type; along an axis there are at most as many as it is long."""
    if place.result == 0:
        return None
    (shape, _), x, axis = place.meta, operands[0][0], attrs["axis"]
    if axis:
        return (x.shape[axis[0]],), name_of(attrs["dtype"])
    return (shape, name_of(attrs["dtype"])) if place.result == _INVERSE else None


def _unique(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """Along an axis the operand three times: transposed, sorted, and without what is there twice."""
    return 3 * operands[0][0].nbytes if attrs.get("axis") else 0


_SOURCE = "CPU kernels of `phi/kernels/cpu`; three shapes by three axes each, to the byte"

OPERATORS = (
    Operator(
        "argsort",
        f"{_SOURCE}; attributes: `paddle/phi/ops/yaml/ops.yaml` (PaddleSeg's Lovasz loss calls it so)",
        Rule(
            attributes=(("axis", -1), ("descending", False), ("stable", False)),
            strides=Strides.KEPT,
            workspace=_forward,
            asked=Asked.TYPES_ALONE,
        ),
        gradient=Rule(workspace=_ordered_grad, fills_zeros=True),
    ),
    Operator(
        "topk",
        _SOURCE,
        Rule(
            workspace=_forward,
            numbers={1: Number(int, "k")},
            choice=Choice.CHOOSES,
            refuses=bounds.k_largest,
            asked=Asked.TYPES_ALONE,
        ),
        gradient=Rule(workspace=_topk_grad),
    ),
    Operator(
        "kthvalue",
        _SOURCE,
        Rule(workspace=_forward, refuses=bounds.kth, asked=Asked.TYPES_ALONE),
        gradient=Rule(workspace=_one_grad),
    ),
    Operator("mode", _SOURCE, Rule(workspace=_forward, asked=Asked.TYPES_ALONE), gradient=Rule(workspace=_one_grad)),
    Operator("median", _SOURCE, Rule(workspace=_median, asked=Asked.EACH_CALL), gradient=Rule(workspace=_median_grad)),
    Operator(
        "nanmedian", _SOURCE, Rule(workspace=_nanmedian, asked=Asked.EACH_CALL), gradient=Rule(workspace=_median_grad)
    ),
    Operator(
        "argmax",
        "shapes of operand and result (`test_dependent_shapes.py`)",
        Rule(numbers={1: SCALAR}, choice=Choice.CHOOSES, asked=Asked.EACH_CALL),
    ),
    Operator("argmin", WITHOUT_MEMORY, Rule(numbers={1: SCALAR}, asked=Asked.EACH_CALL)),
    Operator(
        "unique",
        "`is_sorted` of `pd_op.unique` (`paddle.unique` of 3.3.1 gives it to the program builder alone)",
        Rule(builder_reads=(True,), result=_places_of_unique, workspace=_unique),
    ),
    Operator("searchsorted", WITHOUT_MEMORY, Rule(asked=Asked.EACH_CALL)),
)
