"""Many devices, of which a decision needs to see few: an index that narrows them for `decide` and `openings`.

Devices of one kind (a card's name, its memory) differ for a decision only in how much of them can be had, in whether
and with how many others they would be shared, and in their place. Of each kind therefore the emptiest (the fullest that
still fit where the policy wants these) and some that others have are enough: what is decided on them is decided on all
(`tests/matching/test_pool.py`). Filters and score stay where they are.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from math import inf
from typing import NamedTuple

import msgspec

from ..domain.decisions import Choice, Decision, Need
from ..domain.devices import Device, DeviceHolder, DeviceLink
from .candidates import is_failed, room_bytes, usable
from .decision import decide
from .offer import Offer
from .policy import Policy
from .seats import Seat, part_of, seat_of
from .shares import share_on, unfilled

_Key = tuple[float, int]
"""Bytes that can be had, and the device's place; beside each other, so that of equals the first place comes first."""
Group = dict[object, list[_Key]]
"""Devices that are alike for a decision, sorted."""


def _nobody(device: str) -> bool:
    return False


class Kind(NamedTuple):
    """Devices that differ in their room and in who has them alone; the first stands for all.

    Attributes:
        open: by the number of those beside whom one would compute, devices that one may have.
        gone: by whose they are, those that others have.
    """

    first: Device
    open: Group
    gone: Group

    def narrowed(self, count: int, fullest: int | None, kept: Callable[[int], bool]) -> Iterable[int]:
        """Places of those that a decision for so many devices may need to see.

        Args:
            fullest: besides the emptiest those with at least so much room, the fullest first; None: none of them.
        """
        enough, found = count + 1, 0
        for rows in self.open.values():
            some = _emptiest(rows, enough, kept)
            found += len(some)
            yield from some
            if fullest is not None:
                yield from _some((place for _, place in rows[bisect_left(rows, (fullest, -1)) :]), enough, kept)
        for rows in self.gone.values():
            some = _emptiest(rows, max(1, enough - found), kept)
            found += len(some)
            yield from some


class Pool:
    """The devices of one machine or cluster under one policy.

    What others have of them may change: `changed` takes note of it.

    Args:
        taken, held, shared: as of `Offer`.
    """

    def __init__(
        self,
        devices: Sequence[Device],
        policy: Policy,
        taken: Mapping[str, str] | None = None,
        *,
        held: Mapping[str, DeviceHolder] | None = None,
        shared: Mapping[str, tuple[DeviceHolder, ...]] | None = None,
        links: tuple[DeviceLink, ...] = (),
    ) -> None:
        self.devices, self.policy, self.links = list(devices), policy, links
        self.taken: Mapping[str, str] = {} if taken is None else taken
        self.held: Mapping[str, DeviceHolder] = {} if held is None else held
        self.shared: Mapping[str, tuple[DeviceHolder, ...]] = {} if shared is None else shared
        self.place: dict[str, int] = {device.id: place for place, device in enumerate(self.devices)}
        fit_for_one = usable(self.devices, policy)
        whole = {device.id for device in usable(fit_for_one, policy, 2)}
        self._key_of: dict[int, tuple[object, ...]] = {}
        for device in fit_for_one:
            known = room_bytes(device, policy) is not None
            key = (device.name, device.vendor, device.memory_total, known, device.id in whole)
            self._key_of[self.place[device.id]] = key
        barred = [place for place, device in enumerate(self.devices) if place not in self._key_of]
        real = [place for place in barred if not self.devices[place].simulated]
        failed = [place for place in real if is_failed(self.devices[place])]
        self._others = {*barred[:1], *real[:1], *failed[:1]}  # what is said where none is left
        self._views: dict[bool, _View] = {}

    def decide(self, need: Need | None, choice: Choice) -> Decision:
        """`matching.decision.decide`, on the few devices that it needs to see."""
        return decide(need, self.offer(self.narrowed(need, choice)), self.policy, choice)

    def offer(self, devices: Sequence[Device]) -> Offer:
        """These devices, and who has them."""
        names = [device.id for device in devices]
        return Offer(
            devices=tuple(devices),
            links=self.links,
            suits=self.suits,
            taken={name: self.taken[name] for name in names if name in self.taken},
            held={name: self.held[name] for name in names if name in self.held},
            shared={name: self.shared[name] for name in names if name in self.shared},
        )

    def narrowed(
        self,
        need: Need | None,
        choice: Choice,
        *,
        own: Collection[str] = (),
        kept: Callable[[str], bool] = _nobody,
    ) -> tuple[Device, ...]:
        """The devices that a decision needs to see, in their order.

        Args:
            own: those that the job has already.
            kept: whether a device that nobody has is kept for somebody else.
        """
        if choice.device_ids:
            named = {self.place[name] for name in choice.device_ids if name in self.place}
            real = (place for place, device in enumerate(self.devices) if not device.simulated)
            return self._at(named or _some(real, 1))
        count = choice.gpus or 1
        if count > 1 and self.links:
            return tuple(self.devices)  # which of them are joined best only all together tell
        places = {*self._others, *(self.place[name] for name in own if name in self.place)}
        sparing = self.policy.prefer == "least_free" and not self.policy.scored
        for kind in self.kinds(choice):
            fullest = self._planned(need, kind.first, choice) if sparing else None
            places.update(kind.narrowed(count, fullest, lambda place: kept(self.devices[place].id)))
        return self._at(places)

    def kinds(self, choice: Choice) -> Iterable[Kind]:
        """The devices by kind, as they are for who wants them so."""
        return self._view(choice.share is not None).kinds.values()

    def kind_of(self, name: str) -> tuple[object, ...] | None:
        """What a device has in common with its like; None of one that is not chosen by itself."""
        return self._key_of.get(self.place.get(name, -1))

    def suits(self, device: Device, count: int) -> bool:
        """Whether a device may be chosen by itself for a job that wants so many."""
        key = self._key_of.get(self.place.get(device.id, -1))
        return key is not None and (count < 2 or bool(key[-1]))

    def seat(self, need: Need | None, device: Device, choice: Choice) -> Seat:
        """A device, were it empty of jobs."""
        if choice.share is None:
            return seat_of(need, device, self.policy)
        return part_of(need, device, self.policy, choice.share, ())

    def unclaimed(self, need: Need | None, choice: Choice) -> Iterable[str]:
        """Devices that no job has as a whole, and on which such a job may start when they are empty."""
        for kind in self._view(True).kinds.values():
            if self.seat(need, kind.first, choice).possible:
                for rows in kind.open.values():
                    yield from (self.devices[place].id for _, place in rows)

    def changed(self, names: Iterable[str]) -> None:
        """Others have these devices now, or have them no more."""
        for name in names:
            if (place := self.place.get(name)) is not None and place in self._key_of:
                for view in self._views.values():
                    view.move(place, self._group(place, view.shares))

    def use(self, name: str, used: int) -> None:
        """So many bytes of a device are in use now."""
        place = self.place[name]
        device = self.devices[place]
        left = max(0, (device.memory_total or 0) - used)
        self.devices[place] = msgspec.structs.replace(device, memory_used=used, memory_free=left)
        self.changed([name])

    def _at(self, places: Iterable[int]) -> tuple[Device, ...]:
        return tuple(self.devices[place] for place in sorted(places))

    def _planned(self, need: Need | None, device: Device, choice: Choice) -> int:
        if choice.share is not None and (part := share_on(device, choice.share, self.policy)) is not None:
            return part.bytes
        return 0 if need is None else need.high

    def _view(self, shares: bool) -> _View:
        if (found := self._views.get(shares)) is None:
            found = self._views[shares] = _View(shares)
            for place, key in self._key_of.items():
                kind = found.kinds.setdefault(key, Kind(self.devices[place], {}, {}))
                found.add(place, kind, self._group(place, shares))
            found.sort()
        return found

    def room(self, place: int, shares: bool) -> float:
        """Bytes of a device that can be had now, by who wants a share of it; -inf where it does not tell."""
        device = self.devices[place]
        room, sharers = room_bytes(device, self.policy), self.shared.get(device.id, ())
        if room is None:
            return -inf
        return float(max(0, room - unfilled(device, sharers)) if shares and sharers else room)

    def _group(self, place: int, shares: bool) -> _Stand:
        """How a device stands for who wants shares, or whole devices."""
        device, key = self.devices[place], self.room(place, shares)
        sharers = self.shared.get(device.id, ())
        holder = self.held.get(device.id)
        if holder is None and sharers and not shares and not sharers[0].name:
            holder = sharers[0]  # as `Offer.whole` has it
        if holder is not None:
            return _Stand(False, holder.owner or holder.job, key)
        if device.id in self.taken or (sharers and not shares):
            return _Stand(False, "", key)
        return _Stand(True, len(sharers), key)


