"""Which devices a job that left the choice to us may have now, best first: the same rules as the match's."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ..domain.devices import Device, divided
from .policy import Policy


def usable(devices: Iterable[Device], policy: Policy, count: int = 1) -> list[Device]:
    """Devices that may be chosen without a person naming them: real, at work, not divided into slices, not excluded."""
    known = list(devices)
    cut = divided(known)
    found = [
        device
        for device in known
        if not (device.simulated or is_failed(device) or device.id in cut or is_excluded(device, policy))
    ]
    if count > 1:  # CUDA gives a process one slice at most (MIG User Guide, "CUDA Device Enumeration")
        found = [device for device in found if device.parent is None]
    return found


def is_failed(device: Device) -> bool:
    """Whether its driver says that this one card does not answer; a card that is merely not read is none."""
    return device.problem is not None and device.problem.code.startswith("card_")


def is_excluded(device: Device, policy: Policy) -> bool:
    """Whether the policy keeps a device from being chosen by itself: by id, name or index."""
    return bool({device.id, device.name, str(device.index)} & set(policy.excluded))


def allowed_bytes(device: Device, policy: Policy) -> int | None:
    """How much of the empty device may be planned for; None where it does not tell."""
    return None if device.memory_total is None else int(device.memory_total * policy.memory_threshold)


def room_bytes(device: Device, policy: Policy) -> int | None:
    """How much can be had now: what is free, and not beyond the share that may be planned for."""
    free, total = device.memory_free, device.memory_total
    if free is None and total is not None and device.memory_used is not None:
        free = total - device.memory_used
    if free is None or total is None:
        return free
    return max(0, min(free, int(total * policy.memory_threshold) - (total - free)))


def with_room(devices: Iterable[Device], need: int, policy: Policy, taken: Collection[str]) -> list[Device]:
    """Devices nobody has with `need` bytes to be had, in the policy's order; one that tells nothing comes last.

    `fastest` needs an estimate for each device, which a waiting job has not: it takes the freest then.
    """
    rooms = {device.id: room_bytes(device, policy) for device in devices}
    found = [
        device for device in devices if device.id not in taken and ((room := rooms[device.id]) is None or room >= need)
    ]
    sign = 1 if policy.prefer == "least_free" else -1
    found.sort(key=lambda d: (rooms[d.id] is None, sign * (rooms[d.id] or 0), d.index))
    return found


def too_small(devices: Iterable[Device], need: int, policy: Policy) -> int | None:
    """Where no device could ever hold `need` bytes: what the largest offers when it is empty. Else None."""
    sizes = [allowed_bytes(device, policy) for device in devices]
    known = [size for size in sizes if size is not None]
    return max(known) if known and len(known) == len(sizes) and max(known) < need else None
