"""Cards of makers whose live figures are not read: that they are there, and what would show them."""

from __future__ import annotations

import shutil
from pathlib import Path

from ..domain.devices import Device
from ..domain.messages import Message
from .maker import Maker
from .pci import PciFunction, PciFunctions
from .reader import Reading


class ListedReader:
    """Lists a maker's cards from the PCI bus."""

    def __init__(self, maker: Maker, root: Path = Path("/")) -> None:
        self._maker = maker
        self._pci = PciFunctions(root)

    def read(self) -> Reading:
        """One device a card, each with the reason why it has no figures."""
        if self._maker.pci is None:
            return Reading()
        cards = self._pci.of(self._maker.pci)
        return Reading(devices=tuple(_device(self._maker, card, number) for number, card in enumerate(cards)))

    def is_anothers(self, address: str) -> bool:
        """Whether the bus says that what is at this address is another maker's."""
        vendor = self._pci.vendor(address)
        return bool(vendor) and self._maker.pci is not None and vendor != self._maker.pci.vendor

    def numa_node(self, address: str) -> int | None:
        """The NUMA node that a card at this address hangs on."""
        return self._pci.numa_node(address)

    def close(self) -> None:
        """Nothing is held."""


def _device(maker: Maker, function: PciFunction, index: int) -> Device:
    tool = next((name for name in maker.tools if shutil.which(name)), "")
    if tool:
        problem = Message(
            code="vendor_not_read",
            text="There is a card of {vendor}; this version does not read its figures.",
            hint="Run `{tool}` in a terminal to see its memory.",
            params={"vendor": maker.title, "tool": tool},
        )
    else:
        problem = Message(
            code="vendor_tool_missing",
            text="There is a card of {vendor}, but its tool {tool} is not installed.",
            hint="Install the driver and tools of {vendor}, or start the container with them.",
            params={"vendor": maker.title, "tool": next(iter(maker.tools), "?")},
        )
    return Device(
        id=f"{maker.name}-{function.address}",
        index=index,
        vendor=maker.name,
        name=function.name or maker.title,
        problem=problem,
        checked=maker.checked,
    )
