"""Jobs are prepared side by side and start one after the other, in the order in which the queue let them go."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import TracebackType

from ...domain.errors import PaddleGpuError
from ...domain.jobs import reasons

LOOK_SECONDS = 0.1
"""How soon a job that waits for its turn sees that nobody wants it any more."""


class StartOrder:
    """Who was let go and has not started yet, by engine: one engine that hangs holds up no other one's jobs.

    Args:
        patience: seconds that a job waits while nobody ahead of it moves. The first of them has hung then, and nobody
            waits for it any more.
    """

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._moved = threading.Condition()
        self._places: dict[str, list[StartPlace]] = {}

    def join(self, engine: str, wanted: Callable[[], bool]) -> StartPlace:
        """A place behind everybody who has joined before and not left."""
        place = StartPlace(self, engine, wanted)
        with self._moved:
            self._places.setdefault(engine, []).append(place)
        return place

    def _leave(self, place: StartPlace) -> None:
        with self._moved:
            mine = self._places.get(place.engine, [])
            if place in mine:
                mine.remove(place)
            if not mine:
                self._places.pop(place.engine, None)
            self._moved.notify_all()

    def _set_aside(self, place: StartPlace, aside: bool) -> None:
        with self._moved:
            place.aside = aside
            self._moved.notify_all()

    def _ahead(self, place: StartPlace) -> tuple[StartPlace, ...]:
        mine = self._places.get(place.engine, [])
        before = mine[: mine.index(place)] if place in mine else ()
        return tuple(one for one in before if not one.aside)

    def _wait(self, place: StartPlace) -> None:
        with self._moved:
            ahead, since = self._ahead(place), time.monotonic()
        while ahead:
            now = self._ahead_after(place, ahead)
            # Also when nobody is ahead any more: in a process that goes, those ahead leave without having started.
            if not place.wanted():
                raise PaddleGpuError.of(reasons.cancelled(), status=409)
            if now != ahead:
                ahead, since = now, time.monotonic()
            elif time.monotonic() - since > self._patience:
                self._set_aside(ahead[0], True)  # the others ahead wait for this one, too

    def _ahead_after(self, place: StartPlace, before: tuple[StartPlace, ...]) -> tuple[StartPlace, ...]:
        """Who is ahead as soon as that changes, or after a moment."""
        with self._moved:
            self._moved.wait_for(lambda: self._ahead(place) != before, LOOK_SECONDS)
            return self._ahead(place)


class StartPlace:
    """One job's place (`engines.base.Place`); left when the block under it ends, however it ends."""

    def __init__(self, order: StartOrder, engine: str, wanted: Callable[[], bool]) -> None:
        self._order = order
        self.engine, self.wanted, self.aside = engine, wanted, False

    def step_aside(self) -> None:
        """Let everybody behind pass until `take_turn`."""
        self._order._set_aside(self, True)

    def take_turn(self) -> None:
        """Wait for everybody ahead. Raises `PaddleGpuError` (`cancelled`) where the job is not wanted any more."""
        self._order._set_aside(self, False)
        self._order._wait(self)

    def leave(self) -> None:
        """It has started, or will not."""
        self._order._leave(self)

    def __enter__(self) -> StartPlace:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.leave()
