"""`tensor[index]` and `tensor[index] = value`, which eager mode does in C++ (eager_method.cc, slice_utils.h)."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
import paddle
from paddle.base import variable_index

from ...memory.arrays import allocate, lay_out
from ...memory.operators import call
from ...memory.values import Computed
from ..refusals import check_leaf
from ..tensors import Tensors
from .assigned import check_value, is_plain
from .kinds import check_any, check_kinds, check_written, takes_none
from .parts import bounds, check_masks, check_new_axes, check_places, check_rank, is_mask

_READS_ELEMENTS = hasattr(paddle._C_ops, "index_elementwise_get")
_ANY = 2**31 - 1
"""A size that every index is below."""
_HELD = -1000
"""From here downwards a node's saved arrays are of no operand."""


def get_item(runtime: Tensors, original: Any, tensor: Any, index: Any) -> Any:
    """Basic indices give views, the others gather."""
    runtime.reads_by_brackets = True
    try:
        check_kinds(runtime, index)
        check_masks(runtime, tensor, index)
        check_new_axes(runtime, tensor, index)
        check_rank(runtime, tensor, index)
        if _is_switch(index):
            return _switched(tensor, bool(index))
        return _read(runtime, tensor, bounds(runtime, index))
    finally:
        runtime.reads_by_brackets = False


def _read(runtime: Tensors, tensor: Any, index: Any) -> Any:
    axis, is_contiguous = _only_axis(index, tensor.ndim), runtime.state(tensor).array.is_contiguous
    if axis is not None and 0 < axis < tensor.ndim and not _READS_ELEMENTS:
        return call("index_select", tensor, _integers(index[-1])[0], axis)
    if (found := _elements(runtime, tensor, index, is_contiguous)) is not None:
        return found
    if isinstance(index, tuple) and any(is_mask(part) and part.ndim > 1 for part in index):
        index = tuple(place for part in index for place in (_integers(part) if is_mask(part) else [part]))
    return variable_index._getitem_static(tensor, index)


def _elements(runtime: Tensors, tensor: Any, index: Any, is_contiguous: bool) -> Any:
    """What tensors and lists of places choose: of a tensor that lies as it was made eager mode reads it by its strides,
    from behind the part that numbers and slices say, and keeps the places as they are; of others it stacks them, and
    chooses from their first axes where the places stand for neighbours: 3.3.1 lays the axes out for those that stand
    apart alone, and turns the result as if it always had (`x.t()[:, rows]` is of the transposed one's own rows). None
    where it does otherwise: of a mask for each element, and in versions that have no such operator."""
    parts = index if isinstance(index, tuple) else (index,)
    masks = [part for part in parts if is_mask(part)]
    rank = tensor.ndim + sum(part is None for part in parts) - sum(isinstance(part, numbers.Integral) for part in parts)
    if not _READS_ELEMENTS or any(mask.ndim == rank for mask in masks):
        return tensor[_beside(parts)][masks[0]] if masks and len(parts) > 1 else None
    if not is_contiguous and len(masks) == 1 and not _is_list(parts):
        part = tensor[_beside(parts)]
        places = call("nonzero", masks[0])
        return call("gather", part, places, 0) if masks[0].ndim == 1 else call("gather_nd", part, places)
    if masks:
        found = {id(mask): paddle.nonzero(mask) for mask in masks}  # until the tensor is read
        columns = {name: _columns(runtime, one) for name, one in found.items()}
        index = tuple(place for part in parts for place in columns.get(id(part), [part]))
    starts, ends, steps, axes, none_axes, decrease_axes, advanced, has_advanced, strided = variable_index.parse_index(
        tensor, index
    )
    chosen = [one for one in advanced if one is not None]
    if not has_advanced or any(is_mask(part) for _, part in chosen):
        return None
    part, _ = variable_index.get_tensor_with_basic_indexing(
        tensor, axes, starts, ends, steps, decrease_axes, none_axes, strided
    )
    places = [one.astype("int64") if is_contiguous and one.dtype != paddle.int64 else one for _, one in chosen]
    check_places(runtime, [tuple(one.shape) for one in places])
    shape = list(np.broadcast_shapes(*(one.shape for one in places)))
    places = [one if list(one.shape) == shape else call("expand", one, shape) for one in places]
    axes = [axis for axis, _ in chosen]
    others = [axis for axis in range(part.ndim) if axis not in axes]
    first = axes[0] if axes[-1] - axes[0] < len(axes) else 0
    if is_contiguous:
        # Behind a new axis eager mode counts the axes as if it was not there, and looks at no bounds.
        rest, sizes = [part.shape[axis] for axis in others], [_ANY if none_axes else part.shape[axis] for axis in axes]
        shape = [*rest[:first], *shape, *rest[first:]]
        found = call("index_elementwise_get", tensor, places, shape, shape, sizes, sizes, 0, True, False)
        known = [runtime.state(one).array.value for one in (part, *places)]  # the strides are none to compute by
        is_known = None not in known and not none_axes
        runtime.state(found).array.value = Computed(_chosen, (axes, *known), {}) if is_known else None
        return found
    part = part if axes[-1] - axes[0] < len(axes) else call("transpose", part, axes + others)
    stacked = call("stack", places, -1) if len(places) > 1 else call("unsqueeze", places[0], [-1])
    found, rank = call("gather_nd", part, stacked), len(shape)
    order = [*range(rank, rank + first), *range(rank), *range(rank + first, found.ndim)]
    return call("transpose", found, order) if first else found


