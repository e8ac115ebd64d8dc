"""Cards of vendors whose live figures are not read: that they are there, and what would show them."""

from __future__ import annotations

import shutil
from pathlib import Path

from ..domain.devices import Device, Vendor
from ..domain.messages import Message
from .pci import PciFunction, PciFunctions
from .reader import Reading

TOOLS: dict[Vendor, tuple[str, tuple[str, ...]]] = {
    "ascend": ("Huawei Ascend", ("npu-smi",)),
    "kunlun": ("Kunlun", ("xpu-smi", "xpu_smi")),
    "hygon": ("Hygon", ("hy-smi", "rocm-smi")),
    "cambricon": ("Cambricon", ("cnmon",)),
    "enflame": ("Enflame", ("efsmi",)),
    "amd": ("AMD", ("amd-smi", "rocm-smi")),
}
"""Vendor -> its name and its tools, in the order in which they are looked for."""


class OtherVendorsReader:
    """Lists cards from the PCI bus; a vendor that gets a module of its own leaves this list."""

    def __init__(self, root: Path = Path("/")) -> None:
        self._pci = PciFunctions(root)

    def read(self) -> Reading:
        """One device a card, each with the reason why it has no figures."""
        cards = [function for function in self._pci.accelerators() if function.vendor in TOOLS]
        index: dict[Vendor, int] = {}
        devices = []
        for function in cards:
            number = index.setdefault(function.vendor, 0)
            index[function.vendor] += 1
            devices.append(_device(function, number))
        return Reading(devices=tuple(devices))

    def close(self) -> None:
        """Nothing is held."""


def _device(function: PciFunction, index: int) -> Device:
    vendor, tools = TOOLS[function.vendor]
    tool = next((name for name in tools if shutil.which(name)), "")
    if tool:
        problem = Message(
            code="vendor_not_read",
            text="There is a card of {vendor}; this version does not read its figures.",
            hint="Run `{tool}` in a terminal to see its memory.",
            params={"vendor": vendor, "tool": tool},
        )
    else:
        problem = Message(
            code="vendor_tool_missing",
            text="There is a card of {vendor}, but its tool {tool} is not installed.",
            hint="Install the driver and tools of {vendor}, or start the container with them.",
            params={"vendor": vendor, "tool": tools[0]},
        )
    return Device(
        id=f"{function.vendor}-{function.address}",
        index=index,
        vendor=function.vendor,
        name=function.name or vendor,
        problem=problem,
    )
