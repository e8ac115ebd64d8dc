"""Devices, catalogue, images and the doctor's findings for people."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from ...domain.devices import Accelerator, Device, Inventory
from ...domain.messages import Message
from ...domain.placements import ImageChoice
from ...i18n import to_json
from .. import markup
from ..face import View
from ..speech import Speech, operations, size

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ...domain.measurements.calibrations import CalibrationReport, CalibrationRow
    from ...services import Check


class TableView(View):
    """An answer that is one table with sentences below it."""

    optional: Sequence[int] = ()
    """Columns that a narrow terminal can do without, the first one first."""
    folding: Sequence[int] | None = None
    """Columns whose text folds; all but the first by default."""

    @abstractmethod
    def head(self, say: Speech) -> Sequence[str]:
        """The columns' headings."""

    @abstractmethod
    def rows(self, say: Speech) -> list[Sequence[str]]:
        """The cells, as plain text."""

    def sentences(self, say: Speech) -> Sequence[Message]:
        """What is to be said below the table."""
        return ()

    def lead(self, say: Speech) -> str:
        """A line above the table."""
        return ""

    def rich(self, say: Speech) -> RenderableType:
        """Table and sentences."""
        from rich.console import Group
        from rich.text import Text

        from ..drawing import FittingTable, sentence

        parts: list[RenderableType] = [sentence(lead)] if (lead := self.lead(say)) else []
        if rows := self.rows(say):
            cells = [[Text(cell) for cell in row] for row in rows]
            parts.append(FittingTable(self.head(say), cells, optional=self.optional, folding=self.folding))
        for item in self.sentences(say):
            parts.append(sentence(item.render(say.translate)))
            if hint := item.render_hint(say.translate):
                parts.append(sentence(f"  {hint}", "dim"))
        return Group(*parts)

    def html_rows(self, say: Speech, rows: Sequence[Sequence[str]]) -> list[Sequence[str]]:
        """The cells as HTML."""
        return [[escape(cell) for cell in row] for row in rows]

    def html(self, say: Speech) -> str:
        """The same for a cell."""
        lead, rows = self.lead(say), self.rows(say)
        drawn = markup.table(self.html_rows(say, rows), self.head(say)) if rows else ""
        below = "".join(f"<p>{markup.message(say, sentence)}</p>" for sentence in self.sentences(say))
        return (f"<p>{escape(lead)}</p>" if lead else "") + drawn + below


class InventoryView(TableView):
    """This machine's devices."""

    optional: Sequence[int] = (6, 5, 4)
    folding = (1,)

    def __init__(self, inventory: Inventory) -> None:
        self.data: Inventory = inventory

    def lead(self, say: Speech) -> str:
        """The machine itself."""
        host = self.data.host
        return say.n(
            "{cpus} processor at {percent} %, memory {used} of {total}",
            "{cpus} processors at {percent} %, memory {used} of {total}",
            host.cpu_count,
            cpus=host.cpu_count,
            percent=round(host.cpu_percent),
            used=size(host.memory_total - host.memory_available),
            total=size(host.memory_total),
        )

    def head(self, say: Speech) -> Sequence[str]:
        """Headings."""
        return "#", say("Device"), say("Memory"), say("Load"), say("Temperature"), say("Power"), say("Processes")

    def rows(self, say: Speech) -> list[Sequence[str]]:
        """One row a device."""
        return [_device_row(say, device) for device in self.data.devices]

    def sentences(self, say: Speech) -> Sequence[Message]:
        """What NVLink joins, and why there is no data."""
        ill = (device.problem for device in self.data.devices if device.problem)
        return (*self.data.joined, *self.data.problems, *ill)


def device_name(say: Speech, device: Device) -> str:
    """Its name, with what has to be known of it."""
    return marked(say, device.name, simulated=device.simulated, checked=device.checked)


def marked(say: Speech, name: str, *, simulated: bool = False, checked: bool = True) -> str:
    """A device's name with what has to be known of it."""
    marks = [say("simulated")] * simulated + [say("not checked on hardware")] * (not checked)
    return name + (f" ({', '.join(marks)})" if marks else "")


Find = Callable[[str], Accelerator | None]
"""A card's row in the catalogue, by its name."""


def card_name(say: Speech, name: str, find: Find) -> str:
    """A card's name, with what has to be known of it."""
    row = find(name)
    return marked(say, name, checked=row is None or row.checked)


def _device_row(say: Speech, device: Device) -> Sequence[str]:
    def number(value: float | None, unit: str) -> str:
        return "–" if value is None else f"{value:.0f} {unit}"

    name = device_name(say, device)
    memory = f"{size(device.memory_used)} / {size(device.memory_total)}"
    load, heat, power = number(device.utilization, "%"), number(device.temperature, "°C"), number(device.power, "W")
    return device.title, name, memory, load, heat, power, str(len(device.processes))


