"""Cambricon (MLU). From Paddle's page on Cambricon MLU; nobody has run these here."""

from __future__ import annotations

from ..maker import DeviceNodes, Maker, MakerImage, PciIds, plugin
from ..tools import cnmon

MAKER = Maker(
    name="cambricon",
    title="Cambricon",
    set_device="mlu",
    visible_devices="MLU_VISIBLE_DEVICES",
    pci=PciIds(vendor="0xcabc", classes=("0x0300", "0x0302", "0x0380", "0x0b", "0x12")),
    tools=("cnmon",),
    asks=(cnmon.TOOL,),
    brands=("cambricon",),
    container=DeviceNodes(
        nodes=("/dev/cambricon_dev{n}",),
        shared=("/dev/cambricon_ctl", "/dev/cambricon_ipcm0"),
        tools=("/usr/bin/cnmon",),
    ),
    images=(
        MakerImage(
            machine="x86_64",
            reference="ccr-2vdh3abv-pub.cnc.bj.baidubce.com/device/paddle-mlu:ubuntu20-x86_64-gcc84-py310",
            standing="documented",
            source="Paddle's page on Cambricon MLU",
        ),
    ),
    paddle=plugin("mlu", "3.3.0", "Paddle's page on Cambricon MLU"),
    keeps_factors=True,
    standing="documented",
)
