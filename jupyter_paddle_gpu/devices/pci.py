"""What the PCI bus shows: cards whose vendor's tool may be missing. Linux; elsewhere nothing is found."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from ..domain.devices import Vendor

_VENDORS: dict[str, tuple[Vendor, tuple[str, ...]]] = {
    # PCI id -> vendor and the device classes that are accelerators. 0300/0302/0380: display, 0b: co-processor,
    # 12: processing accelerator. Huawei and AMD also make graphics for consoles and desktops, which do not count.
    "0x10de": ("nvidia", ("0x0300", "0x0302", "0x12")),
    "0x1002": ("amd", ("0x0380", "0x12")),
    "0x19e5": ("ascend", ("0x12",)),
    "0x1d22": ("kunlun", ("0x0300", "0x0302", "0x0380", "0x0b", "0x12")),
    "0x1d94": ("hygon", ("0x0302", "0x0380", "0x0b40", "0x12")),
    "0xcabc": ("cambricon", ("0x0300", "0x0302", "0x0380", "0x0b", "0x12")),
    "0x1e36": ("enflame", ("0x0300", "0x0302", "0x0380", "0x0b", "0x12")),
}
_NAMES = {
    # https://pci-ids.ucw.cz; Kunlun from the vendor's driver.
    ("0x19e5", "0xd801"): "Ascend 910",
    ("0x19e5", "0xd802"): "Ascend 910B",
    ("0x19e5", "0xd803"): "Ascend 910C",
    ("0x19e5", "0xd500"): "Ascend 310P",
    ("0x1d22", "0x3684"): "Kunlun R200 / R300",
    ("0x1d22", "0x3686"): "Kunlun P800",
    ("0x1d22", "0x3687"): "Kunlun P800",
    ("0x1d22", "0x3688"): "Kunlun P800",
    ("0x1d22", "0x3689"): "Kunlun P800",
}


class PciFunction(NamedTuple):
    """An accelerator on the bus; `name` is empty where the id is not known."""

    address: str
    vendor: Vendor
    name: str


class PciFunctions:
    """Reads /sys/bus/pci below `root`."""

    def __init__(self, root: Path = Path("/")) -> None:
        self._folder = root / "sys/bus/pci/devices"

    def accelerators(self) -> list[PciFunction]:
        """All accelerators of known vendors, by address."""
        found = []
        for function in sorted(self._folder.iterdir()) if self._folder.is_dir() else []:
            vendor_id, device_id, kind = (_text(function / name) for name in ("vendor", "device", "class"))
            vendor, classes = _VENDORS.get(vendor_id, ("cpu", ()))
            if kind.startswith(tuple(classes)) and classes:
                found.append(PciFunction(function.name, vendor, _NAMES.get((vendor_id, device_id), "")))
        return found

    def of_vendor(self, vendor: Vendor) -> list[PciFunction]:
        """The accelerators of one vendor."""
        return [function for function in self.accelerators() if function.vendor == vendor]

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
