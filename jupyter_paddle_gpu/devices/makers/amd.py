"""AMD (ROCm). From users' reports; nobody has run these here."""

from __future__ import annotations

from ..contexts import of_cuda
from ..driver_words import HIP
from ..maker import DeviceNodes, Maker, PciIds
from ..tools import amd_smi, rocm_smi

MAKER = Maker(
    name="amd",
    title="AMD",
    set_device="gpu",
    own_word="amd",
    visible_devices="HIP_VISIBLE_DEVICES",
    reserved=("ROCR_VISIBLE_DEVICES",),
    # AMD also makes graphics for desktops, which do not count.
    pci=PciIds(vendor="0x1002", classes=("0x0380", "0x12")),
    tools=("amd-smi", "rocm-smi"),
    asks=(amd_smi.TOOL, rocm_smi.AMD),
    brands=("amd", "instinct", "radeon"),
    words=HIP,
    # HIP counts the cards whose render nodes it may open
    # (https://rocm.docs.amd.com/projects/HIP/en/latest/how-to/gpu-isolation.html).
    container=DeviceNodes(
        nodes=("/dev/dri/renderD{render}", "/dev/dri/card{card}"), shared=("/dev/kfd",), renumbered=True
    ),
    context=of_cuda,  # nobody has published a figure of its own
    standing="reported",
)