class CatalogueView(TableView):
    """Known accelerators."""

    optional = (1, 3)
    folding = (0,)

    def __init__(self, accelerators: tuple[Accelerator, ...]) -> None:
        self.data: tuple[Accelerator, ...] = accelerators

    def head(self, say: Speech) -> Sequence[str]:
        """Headings."""
        return say("Name"), say("Maker"), say("Memory"), say("Bandwidth"), "FP16", "BF16"

    def rows(self, say: Speech) -> list[Sequence[str]]:
        """One row an accelerator."""
        return [
            (
                marked(say, row.name, checked=row.checked),
                row.vendor,
                size(row.memory_bytes),
                f"{size(row.bandwidth)}/s" if row.bandwidth else "–",
                operations(row.fp16),
                operations(row.bf16),
            )
            for row in self.data
        ]


class ImagesView(TableView):
    """Container images, best first; status 1 where there is none."""

    def __init__(self, images: tuple[ImageChoice, ...]) -> None:
        self.data: tuple[ImageChoice, ...] = images
        self.status = int(not any(image.reference for image in images))

    def head(self, say: Speech) -> Sequence[str]:
        """Headings."""
        return say("Image"), say("Here"), say("Why")

    def rows(self, say: Speech) -> list[Sequence[str]]:
        """One row an image."""
        return [
            (
                image.reference or "–",
                say("yes") if image.local else say("no"),
                " ".join(reason.render(say.translate) for reason in image.reasons),
            )
            for image in self.data
        ]

    def sentences(self, say: Speech) -> Sequence[Message]:
        """What was ruled out and why."""
        return [ruled_out for image in self.data for ruled_out in image.ruled_out]


class DoctorView(TableView):
    """The doctor's findings; status 1 where something is missing that work needs."""

    def __init__(self, checks: tuple[Check, ...]) -> None:
        self.data: tuple[Check, ...] = checks
        self.status = int(any(check.needed and not check.ok for check in checks))

    def json(self, say: Speech) -> Any:
        """`{checks: [...]}` as REST answers it."""
        from ...services.doctor import to_rows

        return to_json({"checks": to_rows(self.data, say.translate)})

    def head(self, say: Speech) -> Sequence[str]:
        """Headings."""
        return "", say("Part"), say("Finding")

    def rows(self, say: Speech) -> list[Sequence[str]]:
        """One row a check; the next step stands below the finding."""
        marks = {(True, True): "✓", (True, False): "✓", (False, True): "✗", (False, False): "–"}
        return [
            (
                marks[check.ok, check.needed],
                _part(check.name, say),
                "\n".join(
                    filter(None, (check.finding.render(say.translate), check.finding.render_hint(say.translate)))
                ),
            )
            for check in self.data
        ]


_PARTS = (
    "version",
    "kernel",
    "tracing",
    "devices",
    "device",
    "driver",
    "makers",
    "plugins",
    "engines",
    "policy",
    "claims",
    "queue",
    "data folder",
)
"""What the doctor looks at, in the words of a table; a package that is asked for goes by its own name."""


def _part(name: str, say: Speech) -> str:
    head, _, engine = name.partition("_")
    if head == "engine":
        return say("engine {engine}", engine=engine)
    words = name.replace("_", " ")
    return say(words) if words in _PARTS else name


class CalibrationView(TableView):
    """Estimate beside measurement, a row a program."""

    def __init__(self, report: CalibrationReport) -> None:
        self.data: CalibrationReport = report

    def lead(self, say: Speech) -> str:
        """What was measured, and what was learned."""
        if self.data.device == "cpu":
            return say(
                "On the CPU estimate and measurement are at most {percent} % apart. Nothing was kept: estimates of "
                "GPUs learn from a GPU alone.",
                percent=f"{100 * max(map(_apart, self.data.rows)):.1f}",
            )
        return say.n(
            "{device}: {count} measurement was kept.",
            "{device}: {count} measurements were kept.",
            self.data.learned,
            device=self.data.device,
            count=self.data.learned,
        )

    def head(self, say: Speech) -> Sequence[str]:
        """Headings."""
        return say("Program"), say("Estimated"), say("Measured"), say("Device, estimated"), say("Device, measured")

    def rows(self, say: Speech) -> list[Sequence[str]]:
        """One row a program."""
        return [
            (
                row.program,
                size(row.estimated_allocated),
                size(row.measured_allocated),
                "–" if row.low is None else f"{size(row.low)} … {size(row.high)}",
                size(row.measured_driver),
            )
            for row in self.data.rows
        ]


def _apart(row: CalibrationRow) -> float:
    return abs(row.estimated_allocated - row.measured_allocated) / row.measured_allocated
