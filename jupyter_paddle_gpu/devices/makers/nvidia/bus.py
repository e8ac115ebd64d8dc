"""How NVIDIA's cards show on the PCI bus."""

from ...maker import PciIds

PCI = PciIds(vendor="0x10de", classes=("0x0300", "0x0302", "0x12"))
"""Display and 3D controllers, and processing accelerators."""
