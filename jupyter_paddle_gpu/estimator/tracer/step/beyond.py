"""What a training takes beside its steady step: an evaluation between epochs, parameters that are copied or read
there, later epochs of longer sequences or with more layers set free.

Its steps are followed once more for that, past the steady one: each epoch for one update, with all that stands around
it. The figure stays that of the step; that more is alive elsewhere is told, with its place.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

from .. import call_stack
from ..memory.ledger import Ledger
from ..patience import Patience, Waiting
from .report import most_alive_at, rows

LATER = Patience(6_000, 1.0)
"""How far a program is followed behind its first steady step, for each training that it has."""
AROUND = Patience(3_000, 0.5)
"""How far, where something comes behind the training, until its loops are left."""
MOST_TRAININGS, ROUNDS = 3, 2
"""Trainings for which it is followed; rounds of the loops behind which there is nothing new."""
BATCHES = 2
"""Full batches of a loader that is gone through without training: the second is made beside the first."""


class Beyond:
    """How far a trace is behind the first steady step.

    Attributes:
        is_asked: whether it goes on there at all.
        is_whole: whether evaluations go through all of their data, as they may keep what comes out.
        around, behind: whether the loops that train have anything beside it, and whether anything comes behind them.
        trainings: how many there may be.
        rounds: rounds of the loops that were left behind the step.
        since: when that step began; None: it has not been seen.
    """

    def __init__(self) -> None:
        self.is_asked = self.is_whole = self.around = self.behind = False
        self.trainings = 1
        self.rounds = 0
        self.since: int | None = None
        self._waiting: Waiting | None = None
        self._around: Waiting | None = None
        self._is_cut = False
        self._seen: set[str] = set()
        self._newest = 0
        self._places: list[tuple[int, dict[str, int]]] = []
        """Operations from which on another place of the program is at work."""

    @property
    def is_on(self) -> bool:
        """Whether the step has been seen."""
        return self.since is not None

    def begins(self, step: tuple[int, int], now: int) -> bool:
        """Whether the program is followed further, now that its step is known."""
        if self.is_asked and self.since is None:
            times, size = min(self.trainings, MOST_TRAININGS), max(LATER.operations, 3 * (step[1] - step[0]))
            self.since, self._around = step[0], AROUND.begins(now)
            self._waiting = Patience(times * size, times * LATER.seconds).begins(now)
        return self.is_asked

    def hastens(self, now: int) -> bool:
        """Whether loops that train are left, so that what is behind them is come to."""
        is_over = self._around is not None and self._around.is_over(now)
        return self.is_on and self.behind and (is_over or not self.around)

    def is_another(self, newest: int) -> bool:
        """Whether another training begins behind the step: of an optimizer that was not there before.

        Args:
            newest: the number of the last one that was made.
        """
        is_new, self._newest = self.is_on and newest > self._newest, newest
        return is_new

    def comes_first(self, place: str) -> bool:
        """Whether the program comes to a place for the first time behind the step."""
        is_first = self.is_on and place not in self._seen
        if is_first:
            self._seen.add(place)
        return is_first

    def is_over(self, now: int) -> bool:
        """Whether the program is to end at this operation; called before each."""
        place = call_stack.told()
        if not self._places or self._places[-1][1] != place:
            self._places.append((now, place))
        self._is_cut = self._waiting is not None and self._waiting.is_over(now)
        return self._is_cut

    def told(self, ledger: Ledger, target: str) -> dict[str, Any] | None:
        """The most bytes alive at once since the step began, and where, and the place up to which the program was
        followed, where something new may come behind it; None where there was none."""
        if self.since is None:
            return None
        storages, operations = rows(ledger, (self.since, ledger.now), str)
        most, at = most_alive_at(storages, operations, target)
        found = bisect_right([when for when, _ in self._places], self.since + at) - 1
        is_cut = self._is_cut and (self.behind or self.rounds < ROUNDS)
        cut = next((place for _, place in reversed(self._places) if place), {}) if is_cut else None
        return {"most": most, "place": self._places[found][1] if found >= 0 else {}, "cut": cut}
