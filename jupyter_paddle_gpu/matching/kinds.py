"""Devices of one kind, by what they differ in for a decision: how much of them can be had, whether and with how many
others they would be shared, and their place."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Iterator

import msgspec

from ..domain.devices import Device

_Row = tuple[float, int]
"""Bytes that can be had, and the device's place; beside each other, so that of equals the first place comes first."""
Rows = list[_Row]
"""Devices that are alike for a decision, sorted."""
KindKey = tuple[object, ...]
"""What devices of one kind have in common."""
IsKept = Callable[[int], bool]
"""Whether the device at a place, which nobody has, is kept for somebody else."""


class Stand(msgspec.Struct, frozen=True, gc=False):
    """How a device stands: whether it may be had, with which others it counts, and its room."""

    open: bool
    group: int | str
    room: float


class Kind:
    """Devices of one kind.

    Attributes:
        first: one of them, which stands for all in what they have in common.
        open: by the number of those beside whom one would compute, devices that one may have.
        gone: by whose they are, those that others have.
        size: how many they are.
    """

    def __init__(self, key: KindKey, first: Device) -> None:
        self.key, self.first = key, first
        self.open: dict[int, Rows] = {}
        self.gone: dict[str, Rows] = {}
        self.size = 0

    def narrowed(self, count: int, fullest: int | None, kept: IsKept) -> Iterable[int]:
        """Places of those that a decision for so many devices may need to see.

        Args:
            fullest: besides the emptiest those with at least so much room, the fullest first; None: none of them.
        """
        enough = count + 1
        best: Rows = []
        for sharers in sorted(self.open):
            yield from _best(self.open[sharers], enough, kept, best)
            if fullest is not None:
                yield from _fullest(self.open[sharers], fullest, enough, kept)
        lacking = max(1, enough - len(best))
        for rows in self.gone.values():
            yield from _best(rows, lacking, kept, [])

    def rows(self) -> Iterator[tuple[float, int]]:
        """All of them, by their room and place."""
        for rows in (*self.open.values(), *self.gone.values()):
            yield from rows

    def _group(self, stand: Stand) -> Rows:
        groups: dict[object, Rows] = self.open if stand.open else self.gone  # type: ignore[assignment]
        return groups.setdefault(stand.group, [])


class View:
    """All kinds, as they are for who wants shares, or for who wants whole devices."""

    def __init__(self, *, shares: bool) -> None:
        self.shares = shares
        self.kinds: dict[KindKey, Kind] = {}
        self._row: dict[int, tuple[Kind, Stand]] = {}

    def fill(self, devices: Iterable[tuple[int, Device, KindKey, Stand]]) -> None:
        """Begin with these, each with its place."""
        for place, device, key, stand in devices:
            self._row[place] = kind, _ = self._kind(key, device), stand
            kind.size += 1
            kind._group(stand).append((stand.room, place))
        for kind in self.kinds.values():
            for rows in (*kind.open.values(), *kind.gone.values()):
                rows.sort()

    def put(self, place: int, device: Device, key: KindKey | None, stand: Stand) -> None:
        """A device stands so from now on; without a key it is of no kind any more."""
        if (before := self._row.get(place)) is not None:
            if before[0].key == key and before[1] == stand:
                return
            self._take(place, *before)
        if key is not None:
            self._row[place] = kind, _ = self._kind(key, device), stand
            kind.size += 1
            insort(kind._group(stand), (stand.room, place))

    def stand(self, place: int) -> Stand | None:
        """How a device stands; None: it is of no kind."""
        found = self._row.get(place)
        return None if found is None else found[1]

    def _kind(self, key: KindKey, device: Device) -> Kind:
        if (found := self.kinds.get(key)) is None:
            found = self.kinds[key] = Kind(key, device)
        return found

    def _take(self, place: int, kind: Kind, stand: Stand) -> None:
        del self._row[place]
        rows = kind._group(stand)
        rows.pop(bisect_left(rows, (stand.room, place)))
        if not rows:
            del (kind.open if stand.open else kind.gone)[stand.group]  # type: ignore[arg-type]
        kind.size -= 1
        if not kind.size:
            del self.kinds[kind.key]


def _best(rows: Rows, count: int, kept: IsKept, best: Rows) -> Iterator[int]:
    """The emptiest of some devices, until so many serve better than all that follow.

    Args:
        best: those found so far, also among devices which fewer share (room, and the place below zero: of equals the
            first comes last). Each of them with more room serves at least as well.
    """
    held, end = 0, len(rows)
    while end > 0:
        begin = bisect_left(rows, (rows[end - 1][0], -1))  # all that have as much room, the first places first
        for at in range(begin, end):
            room, place = rows[at]
            if len(best) >= count and best[-count] > (room, -place):
                return
            if not kept(place):
                insort(best, (room, -place))
                yield place
            elif held < count:
                held += 1
                yield place
        end = begin


def _fullest(rows: Rows, least: float, count: int, kept: IsKept) -> Iterator[int]:
    """Those with least room of all that have so much, until so many are found that are kept for nobody."""
    free = held = 0
    for at in range(bisect_left(rows, (least, -1)), len(rows)):
        place = rows[at][1]
        if kept(place):
            held += 1
            if held <= count:
                yield place
            continue
        yield place
        free += 1
        if free == count:
            return