class _Stand(NamedTuple):
    """Whether a device may be had, with which others it counts, and its room."""

    open: bool
    group: object
    room: float


class _View:
    """All kinds, as they are for who wants shares or whole devices."""

    def __init__(self, shares: bool) -> None:
        self.shares = shares
        self.kinds: dict[tuple[object, ...], Kind] = {}
        self._row: dict[int, tuple[Kind, _Stand]] = {}

    def add(self, place: int, kind: Kind, stand: _Stand) -> None:
        _groups(kind, stand).setdefault(stand.group, []).append((stand.room, place))
        self._row[place] = kind, stand

    def sort(self) -> None:
        for kind in self.kinds.values():
            for rows in (*kind.open.values(), *kind.gone.values()):
                rows.sort()

    def move(self, place: int, stand: _Stand) -> None:
        kind, before = self._row[place]
        rows = _groups(kind, before)[before.group]
        rows.pop(bisect_left(rows, (before.room, place)))
        if not rows:
            del _groups(kind, before)[before.group]
        insort(_groups(kind, stand).setdefault(stand.group, []), (stand.room, place))
        self._row[place] = kind, stand


def _groups(kind: Kind, stand: _Stand) -> Group:
    return kind.open if stand.open else kind.gone


def _emptiest(rows: list[_Key], count: int, kept: Callable[[int], bool]) -> list[int]:
    """Those with most room, of equals the first places."""

    def places() -> Iterable[int]:
        end = len(rows)
        while end > 0:
            begin = bisect_left(rows, (rows[end - 1][0], -1))
            for at in range(begin, end):
                yield rows[at][1]
            end = begin

    return _some(places(), count, kept)


def _some(places: Iterable[int], count: int, kept: Callable[[int], bool] = lambda place: False) -> list[int]:
    """The first so many that are not kept for others, and of those that are as many."""
    found: list[int] = []
    free = held = 0
    for place in places:
        if kept(place):
            held += 1
            if held <= count:
                found.append(place)
            continue
        found.append(place)
        free += 1
        if free == count:
            break
    return found
