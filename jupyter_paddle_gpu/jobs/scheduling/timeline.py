"""When devices become free, and for whom: the plan in which later jobs may fill what earlier ones leave empty.

Each waiting job is given the earliest time at which as many devices are free as it wants, behind everybody ahead of it
(conservative back-fill; Mu'alem and Feitelson, 2001). A later job may use a device before that only where it is thought
to have left by then, so it delays nobody ahead of it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import inf
from typing import NamedTuple

MARGIN = 1.25
"""So many times its expected time must pass before a place that is kept: who fills a gap may take a little longer."""


class _Span(NamedTuple):
    begin: float
    end: float
    job: str


class Timeline:
    """What is known of each device's future; times in seconds since the epoch.

    Args:
        busy: device -> when its job is thought to end; None: nobody knows.
    """

    def __init__(self, now: float, busy: Mapping[str, float | None]) -> None:
        self._now = now
        # Who was to have ended is not gone before he is: when he will be nobody knows then.
        self._busy = {one: end if end is not None and end > now else inf for one, end in busy.items()}
        self._kept: dict[str, list[_Span]] = {}

    def ahead(self, devices: Iterable[str] | None, seconds: float | None) -> dict[str, str]:
        """Of these devices (None: all) those that are kept for somebody who may want them within so many seconds, and
        who."""
        until = self._now + MARGIN * (inf if seconds is None else seconds)
        return {
            device: first.job
            for device in (self._kept if devices is None else devices)
            if (first := min(self._kept.get(device, ()), default=None)) is not None and first.begin < until
        }

    def occupy(self, job: str, devices: Collection[str], seconds: float | None) -> None:
        """A job begins now."""
        for device in devices:
            self._busy[device] = inf if seconds is None else self._now + seconds

    def keep(
        self, job: str, count: int, possible: Sequence[str], ready: Collection[str], seconds: float | None
    ) -> float | None:
        """Keep devices for a job that waits; when it will start, None where nobody knows.

        Args:
            possible: devices on which it may start when they are empty, the best first.
            ready: those of them on which it may start as they are.
        """
        if len(possible) < count:
            return None  # what it waits for is not here: nobody can take it away
        length = inf if seconds is None else seconds
        for begin in self._times(possible):
            found = [device for device in possible if self._is_free(device, begin, length, device in ready)]
            if len(found) >= count:
                self._put(found[:count], _Span(begin, begin + length, job))
                return begin
        # Any moment may be the one: what is empty of them stays so.
        self._put([device for device in possible if device not in self._busy], _Span(self._now, inf, job))
        return None

    def _put(self, devices: Iterable[str], span: _Span) -> None:
        for device in devices:
            self._kept.setdefault(device, []).append(span)

    def _times(self, devices: Iterable[str]) -> list[float]:
        ends = {self._now}
        for device in devices:
            ends.add(self._busy.get(device, self._now))
            ends.update(span.end for span in self._kept.get(device, ()))
        return sorted(end for end in ends if end < inf)

    def _is_free(self, device: str, begin: float, length: float, ready: bool) -> bool:
        """Whether nobody has it or is to have it from a time on; of one that is full of others' memory nobody knows."""
        if device in self._busy:
            if self._busy[device] > begin:
                return False
        elif not ready:
            return False
        return all(span.end <= begin or span.begin >= begin + MARGIN * length for span in self._kept.get(device, ()))
