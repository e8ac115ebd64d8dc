"""When the user's program asks a tensor for its numbers.

Known data answers truly. What depends on the model gets a stand-in: ones for floating types, zeros for integers. Where
such a stand-in decides which way the program goes, the trace says so.
"""

from __future__ import annotations

import itertools
from math import prod
from typing import Any

import numpy as np
import paddle

from .. import call_stack
from ..eager.dependent_shapes import Choices
from ..eager.tensors import Tensors, current
from ..memory.arrays import Array
from ..memory.dtypes import SIZE, name_of
from ..memory.ledger import Storage
from ..session import NUMBERS, SIZES, paused
from ..step.steps import StepWatch
from . import random_numbers, unknowns
from .branches import Decisions

_NUMPY = {"bfloat16": "uint16"}


class Losses:
    """Numbers that stand for losses of which no two are the same."""

    def __init__(self) -> None:
        self.turns = itertools.count(1)


def _known(runtime: Tensors, tensor: Any) -> Any:
    """The data as numpy, or None."""
    value = runtime.state(tensor).array.value
    if value is None:
        return None
    try:
        with paused():
            return value.get().numpy()
    except Exception:
        runtime.note("value_failed")
        return None


class _Copied:
    """Numbers of an array as they lie in memory of Paddle's allocator, which goes with the last array that shows it."""

    def __init__(self, numbers: Any, storage: Storage) -> None:
        self._numbers, self.storage = numbers, storage
        self.__array_interface__ = numbers.__array_interface__


def numpy(runtime: Tensors, original: Any, tensor: Any, *args: Any) -> Any:
    """`Tensor.numpy()`. On a CPU it is a copy within Paddle's allocator, and one of the whole storage: an array of one
    row holds the memory of all (measured; `Tensor.numpy` of `eager_method.cc` copies a tensor's holder)."""
    found = numbers(runtime, tensor)
    source = runtime.state(tensor).array
    size = _size_of_storage(source)
    if runtime.target != "cpu" or not size:
        return found
    ledger = runtime.ledger
    operation = ledger.begin("numpy")
    copy = ledger.allocate(size, "numpy", source.shape, source.dtype)
    operation.bytes_moved = 2 * size
    ledger.finish(operation)
    return np.asarray(_Copied(found, copy)).view(type(found))


def _size_of_storage(array: Array) -> int:
    """Bytes of the whole memory that an array shows a part of; a batch that workers hand over lies in shared memory."""
    if array.storage is None:
        return array.nbytes
    record = array.storage.record
    return record.bytes or prod(record.shape) * SIZE[record.dtype]


def numbers(runtime: Tensors, tensor: Any) -> Any:
    """The numbers of a tensor: those that are known, else stand-ins."""
    found = _known(runtime, tensor)
    if found is not None:
        return found
    dtype = name_of(tensor.dtype)
    runtime.assumed.add(SIZES if dtype.startswith(("int", "uint")) else NUMBERS)  # whole numbers may become sizes
    choices = runtime.of(Choices)
    stands, least = choices.numbers, choices.marks.least.get(runtime.state(tensor))
    number = stands.real if dtype.startswith("float") else stands.whole
    number = number if least is None else max(number, type(number)(least))
    found = np.full(list(tensor.shape), number, dtype=_NUMPY.get(dtype, dtype))
    if stands.slope:
        found += (stands.slope * np.arange(found.size)).reshape(found.shape).astype(found.dtype)
    chosen = choices.classes.get(runtime.state(tensor))
    if chosen is not None and chosen[0] and found.dtype.kind in "iu":  # `argmax` names one of its classes
        found %= chosen[0]
    return found.view(unknowns.UnknownArray)


def array(runtime: Tensors, original: Any, tensor: Any, dtype: Any = None, copy: Any = None) -> Any:
    """`numpy.asarray(tensor)`."""
    found = numpy(runtime, original, tensor)
    return found if dtype is None else found.astype(dtype)


_NO_SCALAR = "(InvalidArgument) only one element tensors can be converted to Python scalars when no input coordinates"
"""What Paddle says to `item()` of a tensor that is more, or less, than one number (`eager_method.cc`)."""


def item(runtime: Tensors, original: Any, tensor: Any, *args: Any) -> Any:
    """`Tensor.item()`; Paddle's own code indexes with it, and `static.nn.cond` decides by it."""
    value = runtime.state(tensor).array.value
    if call_stack.picks_a_way() and (
        value is None or random_numbers.goes_both_ways(value) or _known(runtime, tensor) is None
    ):
        return (
            as_bool(runtime, original, tensor) if call_stack.of_program() else True
        )  # matrix_exp: its operand is finite
    if not args and prod(tensor.shape) != 1:
        raise runtime.refused(ValueError(_NO_SCALAR))
    _check_places(runtime, tuple(tensor.shape), args)
    found = numbers(runtime, tensor).item(*args)
    if type(found) is float and value is not None and random_numbers.is_drawn(value):
        return random_numbers.Draw(found)
    return unknowns.plain(found) if call_stack.of_paddle() else found


