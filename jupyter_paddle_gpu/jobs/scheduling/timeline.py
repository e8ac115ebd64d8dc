"""When devices become free, and for whom: the plan in which later jobs may fill what earlier ones leave empty.

Each waiting job is given the earliest time at which as many devices are free as it wants, behind everybody ahead of it
(conservative back-fill; Mu'alem and Feitelson, 2001). A later job may use a device before that only where it is thought
to have left by then, so it delays nobody ahead of it. A device is its memory: who wants it as a whole wants all of
that, who wants a share so many bytes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import inf

import msgspec

MARGIN = 1.25
"""So many times its expected time must pass before a place that is kept: who fills a gap may take a little longer."""
Row = tuple[float, float, int]
"""The first moment with so much room, the room that it has now (negative: most comes first), and the device's place."""
_ALL = 1
"""What there is of a device of which no memory is known: it is had as a whole or not at all."""


class _Span(msgspec.Struct, frozen=True, gc=False):
    """So much of a device is somebody's for a time. `hoped`: he waits for whoever is there to leave.

    There are ten thousands of them, and none refers to what may refer to it: the collector need not follow them.
    """

    begin: float
    end: float
    job: str
    size: int
    hoped: bool = False


class Timeline:
    """What is known of each device's future; times in seconds since the epoch.

    Args:
        busy: device -> when the job that has it as a whole is thought to end; None: nobody knows.
        capacity: device -> bytes that jobs may have of it; without it there are no shares.
    """

    def __init__(
        self,
        now: float,
        busy: Mapping[str, float | None],
        *,
        capacity: Mapping[str, int] | None = None,
    ) -> None:
        self._now, self._capacity = now, capacity or {}
        self._busy: dict[str, tuple[_Span, ...]] = {}
        self._kept: dict[str, tuple[_Span, ...]] = {}
        self.changed: set[str] = set()
        for device, end in busy.items():
            self._busy[device] = (self._span("", end, self._capacity.get(device, _ALL)),)

    def share(self, device: str, end: float | None, size: int) -> None:
        """A job has so many bytes of a device. `end`: when it is thought to end; None: nobody knows."""
        now, busy = self._now, self._busy
        span = _Span(now, end if end is not None and end > now else inf, "", size)  # as `_span`: of thousands
        busy[device] = (*busy[device], span) if device in busy else (span,)

    def ahead(
        self, devices: Iterable[str] | None, seconds: float | None, *, asked: Mapping[str, int] | None = None
    ) -> dict[str, str]:
        """Of these devices (None: all) those that are kept for somebody who may want them within so many seconds, and
        who.

        Args:
            asked: device -> bytes that are wanted of it; whole where it says nothing.
        """
        found: dict[str, str] = {}
        for device in self._kept if devices is None else devices:
            if device in self._kept and (job := self.keeper(device, seconds, (asked or {}).get(device))) is not None:
                found[device] = job
        return found

    def keeper(self, device: str, seconds: float | None, asked: int | None) -> str | None:
        """For whom a device is kept, who may want it within so many seconds. `asked`: bytes of it; None: all."""
        if (spans := self._kept.get(device)) is None:
            return None
        until = self._now + MARGIN * (inf if seconds is None else seconds)
        size = self._capacity.get(device, _ALL) if asked is None else asked
        for span in spans:
            if span.begin < until and not self._fits(device, span.begin, size):
                return span.job
        return None

    def occupy(
        self, job: str, devices: Collection[str], seconds: float | None, *, asked: Mapping[str, int] | None = None
    ) -> None:
        """A job begins now."""
        for device in devices:
            self._have(device, job, None if seconds is None else self._now + seconds, self._size(device, asked or {}))

    def keep(
        self,
        job: str,
        count: int,
        possible: Sequence[str],
        ready: Collection[str],
        seconds: float | None,
        *,
        asked: Mapping[str, int] | None = None,
    ) -> float | None:
        """Keep devices for a job that waits; when it will start, None where nobody knows.

        Args:
            possible: devices on which it may start when they are empty, the best first.
            ready: those of them on which it may start as they are.
            asked: as of `ahead`.
        """
        if len(possible) < count:
            return None  # what it waits for is not here: nobody can take it away
        length = inf if seconds is None else seconds
        sizes = {one: self._size(one, asked or {}) for one in possible}
        first = {one: self._soonest(one, length, sizes[one], one in ready) for one in possible}
        earliest = sorted(first.values())[count - 1]
        for begin in self._ends(possible, earliest):
            here = (one for one in possible if first[one] <= begin)
            found = [one for one in here if self._is_free(one, begin, length, sizes[one], one in ready)]
            if len(found) >= count:
                for device in found[:count]:
                    self._keep(device, _Span(begin, begin + length, job, sizes[device]))
                return begin
        return None

    def hope(self, job: str, devices: Iterable[str], *, asked: Mapping[str, int] | None = None) -> None:
        """Of who waits and does not know until when: any moment may be the one, so what nobody has of these devices
        stays so."""
        for device in devices:
            most = self._capacity.get(device, _ALL)
            hoped = sum(span.size for span in self._kept.get(device, ()) if span.hoped)
            if hoped < most and all(span.size < most for span in self._busy.get(device, ())):
                self._keep(device, _Span(self._now, inf, job, self._size(device, asked or {}), hoped=True))

    def is_empty(self, device: str) -> bool:
        """Whether nobody has any of a device."""
        return device not in self._busy

    def is_kept(self, device: str) -> bool:
        """Whether somebody waits for a device."""
        return device in self._kept

    def first(self, device: str, size: int) -> tuple[bool, float] | None:
        """Whether a device is kept for somebody, and the first moment, as far as is known, at which so many bytes of it
        (0: all) are nobody's; None where nobody has it or waits for it."""
        busy, most = self._busy.get(device), self._capacity.get(device, _ALL)
        wanted, kept = size or most, device in self._kept
        if not kept:
            if busy is None:
                return None
            if len(busy) == 1:  # most are so
                span = busy[0]
                return False, inf if wanted > most else self._now if span.size + wanted <= most else span.end
        moments = self._ends([device], self._now)
        return kept, next((begin for begin in moments if self._fits(device, begin, wanted)), inf)

    def firsts(
        self, rows: Sequence[tuple[float, int]], devices: Sequence[str], size: int
    ) -> tuple[list[Row], list[Row]]:
        """As `first`, of many that have as much memory as each other: rows of those that are kept for nobody, and of
        the others.

        Args:
            rows: the room that each has, and its place among `devices`.
        """
        # Asked of thousands: those which one has and nobody waits for, as most are, in a plain loop.
        clean, kept = list[Row](), list[Row]()
        busy, waited, now = self._busy, self._kept, self._now
        most = next((self._capacity.get(devices[place], _ALL) for _, place in rows), _ALL)
        wanted = size or most
        spare = most - wanted
        for room, place in rows:
            name = devices[place]
            spans = busy.get(name)
            if spans is not None and len(spans) == 1 and name not in waited:
                span = spans[0]
                clean.append((inf if spare < 0 else now if span.size <= spare else span.end, -room, place))
            elif (found := self.first(name, size)) is not None:
                (kept if found[0] else clean).append((found[1], -room, place))
        return clean, kept

    def soonest(self, device: str, seconds: float | None, asked: int | None) -> float:
        """When somebody who waits could have a device at the latest, as far as is known (`asked`: bytes of it)."""
        size = self._capacity.get(device, _ALL) if asked is None else asked
        return self._soonest(device, inf if seconds is None else seconds, size, False)

    def _size(self, device: str, asked: Mapping[str, int]) -> int:
        return asked.get(device, self._capacity.get(device, _ALL))

    def _have(self, device: str, job: str, end: float | None, size: int) -> None:
        self._busy[device] = (*self._busy.get(device, ()), self._span(job, end, size))
        self.changed.add(device)

    def _span(self, job: str, end: float | None, size: int) -> _Span:
        # Who was to have ended is not gone before he is: when he will be nobody knows then.
        return _Span(self._now, end if end is not None and end > self._now else inf, job, size)

    def _keep(self, device: str, span: _Span) -> None:
        self._kept[device] = (*self._kept.get(device, ()), span)
        self.changed.add(device)

    def _soonest(self, device: str, length: float, size: int, ready: bool) -> float:
        """The first moment at which there is room for so long: now, or when somebody leaves."""
        busy = self._busy.get(device, ())
        if len(busy) == 1 and device not in self._kept:  # most are so
            most = self._capacity.get(device, _ALL)
            return inf if size > most else self._now if ready and busy[0].size + size <= most else busy[0].end
        moments = self._ends([device], self._now)
        return next((begin for begin in moments if self._is_free(device, begin, length, size, ready)), inf)

    def _ends(self, devices: Sequence[str], begin: float) -> list[float]:
        """The moments from then on at which somebody leaves one of these devices, and `begin` itself where it is one
        at which somebody may start."""
        ends = {begin} if begin < inf else set()
        for spans in (self._busy, self._kept):
            for device in devices:
                for span in spans.get(device, ()):
                    if begin <= span.end < inf:
                        ends.add(span.end)
        return sorted(ends)

    def _is_free(self, device: str, begin: float, length: float, size: int, ready: bool) -> bool:
        """Whether there is room for so long; of a device that is full of others' memory nobody knows until when."""
        busy = self._busy.get(device, ())
        if not ready and (not busy or begin <= self._now):
            return False
        if not self._fits(device, begin, size):
            return False
        until = begin + MARGIN * length
        for span in self._kept.get(device, ()):
            if begin < span.begin < until and not self._fits(device, span.begin, size):
                return False
        return True

    def _fits(self, device: str, moment: float, size: int) -> bool:
        """Whether so many bytes more have room then: beside who is there and who is to come, and beside those who wait
        for the others to leave."""
        # Asked some fifty times for each job that waits: plain loops take a third of what sums of generators do.
        there, planned, kept = size, 0, size
        for span in self._busy.get(device, ()):
            if span.end > moment:
                there += span.size
        for span in self._kept.get(device, ()):
            if span.begin <= moment < span.end:
                kept += span.size
                if not span.hoped:
                    planned += span.size
        most = self._capacity.get(device, _ALL)
        return there + planned <= most and kept <= most
