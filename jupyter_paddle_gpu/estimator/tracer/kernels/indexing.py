"""Reading and writing at places that tensors name, and results whose size hangs on that."""

from __future__ import annotations

from dataclasses import replace
from itertools import zip_longest
from math import prod
from typing import Any

from paddle.base import core

from ..memory.arrays import ORIGINAL, Array
from ..memory.dtypes import SIZE
from ..memory.operators import call
from ..session import paused
from . import bounds, shapes
from .composing import zeros
from .rules import (
    NO_RESULT,
    SCALAR,
    WITHOUT_MEMORY,
    Arrays,
    Asked,
    Attributes,
    Choice,
    Counted,
    Further,
    Meta,
    Number,
    Operator,
    Place,
    Refuses,
    Rule,
    Second,
    Strides,
    Tensors,
    Wants,
    nothing,
)

_GEOMETRY = (
    "input_dims", "input_strides", "index_dims", "index_stride", "slice_offset", "accumulate", "is_combined",
)  # fmt: skip
"""Attributes that say where elements lie, in their order."""
_INDEX = SIZE["int64"]
"""Bytes of an index."""


def _places(mask: Array) -> int:
    """Elements that a mask chooses; all of them where that hangs on the model."""
    if mask.value is None:
        return mask.numel
    with paused():
        return int(mask.value.get().numpy().sum())


def _laid_out(x: Array, indices: list[Array]) -> tuple[int, int, int]:
    """What `index_put` makes of its indices (phi/kernels/funcs/index_put_utils.h).

    Returns:
        Elements that are written, and bytes of transient indices: the most while a mask becomes integers (`nonzero`,
        cut into columns), and those that stay (the columns; of a part of the axes, indices for each element and axis).
    """
    is_mask = indices[0].dtype == "bool"
    axes = len(indices[0].shape) if is_mask else len(indices)
    rest = x.shape[axes:]
    rows = _places(indices[0]) if is_mask else max(index.numel for index in indices)
    columns = _INDEX * axes * rows if is_mask else 0
    written = rows * prod(rest)
    return written, 2 * columns, columns + (_INDEX * (len(x.shape) * written + sum(rest)) if rest else 0)


