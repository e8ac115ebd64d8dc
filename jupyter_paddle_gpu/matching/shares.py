"""A card as memory: what a share of it is, and how much of it is promised to jobs that have not taken it yet."""

from __future__ import annotations

from collections.abc import Iterable

from ..devices.makers.registry import makers
from ..domain.decisions import Need
from ..domain.devices import Device, DeviceHolder, DeviceShare
from .policy import Policy

WHOLE = 1.0
"""A share of so much is the whole device, alone."""


def share_on(device: Device, share: float, policy: Policy) -> DeviceShare | None:
    """What a share comes to on a device; None where that does not tell how much memory it has, or nobody knows how to
    keep a process to a share of it.

    Args:
        share: as `Resources.share`. A fraction is one of what may be planned for, so that two halves fit.
    """
    total = device.memory_usable
    if not total or device.vendor not in makers().sharing:
        return None
    most = policy.allowed(total)
    return DeviceShare(bytes=int(share * most if share <= WHOLE else share), most=most, total=total)


def wanted_share(asked: float | None, need: Need | None, devices: Iterable[Device], policy: Policy) -> float | None:
    """The share that a job wants, as `Resources.share`: what the person asked for, else what the policy gives.

    That is the upper end of the estimate, where there is one, and a device that can be shared and has so much. Where
    none has, it is a training that is too large, and no share that anybody asked for.
    """
    if asked is not None or need is None or policy.default_share == "whole" or policy.sharing == "exclusive":
        return asked
    usual = float(need.high)
    parts = (share_on(device, usual, policy) for device in devices)
    return usual if any(part is not None and part.bytes <= part.most for part in parts) else None


def is_shared(share: float | None) -> bool:
    """Whether who asks so shares the device with others."""
    return share is not None and share != WHOLE


def unfilled(device: Device, sharers: Iterable[DeviceHolder]) -> int:
    """Bytes that are promised to jobs which have a share of the device, and that they do not use yet.

    A process of which nobody can tell whose it is counts beside the shares: a card seems fuller then than it is.
    """
    used: dict[str, int] = {}
    for process in device.processes:
        if process.job_id is not None:
            used[process.job_id] = used.get(process.job_id, 0) + (process.memory_bytes or 0)
    left = 0
    for one in sharers:
        promised = one.bytes or 0
        left += max(0, promised - used.get(one.job, 0)) if used else promised
    return left