def _check_places(runtime: Tensors, shape: tuple[int, ...], places: tuple[Any, ...]) -> None:
    """Raise what `item(...)` says of places that a tensor does not have (`tensor_method__getitem_from_offset`)."""
    if not all(type(place) is int for place in places):
        return
    count, said = prod(shape), ""
    if len(places) == 1 and places[0] >= count:
        said = f"index {places[0]} is out of bounds for size {count}"
    elif len(places) > 1 and len(places) != len(shape):
        said = "incorrect number of indices for Tensor"
    elif len(places) > 1:
        axis = next((axis for axis, size in enumerate(shape) if places[axis] >= size), None)
        said = "" if axis is None else f"index {places[axis]} is out of bounds for axis {axis} with size {shape[axis]}"
    if said:
        raise runtime.refused(ValueError(f"(InvalidArgument) {said}"))


def as_float(runtime: Tensors, original: Any, tensor: Any) -> float:
    """`float(tensor)`; Paddle's own optimizers compare losses, of which no two are the same."""
    _converts(runtime, tensor, "only one element variable can be converted to float.")
    found = float(numbers(runtime, tensor).reshape(-1)[0])
    if call_stack.of_paddle() and _known(runtime, tensor) is None:
        return found / next(runtime.of(Losses).turns)
    return found


def as_index(runtime: Tensors, original: Any, tensor: Any) -> int:
    """`operator.index(tensor)`."""
    _converts(runtime, tensor, "only one element variable can be converted to python index.")
    return as_int(runtime, original, tensor)


def as_int(runtime: Tensors, original: Any, tensor: Any) -> int:
    """`int(tensor)`; a stand-in may size something."""
    _converts(runtime, tensor, "only one element variable can be converted to int.")
    found = _known(runtime, tensor)
    if found is None:
        # Counting right answers without gradients sizes no tensor of the training step: not worth a person's attention.
        if paddle.is_grad_enabled():
            runtime.note("stand_in_number", **call_stack.told())
            runtime.assumed.add(SIZES)
        return int(numbers(runtime, tensor).reshape(-1)[0])
    return int(found.reshape(-1)[0])


def as_bool(runtime: Tensors, original: Any, tensor: Any) -> bool:
    """`if tensor:`; a way that is taken without knowing the value is noted."""
    _has_one(
        runtime, tensor, "When Variable is used as the condition of if/while , Variable can only contain one element."
    )
    value = runtime.state(tensor).array.value
    found = None if value is not None and random_numbers.goes_both_ways(value) else _known(runtime, tensor)
    if found is None:
        runtime.note("stand_in_branch", **call_stack.told())
        return runtime.of(Decisions).decide(runtime.of(StepWatch).all_updates)
    return bool(found.all())


def _has_one(runtime: Tensors, tensor: Any, says: str) -> None:
    """Raise what Paddle says of a tensor that is not one number (`math_op_patch.py`, `tensor_patch_methods.py`)."""
    if prod(tensor.shape) != 1:
        raise runtime.refused(AssertionError(says))


def _converts(runtime: Tensors, tensor: Any, says: str) -> None:
    """Raise what numpy says of an array that it makes no number of, which Paddle hands it (numpy 2.4: any with a
    dimension)."""
    _has_one(runtime, tensor, says)
    try:
        float(np.zeros(tensor.shape))
    except TypeError as problem:
        raise runtime.refused(problem) from None


def text(runtime: Tensors, original: Any, tensor: Any) -> str:
    """`print(tensor)`: no numbers."""
    return f"Tensor(shape={list(tensor.shape)}, dtype={name_of(tensor.dtype)}, traced)"


def formatted(runtime: Tensors, original: Any, tensor: Any, spec: str) -> str:
    """`f"{tensor:.3f}"`, which Paddle leaves to Python for a tensor with dimensions (`tensor_patch_methods.py`)."""
    if not tensor.shape:
        return format(numbers(runtime, tensor).item(), spec)
    if spec:
        raise runtime.refused(TypeError(f"unsupported format string passed to {type(tensor).__name__}.__format__"))
    return text(runtime, original, tensor)


def is_known(value: Any) -> bool:
    """Whether an object is no tensor, or one whose value is known for certain."""
    runtime = current()
    if runtime is None or not isinstance(value, paddle.Tensor):
        return True
    known = runtime.state(value).array.value
    return known is not None and not random_numbers.is_drawn(known)