def _index_put(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """Its indices; the result is not there before a mask has become integers (index_put_kernel.cc)."""
    x, made = operands[0][0], results[0][0]
    _, first, then = _laid_out(x, operands[1])
    return max(then, first if made.storage is x.storage else first - made.nbytes)


def _index_put_grad(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """Its indices, and the gradient of all values before it is summed (operands: x, indices, value, gradient)."""
    x, value = operands[0][0], operands[2][0]
    written, first, then = _laid_out(x, operands[1])
    is_summed = len(results) > 1 and results[1] and value.numel != written
    summed = written * SIZE[x.dtype] if is_summed else 0
    return max(then + summed, first - sum(group[0].nbytes for group in results if group))


def _repeat(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """For each row of the result where it comes from, of int32 or of the repeats' type."""
    return _sources(attrs, operands, results[0][0])


def _repeat_grad(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """For each row of the gradient where it goes."""
    return _sources(attrs, operands, next(group[0] for group in reversed(operands) if group))


def _sources(attrs: Attributes, operands: Arrays, repeated: Array) -> int:
    axis = int(attrs["dim"] if "dim" in attrs else attrs.get("axis", 0))
    repeats = [group[0] for group in operands if group and group[0].dtype in {"int32", "int64"}]
    return repeated.shape[axis] * (SIZE[repeats[0].dtype] if repeats else 4)


def _masked_fill(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """A mask of another shape is laid out for every element."""
    x, mask = operands[0][0], operands[1][0]
    return 0 if mask.shape == x.shape else x.numel


def _is_whole(attrs: Attributes, part: tuple[int, ...], x: Array) -> bool:
    return part == x.shape and all(step == 1 for step in attrs.get("steps", ()))


def _set_value(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """`x[1:4] = y`: y at the part's size; of a number also that as a tensor, unless it fills the whole (measured)."""
    x = operands[0][0]
    part = shapes.part(attrs, x.shape)
    if "values" not in attrs:
        return prod(part) * SIZE[x.dtype]
    return 0 if _is_whole(attrs, part, x) else (prod(part) + 1) * SIZE[x.dtype]


def _set_value_grad(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """The part of the gradient, beside that of a y of another shape; not of the whole (measured)."""
    gradient = next(group[0] for group in reversed(operands) if group)
    part = shapes.part(attrs, gradient.shape)
    if _is_whole(attrs, part, gradient) or any(group and group[0].shape == part for group in results[1:]):
        return 0
    return prod(part) * SIZE[gradient.dtype]


def _gather_nd_again(attrs: Attributes, of: Tensors, wants: Wants) -> list[Any]:
    return [call("gather_nd", of["grad_x_grad"], of["index"])]


def _elements_again(attrs: Attributes, of: Tensors, wants: Wants) -> list[Any]:
    return [call("index_elementwise_get", of["grad_x_grad"], of["index"], *(attrs[name] for name in _GEOMETRY))]


def _take_along_axis_again(attrs: Attributes, of: Tensors, wants: Wants) -> list[Any]:
    return [call("take_along_axis", of["grad_arr_grad"], of["indices"], int(attrs["axis"]))]


def _index_add_again(attrs: Attributes, of: Tensors, wants: Wants) -> list[Any]:
    ddx, added = of.get("grad_x_grad"), of.get("grad_add_value_grad")
    given = zeros(of["grad_out"]) if ddx is None else ddx
    return [given if added is None else call("index_add", given, of["index"], added, int(attrs["axis"]))]


def _masked_select_again(attrs: Attributes, of: Tensors, wants: Wants) -> list[Any]:
    return [call("masked_select", of["grad_x_grad"], of["mask"])]


def _masked_fill_again(attrs: Attributes, of: Tensors, wants: Wants) -> list[Any]:
    ddx, filled = of["grad_x_grad"], of.get("grad_value_grad")
    zero = call("full", [], 0.0, ddx.dtype, core.CPUPlace()) if filled is None else filled
    return [call("masked_fill", ddx, of["mask"], zero)]


def _index_put_again(attrs: Attributes, of: Tensors, wants: Wants) -> list[Any]:
    ddx, written = of.get("grad_x_grad"), of.get("grad_value_grad")
    adds = bool(attrs.get("accumulate"))
    if ddx is None:
        adds, ddx = False, zeros(of["x"])
    elif written is None and adds:
        return [ddx]
    return [call("index_put", ddx, of["indices"], zeros(of["value"]) if written is None else written, adds)]


def _sum(numbers: Any) -> int:
    return int(ORIGINAL["numpy"](numbers).sum())


def _last(numbers: Any) -> int:
    return int(ORIGINAL["numpy"](numbers)[-1]) + 1


def _rows_by_mask(arrays: list[Array], counted: Counted) -> int | None:
    """As many as the mask chooses; the numbers themselves may hang on the model."""
    if len(arrays) < 2 or (mask := arrays[1]).value is None:
        return None
    whole = prod(max(sizes) for sizes in zip_longest(reversed(arrays[0].shape), reversed(mask.shape), fillvalue=1))
    return counted(mask.value, _sum) * whole // max(mask.numel, 1)


def _rows_by_repeats(arrays: list[Array], counted: Counted) -> int | None:
    """As many as the repeats sum up to."""
    value = arrays[1].value if len(arrays) > 1 else None
    return None if value is None else counted(value, _sum)


def _rows_by_segments(arrays: list[Array], counted: Counted) -> int | None:
    """The last segment's number, for they ascend, and one."""
    value = arrays[1].value if len(arrays) > 1 else None
    return None if value is None else counted(value, _last)


def _looked_up(attrs: Attributes, operands: Arrays, place: Place) -> Meta | None:
    """With `sparse` one row an index (SelectedRows)."""
    if not attrs.get("sparse"):
        return None
    (_, width), dtype = place.meta
    return (operands[0][0].numel, width), dtype


def _nodes(attrs: Attributes, operands: Arrays, place: Place) -> Meta | None:
    """A row for each node: as many as are asked for, else as there are; of a mean also the number of edges of each,
    which the gradient divides by."""
    asked = attrs.get("out_size")
    shape, dtype = place.meta
    if shape == (0,) or not isinstance(asked, list) or len(asked) != 1:
        return None
    return (int(asked[0]) or operands[0][0].shape[0], *shape[1:]), dtype


def _placing(refuses: Refuses) -> Rule:
    """Of operators that lay their indices out anew."""
    return Rule(strides=Strides.KEPT, lays_out=(1,), asked=Asked.EACH_CALL, refuses=refuses)


_STRIDES = "strided operands: measured (`test_strided_operands.py`)"
_INDICES = "strided indices: measured on 28 configurations (`test_strided_indices.py`)"
_COMPOSED = "`composite_double_backward_api.h`"
_PAIR = ("grad_x_grad", "grad_y_grad")
_VALUE = ("grad_x_grad", "grad_value_grad")
_ADDED = ("grad_x_grad", "grad_add_value_grad")
_OUT = ("grad_out",)
_FOR_EACH = "measured on 11 cases"
_WRITES = "36 configurations, to the byte (`test_calls.py`)"

OPERATORS = (
    Operator(
        "embedding",
        "`phi/kernels/selected_rows` (`test_sparse_gradients.py`); `TransToFluidOpName`",
        Rule(
            flops=nothing,
            amp_name="lookup_table_v2",
            looks_up=True,
            refuses=bounds.rows,
            keeps_sizes=True,
            asked=Asked.EACH_CALL,
        ),
        gradient=Rule(flops=nothing, result=_looked_up, gives_rows=True, refuses=bounds.learned_rows),
    ),
    Operator(
        "embedding_sparse",
        "`phi/kernels/selected_rows` (`test_sparse_gradients.py`)",
        gradient=Rule(result=_looked_up, gives_rows=True),
    ),
    Operator(
        "gather",
        f"{_STRIDES}; {_INDICES}",
        Rule(
            strides=Strides.KEPT,
            lays_out=(1,),
            numbers={2: SCALAR},
            flops=nothing,
            choice=Choice.PASSES,
            refuses=bounds.within(bounds.GATHER),
            asked=Asked.EACH_CALL,
        ),
        gradient=Rule(flops=nothing),
    ),
    Operator(
        "gather_nd",
        f"{_STRIDES}; {_INDICES}; {_COMPOSED}",
        Rule(strides=Strides.KEPT, lays_out=(1,), flops=nothing, refuses=bounds.within_each, asked=Asked.EACH_CALL),
        gradient=Rule(flops=nothing, second=Second("gather_nd_double_grad", ("index",), _PAIR, _OUT)),
        second=Rule(composed=_gather_nd_again),
    ),
    Operator("index_sample", f"{_STRIDES}; {_INDICES}", _placing(bounds.within(bounds.INDEX_SAMPLE, axis=1))),
    Operator("index_select", f"{_STRIDES}; {_INDICES}", _placing(bounds.within(bounds.INDEX_SELECT))),
    Operator("scatter", f"{_STRIDES}; {_INDICES}", replace(_placing(bounds.scattered), reads_as={2: 0})),
    Operator(
        "scatter_nd_add",
        _STRIDES,
        Rule(strides=Strides.KEPT, reads_as={2: 0}, refuses=bounds.added_at, asked=Asked.EACH_CALL),
    ),
    Operator(
        "send_u_recv",
        "`SendURecvInferMeta`, `cpu/send_u_recv_kernel.cc`",
        Rule(
            result=_nodes,
            sized_here=True,
            numbers={4: Number(list, "out_size")},
            refuses=bounds.edges,
            asked=Asked.FIRST_ENTRY,
        ),
    ),
    Operator(
        "send_ue_recv",
        "`SendUERecvInferMeta`, `cpu/send_ue_recv_grad_kernel.cc`; 24 configurations",
        Rule(result=_nodes, sized_here=True, numbers={6: Number(list, "out_size")}),
        gradient=Rule(refused=NO_RESULT, refused_any=True),
    ),
    Operator(
        "send_uv",
        "`cpu/send_uv_grad_kernel.cc`; both operands, each alone",
        gradient=Rule(refused=NO_RESULT, refused_any=True),
    ),
    Operator(
        "index_elementwise_put_with_tensor",
        "eager mode's generated code",
        gradient=Rule(further=Further.NOT_FOLLOWED),
    ),
    Operator("index_elementwise_put_with_tensor_", _STRIDES, Rule(strides=Strides.KEPT)),
    Operator(
        "index_elementwise_get",
        "`slice_utils.h`, `index_elementwise_get_kernel.cc`; measured (`test_pairs_of_places.py`)",
        Rule(strides=Strides.KEPT, flops=nothing, refuses=bounds.within_axes, asked=Asked.EACH_CALL),
        gradient=Rule(flops=nothing, second=Second("index_elementwise_get_double_grad", ("index",), _PAIR[:1], _OUT)),
        second=Rule(composed=_elements_again),
    ),
    Operator(
        "index_elementwise_put",
        "eager mode's generated code",
        gradient=Rule(further=Further.NOT_FOLLOWED),
    ),
    Operator(
        "put_along_axis",
        "eager mode's generated code",
        Rule(refuses=bounds.within(bounds.PUT_ALONG_AXIS)),
        gradient=Rule(further=Further.NOT_FOLLOWED),
    ),
    Operator(
        "take_along_axis",
        f"{_STRIDES}; {_COMPOSED}",
        Rule(strides=Strides.KEPT, refuses=bounds.within(bounds.TAKE_ALONG_AXIS), asked=Asked.EACH_CALL),
        gradient=Rule(second=Second("take_along_axis_double_grad", ("indices",), ("grad_arr_grad",), _OUT)),
        second=Rule(composed=_take_along_axis_again),
    ),
    Operator(
        "index_add",
        f"{_STRIDES}; {_COMPOSED}",
        Rule(strides=Strides.KEPT, refuses=bounds.within(bounds.INDEX_ADD), asked=Asked.EACH_CALL),
        gradient=Rule(second=Second("index_add_double_grad", ("index", "grad_out"), _ADDED, _OUT, _OUT)),
        second=Rule(composed=_index_add_again),
    ),
    Operator(
        "index_put",
        f"`index_put_utils.h`, `index_put_grad_kernel.cc`; 16 configurations, to the byte; {_STRIDES}; {_COMPOSED}",
        Rule(strides=Strides.KEPT, workspace=_index_put, refuses=shapes.put_at, asked=Asked.EACH_CALL),
        gradient=Rule(
            workspace=_index_put_grad,
            second=Second("index_put_double_grad", ("x", "indices", "value"), _VALUE, _OUT, ("x", "value")),
        ),
        second=Rule(composed=_index_put_again),
    ),
    Operator("index_put_", "`index_put_utils.h`; to the byte", Rule(workspace=_index_put, asked=Asked.EACH_CALL)),
    Operator(
        "masked_fill",
        f"{_WRITES}; {_STRIDES}; {_COMPOSED}",
        Rule(strides=Strides.KEPT, workspace=_masked_fill, asked=Asked.EACH_CALL),
        gradient=Rule(workspace=_masked_fill, second=Second("masked_fill_double_grad", ("mask",), _VALUE, _OUT)),
        second=Rule(composed=_masked_fill_again),
    ),
    Operator("masked_fill_", _WRITES, Rule(workspace=_masked_fill, asked=Asked.EACH_CALL)),
    Operator(
        "masked_select",
        f"{_COMPOSED}; its size is its mask's",
        Rule(rows=_rows_by_mask, asked=Asked.EACH_CALL),
        gradient=Rule(second=Second("masked_select_double_grad", ("mask",), ("grad_x_grad",), _OUT)),
        second=Rule(composed=_masked_select_again),
    ),
    Operator("nonzero", "measured, 5 % to all of 160,000 places, to the byte", Rule(row_each=True)),
    Operator(
        "set_value_ set_value_with_tensor_",
        _WRITES,
        Rule(workspace=_set_value),
        gradient=Rule(workspace=_set_value_grad),
    ),
    Operator("set_value_with_tensor", "funcs/slice_utils.h", Rule(refuses=shapes.written)),
    Operator(
        "repeat_interleave",
        _FOR_EACH,
        Rule(workspace=_repeat),
        gradient=Rule(workspace=_repeat_grad, further=Further.NOT_FOLLOWED),
    ),
    Operator(
        "repeat_interleave_with_tensor_index",
        _FOR_EACH,
        Rule(rows=_rows_by_repeats, workspace=_repeat, refuses=shapes.repeats),
        gradient=Rule(workspace=_repeat_grad, further=Further.NOT_FOLLOWED),
    ),
    Operator(
        "segment_pool",
        "`segment_pool_kernel.cc`; to the byte",
        Rule(rows=_rows_by_segments, refuses=bounds.segments, asked=Asked.EACH_CALL),
    ),
    Operator(
        "shard_index index_add_ multiplex scatter_ fill_diagonal_tensor", WITHOUT_MEMORY, Rule(asked=Asked.EACH_CALL)
    ),
)
