"""One device as a training would find it: whole, or a share of its memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..domain.decisions import Need
from ..domain.devices import Device, DeviceHolder, DeviceShare
from ..domain.placements import Fit
from .candidates import allowed_bytes, is_failed, room_bytes
from .fit import fit_of
from .policy import Policy
from .shares import share_on, unfilled


class Seat(NamedTuple):
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


def seat_of(need: Need | None, device: Device, policy: Policy) -> Seat:
    """A device as a whole."""
    room, allowed = room_bytes(device, policy), allowed_bytes(device, policy)
    planned = 0 if need is None else need.low if policy.plan_for == "low" else need.high
    failed = is_failed(device)
    fit = "unknown" if failed else fit_of(need, room, allowed)
    ready = not failed and starts(fit, policy)
    possible = failed or ready or allowed is None or planned <= allowed
    fastest = need is not None and policy.prefer == "fastest"
    expected = policy.experience.expect(need, device.name) if need is not None and fastest else None
    return Seat(device, room, allowed, fit, ready, possible, None if expected is None else expected.likely)


def part_of(need: Need | None, device: Device, policy: Policy, share: float, sharers: Sequence[DeviceHolder]) -> Seat:
    """A share of a device: all of it must be there, and the training must fit into it."""
    whole, part = seat_of(need, device, policy), share_on(device, share, policy)
    if part is None:  # of what nobody knows there is no share
        return whole._replace(starts=False, possible=False)
    room = None if whole.room is None else max(0, whole.room - unfilled(device, sharers))
    planned = 0 if need is None else need.low if policy.plan_for == "low" else need.high
    fit = fit_of(Need(low=part.bytes, high=part.bytes), room, part.most)
    if planned > part.bytes:
        fit = "never"
    elif fit == "fits" and need is not None and need.high > part.bytes:
        fit = "tight"
    failed = is_failed(device)
    ready = not failed and starts(fit, policy)
    possible = planned <= part.bytes <= part.most
    fit = "unknown" if failed else fit
    return whole._replace(
        room=room, allowed=min(part.bytes, part.most), fit=fit, starts=ready, possible=possible, part=part
    )


def starts(fit: Fit, policy: Policy) -> bool:
    """Whether a job may start on a device with this verdict."""
    return fit in ("fits", "unknown") or (fit == "tight" and policy.plan_for == "low")
