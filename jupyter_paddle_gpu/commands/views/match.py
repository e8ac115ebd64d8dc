"""The table of a match for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...domain.messages import Message
from ...domain.placements import DeviceScore
from ..speech import Speech, together
from .machine import TableView, marked

if TYPE_CHECKING:
    from ...services.jobs.explaining import JobExplained


_SCORES = Message(code="score_read", text="A score is the mean of the aims, 0 to 1, by the policy's weights.")
_STEPS = Message(
    code="step_read",
    text="A step takes at least what stands behind ≥ (roofline), about what stands behind ~ (measured or learned). As "
    "things are now.",
)


class MatchView(TableView):
    """Every device: chosen, possible with its score, or ruled out by what."""

    optional = (6, 4)
    folding = (7,)

    def __init__(self, explained: JobExplained) -> None:
        self.data: JobExplained = explained

    def lead(self, say: Speech) -> str:
        """The decision, and what to do next where something is."""
        reason = self.data.reason
        return together(reason.render(say.translate), reason.render_hint(say.translate))

    def head(self, say: Speech) -> Sequence[str]:
        """Headings."""
        return "", "#", say("Device"), say("Score"), say("Step"), say("Whole run"), say("Price"), say("Why")

    def rows(self, say: Speech) -> list[Sequence[str]]:
        """One row a device."""
        marks = {"chosen": "✓", "possible": "", "ruled_out": "✗"}
        return [
            (
                marks[row.state],
                row.device_title or "–",
                marked(say, row.device_name, checked=row.checked),
                "–" if row.score is None else f"{row.score:.2f}",
                _step(row),
                _run(say, row),
                "–" if row.price is None else f"{row.price:g}",
                _why(say, row),
            )
            for row in self.data.devices
        ]

    def sentences(self, say: Speech) -> Sequence[Message]:
        """How to read it, where there is anything to read."""
        if not self.data.devices:
            return self.data.notes
        scored = any(row.score is not None for row in self.data.devices)
        return (*([_SCORES] if scored else []), _STEPS, *self.data.notes)


def _step(row: DeviceScore) -> str:
    if row.seconds_per_step is None:
        return "–"
    mark = "≥" if row.seconds_from == "roofline" else "~"
    return f"{mark} {row.seconds_per_step:.2g} s"


def _run(say: Speech, row: DeviceScore) -> str:
    """Time and cost of the whole run."""
    if row.run_seconds is None:
        return "–"
    mark = "≥" if row.seconds_from == "roofline" else "~"
    time = f"{mark} {_duration(say, row.run_seconds)}"
    return time if row.run_cost is None else f"{time}, {row.run_cost:.2g} {row.currency}"


def _duration(say: Speech, seconds: float) -> str:
    if seconds >= 5400:
        return say("{count} h", count=f"{seconds / 3600:.1f}")
    if seconds >= 90:
        return say("{count} min", count=f"{seconds / 60:.0f}")
    return say("{count} s", count=f"{seconds:.2g}")


def _why(say: Speech, row: DeviceScore) -> str:
    if row.ruled_out is not None:
        return row.ruled_out.render(say.translate)
    names = {
        "cost": say("cost"),
        "time": say("time"),
        "balance": say("free memory"),
        "packing": say("little memory left"),
        "preference": say("preference"),
        "home_grown": say("home-grown"),
    }
    return ", ".join(f"{names[aim.name]} {aim.value:.2f}" if aim.known else f"{names[aim.name]} ?" for aim in row.aims)
