"""Which devices are joined to which, as a small table in the words of `nvidia-smi topo -m`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ...domain.devices import DeviceLink, Inventory, Joint
from ...domain.messages import Message
from .. import markup
from ..speech import Speech

if TYPE_CHECKING:
    from rich.console import RenderableType

WORDS: Mapping[Joint, str] = {
    "board": "PSB",
    "switch": "PIX",
    "switches": "PXB",
    "host_bridge": "PHB",
    "node": "NODE",
    "system": "SYS",
}
"""Of what is no NVLink; those are `NV4` by their number."""

LEGEND = Message(
    code="joints_read",
    text="NV4: four NVLinks. PSB, PIX, PXB, PHB, NODE, SYS: by the bus, the closest first.",
)


def joints(inventory: Inventory) -> tuple[Sequence[str], list[Sequence[str]]]:
    """Headings and rows, a device a row and a column; without rows where nothing has an NVLink."""
    links = {frozenset(link.devices): link for link in inventory.links}
    if not any(link.joint == "nvlink" for link in links.values()):
        return (), []
    among = [device for device in inventory.devices if any(device.id in pair for pair in links)]
    # Of one maker the numbers do above the columns: sixteen of them stand side by side.
    kinds = {device.kind for device in among}
    head = ("", *(device.number if len(kinds) == 1 else device.title for device in among))
    rows: list[Sequence[str]] = [
        [row.title, *("–" if row is one else _word(links.get(frozenset((row.id, one.id)))) for one in among)]
        for row in among
    ]
    return head, rows


def _word(link: DeviceLink | None) -> str:
    if link is None:
        return "?"
    if link.joint == "nvlink":
        return "NV" if link.lanes is None else f"NV{link.lanes}"
    return WORDS[link.joint]


def rich(say: Speech, inventory: Inventory) -> list[RenderableType]:
    """For a terminal."""
    from rich.text import Text

    from ..drawing import FittingTable, sentence

    head, rows = joints(inventory)
    cells = [[Text(cell) for cell in row] for row in rows]
    return [FittingTable(head, cells, folding=()), sentence(LEGEND.render(say.translate), "dim")] if rows else []


def html(say: Speech, inventory: Inventory) -> str:
    """The same for a cell."""
    head, rows = joints(inventory)
    return markup.table(rows, head) + f"<p><small>{markup.message(say, LEGEND)}</small></p>" if rows else ""
