"""What earlier trainings leave to Python's collector: an optimizer is in a cycle of references with its parameters.

A loop over folds or settings makes a model and an optimizer in each turn. What the turns before have left goes when
Python has made `gc.get_threshold()` objects more than it has given back.
"""

from __future__ import annotations

import gc
from collections.abc import Mapping
from types import FrameType
from typing import Any

import paddle
from paddle.nn.layer.rnn import RNNCellBase

from ..memory.arrays import known_state, storage_of
from .changes import parameters

OF_OPTIMIZER, OF_PARAMETER, OF_CELL = 38, 3, 47
"""Objects of Python's that a training leaves. Measured: 45 to 55 of a momentum with 4 parameters, 110 of an Adam with
an LSTM, whose cell is in a cycle of its own."""


class Garbage:
    """Objects that wait for the collector, as Python would count them: here it counts those of the trace as well. How
    many there were before nobody knows: 326 to 468 of 700 at the first update of three programs."""

    def __init__(self) -> None:
        self._most = gc.get_threshold()[0]
        self._before, self._seen = self._most * 4 // 7, 0
        self.collections = 0
        self._all: Mapping[Any, int] = {}

    @property
    def is_growing(self) -> bool:
        """Whether more comes to wait than did before the first collection: from the first one to the second, it is as
        much as may be."""
        return self.collections == 1

    def training_begins(self, optimizers: Mapping[Any, int], *, is_first: bool) -> None:
        """A training has had its first forward pass.

        Young garbage is collected, as Python does by itself within a real training's first steps: recurrent layers are
        in cycles of references, so that one which was only tried out outlives its name. What has outlived that behind
        another training waits until Python would have collected it.

        Args:
            optimizers: all that are there, those that wait too, with their numbers; they are not held.
        """
        gc.collect(1)
        self._all = optimizers
        if is_first:
            return
        left = {number: _objects(one) for one, number in optimizers.items() if number > self._seen}
        newest = max(left, default=0)
        objects = sum(count for number, count in left.items() if number != newest)
        cells = sum(1 for one in gc.get_objects() if issubclass(type(one), RNNCellBase)) if objects else 0
        waiting = cells * (len(left) - 1) // max(1, len(left))
        if self._before + objects + OF_CELL * waiting > self._most:
            self._before, self._seen = 0, newest - 1
            self.collections += 1
            gc.collect()

    def waiting(self, first: int) -> int:
        """Bytes of earlier trainings that no name of the program holds any more: Python's collector gives them back at
        a time that hangs on all that the process has made.

        Args:
            first: the number of the first optimizer of the training that goes on.
        """
        found: dict[int, int] = {}
        kept: set[int] = set()
        for one, number in list(self._all.items()):
            if number < first and not _is_named(one):
                found |= _bytes_of(one)
            else:
                kept |= _bytes_of(one).keys()
        return sum(size for key, size in found.items() if key not in kept)


def _is_named(one: Any) -> bool:
    """Whether a name of the program holds something."""
    return any(isinstance(by, FrameType) or (type(by) is dict and "__name__" in by) for by in gc.get_referrers(one))


def _bytes_of(optimizer: Any) -> dict[int, int]:
    """By their identity the bytes of an optimizer's parameters, of their gradients and of its own state."""
    parts = [*getattr(optimizer, "_accumulators", {}).values(), getattr(optimizer, "_learning_rate_map", {})]
    found: dict[int, int] = {}
    for tensor in (*parameters(optimizer), *(one for part in parts for one in part.values())):
        if not isinstance(tensor, paddle.Tensor):  # a static program's
            continue
        state = known_state(tensor)
        gradient = None if state is None or state.grad is None else state.grad.storage
        held = (storage_of(tensor), gradient)
        found |= {id(storage): storage.record.bytes for storage in held if storage is not None}
    return found


def _objects(optimizer: Any) -> int:
    return OF_OPTIMIZER + OF_PARAMETER * sum(1 for _ in parameters(optimizer))
