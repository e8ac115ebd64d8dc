"""Images of another size, sequences of another length: seen where a model is called, replaced where data arises.

A first, short run (`what_ifs`) sees what the model is called with: an image is an array of rank 4, a volume or a clip
one of rank 5, a sequence a [B, T] array of integers or a [B, T, F] array. The run that is shown replaces those
dimensions wherever the program makes data outside a layer: in a loader's batch, in `paddle.to_tensor`, in
`paddle.rand` and its like. What else has the same dimensions at the same place (masks, labels, positions) follows. A
model's own parameters and buffers stay.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import paddle

from ..kernels.registry import rule_of
from ..memory.arrays import Shape, known_state
from ..memory.dtypes import name_of
from ..memory.values import Known, Value
from ..session import Session, paused
from .layers import LayerPaths
from .model_inputs import FEW_CHANNELS, IMAGE_RANK, Sequence, are_neighbours

SMALLEST_TARGET, LARGEST_RATIO = 8, 8
"""Side in pixels and ratio within which an array counts as a target in proportion to the images, not as a filter."""
MOST_INDICES = 1 << 22
"""Indices of an embedding that are looked at."""
_INITIALIZERS = str(Path(paddle.nn.initializer.__file__).parent)


@dataclass(frozen=True)
class Change:
    """What is asked for: the sides or the length that there are, and those that there shall be. None: not asked."""

    image: tuple[tuple[int, int], int] | None = None
    sequence: tuple[Sequence, int] | None = None
    is_flat: bool = False
    """Whether images come as rows of pixels, which the program reshapes."""
    in_samples: bool = True
    """Whether tensors that a data set makes are replaced one by one, or the batch alone, as a whole."""

    def shape(self, shape: Shape, dtype: str) -> Shape:
        """The shape that an array of data has then."""
        if self.image is not None:
            before, shape = shape, _resized(shape, *self.image)
            if self.is_flat and shape == before:
                shape = _more_pixels(shape, *self.image)
        if self.sequence is not None:
            shape = _lengthened(shape, dtype, *self.sequence)
        return shape

    def lengths(self, data: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Lengths of a batch's sequences (one integer a sample, the longest of them the whole) in proportion."""
        if self.sequence is None or data.shape != (self.sequence[0].batch,) or data.dtype.kind != "i":
            return data
        present, wanted = self.sequence
        return data * wanted // present.length if data.max() == present.length else data


def _resized(shape: Shape, sides: tuple[int, int], wanted: int) -> Shape:
    rank = len(shape)
    places: tuple[int, ...]
    if rank >= IMAGE_RANK:
        places = (rank - 2, 1, rank - 3)
    elif rank == 3:
        places = (1, 0) if shape[2] <= FEW_CHANNELS else (1,)
    else:
        places = (0,)
    for place in places:
        found = shape[place : place + 2]
        side = wanted if found == sides else _in_proportion(found, sides, wanted) if rank > 2 else None
        if side is not None:
            return (*shape[:place], side, side, *shape[place + 2 :])
    return shape


