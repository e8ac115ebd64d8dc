"""`tensor[index]` and `tensor[index] = value`, which eager mode does in C++ (eager_method.cc, slice_utils.h)."""

from __future__ import annotations

import numbers
from collections.abc import Iterator
from typing import Any

import numpy as np
import paddle
from paddle.base import variable_index

from ..kernels import shapes
from ..memory.arrays import allocate, lay_out
from ..memory.operators import call
from ..memory.values import Computed, is_random
from ..session import CUT
from .refusals import check_leaf
from .tensors import Tensors

_READS_ELEMENTS = hasattr(paddle._C_ops, "index_elementwise_get")
_ANY = 2**31 - 1
"""A size that every index is below."""
_HELD = -1000
"""From here downwards a node's saved arrays are of no operand."""


def get_item(runtime: Tensors, original: Any, tensor: Any, index: Any) -> Any:
    """Basic indices give views, the others gather."""
    runtime.reads_by_brackets = True
    try:
        _check_masks(runtime, tensor, index)
        _check_new_axes(runtime, tensor, index)
        _check_rank(runtime, tensor, index)
        if _is_switch(index):
            return _switched(tensor, bool(index))
        return _read(runtime, tensor, _bounds(runtime, index))
    finally:
        runtime.reads_by_brackets = False


def _check_rank(runtime: Tensors, tensor: Any, index: Any) -> None:
    """Raise what eager mode says of more indices than axes, and of a place that an axis does not have
    (`ParseIndexingSlice`, pybind/slice_utils.h)."""
    rank, parts = tensor.ndim, index if isinstance(index, tuple) else (index,)
    count = sum(part.ndim if _is_mask(part) else 1 for part in parts if not _is_without_axis(part))
    has_rest = any(one is Ellipsis for one in parts)
    for part, axis in _placed(tensor, index) if count <= rank or not has_rest else ():
        size = tensor.shape[axis] if axis < rank else 0
        place = None if _is_without_axis(part) else _place(runtime, part, is_there=axis < rank)
        if place is not None and not -size <= place < size:
            said = f"The starting index {place} of slice is out of bounds in tensor {axis}-th axis"
            raise runtime.refused(IndexError(f"(OutOfRange) {said}, it should be in the range of [{-size}, {size})."))
    if count > rank:
        said = f"(InvalidArgument) Too many indices ({count}) for tensor of dimension {rank}."
        raise runtime.refused(ValueError(said))


def _is_without_axis(part: Any) -> bool:
    """Whether a part of an index stands for no axis of its own."""
    return part is None or part is Ellipsis or isinstance(part, bool)


def _place(runtime: Tensors, part: Any, *, is_there: bool) -> int | None:
    """The place that a number says, or a tensor of no dimension; of an axis that is there only what is certain."""
    if isinstance(part, numbers.Integral):
        return int(part)
    if not isinstance(part, paddle.Tensor) or part.ndim or "int" not in str(part.dtype) or runtime.evaluate is None:
        return None
    if not is_there:
        return int(part)
    value = runtime.state(part).array.value
    return None if value is None or is_random(value) else int(runtime.evaluate(value).item())


def _check_masks(runtime: Tensors, tensor: Any, index: Any) -> None:
    """Raise what eager mode says of a mask of another shape than the axes that it stands for (`ParseIndexingSlice`)."""
    for part, axis in _placed(tensor, index):
        sizes = _mask_sizes(part)
        for place, size in enumerate(sizes, axis):
            there = tensor.shape[place] if 0 <= place < tensor.ndim else 0
            if size != there:
                said = f"The shape of boolean index {sizes[0]} did not match indexed tensor {there} along axis {place}."
                raise runtime.refused(IndexError(f"(OutOfRange) {said}"))


def _check_new_axes(runtime: Tensors, tensor: Any, index: Any) -> None:
    """Raise what eager mode says of a mask behind a new axis: it lays it on what the rest of the index leaves, at an
    axis that is counted without the new ones, `x[None, mask]` on the new axis."""
    placed = list(_placed(tensor, index))
    if all(part is not None for part, _ in placed) or not any(_mask_sizes(part) for part, _ in placed):
        return
    spans = [_left(runtime, part, tensor.shape[axis : axis + _axes_of(part)]) for part, axis in placed]
    left, place = [size for span in spans for size in span], 0
    for (part, _), span in zip(placed, spans, strict=True):
        for number, (size, there) in enumerate(zip(_mask_sizes(part), left[place:], strict=False)):
            if size != there:
                said = f"along dimension {number}, the target dimension is {there}, but received {size}"
                said = f"The dimension of bool index doesn't match indexed array {said}"
                raise runtime.refused(IndexError(f"(OutOfRange) {said}"))
        place += 0 if part is None else len(span)


