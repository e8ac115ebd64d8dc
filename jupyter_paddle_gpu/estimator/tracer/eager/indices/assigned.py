"""What kernels say of a value that does not fit the part of a tensor that it is written to."""

from __future__ import annotations

import numbers
from itertools import zip_longest
from types import BuiltinFunctionType, FunctionType
from typing import Any, NamedTuple

import numpy as np
import paddle

from ...kernels import shapes
from ...memory.arrays import Shape
from ...memory.values import is_random
from ...session import SELECTED, paused
from ..tensors import Tensors
from .parts import left, mask_sizes, placed


class Chosen(NamedTuple):
    """What a part of an index chooses.

    Attributes:
        sizes: of the axes that it leaves, the most there can be of what hangs on numbers.
        gathers: whether it names places, which are read together with those of other such parts.
        is_open: whether its size hangs on numbers that nobody computes: a mask of a model's output.
    """

    sizes: Shape
    gathers: bool = False
    is_open: bool = False


_NO_VALUES = (list, tuple, str, bytes, dict, set, range, np.generic, FunctionType, BuiltinFunctionType)
"""Types of no value; some of numpy's are Python's as well."""


def check_value(runtime: Tensors, tensor: Any, index: Any, value: Any) -> None:
    """Raise what kernels say of a value of another shape than the part: the program builder looks at neither."""
    if value is None or (isinstance(value, _NO_VALUES) and not isinstance(value, (bool, int, float, complex))):
        allowed = "The assign value allows Tensor, numpy.ndarray, integer, float, complex or bool"
        said = f"Value type error. {allowed}, but received {type(value).__name__}."  # Paddle gives its type's address
        raise runtime.refused(ValueError(f"(InvalidArgument) {said}"))
    given = tuple(value.shape) if isinstance(value, (paddle.Tensor, np.ndarray)) else ()
    parts = [_as_number(one) for one in (index if isinstance(index, tuple) else (index,))]
    if is_plain(tuple(parts)):
        part = np.broadcast_to(np.False_, tuple(tensor.shape))[tuple(parts)].shape  # no element of it is made
        if (problem := shapes.unlike(given, part)) is not None:
            raise runtime.refused(problem)
        return
    chosen = [_chosen(runtime, part, tensor.shape[axis:]) for part, axis in placed(tensor, tuple(parts))]
    known = [one for one in chosen if one is not None]
    if len(known) == len(chosen) and (problem := _unlike(runtime, known, given)) is not None:
        raise runtime.refused(problem)


def _unlike(runtime: Tensors, chosen: list[Chosen], given: Shape) -> Exception | None:
    """What is said of places that do not go together, and of a value that does not fit what they choose
    (cpu/index_elementwise_put_kernel.cc). Where a size hangs on numbers it has a question mark."""
    gathered = [one for one in chosen if one.gathers]
    is_open = any(one.is_open for one in gathered)
    if is_open and (len(gathered) > 1 or SELECTED in runtime.assumed):
        return None
    together = gathered[0].sizes
    for one in gathered[1:]:
        if (problem := _apart(together, one.sizes)) is not None:
            return problem
        together = np.broadcast_shapes(together, one.sizes)
    first = next(place for place, one in enumerate(chosen) if one.gathers)
    is_row = all(one.gathers for one in chosen[first : first + len(gathered)])
    before = [size for one in chosen[: first * is_row] for size in one.sizes]
    behind = [size for one in chosen[first * is_row :] if not one.gathers for size in one.sizes]
    there = [*before, *together, *behind]
    counted = len(before) if is_open else None
    if _fits(given, there, counted):
        return None
    told = ", ".join("?" if place == counted else str(size) for place, size in enumerate(there))
    said = f"value tensor of shape {list(given)} cannot be broadcast to indexing result of shape [{told}]"
    return ValueError(f"(InvalidArgument) shape mismatch: {said}.")


def _fits(given: Shape, there: list[int], counted: int | None) -> bool:
    """Whether a value spreads over a shape, of whose size at one place no more than the most is known."""
    at = None if counted is None else len(there) - 1 - counted
    pairs = zip_longest(reversed(given), reversed(there), fillvalue=1)
    return all(size in {own, 1} or (place == at and size < own) for place, (size, own) in enumerate(pairs) if size != 1)


def _apart(one: Shape, other: Shape) -> Exception | None:
    """What is said of places whose shapes do not spread over each other (`InferSize`, funcs/index_elementwise.cu.h)."""
    rank = max(len(one), len(other))
    pairs = zip_longest(reversed(one), reversed(other), fillvalue=1)
    wrong = next(((place, a, b) for place, (a, b) in enumerate(pairs) if a != b and 1 not in {a, b}), None)
    if wrong is None:
        return None
    place, a, b = wrong
    where = f"at non-singleton dimension {rank - 1 - place}"
    return SystemError(f"(Fatal) The size of tensor a ({a}) must match the size of tensor b ({b}) {where}")


def _chosen(runtime: Tensors, part: Any, sizes: list[int]) -> Chosen | None:
    """What a part of an index chooses of the axes from its own on; None where eager mode counts in its own way."""
    if part is None or isinstance(part, bool) or not sizes:
        return None
    if isinstance(part, (slice, numbers.Integral)):
        return Chosen(tuple(left(runtime, part, sizes[:1])))
    if lengths := mask_sizes(part):
        count = _counted(runtime, part)
        most = int(np.prod(lengths)) if count is None else count
        return Chosen((most,), gathers=True, is_open=count is None)
    rows = _rows(part)
    return None if rows is None else Chosen(rows, gathers=True)


def _counted(runtime: Tensors, mask: Any) -> int | None:
    """How many a mask chooses; None where that is drawn at random or hangs on the model."""
    if not isinstance(mask, paddle.Tensor):
        return int(np.count_nonzero(mask))
    value = runtime.state(mask).array.value
    if value is None or runtime.evaluate is None or is_random(value):
        return None
    with paused():  # looked at inside the run, it would count as data that arrives there
        return int(np.count_nonzero(runtime.evaluate(value).numpy()))


def _as_number(part: Any) -> Any:
    """One place for a tensor of no dimension that says which: all parts that it may say have one shape."""
    is_number = isinstance(part, paddle.Tensor) and not part.ndim and "int" in str(part.dtype)
    return 0 if is_number else part


def _rows(part: Any) -> Shape | None:
    """The shape of a tensor, an array or a list of places; None of anything else."""
    if isinstance(part, paddle.Tensor):
        return tuple(part.shape) if part.ndim and "int" in str(part.dtype) else None
    if isinstance(part, list) and not _are_whole(part):
        return None
    array = np.asarray(part, None if np.size(part) else "int64")
    return array.shape if array.ndim and array.dtype.kind in "iu" else None


def _are_whole(places: list[Any]) -> bool:
    """Whether a list, however deep, has whole numbers alone."""
    return all(_are_whole(place) if isinstance(place, list) else type(place) is int for place in places)


def is_plain(index: Any) -> bool:
    """Whether an index is made of numbers alone."""
    parts = index if isinstance(index, tuple) else (index,)
    return all(isinstance(part, (int, slice, type(None), type(Ellipsis))) for part in parts)
