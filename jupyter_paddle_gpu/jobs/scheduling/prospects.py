"""Of many devices the few that become free first: an index that narrows them for `Timeline.keep`.

A device's first moment with so much room, whatever follows, is never later than the one at which a job could start on
it. Devices stand in the order of that moment, so that only the first few have to be looked at.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterable, Iterator
from heapq import merge
from math import inf
from sys import maxsize
from typing import NamedTuple

from ...domain.decisions import Choice, Need
from ...domain.devices import Device
from ...matching.kinds import Kind, KindKey
from ...matching.pool import Pool
from .timeline import Row, Timeline


class _Seen(NamedTuple):
    """A device that may become free. `surely`: from `moment` on it stays so."""

    first: float
    place: int
    surely: bool
    moment: float


class _Line:
    """Devices of one kind that somebody has or waits for, by when they have so much room again."""

    def __init__(self) -> None:
        self.noted = 0  # of what changed so much is known here
        self.clean: list[Row] = []  # for nobody kept: once free they stay so
        self.kept: list[Row] = []
        self._row: dict[int, Row] = {}

    def fill(self, clean: list[Row], kept: list[Row]) -> None:
        """Begin with these rows."""
        self.clean, self.kept = sorted(clean), sorted(kept)
        self._row = {row[2]: row for row in (*clean, *kept)}

    def put(self, place: int, kept: bool, row: Row | None) -> None:
        """Note a device anew; None: it is free of jobs."""
        if (old := self._row.pop(place, None)) is not None:
            at = bisect_left(self.clean, old)
            if at < len(self.clean) and self.clean[at] == old:
                self.clean.pop(at)
            else:
                self.kept.pop(bisect_left(self.kept, old))
        if row is not None:
            insort(self.kept if kept else self.clean, row)
            self._row[place] = row

    def walk(self, count: int, most: float, soonest: Callable[[int], float]) -> Iterator[_Seen]:
        """Devices by their first moment; of those that are free at the same one as many as matter (`most`)."""
        kept = (_Seen(first, place, count == 1, soonest(place)) for first, _, place in self.kept)
        return merge(self._clean(most, soonest), kept)

    def _clean(self, most: float, soonest: Callable[[int], float]) -> Iterator[_Seen]:
        at, rows = 0, self.clean
        while at < len(rows):
            first, alike = rows[at][0], 0
            while at < len(rows) and rows[at][0] == first:
                place = rows[at][2]
                moment = soonest(place)
                yield _Seen(first, place, True, moment)
                alike, at = alike + (moment == first), at + 1
                if alike >= most:  # the others come no sooner and stand behind these in the order
                    at = bisect_right(rows, (first, inf, maxsize))  # of a device that tells no room the second is inf


class Prospects:
    """The devices of a pool beside their timeline."""

    def __init__(self, pool: Pool, timeline: Timeline) -> None:
        self._pool, self._timeline = pool, timeline
        self._lines: dict[KindKey, dict[int, _Line]] = {}
        self._changes: dict[KindKey, list[int]] = {}  # of each kind the places of what changed, in order

    def awaited(self, need: Need | None, choice: Choice, seconds: float | None) -> tuple[Device, ...]:
        """The devices among which a job finds those that it could have first."""
        count, policy = choice.gpus or 1, self._pool.policy
        most = inf if policy.sparing else count
        times: list[float] = []
        found: list[tuple[Device, float]] = []
        for one in merge(*self._walks(need, choice, count, most, seconds)):
            if one.first == inf or (len(times) >= count and one.first > times[count - 1]):
                break
            found.append((self._pool.devices[one.place], one.moment))
            if one.surely and one.moment < inf:
                insort(times, one.moment)
        last = times[count - 1] if len(times) >= count else inf
        # Where nobody is, whether it is ready settles from when on: that is not known here.
        return tuple(device for device, moment in found if moment <= last or self._timeline.is_empty(device.id))

    def changed(self, names: Iterable[str]) -> None:
        """Others have these devices, or have them kept, differently now."""
        for name in names:
            if (key := self._pool.kind_of(name)) is not None and key in self._lines:
                self._changes.setdefault(key, []).append(self._pool.place[name])

    def _walks(
        self, need: Need | None, choice: Choice, count: int, most: float, seconds: float | None
    ) -> Iterable[Iterator[_Seen]]:
        for kind, asked in self._pool.asked(need, choice):

            def soonest(place: int, asked: int | None = asked) -> float:
                return self._timeline.soonest(self._pool.names[place], seconds, asked)

            # Of shares one line serves all that are a little larger: its moments are never too late for them.
            low = 0 if asked is None else max(0, asked.bit_length() - 3)
            size = 0 if asked is None else max(1, asked >> low << low)
            yield self._line(kind, size).walk(count, most, soonest)

    def _line(self, kind: Kind, size: int) -> _Line:
        lines, changes = self._lines.setdefault(kind.key, {}), self._changes.get(kind.key, [])
        if (found := lines.get(size)) is None:
            found = lines[size] = _Line()
            found.fill(*self._timeline.firsts(list(kind.rows()), self._pool.names, size))
        else:  # a line that nobody asks for need not know
            for place in set(changes[found.noted :]):
                row = self._row(place, size, self._pool.room(place, shares=bool(size)))
                found.put(place, *(row or (False, None)))
        found.noted = len(changes)
        return found

    def _row(self, place: int, size: int, room: float) -> tuple[bool, Row] | None:
        """Whether a device is kept for somebody, and where it stands; None: it is free of jobs."""
        found = self._timeline.first(self._pool.names[place], size)
        return None if found is None else (found[0], (found[1], -room, place))