def _placed(tensor: Any, index: Any) -> Iterator[tuple[Any, int]]:
    """The parts of an index with the axis that each begins at. What an ellipsis stands for, and what is left behind the
    last one, are slices; behind it eager mode counts one axis for each part, of whatever shape a mask is."""
    axis, parts = 0, index if isinstance(index, tuple) else (index,)
    for number, part in enumerate((*parts, Ellipsis)):
        if part is Ellipsis:
            end = tensor.ndim - sum(_axes_of(one) > 0 for one in parts[number + 1 :])
            yield from ((slice(None), place) for place in range(axis, end))
            axis = max(end, axis) if number == len(parts) else end
        else:
            yield part, axis
            axis += _axes_of(part)


def _left(runtime: Tensors, part: Any, sizes: list[int]) -> list[int]:
    """The sizes that numbers, slices and new axes leave of axes; what tensors and lists choose from stays whole."""
    if part is None:
        return [1]
    if isinstance(part, slice):
        return [len(range(*_bounds(runtime, part).indices(size))) for size in sizes]
    return [] if isinstance(part, numbers.Integral) else sizes


def _mask_sizes(part: Any) -> list[int]:
    """The shape of a mask, given as a tensor, an array or a list; empty for what is none."""
    if isinstance(part, list):
        return [len(part)] if part and all(isinstance(one, bool) for one in part) else []
    is_mask = _is_mask(part) or (isinstance(part, np.ndarray) and part.dtype == bool)
    return list(part.shape) if is_mask else []


def _axes_of(part: Any) -> int:
    """How many axes of a tensor a part of an index stands for."""
    return 0 if part is None or isinstance(part, bool) else len(_mask_sizes(part)) or int(not _is_mask(part))


def _read(runtime: Tensors, tensor: Any, index: Any) -> Any:
    axis, is_contiguous = _only_axis(index, tensor.ndim), runtime.state(tensor).array.is_contiguous
    if axis is not None and 0 < axis < tensor.ndim and not _READS_ELEMENTS:
        return call("index_select", tensor, _integers(index[-1])[0], axis)
    if (found := _elements(runtime, tensor, index, is_contiguous)) is not None:
        return found
    if isinstance(index, tuple) and any(_is_mask(part) and part.ndim > 1 for part in index):
        index = tuple(place for part in index for place in (_integers(part) if _is_mask(part) else [part]))
    return variable_index._getitem_static(tensor, index)


def _elements(runtime: Tensors, tensor: Any, index: Any, is_contiguous: bool) -> Any:
    """What tensors and lists of places choose: of a tensor that lies as it was made eager mode reads it by its strides,
    from behind the part that numbers and slices say, and keeps the places as they are; of others it stacks them, and
    chooses from their first axes where the places stand for neighbours: 3.3.1 lays the axes out for those that stand
    apart alone, and turns the result as if it always had (`x.t()[:, rows]` is of the transposed one's own rows). None
    where it does otherwise: of a mask for each element, and in versions that have no such operator."""
    parts = index if isinstance(index, tuple) else (index,)
    masks = [part for part in parts if _is_mask(part)]
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
    if not has_advanced or any(_is_mask(part) for _, part in chosen):
        return None
    part, _ = variable_index.get_tensor_with_basic_indexing(
        tensor, axes, starts, ends, steps, decrease_axes, none_axes, strided
    )
    places = [one.astype("int64") if is_contiguous and one.dtype != paddle.int64 else one for _, one in chosen]
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
    return tuple(one for part in parts for one in ([slice(None)] * part.ndim if _is_mask(part) else [part]))


def _is_list(parts: tuple[Any, ...]) -> bool:
    """Whether places stand in an index beside masks."""
    given = [part for part in parts if not _is_mask(part)]
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


