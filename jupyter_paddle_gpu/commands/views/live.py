"""Devices and what runs on them, to look at while it moves: as nvitop shows them."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from ...domain.devices import Device, DeviceHistory, DeviceHolder, DeviceProcess, Inventory
from .. import markup
from ..speech import Speech, size
from . import joints
from .machine import InventoryView, device_name

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

BAR_CELLS = 10
"""Width of a bar."""
SPARK_CELLS = 20
"""Width of the drawing of the last minute."""
SPARK_SECONDS = 60
_BLOCKS = " ▏▎▍▌▋▊▉█"
_LEVELS = "▁▂▃▄▅▆▇█"
_WARM, _HOT = 0.5, 0.9
"""Shares from which a bar is yellow, and red."""
MOST_PROCESSES = 30
"""Rows of processes; the largest of each device come first."""


class LiveView(InventoryView):
    """Each device with bars and its last minute, and below them the processes on them."""

    optional = (7, 4, 6, 5)

    def __init__(self, inventory: Inventory, history: DeviceHistory | None = None) -> None:
        super().__init__(inventory)
        self._loads = {row.id: row.utilization for row in history.devices} if history is not None else {}

    def head(self, say: Speech) -> Sequence[str]:
        """Headings."""
        drawn = say("Device"), say("Memory"), say("Load"), say("Last minute"), say("Temperature"), say("Power")
        return "#", *drawn, say("Clock"), *((say("Held by"),) if self._is_held() else ())

    def rows(self, say: Speech) -> list[Sequence[str]]:
        """One row a device, as plain text."""
        return [tuple(cell.plain for cell in self._row(say, device)) for device in self.data.devices]

    def rich(self, say: Speech) -> RenderableType:
        """The machine, its devices, their processes, and what is to be said."""
        from rich.console import Group
        from rich.padding import Padding
        from rich.text import Text

        from ..drawing import FittingTable, sentence

        parts: list[RenderableType] = [sentence(self.lead(say))]
        if self.data.devices:
            rows = [self._row(say, device) for device in self.data.devices]
            parts.append(FittingTable(self.head(say), rows, optional=self.optional, folding=self.folding))
        if processes := self._processes(say):
            cells = [[Text(cell) for cell in row] for row in processes]
            parts.append(FittingTable(_headings(say), cells, optional=(4, 5), folding=(6,)))
        for item in self.sentences(say):
            parts.append(Text(item.render(say.translate)))  # folded here: what moves is cut at a terminal's edge
            if hint := item.render_hint(say.translate):
                parts.append(Padding(Text(hint, style="dim"), (0, 0, 0, 2)))
        return Group(*parts, *joints.rich(say, self.data))

    def html(self, say: Speech) -> str:
        """The same for a cell."""
        rows = self._processes(say)
        drawn = markup.table(([escape(cell) for cell in row] for row in rows), _headings(say)) if rows else ""
        return super().html(say) + drawn + joints.html(say, self.data)

    def _row(self, say: Speech, device: Device) -> list[Text]:
        from rich.text import Text

        used = _ratio(device.memory_used, device.memory_total)
        load = None if device.utilization is None else device.utilization / 100
        heat = "–" if device.temperature is None else f"{device.temperature} °C"
        power = "–" if device.power is None else f"{device.power:.0f} W"
        if device.power is not None and device.power_limit is not None:
            power += f" / {device.power_limit:.0f} W"
        return [
            Text(device.title),
            Text(device_name(say, device)),
            Text.assemble(_bar(used), f" {size(device.memory_used)} / {size(device.memory_total)}"),
            Text.assemble(_bar(load), " –" if load is None else f" {load:.0%}"),
            Text(spark(self._loads.get(device.id, ()))),
            Text(heat),
            Text(power),
            Text(_clock(device)),
            *([Text(_holder(device))] if self._is_held() else []),
        ]

    def _is_held(self) -> bool:
        return any(device.holder is not None or device.sharers for device in self.data.devices)

    def _processes(self, say: Speech) -> list[Sequence[str]]:
        rows = [_process(device, process) for device in self.data.devices for process in device.processes]
        return rows[:MOST_PROCESSES]


def _headings(say: Speech) -> Sequence[str]:
    return "#", say("Process"), say("User"), say("Memory"), say("Load"), say("Job or container"), say("Command")


def _process(device: Device, process: DeviceProcess) -> Sequence[str]:
    return (
        device.title,
        str(process.pid),
        process.user or "–",
        size(process.memory_bytes) if process.memory_bytes is not None else "–",
        "–" if process.utilization is None else f"{process.utilization} %",
        process.job_id or process.container or "–",
        process.command or "–",
    )


def _holder(device: Device) -> str:
    """The users and the jobs that have it or shares of it: one's own by its name, another's by the end of its id."""
    holders = device.sharers if device.holder is None else (device.holder,)
    return "\n".join(_one_holder(one) for one in holders) or "–"


def _one_holder(holder: DeviceHolder) -> str:
    short = holder.job.rsplit("-", 1)[-1]
    job = f"{holder.name} ({short})" if holder.name else short
    share = None if holder.bytes is None else size(holder.bytes)
    return " · ".join(part for part in (holder.owner, job, share) if part)


def _clock(device: Device) -> str:
    """The clock, and why it is held back."""
    if device.details is None or device.details.clock is None:
        return "–"
    held = [reason for reason in device.details.throttling or () if reason not in ("idle", "clocks_set")]
    return f"{device.details.clock} MHz" + (f" ({', '.join(held)})" if held else "")


def _ratio(part: int | None, whole: int | None) -> float | None:
    return None if part is None or not whole else part / whole


def _bar(share: float | None) -> Text:
    """A bar of eighths of a cell; dots where the device does not tell."""
    from rich.text import Text

    if share is None:
        return Text("·" * BAR_CELLS, style="dim")
    eighths = round(min(1.0, max(0.0, share)) * BAR_CELLS * 8)
    full, rest = divmod(eighths, 8)
    text = "█" * full + (_BLOCKS[rest] if rest else "")
    style = "red" if share >= _HOT else "yellow" if share >= _WARM else "green"
    return Text(text.ljust(BAR_CELLS), style=style)


def spark(values: Sequence[float | None]) -> str:
    """The newest of some shares in percent as a row of blocks; a gap where nothing was told."""
    newest = values[-SPARK_CELLS:]
    last = len(_LEVELS) - 1
    return "".join(" " if value is None else _LEVELS[min(last, int(value / 100 * len(_LEVELS)))] for value in newest)
