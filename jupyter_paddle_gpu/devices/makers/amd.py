"""AMD (ROCm). From users' reports; nobody has run these here."""

from __future__ import annotations

from ..contexts import of_cuda
from ..driver_words import HIP
from ..maker import DeviceNodes, Maker, PciIds

MAKER = Maker(
    name="amd",
    title="AMD",
    set_device="gpu",
    visible_devices="HIP_VISIBLE_DEVICES",
    reserved=("ROCR_VISIBLE_DEVICES",),
    # AMD also makes graphics for desktops, which do not count.
    pci=PciIds(vendor="0x1002", classes=("0x0380", "0x12")),
    tools=("amd-smi", "rocm-smi"),
    brands=("amd", "instinct", "radeon"),
    words=HIP,
    container=DeviceNodes(nodes=("/dev/dri/renderD{render}", "/dev/dri/card{n}"), shared=("/dev/kfd",)),
    context=of_cuda,  # nobody has published a figure of its own
    standing="reported",
)