def _bounds(runtime: Tensors, index: Any) -> Any:
    """Bounds of slices are numbers, as `GetSliceFromTensor` reads them (`x[:, :height]`); a range is a list, and any
    whole number of Python's (`IntEnum`) is a plain one."""
    if isinstance(index, tuple):
        return tuple(_bounds(runtime, part) if isinstance(part, (slice, range, int)) else part for part in index)
    if isinstance(index, int) and not isinstance(index, bool):
        return int.__int__(index)
    if isinstance(index, range):
        return list(index)
    if isinstance(index, slice):
        parts = (index.start, index.stop, index.step)
        if all(isinstance(part, paddle.Tensor) and runtime.state(part).array.value is None for part in parts[:2]):
            runtime.assumed.add(CUT)
        return slice(*(int(part.reshape([])) if isinstance(part, paddle.Tensor) else part for part in parts))
    return index


def _is_switch(index: Any) -> bool:
    """Whether an index is one truth alone: a new axis of length 1, or of length 0 where it is false."""
    return isinstance(index, bool) or (_is_mask(index) and index.ndim == 0)


def _switched(tensor: Any, on: bool) -> Any:
    places = paddle.zeros([int(on)], "int64")
    return call("index_select", call("unsqueeze", tensor, [0]), places, 0)


def _is_mask(part: Any) -> bool:
    return isinstance(part, paddle.Tensor) and "bool" in str(part.dtype)


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
    if _is_switch(index) and not tensor.ndim:
        if not index:
            return
        index = Ellipsis
    index = _bounds(runtime, index)
    _check_masks(runtime, tensor, index)
    _check_rank(runtime, tensor, index)
    parsed = variable_index.parse_index(tensor, index)
    starts, ends, steps, axes, none_axes, decrease_axes, _, advanced, _ = parsed
    _check_value(runtime, tensor, index, value)
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
        is_known = known is not None and _is_plain(index)
        runtime.state(tensor).array.value = Computed(_written, (known, index, value), {}) if is_known else None
        return
    if _is_mask(index) and isinstance(value, paddle.Tensor) and value.size == 1 and index.ndim == tensor.ndim:
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


def _check_value(runtime: Tensors, tensor: Any, index: Any, value: Any) -> None:
    """Raise what kernels say of a value of another shape than the part: the program builder looks at neither."""
    if isinstance(value, (list, tuple, str)):
        allowed = "The assign value allows Tensor, numpy.ndarray, integer, float, complex or bool"
        said = f"Value type error. {allowed}, but received {type(value).__name__}."  # Paddle gives its type's address
        raise runtime.refused(ValueError(f"(InvalidArgument) {said}"))
    if not isinstance(value, (paddle.Tensor, np.ndarray)):
        return
    given = tuple(value.shape)
    parts = [_as_number(one) for one in (index if isinstance(index, tuple) else (index,))]
    if _is_plain(tuple(parts)):
        part = np.broadcast_to(np.False_, tuple(tensor.shape))[tuple(parts)].shape  # no element of it is made
        if (problem := shapes.unlike(given, part)) is not None:
            raise runtime.refused(problem)
        return
    rows = [_rows(one) for one in parts]
    if None not in rows:
        chosen = np.broadcast_shapes(*(one for one in rows if one)) + tuple(tensor.shape[len(rows) :])
        if not shapes.spreads(given, chosen):
            said = f"value tensor of shape {list(given)} cannot be broadcast to indexing result of shape {list(chosen)}"
            raise runtime.refused(ValueError(f"(InvalidArgument) shape mismatch: {said}."))


def _as_number(part: Any) -> Any:
    """One place for a tensor of no dimension that says which: all parts that it may say have one shape."""
    is_number = isinstance(part, paddle.Tensor) and not part.ndim and "int" in str(part.dtype)
    return 0 if is_number else part


def _rows(part: Any) -> tuple[int, ...] | None:
    """The shape of a tensor or a list of places; None of anything else."""
    if isinstance(part, paddle.Tensor) and part.ndim and "int" in str(part.dtype):
        return tuple(part.shape)
    is_list = isinstance(part, list) and bool(part) and all(type(place) is int for place in part)
    return (len(part),) if is_list else None


def _is_plain(index: Any) -> bool:
    """Whether an index is made of numbers alone."""
    parts = index if isinstance(index, tuple) else (index,)
    return all(isinstance(part, (int, slice, type(None), type(Ellipsis))) for part in parts)


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
        if _is_mask(part):
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
