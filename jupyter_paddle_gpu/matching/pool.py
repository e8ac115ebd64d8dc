"""Many devices, of which a decision needs to see few: an index that narrows them for `decide`.

Devices of one kind (a card's name, its memory) differ for a decision only in how much of them is free, in whether
somebody has them, and in their place. Of each kind therefore the emptiest, the fullest that still fit and some that
others have are enough: `decide` on these says the same as on all (`tests/matching/test_pool.py`).
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence
from math import inf

import msgspec

from ..domain.decisions import Choice, Decision, Need
from ..domain.devices import Device, divided
from .candidates import is_failed, room_bytes, usable
from .decision import decide
from .offer import Offer
from .policy import Policy

_Key = tuple[float, int]
"""Free bytes, and the device's place; beside each other, so that of equals the first place comes first."""


class _Kind:
    """Devices that differ in their room and in who has them alone."""

    def __init__(self) -> None:
        self.free: list[_Key] = []
        self.taken: list[_Key] = []

    def narrowed(self, count: int, needed: int) -> Iterable[int]:
        """Places of those that a decision for so many devices may take."""
        yield from (place for _, place in self._emptiest(count))
        at = bisect_left(self.free, (needed, -1))
        yield from (place for _, place in self.free[at : at + count])
        yield from (place for _, place in self.taken[:count])

    def _emptiest(self, count: int) -> list[_Key]:
        """Those with most room, of equals the first places."""
        found: list[_Key] = []
        end = len(self.free)
        while end > 0 and len(found) < count:
            begin = bisect_left(self.free, (self.free[end - 1][0], -1))
            found += self.free[begin : min(end, begin + count - len(found))]
            end = begin
        return found


class Pool:
    """The devices of one machine or cluster under one policy; who has which is told by `take` and `release`.

    Args:
        taken: device id -> the job that has it.
    """

    def __init__(self, devices: Sequence[Device], policy: Policy, taken: dict[str, str] | None = None) -> None:
        self.policy = policy
        self.devices: list[Device] = list(devices)
        self.taken: dict[str, str] = {}
        self._place = {device.id: place for place, device in enumerate(self.devices)}
        fit_for_one = {device.id for device in usable(self.devices, policy)}
        whole = {device.id for device in usable(self.devices, policy, 2)}
        cut = divided(self.devices)
        self._kinds: dict[tuple[object, ...], _Kind] = {}
        self._kind_of: dict[int, _Kind] = {}
        self._others: list[Device] = []
        for place, device in enumerate(self.devices):
            if device.id not in fit_for_one:
                if len(self._others) < 4 or is_failed(device):
                    self._others.append(device)
                continue
            key = (device.name, device.vendor, device.memory_total, device.id in whole, device.id in cut)
            kind = self._kind_of[place] = self._kinds.setdefault(key, _Kind())
            kind.free.append(self._key(place))
        for kind in self._kinds.values():
            kind.free.sort()
        for name, job in (taken or {}).items():
            self.take([name], job)

    def decide(self, need: Need | None, choice: Choice) -> Decision:
        """`matching.decision.decide` for a job that named no devices; with named ones, on those alone."""
        if choice.device_ids:
            chosen = [self.devices[self._place[name]] for name in choice.device_ids if name in self._place]
            return decide(need, self._offer(chosen), self.policy, choice)
        count, needed = choice.gpus or 1, 0 if need is None else need.high
        places = {place for kind in self._kinds.values() for place in kind.narrowed(count, needed)}
        found = [self.devices[place] for place in sorted(places)]
        return decide(need, self._offer([*found, *self._others]), self.policy, choice)

    def take(self, ids: Iterable[str], job: str) -> None:
        """A job has these devices as a whole."""
        for name in ids:
            place = self._place[name]
            if name not in self.taken and (kind := self._kind_of.get(place)) is not None:
                _move(kind.free, kind.taken, self._key(place))
            self.taken[name] = job

    def release(self, ids: Iterable[str]) -> None:
        """Nobody has them any more."""
        for name in ids:
            place = self._place[name]
            if self.taken.pop(name, None) is not None and (kind := self._kind_of.get(place)) is not None:
                _move(kind.taken, kind.free, self._key(place))

    def use(self, name: str, used: int) -> None:
        """So many bytes of a device are in use now."""
        place = self._place[name]
        kind, old, device = self._kind_of.get(place), self._key(place), self.devices[place]
        total = device.memory_total or 0
        self.devices[place] = msgspec.structs.replace(device, memory_used=used, memory_free=max(0, total - used))
        if kind is not None:
            rows = kind.taken if name in self.taken else kind.free
            rows.remove(old) if len(rows) < 8 else rows.pop(bisect_left(rows, old))
            insort(rows, self._key(place))

    def _key(self, place: int) -> _Key:
        room = room_bytes(self.devices[place], self.policy)
        return (-inf if room is None else float(room), place)

    def _offer(self, devices: Sequence[Device]) -> Offer:
        return Offer(devices=tuple(devices), taken={d.id: self.taken[d.id] for d in devices if d.id in self.taken})


def _move(source: list[_Key], target: list[_Key], key: _Key) -> None:
    source.pop(bisect_left(source, key))
    insort(target, key)
