"""What comes behind a step that is known, within its epoch: a last batch of fewer samples, an evaluation, a print.

Its memory is not asked for; but an error there ends the job as surely as one in the step. It is followed up to the next
epoch, as far as nothing undecided stands in the way, and tells of errors alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..patience import Patience, Waiting

REST = Patience(3_000, 0.5)
"""How long it is followed."""


class Rest:
    """How far a trace is behind the step that is known.

    Attributes:
        keep: keeps the answer as it is with the step; None: nothing behind a step is followed.
        is_any: whether the code has anything there.
        fixes: whether the code fixes the batch to so many samples.
        may_write: whether the program may write a file of this name before it is read there.
        missing: what was said of a file that is read there, and neither here nor written by the program.
        later: updates by which the step is left later, and batches that an evaluation has more: what hangs on their
            number is then said otherwise.
        is_open: whether a scaler waits for its `update()`: a step is not over before, nor is an epoch; it may be
            refused what it is called for next.
        is_on: whether the step is known.
        is_awaited: whether the step is known, and left later.
        is_over: whether nothing more is followed.
        has_short: whether the loader that trains has a last batch of fewer samples that is still to come.
        is_short_last: whether that loader's last batch has fewer samples, and has not come.
        done: parts of a round that were done, of those that are done in some rounds alone.
        counts: the count with which one is done that is done at once.
        gathers: passes over loaders of which the program keeps what all batches give; None: it is not looked for.
    """

    def __init__(self) -> None:
        self.keep: Callable[[], None] | None = None
        self.is_any = False
        self.fixes: Callable[[int], bool] = lambda _: False
        self.may_write: Callable[[str], bool] = lambda _: True
        self.is_open: Callable[[], bool] = lambda: False
        self.missing: BaseException | None = None
        self.later = 0
        self.done: set[str] = set()
        self.counts: dict[str, int] = {}
        self.gathers: list[Any] | None = None
        self.is_short_last = False
        self.is_on = self.is_over = self.has_short = self.is_awaited = False
        self._more, self._period = 0, 1
        self._is_through = False
        self._parts = set[str]()
        self._waiting: Waiting | None = None

    def begins(self, now: int, period: int) -> bool:
        """Whether what is behind the step is followed, once it is known at this operation.

        Args:
            period: updates of one step, of which it may be any.
        """
        if self.keep is None or self.is_on or not (self.is_any or self.has_short):
            return False
        self.keep()
        self.is_on, self._period, self._more = True, period, period * (1 + self.has_short) - 1
        self._waiting = REST.begins(now)
        return True

    def waits(self) -> bool:
        """Whether the step is left later than it is known; asked once with each step."""
        self.is_awaited = self._more < self.later
        self._more += self.is_awaited
        return self.is_awaited

    def trains_anew(self) -> None:
        """Another training begins."""
        self.has_short = self.is_short_last = False
        self._more = 0

    def updated(self) -> None:
        """An optimizer has updated behind the step: with the last batch, or in the next epoch."""
        self._is_through, self._more = self._more < 1, self._more - 1

    def next_epoch(self) -> None:
        """A loop that may train begins."""
        self._is_through = True

    def ends(self, now: int) -> bool:
        """Whether the program is to end at this operation."""
        is_late = self._waiting is not None and self._waiting.is_over(now)
        self.is_over = self.is_over or is_late or (self._is_through and not self.is_open())
        return self.is_over

    def begins_part(self, place: str) -> None:
        """A part of a round is done before its turn."""
        if not self.is_open():
            self._parts.add(place)

    def ends_part(self, place: str) -> None:
        """It is through: if it leaves a scaler open, nobody knows how the rounds go on from there."""
        is_early = place in self._parts
        self._parts.discard(place)
        self.is_over = self.is_over or (is_early and self.is_open())

    def wants_short(self) -> bool:
        """Whether a last batch of fewer samples is still to come: what is done with the last one is done with it."""
        if self.is_short_last and not self.has_short:
            self.has_short, self._more = True, self._more + self._period
        return self.is_short_last

    def takes_short(self) -> bool:
        """Whether the loader is to give its last batch now."""
        takes, self.has_short = self.has_short and self.is_on, self.has_short and not self.is_on
        self.is_short_last = self.is_short_last and not takes
        return takes
