"""What was learned, for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...domain.messages import Message
from ..speech import Speech
from .machine import Find, TableView, card_name

if TYPE_CHECKING:
    from ...domain.learned import LearnedReport


class LearnedView(TableView):
    """Each part of the model: by how much it makes a step longer than the data sheet says."""

    folding = (0,)

    def __init__(self, report: LearnedReport, find: Find) -> None:
        self.data: LearnedReport = report
        self._find = find

    def lead(self, say: Speech) -> str:
        """Who decides, and why."""
        return self.data.proof.reason.render(say.translate)

    def head(self, say: Speech) -> Sequence[str]:
        """Headings."""
        return say("Part"), say("Times the data sheet"), say("Jobs")

    def rows(self, say: Speech) -> list[Sequence[str]]:
        """One row a part."""
        names = {
            "everywhere": say("every step"),
            "memory_bound": say("steps that wait for memory"),
            "small_operations": say("steps of many small operations"),
            "low_precision": say("mixed precision"),
            "other_arithmetic": say("arithmetic other than products"),
        }
        return [
            (
                names.get(effect.name) or card_name(say, effect.name, self._find),
                say("{factor} ({low} to {high})", **_factors(effect.factor, effect.low, effect.high)),
                str(effect.jobs),
            )
            for effect in self.data.effects
        ]

    def sentences(self, say: Speech) -> Sequence[Message]:
        """How much there is, and how to let it decide."""
        kept = Message(
            code="learned_kept",
            text="{kept} jobs are kept in {file}, {measured} of them teach how long a step takes.",
            singular="{kept} job is kept in {file}, {measured} such jobs teach how long a step takes.",
            counted="kept",
            params={"kept": self.data.kept, "file": self.data.file, "measured": self.data.measured},
        )
        if self.data.asked or not self.data.proof.proven:
            return (kept,)
        offer = Message(
            code="learned_offer",
            text="The rules decide here.",
            hint="`algorithm: learned` under `scheduler` in paddle-gpu.yaml lets what was learned choose devices.",
        )
        return (kept, offer)


class ReplayView(TableView):
    """The jobs, the oldest first."""

    optional = (5,)
    folding = (1,)

    def __init__(self, report: LearnedReport, find: Find) -> None:
        self.data: LearnedReport = report
        self._find = find

    def lead(self, say: Speech) -> str:
        """Who decides, and why."""
        return self.data.proof.reason.render(say.translate)

    def head(self, say: Speech) -> Sequence[str]:
        """Headings."""
        return say("Job"), say("Ran on"), say("Step"), say("Foretold"), say("Rules"), say("Learned")

    def rows(self, say: Speech) -> list[Sequence[str]]:
        """One row a job."""
        return [
            (
                row.job,
                card_name(say, row.card, self._find),
                f"{row.measured:.2g} s",
                say("{likely} s ({low} to {high})", **_seconds(row.expected, row.low, row.high)),
                say("{likely} s, {card}", likely=f"{row.roofline:.2g}", card=card_name(say, row.rules, self._find)),
                card_name(say, row.learned, self._find),
            )
            for row in self.data.replayed
        ]


def _factors(factor: float, low: float, high: float) -> dict[str, str]:
    return {"factor": f"{factor:.2f}", "low": f"{low:.2f}", "high": f"{high:.2f}"}


def _seconds(likely: float, low: float, high: float) -> dict[str, str]:
    return {"likely": f"{likely:.2g}", "low": f"{low:.2g}", "high": f"{high:.2g}"}
