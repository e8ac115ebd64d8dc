"""What models are called with from outside: the images and the sequences of a training step."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import paddle

from ..memory.arrays import Shape, known_state
from ..memory.dtypes import FLOATING, name_of

FEW_CHANNELS = 4
"""Channels that an image with its channels last has at most, where its sides do not tell."""
NEIGHBOURS_FROM = 4
"""Length from which integers that are one longer or shorter belong to a sequence: `ids[:, :-1]` and `ids[:, 1:]`."""
IMAGE_RANK, VIDEO_RANK = 4, 5
"""Dimensions of a batch of images, and of one of volumes or of clips."""


@dataclass(frozen=True)
class Sequence:
    """A sequence that a model is called with: the whole shape and the axis of its length."""

    shape: Shape
    axis: int
    is_integer: bool

    @property
    def length(self) -> int:
        """Tokens or time steps."""
        return self.shape[self.axis]

    @property
    def batch(self) -> int:
        """Samples."""
        return self.shape[1 if self.axis == 0 else 0]


class ModelInputs:
    """What models are called with from outside, the last call first in rank; known data ranks before unknown."""

    def __init__(self) -> None:
        self._image: tuple[int, tuple[int, int]] | None = None
        self._tokens: tuple[int, Sequence] | None = None
        self._features: tuple[int, Sequence] | None = None
        self._rows: Sequence | None = None
        """Floating numbers [B, T] that a model is called with: sound, where it is heard, else anything."""
        self._sound: Sequence | None = None

    @property
    def image(self) -> tuple[int, int] | None:
        """Height and width."""
        return self._image[1] if self._image else None

    @property
    def sequence(self) -> Sequence | None:
        """Integers are looked at first: a model of tokens may get features beside them. Sound goes before features."""
        if self._tokens is None and self._sound is not None:
            return self._sound
        found = self._tokens or self._features
        return found[1] if found and found[1].length > 1 else None

    def called(self, layer: Any, args: Any) -> None:
        """A model is called from outside any other."""
        if not paddle.is_grad_enabled():
            return
        first: Sequence | None = None
        known = -1  # rank of the call's first picture: what else it gets may be targets on a coarser grid
        for tensor in _tensors(args):
            shape, dtype = tuple(tensor.shape), name_of(tensor.dtype)
            rank = _certainty(tensor)
            if len(shape) in {IMAGE_RANK, VIDEO_RANK} and dtype != "bool":
                sides = sides_of(shape)
                if sides != (1, 1) and rank > known and (self._image is None or rank >= self._image[0]):
                    self._image, known = (rank, sides), rank
            elif len(shape) == 2 and dtype.startswith("int") and shape[1] > 1:
                found = Sequence(shape, _time_axis(layer, 1), is_integer=True)
                first = first or found
                if found.length != first.length and not are_neighbours(found.length, first.length):
                    continue  # of one call the first length counts: its labels may have quite another
                if self._tokens is None or rank >= self._tokens[0]:
                    self._tokens = (rank, found)
            elif len(shape) == 2 and dtype in FLOATING and shape[1] > 1:
                self._rows = Sequence(shape, 1, is_integer=False)
            elif len(shape) == 3 and dtype in FLOATING and (self._features is None or rank >= self._features[0]):
                self._features = (rank, Sequence(shape, _time_axis(layer, 1), is_integer=False))

    def convolved(self, layer: Any, args: Any) -> None:
        """A one-dimensional convolution is called: where it gets the features as they came, the length is its axis.

        Rows of numbers that it gets as one channel are sound.
        """
        if not args or not isinstance(args[0], paddle.Tensor) or args[0].ndim != 3:  # the layer says so itself
            return
        last = getattr(layer, "_data_format", "NCL") == "NCL"
        shape = tuple(args[0].shape)
        if shape[1 if last else -1] == 1:
            self.heard((shape[0], shape[2 if last else 1]))
        if self._features is None:
            return
        rank, sequence = self._features
        if last and tuple(args[0].shape) == sequence.shape and sequence.axis == 1:
            self._features = (rank, Sequence(sequence.shape, 2, is_integer=False))

    def heard(self, shape: Shape) -> None:
        """Along the last axis of such an array there is time: it is transformed as sound, or convolved."""
        if self._rows is not None and self._rows.shape == shape:
            self._sound = self._rows


def are_neighbours(size: int, length: int) -> bool:
    """Whether a size is by one more or less than a length: that of the data behind inputs and shifted targets."""
    return length >= NEIGHBOURS_FROM and abs(size - length) == 1


def sides_of(shape: Shape) -> tuple[int, int]:
    """Height and width of images (rank 4), volumes or clips (rank 5), wherever the channels stand."""
    first, second, third = shape[-3:]
    channels_last = second != third and (first == second or third <= FEW_CHANNELS < first)
    return (first, second) if channels_last else (second, third)


def _tensors(value: Any) -> Iterable[Any]:
    if isinstance(value, paddle.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _tensors(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _tensors(item)


def _certainty(tensor: Any) -> int:
    """How surely a tensor is data: 2 with known numbers, 1 outside the graph, 0 a model's output."""
    state = known_state(tensor)
    if state is None:
        return 1
    return 2 if state.array.value is not None else int(state.node is None)


def _time_axis(layer: Any, usual: int) -> int:
    inner = (layer, *layer.sublayers())
    return 0 if any(getattr(one, "time_major", False) for one in inner) else usual