def _beside(parts: tuple[Any, ...]) -> tuple[Any, ...]:
    """An index without its masks: their axes stay whole."""
    return tuple(one for part in parts for one in ([slice(None)] * part.ndim if is_mask(part) else [part]))


def _is_list(parts: tuple[Any, ...]) -> bool:
    """Whether places stand in an index beside masks."""
    given = [part for part in parts if not is_mask(part)]
    tensors = [part for part in given if isinstance(part, paddle.Tensor) and part.ndim]
    return bool(tensors) or any(isinstance(part, (list, np.ndarray)) for part in given)


def _chosen(axes: list[int], part: Any, *places: Any) -> Any:
    """The numbers at places along some axes."""
    index = [slice(None)] * part.ndim
    for axis, place in zip(axes, places, strict=True):
        index[axis] = place
    return part[tuple(index)]


def _columns(runtime: Tensors, found: Any) -> list[Any]:
    """The places that a mask chooses, for each of its axes, laid out."""
    columns = [call("slice", found, [1], [axis], [axis + 1], [1], [1]) for axis in range(found.shape[1])]
    for column in columns:
        lay_out(runtime.ledger, runtime.state(column).array)
    return columns


def _is_switch(index: Any) -> bool:
    """Whether an index is one truth alone: a new axis of length 1, or of length 0 where it is false."""
    return isinstance(index, bool) or (is_mask(index) and index.ndim == 0)


def _switched(tensor: Any, on: bool) -> Any:
    places = paddle.zeros([int(on)], "int64")
    return call("index_select", call("unsqueeze", tensor, [0]), places, 0)


def _only_axis(index: Any, rank: int) -> int | None:
    """The axis of `x[:, :, places]`, a row of places or a mask behind whole axes: eager mode transposes nothing."""
    if not isinstance(index, tuple) or not index:
        return None
    *whole, last = index
    if len(whole) == 1 and whole[0] is Ellipsis:
        whole = [slice(None)] * (rank - 1)
    if not all(isinstance(one, slice) and one == slice(None) for one in whole):
        return None
    if isinstance(last, paddle.Tensor):
        is_row = last.ndim == 1 and any(kind in str(last.dtype) for kind in ("int", "bool"))
    else:
        is_row = isinstance(last, list) and bool(last) and all(type(place) is int for place in last)
    return len(whole) if is_row else None