def _more_pixels(shape: Shape, sides: tuple[int, int], wanted: int) -> Shape:
    """Rows of pixels, of one or three channels."""
    pixels = sides[0] * sides[1]
    is_row = 1 <= len(shape) <= 2 and shape[-1] in (pixels, 3 * pixels)
    return (*shape[:-1], shape[-1] // pixels * wanted * wanted) if is_row else shape


def _in_proportion(found: Shape, sides: tuple[int, int], wanted: int) -> int | None:
    """The side of a target that is larger or smaller than its image by a whole number; None where it is no target."""
    (height, width), (high, wide) = sides, found
    if min(found) < SMALLEST_TARGET or (wanted, wanted) == found:
        return None
    for times in range(2, LARGEST_RATIO + 1):
        if (high, wide) == (height * times, width * times):
            return wanted * times
        if (high * times, wide * times) == (height, width) and wanted % times == 0:
            return wanted // times
    return None


def _lengthened(shape: Shape, dtype: str, sequence: Sequence, wanted: int) -> Shape:
    length, rank = sequence.length, len(shape)
    changed = list(shape)
    is_sound = len(sequence.shape) == 2 and not sequence.is_integer
    if rank == 1 and length != sequence.batch and ("int" in dtype or is_sound):
        axes: tuple[int, ...] = (0,)
    elif rank == 2:
        is_square = shape == (length, length) and "int" not in dtype
        axes = (0, 1) if is_square else (min(sequence.axis, 1),)
    elif rank == 3:
        is_mask = sequence.is_integer and shape[1:] == (length, length)
        axes = (1, 2) if is_mask or shape[1] == 1 else (sequence.axis,)
    elif rank == IMAGE_RANK:
        axes = (2, 3)  # masks of attention: [B, 1, T, T], [B, 1, 1, T]
    else:
        axes = ()
    for axis in axes:
        if shape[axis] == length:
            changed[axis] = wanted
        elif rank == 2 and "int" in dtype and shape[axis] != wanted and are_neighbours(shape[axis], length):
            changed[axis] = wanted + shape[axis] - length
    return tuple(changed)


class Stretched(Value):
    """Known data at another size: repeated or cut; positions go on counting."""

    __slots__ = ("data", "shape")

    def __init__(self, data: Value, shape: Shape) -> None:
        self.data, self.shape = data, shape

    def get(self) -> Any:
        """The data as a tensor."""
        data = self.data.get().numpy()
        for axis, size in enumerate(self.shape):
            if size == data.shape[axis]:
                continue
            data = _along(data, axis, size)
        return paddle.to_tensor(data)


def _along(data: np.ndarray[Any, Any], axis: int, size: int) -> np.ndarray[Any, Any]:
    """The data with another size of one axis."""
    across = [1] * data.ndim
    across[axis] = -1
    counted = np.broadcast_to(np.arange(data.shape[axis]).reshape(across), data.shape)
    if data.dtype.kind == "i" and np.array_equal(data, counted):
        shape = [*data.shape[:axis], size, *data.shape[axis + 1 :]]
        return np.broadcast_to(np.arange(size, dtype=data.dtype).reshape(across), shape)
    taken: np.ndarray[Any, Any] = np.take(data, np.arange(size) % data.shape[axis], axis)
    return taken


class Resizing:
    """What is asked of the running trace.

    Attributes:
        change: None where nothing is.
    """

    def __init__(self, change: Change | None = None) -> None:
        self.change = change
        self._sampling = 0

    @contextlib.contextmanager
    def samples(self) -> Iterator[None]:
        """Samples of a batch are put together inside."""
        self._sampling += 1
        try:
            yield
        finally:
            self._sampling -= 1

    @property
    def here(self) -> Change | None:
        """The change to make of data that comes into being now."""
        return None if self.change is None or (self._sampling and not self.change.in_samples) else self.change

    def arriving(self, shape: Shape, dtype: str, value: Value | None) -> tuple[Shape, Value | None]:
        """Shape and value of data that comes into the program: from a numpy array, out of a batch."""
        change = self.here
        if change is None:
            return shape, value
        if isinstance(value, Known) and isinstance(value.data, np.ndarray):
            value = Known(change.lengths(value.data))
        wanted = change.shape(shape, dtype)
        return wanted, value if wanted == shape or value is None else Stretched(value, wanted)


def arguments(session: Session, name: str, args: Any) -> Any:
    """The arguments of an operator, with the shape that is asked for where it makes a tensor out of nothing."""
    change = session.of(Resizing).here
    if change is None:
        return args
    tensors = [arg for arg in args if isinstance(arg, paddle.Tensor)]
    rule = rule_of(name)
    if rule.looks_up:
        _stay_inside_table(*tensors[:2])
    if not session.of(LayerPaths).is_outside:
        return args
    if rule.counts_up:
        _count_further(change, *tensors)
    if tensors:
        return args
    dtype = next((name_of(arg) for arg in args if isinstance(arg, type(paddle.float32))), "float32")
    for index, arg in enumerate(args):
        if isinstance(arg, (list, tuple)) and arg and all(isinstance(size, int) for size in arg):
            wanted = change.shape(tuple(arg), dtype)
            if wanted != tuple(arg) and not _is_the_models():
                return (*args[:index], list(wanted), *args[index + 1 :])
    return args


def _number(tensor: Any) -> Any:
    """The known numbers of a tensor; None where they are not known."""
    state = known_state(tensor)
    if state is None or state.array.value is None:
        return None
    with paused():
        return state.array.value.get().numpy()


def _count_further(change: Change, *bounds: Any) -> None:
    """`paddle.arange(T)`, whose shape is its value."""
    if change.sequence is None or len(bounds) < 2:
        return
    sequence, wanted = change.sequence
    numbers = [_number(bound) for bound in bounds[:2]]
    if all(number is not None for number in numbers) and [int(n.reshape(-1)[0]) for n in numbers] == [
        0,
        sequence.length,
    ]:
        state = known_state(bounds[1])
        if state is not None and not _is_the_models():
            state.array.value = Known(np.full_like(numbers[1], wanted))


def _stay_inside_table(ids: Any = None, table: Any = None) -> None:
    """Raise what Paddle raises where positions go beyond an embedding's rows; shapes alone would not show it."""
    if table is None or int(np.prod(ids.shape)) > MOST_INDICES:
        return
    found, rows = _number(ids), int(table.shape[0])
    if found is not None and found.size and int(found.max()) >= rows:
        message = f"an embedding of {rows} rows: indices expected >= 0 and < {rows}, but got {int(found.max())}"
        raise ValueError(message)


def _is_the_models() -> bool:
    """Whether a parameter or a buffer is made: the model keeps what it is built with."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename.startswith(_INITIALIZERS):
            return True
        if frame.f_code.co_name == "__init__" and isinstance(frame.f_locals.get("self"), paddle.nn.Layer):
            return True
        frame = frame.f_back
    return False
