"""One device as a training would find it: whole, or a share of its memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from ..domain.decisions import Need
from ..domain.devices import Device, DeviceHolder, DeviceShare
from ..domain.placements import Fit
from .candidates import allowed_bytes, is_failed, room_bytes
from .fit import fit_of
from .policy import Policy
from .shares import share_on, unfilled

_Held = tuple[bool, DeviceShare | None]
"""What `holds` says."""


class Seat(msgspec.Struct, frozen=True, gc=False):
    """One device as the training would find it.

    `starts`: a job may start on it as it is now; `possible`: one may when it is empty. `part`: the share of it that is
    asked for; None: all of it.
    """

    device: Device
    room: int | None
    allowed: int | None
    fit: Fit
    starts: bool
    possible: bool
    seconds: float | None
    part: DeviceShare | None = None


def holds(need: Need | None, device: Device, policy: Policy, share: float | None) -> _Held:
    """Whether a training may start on a device, or on a share of it, when it is empty; and what the share comes to."""
    planned = _planned(need, policy)
    if share is None:
        allowed = allowed_bytes(device, policy)
        return allowed is None or planned <= allowed, None
    part = share_on(device, share, policy)  # of what nobody knows there is no share
    return part is not None and planned <= part.bytes <= part.most, part


def seat_of(need: Need | None, device: Device, policy: Policy) -> Seat:
    """A device as a whole."""
    room, allowed = room_bytes(device, policy), allowed_bytes(device, policy)
    failed = is_failed(device)
    fit = "unknown" if failed else fit_of(need, room, allowed)
    ready = not failed and starts(fit, policy)
    possible = failed or holds(need, device, policy, None)[0]
    return Seat(device, room, allowed, fit, ready, possible, _seconds(need, device, policy))


def part_of(need: Need | None, device: Device, policy: Policy, share: float, sharers: Sequence[DeviceHolder]) -> Seat:
    """A share of a device: all of it must be there, and the training must fit into it."""
    return _part_of(need, device, policy, sharers, holds(need, device, policy, share))


def parts_of(
    need: Need | None,
    devices: Iterable[Device],
    policy: Policy,
    share: float,
    sharers: Mapping[str, Sequence[DeviceHolder]],
) -> list[Seat]:
    """As `part_of`, of several devices. `sharers`: who has shares of each already, by its id."""
    known: dict[tuple[str, int | None], _Held] = {}  # what is the same for all of one maker and size
    found = list[Seat]()
    for device in devices:
        key = device.vendor, device.memory_total
        if (held := known.get(key)) is None:
            held = known[key] = holds(need, device, policy, share)
        found.append(_part_of(need, device, policy, sharers.get(device.id, ()), held))
    return found


def _part_of(need: Need | None, device: Device, policy: Policy, sharers: Sequence[DeviceHolder], held: _Held) -> Seat:
    possible, part = held
    if part is None:
        return msgspec.structs.replace(seat_of(need, device, policy), starts=False, possible=False)
    size, room, planned = part.bytes, room_bytes(device, policy), _planned(need, policy)
    fit: Fit = "unknown"
    if room is not None:
        room = max(0, room - unfilled(device, sharers)) if sharers else room
        fit = "fits" if size <= room else "short" if size <= part.most else "never"
    if planned > size:
        fit = "never"
    elif fit == "fits" and need is not None and need.high > size:
        fit = "tight"
    failed = is_failed(device)
    ready = not failed and starts(fit, policy)
    fit = "unknown" if failed else fit
    seconds = _seconds(need, device, policy)
    return Seat(device, room, min(size, part.most), fit, ready, possible, seconds, part)


def _planned(need: Need | None, policy: Policy) -> int:
    """Bytes for which room is looked for."""
    return 0 if need is None else need.low if policy.plan_for == "low" else need.high


def _seconds(need: Need | None, device: Device, policy: Policy) -> float | None:
    """Of a step, where the policy orders by it."""
    if need is None or policy.prefer != "fastest":
        return None
    expected = policy.experience.expect(need, device.name)
    return None if expected is None else expected.likely


def starts(fit: Fit, policy: Policy) -> bool:
    """Whether a job may start on a device with this verdict."""
    return fit in ("fits", "unknown") or (fit == "tight" and policy.plan_for == "low")
