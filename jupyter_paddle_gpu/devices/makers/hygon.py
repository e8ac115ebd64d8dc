"""Hygon (DCU). From Paddle's page on Hygon DCU; nobody has run these here."""

from __future__ import annotations

from ..contexts import of_cuda
from ..driver_words import HIP
from ..maker import INDEX, DeviceNodes, Maker, MakerImage, Package, PaddlePackages, PciIds
from ..tools import rocm_smi

MAKER = Maker(
    name="hygon",
    title="Hygon",
    set_device="gpu",
    own_word="dcu",
    visible_devices="HIP_VISIBLE_DEVICES",
    reserved=("ROCR_VISIBLE_DEVICES",),
    pci=PciIds(vendor="0x1d94", classes=("0x0302", "0x0380", "0x0b40", "0x12")),
    tools=("hy-smi", "rocm-smi"),
    asks=rocm_smi.HYGON,
    brands=("hygon", "dcu"),
    words=HIP,
    container=DeviceNodes(
        nodes=("/dev/dri/renderD{render}", "/dev/dri/card{card}"),
        shared=("/dev/kfd", "/dev/mkfd"),
        tools=("/opt/hyhal",),
        renumbered=True,  # as AMD's HIP does, from which its runtime comes
    ),
    images=(
        MakerImage(
            machine="x86_64",
            reference="ccr-2vdh3abv-pub.cnc.bj.baidubce.com/device/paddle-dcu:dtk24.04.1-kylinv10-gcc82",
            standing="documented",
            source="Paddle's page on Hygon DCU",
        ),
    ),
    paddle=PaddlePackages(
        packages=(Package(name="paddlepaddle-dcu", version="3.2.1", index=INDEX.format(kind="dcu")),),
        source="PaddleOCR's pages on Hygon DCU",
    ),
    context=of_cuda,  # nobody has published a figure of its own
    standing="documented",
)
