"""Two jobs side by side, for people."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

from ...domain.jobs.job import Job
from ...domain.variables import Difference
from ..speech import Speech, number, run_time, size
from .changes import STYLES
from .job import device_names, measured_bytes, state, where
from .machine import TableView

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ...domain.changes import CellDifference
    from ...services.requests import Comparison

_KINDS = {"devices": "Number of devices", "device": "Device", "image": "Image", "engine": "Where"}
"""What differs beside variables, which have names; code stands below the table."""
_ROLES = {
    "batch_size": "Batch size",
    "learning_rate": "Learning rate",
    "epochs": "Epochs",
    "amp": "Mixed precision",
    "optimizer": "Optimizer",
}
"""Facts of the training that no variable holds."""


class ComparisonView(TableView):
    """A column a job, a row for each thing that differs and for what came out; below it the code that differs."""

    def __init__(self, before: Job, after: Job, comparison: Comparison) -> None:
        self.data: Comparison = comparison
        self._jobs = before, after

    def head(self, say: Speech) -> Sequence[str]:
        """The jobs."""
        return "", *(f"{job.id}\n{job.spec.name}" for job in self._jobs)

    def rows(self, say: Speech) -> list[Sequence[str]]:
        """What differs first, then what came out."""
        before, after = self._jobs
        rows: list[Sequence[str]] = [_differing(say, one) for one in self.data.differs if one.kind != "code"]
        now = time.time()
        devices = ["\n".join(device_names(say, job)) or "–" for job in self._jobs]
        if devices[0] != devices[1]:
            rows.append((say("Devices"), *devices))
        rows += [
            (say("State"), state(say, before), state(say, after)),
            (say("Time"), run_time(before, now), run_time(after, now)),
        ]
        metrics = [job.progress.metrics for job in self._jobs]
        for name in dict.fromkeys([*metrics[0], *metrics[1]]):
            rows.append((name, *(number(one.get(name)) for one in metrics)))
        for label, sizes in (
            (say("Estimated peak"), [job.spec.estimated_peak_bytes for job in self._jobs]),
            (say("Measured peak"), [measured_bytes(job) for job in self._jobs]),
        ):
            if any(sizes):
                rows.append((label, *map(size, sizes)))
        return rows

    def rich(self, say: Speech) -> RenderableType:
        """The table, and the code's differences in their usual colours."""
        from rich.console import Group
        from rich.text import Text

        parts: list[RenderableType] = [super().rich(say)]
        for title, lines in self._code(say):
            parts += [Text(title, style="bold"), *(Text(line, style=STYLES.get(line[:1], "")) for line in lines)]
        return Group(*parts)

    def html(self, say: Speech) -> str:
        """The same for a cell."""
        code = (f"<p><strong>{escape(t)}</strong></p><pre>{escape(chr(10).join(x))}</pre>" for t, x in self._code(say))
        return super().html(say) + "".join(code)

    def _code(self, say: Speech) -> Iterator[tuple[str, list[str]]]:
        if not self.data.code:
            yield say("The code is the same."), []
        for cell in self.data.code:
            yield _title(say, cell), cell.difference.split("\n")


def _differing(say: Speech, one: Difference) -> Sequence[str]:
    name = one.name or say(_ROLES.get(one.role) or _KINDS.get(one.kind, one.kind))
    values = ["–" if value is None or value == "" else str(value) for value in (one.before, one.after)]
    return name, *(where(say, value) if one.kind == "engine" else value for value in values)


def _title(say: Speech, cell: CellDifference) -> str:
    if cell.after is None:
        return say("Cell {cell} was taken out", cell=(cell.before or 0) + 1)
    if cell.before is None:
        return say("Cell {cell} is new", cell=cell.after + 1)
    return say("Cell {cell}", cell=cell.after + 1)
