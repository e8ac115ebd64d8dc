"""Which accelerator an estimate is for."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence

import msgspec

from ...devices.makers.registry import makers
from ...domain.devices import Accelerator, Device, Inventory, device_called
from ...domain.errors import PaddleGpuError
from ...domain.what_ifs import EstimateRequest

NEAR = 0.6
"""From this likeness on (difflib's ratio) a known name is suggested for a mistyped one."""
SIZES = 6
"""Sizes of memory that stand for the catalogue where this machine has no accelerator, the smallest first."""
GPU = "gpu"
"""Paddle's word for the devices whose allocator the calibration reads."""
Find = Callable[[str], Accelerator | None]
Pick = Callable[[Sequence[Device]], Device | None]


def largest(devices: Sequence[Device]) -> Device | None:
    """The real device with the most memory, the first of several; one that does not tell comes last."""
    real = [device for device in devices if not device.simulated]
    return max(real, key=lambda device: device.memory_total or 0, default=None)


def resolve(
    request: EstimateRequest, inventory: Callable[[], Inventory], find: Find, pick: Pick = largest
) -> Accelerator | None:
    """The accelerator for `request.device`: a device that is here by id or index, else a row of the catalogue.

    Without a name: the one that `pick` chooses of those that are here, else the largest real one, None where there is
    none. The CPU target has none.

    Raises:
        PaddleGpuError: `unknown_device` (400), `device_ambiguous` (409).
    """
    if request.target == "cpu":
        return None
    real = [device for device in inventory().devices if device.vendor != "cpu"]
    named = (request.device or "").strip()
    if not named:
        best = pick(real) or largest(real)
        return None if best is None else of_device(best, find)
    if (device := device_called(named, real)) is not None:
        return of_device(device, find)
    if (known := find(named)) is not None:
        return known
    for device in real:
        if named.casefold() == device.name.casefold():
            return of_device(device, find)
    near = _nearest(named, [device.name for device in real])
    raise PaddleGpuError(
        "unknown_device",
        "“{device}” is neither a device of this machine nor an accelerator that the catalog knows.",
        hint="Did you mean {near}? `jupyter paddle-gpu gpus --catalog` lists the names."
        if near
        else "`jupyter paddle-gpu gpus --catalog` lists the names, for example A100-80GB.",
        device=named,
        near=near,
    )


def several(names: tuple[str, ...], inventory: Callable[[], Inventory], find: Find) -> tuple[Accelerator, ...]:
    """The accelerators of some names; without names this machine's, each model and size once; where it has none, one of
    the catalogue for each size of memory.

    Raises:
        PaddleGpuError: `unknown_device` (400).
    """
    from ...devices import catalogue

    if names:
        named = [resolve(EstimateRequest(device=name), inventory, find) for name in names]
        return tuple(accelerator for accelerator in named if accelerator is not None)
    real = [device for device in inventory().devices if device.vendor != "cpu" and not device.simulated]
    here = [accelerator for device in real if (accelerator := of_device(device, find)) is not None]
    if here:
        return tuple({(one.name, one.usable_bytes or one.memory_bytes): one for one in here}.values())
    sizes: dict[int, Accelerator] = {}
    for accelerator in catalogue.usual():
        sizes.setdefault(accelerator.memory_bytes, accelerator)
    return tuple(sizes[size] for size in sorted(sizes)[:SIZES])


def _nearest(named: str, here: list[str]) -> str:
    """The known name that is most like a mistyped one, empty where none is; models go without edition, too."""
    from ...devices import catalogue

    names: dict[str, str] = {}
    for name in [*here, *(row.name for row in catalogue.accelerators())]:
        words = name.split()
        for count in range(len(words), 0, -1):
            names.setdefault(" ".join(words[:count]).casefold(), name)
    found = difflib.get_close_matches(named.casefold(), names, n=1, cutoff=NEAR)
    return names[found[0]] if found else ""


def of_device(device: Device, find: Find) -> Accelerator | None:
    """The catalogue's row for a card of this machine, with the memory that its driver reports; None without either."""
    known = find(device.name)
    if known is not None:
        if device.parent is not None and device.memory_total:  # a slice has less than the card its name speaks of
            return msgspec.structs.replace(known, memory_bytes=device.memory_total, usable_bytes=device.memory_usable)
        return msgspec.structs.replace(known, usable_bytes=device.memory_usable or known.usable_bytes)
    if device.memory_total is None:
        return None
    return Accelerator(
        name=device.name,
        vendor=device.vendor,
        memory_bytes=device.memory_total,
        usable_bytes=device.memory_usable,
        compute_capability=device.compute_capability,
    )


def to_measure(named: str, devices: Sequence[Device]) -> Device | None:
    """The whole card of this machine that a calibration runs on, by what it is called; without a name the first. None:
    the CPU, where that is named.

    Raises:
        PaddleGpuError: `calibrate_no_gpu` (409), `device_unknown` (400), `device_ambiguous` (409).
    """
    from ...estimator.calibration.calibrate import no_gpu

    if named.strip().lower() == "cpu":
        return None
    whole = [device for device in devices if not device.simulated and device.parent is None]
    real = [device for device in whole if (maker := makers().named(device.vendor)) and maker.set_device == GPU]
    if not real:
        raise no_gpu()
    card = device_called(named, real) if named else real[0]
    if card is None:
        raise PaddleGpuError(
            "device_unknown",
            "There is no device {device} here.",
            hint="`jupyter paddle-gpu gpus` lists them.",
            device=named[:80],
        )
    return card
