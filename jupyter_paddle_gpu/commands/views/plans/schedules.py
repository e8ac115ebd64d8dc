"""Schedules for people: a list of them, and one with its next dates."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from ....domain.messages import Message
from ....domain.plans.schedules import ScheduleReport
from ...speech import Speech, moment
from ..machine import TableView

_STATES = {"active": "scheduled", "paused": "paused", "done": "done", "deleted": "deleted"}
_SOURCES = {"disk": "as it is on the disk then", "saved": "as it was when this was made"}


_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def date(say: Speech, report: ScheduleReport, when: float) -> str:
    """A date in the schedule's own time zone, which is named where it is not this machine's."""
    there = datetime.fromtimestamp(when, ZoneInfo(report.zone)) if report.zone else datetime.fromtimestamp(when)
    here = datetime.fromtimestamp(when).astimezone()
    text = f"{say(_DAYS[there.weekday()])} {there.strftime('%Y-%m-%d %H:%M')}"
    return text if there.utcoffset() in (None, here.utcoffset()) else f"{text} {there.strftime('%Z')}"


class SchedulesView(TableView):
    """A list of schedules."""

    optional = (1,)
    folding = (2,)

    def __init__(self, schedules: Sequence[ScheduleReport]) -> None:
        self.schedules = schedules
        self.data: Any = {"schedules": list(schedules)}

    def lead(self, say: Speech) -> str:
        """Said where there is nothing to list."""
        if self.schedules:
            return ""
        return f"{say('Nothing is scheduled.')}\n{say('`jupyter paddle-gpu submit train.ipynb --at 22:00` does that.')}"

    def head(self, say: Speech) -> Sequence[str]:
        """Headings."""
        return say("Schedule"), say("Name"), say("When"), say("State"), say("Next"), say("Runs")

    def rows(self, say: Speech) -> list[Sequence[str]]:
        """One row a schedule."""
        return [
            (
                one.id,
                one.name,
                one.when.render(say.translate).replace("`", ""),
                say(_STATES[one.state]),
                date(say, one, one.dates[0]) if one.dates else "–",
                str(one.runs),
            )
            for one in self.schedules
        ]

    def sentences(self, say: Speech) -> Sequence[Message]:
        """What was missed or refused."""
        return [one.note for one in self.schedules if one.note is not None][:3]


class ScheduleView(TableView):
    """One schedule."""

    def __init__(self, report: ScheduleReport) -> None:
        self.data: ScheduleReport = report

    def head(self, say: Speech) -> Sequence[str]:
        """The first row is the heading: a schedule is a list of properties."""
        return say("Schedule"), self.data.id

    def rows(self, say: Speech) -> list[Sequence[str]]:
        """One row a property that is known."""
        one = self.data
        rows: list[Sequence[str]] = [
            (say("Notebook"), one.notebook),
            (say("Runs it"), say(_SOURCES[one.source])),
            (say("When"), one.when.render(say.translate).replace("`", "")),
            (say("State"), say(_STATES[one.state])),
        ]
        rows += [(say("Next") if number == 0 else "", date(say, one, when)) for number, when in enumerate(one.dates)]
        if one.last is not None:
            rows.append((say("Last run"), f"{moment(one.last.fired)} {one.last.job_id}".strip()))
        return rows

    def sentences(self, say: Speech) -> Sequence[Message]:
        """What was missed or refused."""
        return (self.data.note,) if self.data.note is not None else ()
