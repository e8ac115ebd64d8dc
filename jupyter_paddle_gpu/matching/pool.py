"""Many devices, of which a decision needs to see few: an index that narrows them for `decide` and `openings`.

Devices of one kind (a card's name, its memory) differ for a decision only in how much of them can be had, in whether
and with how many others they would be shared, and in their place. Of each kind therefore the emptiest (the fullest that
still fit where the policy wants these) and some that others have are enough: what is decided on them is decided on all
(`tests/matching/test_pool.py`). Filters and score stay where they are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import islice
from math import inf

from ..domain.decisions import Choice, Decision, Need
from ..domain.devices import Device, DeviceHolder, DeviceLink, divided
from .candidates import is_chosen, is_failed, room_bytes
from .decision import decide
from .kinds import Kind, KindKey, Stand, View
from .offer import Offer
from .policy import Policy
from .seats import holds
from .shares import unfilled

Kept = Callable[[str, int | None], bool]
"""Whether so many bytes (None: all) of a device that nobody has are kept for somebody else."""


def _nobody(device: str, size: int | None) -> bool:
    return False


class Pool:
    """The devices of one machine or cluster under one policy.

    What others have of them may change: `changed` takes note of it, `renew` of whatever is new some time later.

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
        self.names = [device.id for device in self.devices]
        self.place: dict[str, int] = {name: place for place, name in enumerate(self.names)}
        self._cut = divided(self.devices)
        self._makers = len({device.vendor for device in self.devices})
        self._keys = [self._key(device) for device in self.devices]
        self._others = self._barred()
        self._views: dict[bool, View] = {}

    def renew(
        self,
        devices: Sequence[Device],
        taken: Mapping[str, str],
        *,
        held: Mapping[str, DeviceHolder],
        shared: Mapping[str, tuple[DeviceHolder, ...]],
        links: tuple[DeviceLink, ...],
    ) -> bool:
        """Become what a new one of these would be; False, and of no use any more, where other devices are here."""
        if len(devices) != len(self.devices):
            return False
        changed: list[int] = []
        for place, (before, device) in enumerate(zip(self.devices, devices, strict=True)):
            if device is not before and device != before:
                if device.id != before.id:
                    return False
                changed.append(place)
        if changed and divided(devices) != self._cut:
            return False
        names = _differing(self.taken, taken) | _differing(self.held, held) | _differing(self.shared, shared)
        self.taken, self.held, self.shared, self.links = taken, held, shared, links
        others = False
        for place in changed:
            self.devices[place] = devices[place]
            key, self._keys[place] = self._keys[place], self._key(devices[place])
            others = others or key is None or self._keys[place] is None
            self._note(place)
        if others:
            self._others = self._barred()
        self.changed(names)
        return True

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
        kept: Kept = _nobody,
    ) -> tuple[Device, ...]:
        """The devices that a decision needs to see, in their order.

        Args:
            own: those that the job has already.
            kept: whether a device that nobody has is kept for somebody else.
        """
        if choice.device_ids:
            named = {self.place[name] for name in choice.device_ids if name in self.place}
            real = (place for place, device in enumerate(self.devices) if not device.simulated)
            return self._at(named or islice(real, 1))
        count = choice.gpus or 1
        if count > 1 and (self.links or self._makers > 1):
            return tuple(self.devices)  # which of them are joined best, and of which maker, only all together tell
        places = {*self._others, *(self.place[name] for name in own if name in self.place)}
        names, sparing = self.names, self.policy.sparing
        for kind, size in self._judged(need, choice):

            def is_kept(place: int, size: int | None = size) -> bool:
                return kept(names[place], size)

            planned = 0 if need is None or choice.anyway else need.high
            fullest = None if not sparing else planned if size is None else size
            places.update(kind.narrowed(count, fullest, is_kept))
        return self._at(places)

    def kinds(self, choice: Choice) -> Collection[Kind]:
        """The devices by kind, as they are for who wants them so."""
        return self._view(choice.share is not None).kinds.values()

    def kind_of(self, name: str) -> KindKey | None:
        """What a device has in common with its like; None of one that is not chosen by itself."""
        place = self.place.get(name)
        return None if place is None else self._keys[place]

    def suits(self, device: Device, count: int) -> bool:
        """Whether a device may be chosen by itself for a job that wants so many."""
        place = self.place.get(device.id)
        key = None if place is None else self._keys[place]
        return key is not None and (count < 2 or bool(key[-1]))

    def asked(self, need: Need | None, choice: Choice) -> Iterable[tuple[Kind, int | None]]:
        """The kinds on which a job may start when they are empty, with the bytes that it asks of each (None: all)."""
        need = None if choice.anyway else need
        for kind in self.kinds(choice):
            possible, part = holds(need, kind.first, self.policy, choice.share)
            if possible:
                yield kind, None if part is None else part.bytes

    def unclaimed(self, need: Need | None, choice: Choice) -> Iterable[str]:
        """Devices that no job has as a whole, and on which such a job may start when they are empty."""
        need = None if choice.anyway else need
        for kind in self._view(True).kinds.values():
            if holds(need, kind.first, self.policy, choice.share)[0]:
                for rows in kind.open.values():
                    yield from (self.names[place] for _, place in rows)

    def changed(self, names: Iterable[str]) -> None:
        """Others have these devices now, or have them no more."""
        for name in names:
            if (place := self.place.get(name)) is not None:
                self._note(place)

    def room(self, place: int, *, shares: bool) -> float:
        """Bytes of a device of some kind that can be had now, by who wants a share of it; -inf where it does not
        tell."""
        found = self._view(shares).stand(place)
        return -inf if found is None else found.room

    def _judged(self, need: Need | None, choice: Choice) -> Iterable[tuple[Kind, int | None]]:
        """As `asked`; where these are too few, what is said is of the others, too."""
        possible = list(self.asked(need, choice))
        if sum(kind.size for kind, _ in possible) > (choice.gpus or 1):
            return possible
        known = {kind.key for kind, _ in possible}
        return [*possible, *((kind, None) for kind in self.kinds(choice) if kind.key not in known)]

    def _key(self, device: Device) -> KindKey | None:
        if not is_chosen(device, self.policy, self._cut):
            return None
        known = room_bytes(device, self.policy) is not None
        return (device.name, device.vendor, device.memory_total, known, device.parent is None)

    def _barred(self) -> set[int]:
        """Of the devices that are not chosen by themselves those of which something is said where none is left."""
        barred = [place for place, key in enumerate(self._keys) if key is None]
        real = [place for place in barred if not self.devices[place].simulated]
        failed = [place for place in real if is_failed(self.devices[place])]
        return {*barred[:1], *real[:1], *failed[:1]}

    def _at(self, places: Iterable[int]) -> tuple[Device, ...]:
        return tuple([self.devices[place] for place in sorted(places)])

    def _view(self, shares: bool) -> View:
        if (found := self._views.get(shares)) is None:
            found = self._views[shares] = View(shares=shares)
            known = enumerate(zip(self.devices, self._keys, strict=True))
            found.fill(
                (place, device, key, self._stand(place, shares)) for place, (device, key) in known if key is not None
            )
        return found

    def _note(self, place: int) -> None:
        for view in self._views.values():
            view.put(place, self.devices[place], self._keys[place], self._stand(place, view.shares))

    def _stand(self, place: int, shares: bool) -> Stand:
        """How a device stands for who wants shares, or whole devices."""
        device = self.devices[place]
        sharers = self.shared.get(device.id, ())
        known = room_bytes(device, self.policy)
        if known is not None and shares and sharers:
            known = max(0, known - unfilled(device, sharers))
        room = -inf if known is None else float(known)
        holder = self.held.get(device.id)
        if holder is None and sharers and not shares and not sharers[0].name:
            holder = sharers[0]  # as `Offer.whole` has it
        if holder is not None:
            return Stand(False, holder.owner or holder.job, room)
        if device.id in self.taken or (sharers and not shares):
            return Stand(False, "", room)
        return Stand(True, len(sharers), room)


def _differing(before: Mapping[str, object], after: Mapping[str, object]) -> set[str]:
    """The names of which two tables say different things."""
    found = {name for name, value in after.items() if name not in before or before[name] != value}
    return found | (before.keys() - after.keys())
