"""Which devices a job may have, and how much can be had of each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..domain.bounds import device_twice
from ..domain.decisions import Choice
from ..domain.devices import Device, device_called, divided
from ..domain.errors import PaddleGpuError
from .filters import ruled_out
from .policy import Policy


def usable(devices: Iterable[Device], policy: Policy, count: int = 1) -> list[Device]:
    """Devices that may be chosen without a person naming them: real, at work, not divided into slices, and not what
    the policy excludes or rules out."""
    known = list(devices)
    cut = divided(known)
    found = [device for device in known if is_chosen(device, policy, cut)]
    if count > 1:  # CUDA gives a process one slice at most (MIG User Guide, "CUDA Device Enumeration")
        found = [device for device in found if device.parent is None]
    return found


def together(devices: Iterable[Device], count: int) -> list[list[Device]]:
    """Devices by who can train together: of one maker where several are wanted (NCCL, HCCL and their like know their
    own alone, and a build of Paddle serves one)."""
    groups: dict[str, list[Device]] = {}
    for device in devices:
        groups.setdefault(device.vendor if count > 1 else "", []).append(device)
    return list(groups.values())


def best_device(devices: Iterable[Device], policy: Policy, choice: Choice) -> Device | None:
    """The device that settles whether a training could ever run: of as many as are wanted, those with most memory, the
    one with least. None where none tells how much it has."""
    count = len(choice.device_ids) or choice.gpus or 1
    known = list(devices)
    chosen = [device for device in known if device.id in choice.device_ids]
    found = [one for one in chosen or usable(known, policy, count) if one.memory_total]
    groups = [sorted(those, key=lambda one: -(one.memory_total or 0)) for those in together(found, count)]
    lasts = [(min(count, len(those)), those[min(count, len(those)) - 1]) for those in groups]
    return max(lasts, key=lambda last: (last[0], last[1].memory_total or 0), default=(0, None))[1]


def is_chosen(device: Device, policy: Policy, cut: frozenset[str]) -> bool:
    """Whether a device may be chosen by itself. `cut`: those that are divided into slices."""
    if device.simulated or is_failed(device) or device.id in cut or is_excluded(device, policy):
        return False
    return ruled_out(device, policy) is None


def is_failed(device: Device) -> bool:
    """Whether its driver says that this one card does not answer; a card that is merely not read is none."""
    return device.problem is not None and device.problem.code.startswith("card_")


def is_excluded(device: Device, policy: Policy) -> bool:
    """Whether the policy keeps a device from being chosen by itself: by id, name or number, with its maker's word or
    without."""
    if not policy.excluded:
        return False
    return bool({device.id, device.name, str(device.index), *device.spellings} & set(policy.excluded))


def allowed_bytes(device: Device, policy: Policy) -> int | None:
    """How much of the empty device may be planned for; None where it does not tell."""
    usable = device.memory_usable
    return None if usable is None else policy.allowed(usable)


def room_bytes(device: Device, policy: Policy) -> int | None:
    """How much can be had now: what is free, and not beyond the share that may be planned for; None where it does not
    tell."""
    free, total = device.memory_free, device.memory_usable
    if total is None:
        return free
    if free is None:
        free = total - (device.memory_used or 0)
    # Some drivers count what they keep for themselves as free: an empty device has no more than may be planned for.
    return max(0, policy.allowed(total) - max(0, total - free))


def named(chosen: Sequence[str], devices: Sequence[Device]) -> list[Device]:
    """The devices that a person named, by id or number, none twice. Raises `PaddleGpuError` for one that cannot be,
    or that may be several."""
    cut = divided(devices)
    found: list[Device] = []
    for name in chosen:
        device = device_called(name, devices)
        if device is None:
            raise PaddleGpuError(
                "device_unknown",
                "There is no device {device} on this machine.",
                hint="Choose one of the devices in the list.",
                status=404,
                device=name,
            )
        if device.simulated:
            raise PaddleGpuError(
                "device_simulated",
                "{device} is simulated: it is shown for teaching, and nothing can run on it.",
                hint="Run on the CPU, or choose a real device.",
                device=device.name,
            )
        if device.id in cut:
            raise PaddleGpuError(
                "device_divided",
                "{device} is divided into slices (MIG) and cannot be used as a whole.",
                hint="Choose one of its slices.",
                device=device.name,
            )
        if device in found:
            raise device_twice(name)
        found.append(device)
    if len(found) > 1 and any(one.parent is not None for one in found):  # see `usable`
        raise PaddleGpuError(
            "slices_together",
            "A process gets one slice of a divided card (MIG) at most, so slices cannot train together with others: "
            "{devices}.",
            hint="Name one slice, or whole cards alone.",
            devices=", ".join(f"{one.title} ({one.name})" for one in found),
        )
    if len(together(found, len(found))) > 1:
        raise PaddleGpuError(
            "devices_mixed",
            "One job cannot use devices of several makers: {devices}.",
            hint="Name devices of one maker.",
            devices=", ".join(f"{one.title} ({one.name})" for one in found),
        )
    return found