def set_item(runtime: Tensors, original: Any, tensor: Any, index: Any, value: Any) -> None:
    """Writes in place; the written value takes part in the graph."""
    check_leaf(runtime, tensor)
    check_kinds(runtime, index, writes=True)
    if _is_switch(index) and not tensor.ndim:
        if not index:
            return
        index = Ellipsis
    index = bounds(runtime, index)
    check_masks(runtime, tensor, index)
    check_rank(runtime, tensor, index)
    check_written(runtime, tensor, index, value)
    parsed = variable_index.parse_index(tensor, index)
    starts, ends, steps, axes, none_axes, decrease_axes, _, advanced, _ = parsed
    check_value(runtime, tensor, index, value)
    if not takes_none(value):
        check_any(runtime, index)
    if isinstance(value, paddle.Tensor) and not advanced:
        if value.dtype != tensor.dtype:
            value = value.astype(tensor.dtype)
        call("set_value_with_tensor_", tensor, value, starts, ends, steps, axes, decrease_axes, none_axes)
        return
    if isinstance(value, paddle.Tensor) and isinstance(index, paddle.Tensor) and "int" in str(index.dtype):
        geometry = list(tensor.shape), list(tensor.strides), list(index.shape), list(index.strides)
        call("index_elementwise_put_with_tensor_", tensor, [index], value, *geometry, 0)
        return
    if isinstance(value, numbers.Number) and not advanced:
        known = runtime.state(tensor).array.value
        call("set_value_", tensor, starts, ends, steps, axes, decrease_axes, none_axes, [1], [0.0])
        is_known = known is not None and is_plain(index)
        runtime.state(tensor).array.value = Computed(_written, (known, index, value), {}) if is_known else None
        return
    if is_mask(index) and isinstance(value, paddle.Tensor) and value.size == 1 and index.ndim == tensor.ndim:
        call("masked_fill_", tensor, index, value)
        return
    if isinstance(value, paddle.Tensor) and (not value.stop_gradient or value.size > 1):
        indices = _integers(index)
        geometry = list(tensor.shape), list(tensor.strides), list(indices[0].shape), list(indices[0].strides)
        call("index_elementwise_put_with_tensor_", tensor, indices, value, *geometry, 0)
        return
    _put(runtime, tensor, index)
    array = runtime.state(tensor).array
    array.value = None
    array.count_write()


def _written(tensor: Any, index: Any, value: Any) -> Any:
    """The numbers of a tensor with others at an index."""
    changed = tensor.clone()
    changed[index] = value
    return changed


def _integers(index: Any) -> list[Any]:
    """The tensors and lists of an index as integers: of a mask the places that it chooses."""
    found = []
    for given in index if isinstance(index, tuple) else (index,):
        part = paddle.to_tensor(np.asarray(given)) if isinstance(given, (list, np.ndarray)) else given
        if not isinstance(part, paddle.Tensor):
            continue
        if is_mask(part):
            found += paddle.unbind(paddle.nonzero(part), axis=1)
        else:
            found.append(part)
    return found


def _put(runtime: Tensors, tensor: Any, index: Any) -> None:
    """An indexed write whose gradient needs the indices again: they stay with the graph (measured)."""
    parts = index if isinstance(index, tuple) else (index,)
    given = [part for part in parts if isinstance(part, paddle.Tensor)]
    held = [runtime.state(part).array for part in given]
    operation = runtime.ledger.begin("set_value_")
    operation.workspace_cpu = sum(array.nbytes for array in held)
    if any(isinstance(part, slice) for part in parts):  # masks are laid out for the part that is written to
        shape = tuple(tensor[tuple(p if isinstance(p, slice) else slice(None) for p in parts)].shape)
        held = [allocate(runtime.ledger, shape, "bool", "expand") if array.dtype == "bool" else array for array in held]
    lists = [part for part in parts if isinstance(part, (list, np.ndarray))]
    held += [allocate(runtime.ledger, np.shape(part), "int64", "assign") for part in lists]
    runtime.ledger.finish(operation)
    node = runtime.state(tensor).node
    if node is not None and paddle.is_grad_enabled():
        saved = getattr(node, "saved", None)
        if saved is not None:
            lowest = min((_HELD, *saved))  # below those of an earlier write to the same tensor
            saved.update({lowest - number: array for number, array in enumerate(held, 1)})
