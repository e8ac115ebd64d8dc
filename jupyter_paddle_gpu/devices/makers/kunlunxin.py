"""Kunlunxin (XPU). From Paddle's page on Kunlun XPU and the maker's driver; nobody has run these here."""

from __future__ import annotations

from ..maker import INDEX, DeviceNodes, Maker, MakerImage, Package, PaddlePackages, PciIds
from ..tools import xpu_smi

MAKER = Maker(
    name="kunlun",
    title="Kunlun",
    set_device="xpu",
    visible_devices="XPU_VISIBLE_DEVICES",
    pci=PciIds(
        vendor="0x1d22",
        classes=("0x0300", "0x0302", "0x0380", "0x0b", "0x12"),
        names={
            "0x3684": "Kunlun R200 / R300",
            **dict.fromkeys(("0x3686", "0x3687", "0x3688", "0x3689"), "Kunlun P800"),
        },
    ),
    tools=("xpu-smi", "xpu_smi"),
    asks=(xpu_smi.QUERY, xpu_smi.TABLES),
    brands=("kunlun", "kunlunxin", "baidu"),
    container=DeviceNodes(
        nodes=("/dev/xpu{n}",),
        shared=("/dev/xpuctrl",),
        tools=("/usr/local/bin/xpu-smi", "/usr/local/bin/xpu_smi"),
    ),
    images=(
        MakerImage(
            machine="x86_64",
            reference="ccr-2vdh3abv-pub.cnc.bj.baidubce.com/device/paddle-xpu:ubuntu20-x86_64-gcc84-py310",
            standing="documented",
            source="Paddle's page on Kunlun XPU",
        ),
    ),
    paddle=PaddlePackages(
        packages=(Package(name="paddlepaddle-xpu", version="3.3.0", index=INDEX.format(kind="xpu-p800")),),
        source="PaddleOCR's pages on Kunlunxin XPU (P800)",
    ),
    keeps_factors=True,
    standing="documented",
)
