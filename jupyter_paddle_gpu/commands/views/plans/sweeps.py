"""Sweeps for people: a list of them, one with its trials, what one would be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ....domain.jobs.state_words import PROGRAM_FAILED
from ....domain.messages import Message
from ....domain.plans.space import told
from ....domain.plans.sweeps import SweepReport, TrialRow
from ...speech import Speech, duration, moment, number, size
from ..machine import TableView
from ..states import FOLLOW_STATUS, TRIAL_STATES

if TYPE_CHECKING:
    from ....services.plans.wanted import SweepCheck

_OUTCOMES = {"run": "starts now", "wait": "has to wait", "cpu": "runs on the CPU", "refuse": "fits nothing"}
_WITH_REASONS = ("refused", "failed", "succeeded")
"""States of trials of which it is said why; of those that succeeded there is a reason where a program has failed."""
STATUS = {**FOLLOW_STATUS, "running": 0}


def trial_state(say: Speech, row: TrialRow) -> str:
    """The state in words."""
    return say(PROGRAM_FAILED if row.state == "succeeded" and row.why is not None else TRIAL_STATES[row.state])


def progress(say: Speech, report: SweepReport) -> str:
    """`7 of 12 trials · 2 running · 1 failed`."""
    counts = report.counts
    done = sum(counts.get(state, 0) for state in ("succeeded", "failed", "cancelled", "refused", "deleted"))
    total = sum(counts.values())
    parts = [say.n("{done} of {total} trial", "{done} of {total} trials", total, done=done, total=total)]
    shown = [state for state in ("running", "failed", "refused") if counts.get(state)]
    parts += [f"{counts[state]} {say(TRIAL_STATES[state])}" for state in shown]
    return " · ".join(parts)


def best(say: Speech, report: SweepReport) -> str:
    """The best trial in words; a dash while there is none."""
    row = next((row for row in report.trials if row.number == report.best), None)
    return "–" if row is None else f"{told(row.values)} · {report.metric} {number(row.value)}"


class SweepsView(TableView):
    """A list of sweeps."""

    optional = (4,)
    folding = (1, 3)

    def __init__(self, sweeps: Sequence[SweepReport]) -> None:
        self.sweeps = sweeps
        self.data: Any = {"sweeps": list(sweeps)}

    def lead(self, say: Speech) -> str:
        """Said where there is nothing to list."""
        if self.sweeps:
            return ""
        begin = say("`jupyter paddle-gpu sweep train.ipynb --set learning_rate=0.1,0.01` begins one.")
        return f"{say('There are no sweeps yet.')}\n{begin}"

    def head(self, say: Speech) -> Sequence[str]:
        """Headings."""
        return say("Sweep"), say("Name"), say("State"), say("Best"), say("Begun")

    def rows(self, say: Speech) -> list[Sequence[str]]:
        """One row a sweep."""
        return [(one.id, one.name, progress(say, one), best(say, one), moment(one.created)) for one in self.sweeps]


class SweepView(TableView):
    """One sweep with its trials."""

    optional = (5, 4)

    def __init__(self, report: SweepReport, *, status: bool = False) -> None:
        self.data: SweepReport = report
        self.status = STATUS[report.state] if status else 0

    def lead(self, say: Speech) -> str:
        """What it is, how far, and its best."""
        lines = [f"{self.data.id} · {self.data.name} · {progress(say, self.data)}"]
        if self.data.best is not None:
            lines.append(say("Best: {best}", best=best(say, self.data)))
        return "\n".join(lines)

    def head(self, say: Speech) -> Sequence[str]:
        """Headings."""
        names = [one.name for one in self.data.dimensions]
        return ("", *names, self.data.metric or "–", say("State"), say("Time"), say("Estimated peak"), say("Job"))

    @property
    def folding(self) -> Sequence[int]:  # type: ignore[override]
        """The state may say why."""
        return (len(self.data.dimensions) + 2,)

    def rows(self, say: Speech) -> list[Sequence[str]]:
        """One row a trial, the best one marked."""
        rows: list[Sequence[str]] = []
        for row in self.data.trials:
            mark = f"{row.number}{'*' if row.number == self.data.best else ''}"
            values = [told({"": row.values[one.name]}).strip() for one in self.data.dimensions]
            rows.append(
                (
                    mark,
                    *values,
                    number(row.value),
                    trial_state(say, row),
                    duration(row.seconds),
                    size(row.placed),
                    row.job_id,
                )
            )
        return rows

    def sentences(self, say: Speech) -> Sequence[Message]:
        """Why trials did not run, or not as they were to, each reason once."""
        reasons = [row.why for row in self.data.trials if row.why is not None and row.state in _WITH_REASONS]
        return list({reason.render(): reason for reason in reasons}.values())[:3]


class CheckView(TableView):
    """What a sweep would be."""

    def __init__(self, check: SweepCheck) -> None:
        self.data: SweepCheck = check
        self.status = 1 if check.refused else 0

    def lead(self, say: Speech) -> str:
        """How many, how many at once."""
        wanted = self.data.wanted
        return say.n(
            "{count} trial, {at_once} at once",
            "{count} trials, {at_once} at once",
            wanted,
            count=wanted,
            at_once=self.data.at_once,
        )

    def head(self, say: Speech) -> Sequence[str]:
        """Headings."""
        names = [one.name for one in self.data.dimensions]
        return ("", *names, say("Estimated peak"), say("Where it goes"))

    def rows(self, say: Speech) -> list[Sequence[str]]:
        """One row a trial."""
        return [
            (
                str(one.number),
                *(told({"": one.values[dimension.name]}).strip() for dimension in self.data.dimensions),
                size(one.placed),
                say(_OUTCOMES[one.outcome]),
            )
            for one in self.data.trials
        ]

    def sentences(self, say: Speech) -> Sequence[Message]:
        """Why trials fit nothing, each reason once."""
        reasons = [one.why for one in self.data.trials if one.why is not None]
        return list({reason.render(): reason for reason in reasons}.values())[:3]
