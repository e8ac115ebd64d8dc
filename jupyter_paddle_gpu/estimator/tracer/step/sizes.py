"""Steps that take in data of different sizes (multi-scale training, sentences as long as they come): the largest.

As long as a step takes in the same shapes as the one before, any of them stands for all. Where it does not, the loop is
followed until its sizes come again, and the step that takes most is the training's; where they do not come again, that
is told.
"""

from __future__ import annotations

from ..eager.tensors import Tensors
from ..patience import Patience, Waiting
from . import periods
from .layers import LayerPaths, Meta
from .report import most_alive, rows

Window = tuple[int, int]
Shapes = tuple[tuple[int, ...], ...]
MOST = 16
"""Updates that are looked at for sizes that come again."""
ENOUGH = 3
"""Updates of which the first one's step, without an optimizer's state, needs no look."""
PATIENCE = Patience(60_000, 5.0)
"""After which they are not waited for either."""


def _shapes(taken: frozenset[tuple[Meta, ...]]) -> Shapes | None:
    """Of the tensors of the one call; None where there are more, or none."""
    return tuple(shape for shape, _ in next(iter(taken))) if len(taken) == 1 else None


class Sizes:
    """What the updates of one training took in, and which step takes most.

    Attributes:
        largest: the step that takes most of those seen; None as long as there is none.
    """

    def __init__(self, runtime: Tensors) -> None:
        self.largest: Window | None = None
        self._runtime = runtime
        self._taken: list[int] = []
        """By update, the number of what it took in."""
        self._numbers: dict[frozenset[tuple[Meta, ...]], int] = {}
        self._windows: dict[int, Window] = {}
        """The last step that took in each, where an update is a step."""
        self._bytes = 0
        self._is_settled = False
        self._waiting: Waiting | None = None

    def updated(self, since: int) -> None:
        """An update has ended whose forward pass began then."""
        taken = self._runtime.of(LayerPaths).taken((since, self._runtime.ledger.now))
        if not taken and self._taken:  # a model that was left in evaluation says nothing new
            self._taken.append(self._taken[-1])
            return
        self._taken.append(self._numbers.setdefault(taken, len(self._numbers)))

    @property
    def vary(self) -> bool:
        """Whether two updates have taken in different shapes."""
        return len(self._numbers) > 1

    @property
    def are_two(self) -> bool:
        """Whether there were two updates of different sizes: then the first one's step may be the larger."""
        return self.vary and len(self._taken) == len(self._numbers) < ENOUGH

    def settle(self, window: Window, period: int) -> Window | None:
        """The step that stands for the training; None where it may still take more.

        Args:
            window: the last step.
            period: updates of one.
        """
        if not self.vary:
            self.largest = window
            return window
        self._compare(window)
        if period == 1:
            self._windows[self._taken[-1]] = window
        self._is_settled = self._is_settled or self._come_again(period) or self._is_enough()
        return self.largest if self._is_settled else None

    def others(self) -> tuple[list[Shapes], dict[Shapes, Window]]:
        """(what the updates have taken in, in their order; a step of each), where the shapes of the data differ and
        each step calls its model once."""
        shapes = {number: _shapes(taken) for taken, number in self._numbers.items()}
        if not self.vary or not self._windows or None in shapes.values():
            return [], {}
        told = {number: one for number, one in shapes.items() if one is not None}
        windows = {told[number]: window for number, window in self._windows.items()}
        return ([told[number] for number in self._taken], windows) if len(set(told.values())) > 1 else ([], {})

    def _compare(self, window: Window) -> None:
        storages, operations = rows(self._runtime.ledger, window, str)
        size = most_alive(storages, operations, self._runtime.target)
        if size >= self._bytes:
            self.largest, self._bytes = window, size

    def _come_again(self, period: int) -> bool:
        """Whether the last updates are a round of all that was taken in, for the second time."""
        lengths = (length for length in periods.ending(self._taken) if length % period == 0)
        return any(len(set(self._taken[-length:])) == len(self._numbers) for length in lengths)

    def _is_enough(self) -> bool:
        now, seen = self._runtime.ledger.now, len(self._taken)
        self._waiting = self._waiting or PATIENCE.begins(now)
        if seen < MOST and not self._waiting.is_over(now):
            return False
        if len(set(self._taken[seen // 2 :])) > 1:
            self._runtime.note("sizes_vary", steps=seen, sizes=len(self._numbers))
        return True
