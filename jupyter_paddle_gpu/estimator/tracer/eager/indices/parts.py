"""The parts of an index, and what eager mode says of those that do not go with a tensor (`ParseIndexingSlice`,
pybind/slice_utils.h)."""

from __future__ import annotations

import numbers
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

import numpy as np
import paddle

from ...memory.arrays import Shape
from ...memory.values import is_random
from ...session import CUT
from ..tensors import Tensors


def check_rank(runtime: Tensors, tensor: Any, index: Any) -> None:
    """Raise what eager mode says of more indices than axes, and of a place that an axis does not have
    (`ParseIndexingSlice`, pybind/slice_utils.h)."""
    rank, parts = tensor.ndim, index if isinstance(index, tuple) else (index,)
    count = sum(part.ndim if is_mask(part) else 1 for part in parts if not _is_without_axis(part))
    has_rest = any(one is Ellipsis for one in parts)
    for part, axis in placed(tensor, index) if count <= rank or not has_rest else ():
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


def check_masks(runtime: Tensors, tensor: Any, index: Any) -> None:
    """Raise what eager mode says of a mask of another shape than the axes that it stands for (`ParseIndexingSlice`)."""
    for part, axis in placed(tensor, index):
        sizes = mask_sizes(part)
        for place, size in enumerate(sizes, axis):
            there = tensor.shape[place] if 0 <= place < tensor.ndim else 0
            if size != there:
                said = f"The shape of boolean index {sizes[0]} did not match indexed tensor {there} along axis {place}."
                raise runtime.refused(IndexError(f"(OutOfRange) {said}"))


def check_new_axes(runtime: Tensors, tensor: Any, index: Any) -> None:
    """Raise what eager mode says of a mask behind a new axis: it lays it on what the rest of the index leaves, at an
    axis that is counted without the new ones, `x[None, mask]` on the new axis."""
    found = list(placed(tensor, index))
    if all(part is not None for part, _ in found) or not any(mask_sizes(part) for part, _ in found):
        return
    spans = [left(runtime, part, tensor.shape[axis : axis + axes_of(part)]) for part, axis in found]
    rest, place = [size for span in spans for size in span], 0
    for (part, _), span in zip(found, spans, strict=True):
        for number, (size, there) in enumerate(zip(mask_sizes(part), rest[place:], strict=False)):
            if size != there:
                said = f"along dimension {number}, the target dimension is {there}, but received {size}"
                said = f"The dimension of bool index doesn't match indexed array {said}"
                raise runtime.refused(IndexError(f"(OutOfRange) {said}"))
        place += 0 if part is None else len(span)


def check_places(runtime: Tensors, shapes: list[Shape]) -> None:
    """Raise what eager mode says of places along several axes that do not spread over each other: it takes the second
    and the first, then each further one with what those came to (`BroadcastTwoDims`, funcs/common_shape.h)."""
    together = shapes[0]
    for shape in shapes[1:]:
        rank = max(len(shape), len(together))
        pairs = zip_longest(reversed(shape), reversed(together), fillvalue=1)
        wrong = [(rank - 1 - place, x, y) for place, (x, y) in enumerate(pairs) if x != y and 1 not in {x, y}]
        if wrong:
            at, x, y = wrong[-1]
            raise runtime.refused(
                ValueError(
                    "(InvalidArgument) Broadcast dimension mismatch. Operands could not be broadcast together with the "
                    f"shape of X = {list(shape)} and the shape of Y = {list(together)}. Received [{x}] in X is not "
                    f"equal to [{y}] in Y at i:{at}."
                )
            )
        together = np.broadcast_shapes(together, shape)


def placed(tensor: Any, index: Any) -> Iterator[tuple[Any, int]]:
    """The parts of an index with the axis that each begins at. What an ellipsis stands for, and what is left behind the
    last one, are slices; behind it eager mode counts one axis for each part, of whatever shape a mask is."""
    axis, parts = 0, index if isinstance(index, tuple) else (index,)
    for number, part in enumerate((*parts, Ellipsis)):
        if part is Ellipsis:
            end = tensor.ndim - sum(axes_of(one) > 0 for one in parts[number + 1 :])
            yield from ((slice(None), place) for place in range(axis, end))
            axis = max(end, axis) if number == len(parts) else end
        else:
            yield part, axis
            axis += axes_of(part)


def left(runtime: Tensors, part: Any, sizes: list[int]) -> list[int]:
    """The sizes that numbers, slices and new axes leave of axes; what tensors and lists choose from stays whole."""
    if part is None:
        return [1]
    if isinstance(part, slice):
        return [len(range(*bounds(runtime, part).indices(size))) for size in sizes]
    return [] if isinstance(part, numbers.Integral) else sizes


def mask_sizes(part: Any) -> list[int]:
    """The shape of a mask, given as a tensor, an array or a list; empty for what is none."""
    if isinstance(part, list):
        return [len(part)] if part and all(isinstance(one, bool) for one in part) else []
    is_array = isinstance(part, np.ndarray) and part.dtype == bool
    return list(part.shape) if is_array or is_mask(part) else []


def axes_of(part: Any) -> int:
    """How many axes of a tensor a part of an index stands for."""
    return 0 if part is None or isinstance(part, bool) else len(mask_sizes(part)) or int(not is_mask(part))


def bounds(runtime: Tensors, index: Any) -> Any:
    """Bounds of slices are numbers, as `GetSliceFromTensor` reads them (`x[:, :height]`); a range is a list, and any
    whole number of Python's (`IntEnum`) is a plain one."""
    if isinstance(index, tuple):
        return tuple(bounds(runtime, one) if isinstance(one, (slice, range, int, np.integer)) else one for one in index)
    if isinstance(index, int) and not isinstance(index, bool):
        return int.__int__(index)
    if isinstance(index, np.integer):
        return int(index)
    if isinstance(index, range):
        return list(index)
    if isinstance(index, slice):
        parts = (index.start, index.stop, index.step)
        if all(isinstance(part, paddle.Tensor) and runtime.state(part).array.value is None for part in parts[:2]):
            runtime.assumed.add(CUT)
        return slice(*(int(part.reshape([])) if isinstance(part, paddle.Tensor) else part for part in parts))
    return index


def is_mask(part: Any) -> bool:
    """Whether a part of an index is a tensor of truths."""
    return isinstance(part, paddle.Tensor) and "bool" in str(part.dtype)
