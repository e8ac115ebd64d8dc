"""What a job would contribute to the public collection, for people: each fact, then the very line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ...domain.messages import Message
from ...domain.sizes import human
from ..speech import Speech
from .machine import TableView

if TYPE_CHECKING:
    from ...domain.measurements.gpu_logs import Figure, Foretold, GpuLog


class ContributionView(TableView):
    """A fact a row; below the line as it was or would be written."""

    def __init__(self, log: GpuLog, written: Path | None = None, *, asks: bool = False) -> None:
        """`asks`: whether a question comes below it, what to do with the line."""
        self.data: GpuLog = log
        self._written, self._asks = written, asks

    def head(self, say: Speech) -> Sequence[str]:
        """Headings."""
        return say("Fact"), say("Value")

    def rows(self, say: Speech) -> list[Sequence[str]]:
        """What is known; what is not is left out of the line, too."""
        log = self.data
        ahead = log.foretold
        facts: tuple[tuple[str, object], ...] = (
            (say("Trained"), log.kind),
            (say("Trainer"), log.trainer),
            (say("Day"), log.date),
            (say("Card"), log.card),
            ("Paddle", log.paddle),
            ("CUDA", log.cuda),
            (say("Batch on a card"), log.batch),
            (say("Size of an input"), " x ".join(map(str, log.size))),
            (say("Precision"), log.precision),
            (say("Cards"), log.cards),
            (say("Allocated by Paddle, at most"), _size(log.allocated)),
            (say("Reserved by Paddle, at most"), _size(log.reserved)),
            (say("Counted by the driver, at most"), _size(log.device)),
            (say("Allocated when memory was full"), _size(log.exhausted)),
            (say("Estimated allocation"), human(ahead.allocated) if ahead and ahead.allocated else ""),
            (say("Estimated for the driver"), _range(ahead)),
        )
        return [(name, str(value)) for name, value in facts if value]

    def sentences(self, say: Speech) -> Sequence[Message]:
        """The line, and what may be done with it."""
        line = Message(code="contribution_line", text="The line: {line}", params={"line": self.data.line})
        if self._asks:
            return (line,)
        if self._written is not None:
            text, file = "This line was added to {file}.", str(self._written)
            return line, Message(code="contribution_written", text=text, params={"file": file})
        return line, Message(
            code="contribution_shown",
            text="This line was written nowhere and sent to nobody.",
            hint="`--write FILE` adds it to a file that you can send us, with an issue.",
        )


def _range(ahead: Foretold | None) -> str:
    return f"{human(ahead.low)} – {human(ahead.high)}" if ahead and ahead.low and ahead.high else ""


def _size(figure: Figure | None) -> str:
    return human(figure.high) if figure else ""
