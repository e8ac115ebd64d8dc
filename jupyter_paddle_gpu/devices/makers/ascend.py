"""Huawei Ascend (NPU). From Paddle's page on Ascend NPU and the maker's documents; nobody has run these here."""

from __future__ import annotations

from ..contexts import MIB, ContextRange
from ..maker import DeviceNodes, Maker, MakerImage, PciIds, Version, plugin
from ..tools import npu_smi

_IMAGE = "ccr-2vdh3abv-pub.cnc.bj.baidubce.com/device/paddle-npu:cann80RC1-ubuntu20"


def _context(capability: Version | None, version: Version | None) -> ContextRange:
    """What a bare context was seen to take; kernels and libraries come on top, up to CUDA's range."""
    return ContextRange(
        190 * MIB,
        1000 * MIB,
        "910B2, CANN 9.0.1: a bare device context moved a freshly started card from 3,201 to 3,400 MB "
        "(hw-native-sys/simpler#2422); the upper end is that of CUDA devices",
    )


MAKER = Maker(
    name="ascend",
    title="Huawei Ascend",
    set_device="npu",
    visible_devices="ASCEND_RT_VISIBLE_DEVICES",
    reserved=("ASCEND_VISIBLE_DEVICES",),
    # Huawei also makes graphics for servers' consoles, which do not count. Names: https://pci-ids.ucw.cz
    pci=PciIds(
        vendor="0x19e5",
        classes=("0x12",),
        names={
            "0xd801": "Ascend 910",
            "0xd802": "Ascend 910B",
            "0xd803": "Ascend 910C",
            "0xd500": "Ascend 310P",
        },
    ),
    tools=("npu-smi",),
    asks=(npu_smi.TOOL,),
    brands=("huawei", "ascend"),
    # "910b2c": what follows the B names an edition, which the maker's own tool says; a 910C it calls "Ascend910" or
    # "910_93..".
    spellings=((r"\bascend(?=\d)", "ascend "), (r"\b910b\d(-\d)?c?\b", "910b"), (r"\b910_?93\d*\b", "910c")),
    editions=r"910(b\d(?:-\d)?c?)\b",
    container=DeviceNodes(
        nodes=("/dev/davinci{n}",),
        shared=("/dev/davinci_manager", "/dev/devmm_svm", "/dev/hisi_hdc"),
        tools=("/usr/local/Ascend/driver", "/usr/local/dcmi", "/usr/local/bin/npu-smi"),
        renumbered=True,  # the variable takes logical numbers (CANN's reference of environment variables)
    ),
    images=tuple(
        MakerImage(
            machine=machine,
            reference=f"{_IMAGE}-{machine}-gcc84-py39",
            standing="documented",
            source="Paddle's page on Ascend NPU",
        )
        for machine in ("x86_64", "aarch64")
    ),
    context=_context,
    paddle=plugin("npu", "3.2.0", "PaddleOCR's pages on Ascend NPU"),
    standing="documented",
)
