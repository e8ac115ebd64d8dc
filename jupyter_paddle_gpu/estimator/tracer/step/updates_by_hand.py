"""Updates that a program writes out itself, without an optimizer: `w = w - rate * w.grad`, then `w.clear_grad()`."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise, takewhile
from typing import Any

from paddle.base.framework import EagerParamBase

from .. import call_stack
from ..eager.tensors import Tensors
from ..memory.arrays import elements, known_state
from . import periods
from .layers import LayerPaths
from .sizes import MOST, Sizes, Window


class UpdatesByHand:
    """Tells one such update from the next: by the first gradient that is read or cleared after a backward pass, or by
    the loss of which `paddle.grad` is taken.

    What is updated may be another tensor each time (`w = w - rate * w.grad`), and its gradient then is never cleared.

    Attributes:
        elements: by identity those of tensors whose gradient the program reads or clears itself.
        has_gradients: whether a backward pass has run since the last update.
        has_stepped: whether an optimizer of the program's own has: no other is waited for.
        ends: when updates have ended.
    """

    def __init__(self, runtime: Tensors) -> None:
        self.runtime = runtime
        self.elements: dict[int, int] = {}
        self.has_gradients = self.has_stepped = False
        self._since: dict[int, int] = {}
        """The same of the update that goes on."""
        self._is_by_gradients = False
        """Whether a gradient has ended an update since an optimizer of the program's own stepped last."""
        self._loss = 0
        self._trained: tuple[int, int] | None = None
        """The first tensor of the last update, and how often it had been written over."""
        self._line = (0, 0)
        """Cell and line of the loop that used the last gradient."""
        self.ends: list[int] = []
        self._sizes = Sizes(runtime)
        self._settled: Window | None = None
        """Of steps that take in data of different sizes the largest; None as long as it is not known."""

    @property
    def count(self) -> int:
        """Updates so far."""
        return len(self.ends)

    def used(self, tensor: Any) -> bool:
        """The program reads or clears a gradient; whether an update ends by that."""
        ends = self.has_gradients
        if ends:
            self._end(tensor)
        self._since[id(tensor)] = elements(tensor)
        if not self.ends:
            self.elements |= self._since
        count_as_parameter(tensor)
        state = known_state(tensor)
        if state is not None and state.grad is not None and state.grad.storage is not None:
            state.grad.storage.record.kind = "gradients"
        return ends

    def given(self, losses: list[Any], tensors: list[Any]) -> bool:
        """`paddle.grad` has given gradients; whether an update ends by that: of one loss it may be asked repeatedly."""
        ends = bool(losses and tensors) and id(losses[0]) != self._loss
        if ends:
            self._loss = id(losses[0])
            self._end(tensors[0])
        for tensor in tensors:
            self._since[id(tensor)] = elements(tensor)
            count_as_parameter(tensor)
        return ends

    def stepped(self, trained: list[Any]) -> bool:
        """An optimizer of the program's own has stepped; whether an update ends by that: not where gradients that it
        reads have ended one.

        Args:
            trained: its parameters, as far as they are known.
        """
        by_gradients, self._is_by_gradients = self._is_by_gradients, False
        self.has_stepped = True
        if by_gradients:
            return False
        self.elements = {number: elements(tensor) for number, tensor in enumerate(trained)}
        for tensor in trained:
            count_as_parameter(tensor)
        self._append()
        return True

    def _append(self) -> None:
        """An update has ended."""
        begin, now = self.ends[-1] if self.ends else 0, self.runtime.ledger.now
        self.runtime.of(LayerPaths).look(begin)
        self._sizes.updated(begin)
        if self.ends:
            self._settled = self._sizes.settle((begin, now), 1)
        self.ends.append(now)

    def _end(self, tensor: Any) -> None:
        self.has_gradients = False
        self._is_by_gradients = True
        state = known_state(tensor)
        trained = id(tensor), 0 if state is None else state.writes
        line = call_stack.place()
        is_shown = trained == self._trained and not isinstance(tensor, EagerParamBase)
        if is_shown and not (line == self._line and self._is_fed()):
            self.ends.clear()  # the same numbers again: gradients are shown here, nothing is trained
        self._trained, self._line = trained, line
        self.elements, self._since = self._since or self.elements, {}
        self._append()

    def _is_fed(self) -> bool:
        """Whether new data has come since the last update: a loop over batches is meant as a training."""
        begin = self.ends[-1] if self.ends else 0
        since = takewhile(lambda record: record.start >= begin, reversed(self.runtime.ledger.records))
        return any(record.kind == "inputs" for record in since)

    def window(self, size: Callable[[Window], int]) -> Window | None:
        """The step that stands for the training; None where it is not known yet.

        Args:
            size: how much a step takes.
        """
        found = self._of_loop(size)
        return self._settled if found is not None and self._sizes.vary else found

    def last(self, size: Callable[[Window], int]) -> Window | None:
        """The step of a program that has ended. That an optimizer of its own has stepped is told by its name: no two
        need be alike then."""
        steps = [*pairwise(self.ends)] if self.has_stepped else []
        found = self._of_loop(size) or max(steps, key=lambda one: (size(one), one), default=None)
        return self._sizes.largest if found is not None and self._sizes.vary else found

    def _of_loop(self, size: Callable[[Window], int]) -> Window | None:
        """The last step, where the one before has as many operations: it is one of a loop's. Where they differ from one
        to the next (a loss that is added every second step), the largest of those whose numbers come again, or of as
        many as are looked at for that."""
        steps = [*pairwise(self.ends)]
        lengths = [end - begin for begin, end in steps]
        period = next(periods.ending(lengths), MOST if len(steps) >= MOST else 0)
        if period < 2:
            return steps[-1] if period else None
        return max(steps[-period:], key=lambda one: (size(one), one))


def count_as_parameter(tensor: Any) -> None:
    """What is trained is one, also where no layer made it."""
    state = known_state(tensor)
    if state is not None and state.node is None and state.array.storage is not None:
        state.array.storage.record.kind = "parameters"
