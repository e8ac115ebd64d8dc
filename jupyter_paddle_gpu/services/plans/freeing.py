"""Whether others have left a device for which a schedule waits."""

from __future__ import annotations

from ...domain.devices import Device, Inventory
from ...domain.messages import Message
from ...domain.sizes import human
from ...matching.sentences import named

FREE_SHARE = 0.05
"""Share of a device's memory below which nobody has it: a driver takes some for itself."""


def waits_for_device(inventory: Inventory, name: str) -> Message | None:
    """What somebody waits for who wants that device free; None where others have left it, or it is not here.

    What this person's jobs have of it counts for nothing: the queue waits for those.
    """
    device = next((one for one in inventory.devices if one.id == name), None)
    if device is None or (used := _others(device)) <= FREE_SHARE * (device.memory_total or 0):
        return None
    return Message(
        code="device_in_use",
        text="Others have {used} of {device}, and what the training needs is not known.",
        params={"used": human(used), "device": named(device)},
    )


def _others(device: Device) -> int:
    """Bytes that no job of this person's has; 0 where the device does not tell how much memory it has."""
    if device.memory_used is None or not device.memory_total:
        return 0
    own = sum(one.memory_bytes or 0 for one in device.processes if one.job_id is not None)
    return max(0, device.memory_used - own)
