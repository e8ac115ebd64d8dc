"""Enflame (GCU). Nodes and variable from users' reports, the image from Paddle's page; nobody has run these here."""

from __future__ import annotations

from ..maker import DeviceNodes, Maker, MakerImage, PciIds, plugin
from ..tools import efsmi

MAKER = Maker(
    name="enflame",
    title="Enflame",
    set_device="gcu",
    visible_devices="TOPS_VISIBLE_DEVICES",
    pci=PciIds(vendor="0x1e36", classes=("0x0300", "0x0302", "0x0380", "0x0b", "0x12")),
    tools=("efsmi",),
    asks=(efsmi.TOOL,),
    brands=("enflame",),
    container=DeviceNodes(nodes=("/dev/gcu{n}",), shared=("/dev/gcuctl",)),
    images=(
        MakerImage(
            machine="x86_64",
            reference="ccr-2vdh3abv-pub.cnc.bj.baidubce.com/device/paddle-gcu:topsrider3.2.109-ubuntu20-x86_64-gcc84",
            standing="documented",
            source="Paddle's page on Enflame GCU",
        ),
    ),
    paddle=plugin("gcu", "3.3.0", "Paddle's page on Enflame GCU"),
    keeps_factors=True,
    standing="reported",
)
