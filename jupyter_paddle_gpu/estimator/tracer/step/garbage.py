"""What earlier trainings leave to Python's collector: an optimizer is in a cycle of references with its parameters.

A loop over folds or settings makes a model and an optimizer in each turn. What the turns before have left goes when
Python has made `gc.get_threshold()` objects more than it has given back.
"""

from __future__ import annotations

import gc
from collections.abc import Mapping
from typing import Any

from paddle.nn.layer.rnn import RNNCellBase

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


def _objects(optimizer: Any) -> int:
    return OF_OPTIMIZER + OF_PARAMETER * sum(1 for _ in parameters(optimizer))
