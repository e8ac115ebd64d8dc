"""What the PCI bus shows: cards whose maker's tool may be missing. Linux; elsewhere nothing is found."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from .maker import PciIds


class PciFunction(NamedTuple):
    """An accelerator on the bus; `name` is empty where the id is not known."""

    address: str
    name: str


class PciFunctions:
    """Reads /sys/bus/pci below `root`."""

    def __init__(self, root: Path = Path("/")) -> None:
        self._folder = root / "sys/bus/pci/devices"

    def of(self, ids: PciIds) -> list[PciFunction]:
        """The accelerators of a maker, by address."""
        return [
            PciFunction(function.name, ids.names.get(_text(function / "device"), ""))
            for function in (sorted(self._folder.iterdir()) if self._folder.is_dir() else [])
            if _text(function / "vendor") == ids.vendor and _text(function / "class").startswith(ids.classes)
        ]

    def vendor(self, address: str) -> str:
        """Whose the function at an address is, as `0x1002`; empty where there is none."""
        return _text(self._folder / address / "vendor") if address else ""

    def numa_node(self, address: str) -> int | None:
        """The NUMA node of a function; drivers write its domain with eight digits, the kernel with four."""
        domain, _, rest = address.lower().partition(":")
        node = _text(self._folder / f"{domain[-4:]}:{rest}" / "numa_node")
        return int(node) if node.isdigit() else None


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except (OSError, UnicodeDecodeError):
        return ""
