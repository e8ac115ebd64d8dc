"""What eager mode says of parts of an index that are none, whatever the tensor's shape is (`ParseIndexingSlice`,
`GetSliceFromTensor`, pybind/slice_utils.h; what is said of places was measured)."""

from __future__ import annotations

from typing import Any

import numpy as np
import paddle

from ...memory.dtypes import name_of
from ..tensors import Tensors
from .parts import axes_of, left, mask_sizes, placed

_NONE = (float, complex, str, bytes, dict, set)
"""Python's types that are no part of an index; numbers that are not computed are of one of them."""
_ONLY = (
    "Currently, Tensor.__indices__() only allows indexing by Boolean, Integers, Slices, Ellipsis, None, Tuples of "
    "these types and List / Tensor of Bool and Integers"
)
_BOUNDS = "Currently, slice indices only allows None, integers, tensor(int) and numpy(int) in slice item"
_SCALAR = (
    "Currently, the type of tensor in slice indices only allows int32 and int64, please check the type of index tensor."
)
_NO_PLACES = (
    "The pointer p_index is nullptr, please check whether the index tensor is valid and its data is correctly "
    "initialized."
)


def check_kinds(runtime: Tensors, index: Any, *, writes: bool = False) -> None:
    """Raise what is said of the parts of an index.

    Args:
        writes: whether something is written to them.
    """
    parts = index if isinstance(index, tuple) else (index,)
    if sum(part is Ellipsis for part in parts) > 1:
        raise _refused(runtime, "An index can only have a single ellipsis ('...')")
    for number, part in enumerate(parts, 1):
        if name := _no_part(part):
            raise _refused(runtime, f"{_ONLY}, but received {name} in {number}th slice item")
        if isinstance(part, slice):
            _check_bounds(runtime, part, writes=writes)
        elif isinstance(part, (list, np.ndarray, paddle.Tensor)):
            _check_places(runtime, part)


def _no_part(part: Any) -> str:
    """The type of what is no part of an index, as C++ calls it."""
    if issubclass(type(part), (np.floating, np.complexfloating)) and hasattr(part, "dtype"):
        return f"numpy.{part.dtype.name}"
    return next((kind.__name__ for kind in _NONE if isinstance(part, kind)), "")


def _check_bounds(runtime: Tensors, part: slice, *, writes: bool) -> None:
    for bound in (part.start, part.stop, part.step):
        if name := _no_part(bound):
            raise _refused(runtime, f"{_BOUNDS}, but received {name}.")
    if writes and type(part.step) is int and part.step == 0:
        raise _refused(runtime, "Step should not be 0, but received step = 0.")


def check_any(runtime: Tensors, index: Any) -> None:
    """Raise what is said where something is written to no places."""
    for part in index if isinstance(index, tuple) else (index,):
        if isinstance(part, (list, np.ndarray, paddle.Tensor)):
            _check_places(runtime, part, writes=True)


def _check_places(runtime: Tensors, part: Any, *, writes: bool = False) -> None:
    places = part if isinstance(part, paddle.Tensor) else _numbers(part)
    if places is None:
        return
    dtype = name_of(places.dtype) if isinstance(places, paddle.Tensor) else str(places.dtype)
    is_real = dtype.startswith(("float", "bfloat", "complex"))
    if is_real and not places.ndim:
        raise _refused(runtime, _SCALAR)
    if is_real and (writes or places.size):
        raise _refused(runtime, f"Index holds the wrong type, it holds [{dtype}], but desires to be [int64].")
    if writes and not places.size and not isinstance(part, list) and dtype in {"int32", "int64"}:
        raise _refused(runtime, _NO_PLACES)


def _numbers(part: Any) -> Any:
    try:
        return np.asarray(part)
    except (TypeError, ValueError):  # a list of lists of several lengths
        return None


def check_written(runtime: Tensors, tensor: Any, index: Any, value: Any) -> None:
    """Raise what is said where a number is written by a mask behind a new axis: the mask is laid on the second axis of
    the rest."""
    found = list(placed(tensor, index))
    masks = [at for at, (part, _) in enumerate(found) if mask_sizes(part)]
    is_number = not isinstance(value, (paddle.Tensor, np.ndarray))
    if not is_number or len(masks) != 1 or all(part is not None for part, _ in found[: masks[0]]):
        return
    spans = (left(runtime, part, tensor.shape[axis : axis + axes_of(part)]) for part, axis in found)
    rest = [size for span in spans for size in span]
    for size, there in zip(mask_sizes(found[masks[0]][0]), rest[1:], strict=False):
        if size != there:
            said = f"The value ({size}) of the non-singleton dimension does not match the corresponding value ({there})"
            raise _refused(runtime, f"{said} in shape for expand_v2 op.")


def takes_none(value: Any) -> bool:
    """Whether a value of no elements is written so that nobody looks at the places: one without a gradient."""
    size = getattr(value, "size", 1)
    return isinstance(value, (paddle.Tensor, np.ndarray)) and not size and getattr(value, "stop_gradient", True)


def _refused(runtime: Tensors, said: str) -> Exception:
    return runtime.refused(ValueError(f"(InvalidArgument) {said}"))
