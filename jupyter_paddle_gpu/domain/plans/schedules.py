"""A schedule: a notebook that runs later, when something comes true, or again and again."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from ..messages import Message

Trigger = Literal["at", "free", "cost", "cron"]
Source = Literal["disk", "saved"]
ScheduleState = Literal["active", "paused", "done", "deleted"]


class Firing(msgspec.Struct, frozen=True, kw_only=True):
    """One time that it came true.

    Attributes:
        due: when it was to run, seconds since the epoch.
        fired: when it was looked at.
        job_id: the run; empty: it was refused, `why` says for what.
        missed: how many dates had passed by then, of which one was run; 0: it was in time.
    """

    due: float
    fired: float
    job_id: str = ""
    why: Message | None = None
    missed: int = 0


class Schedule(msgspec.Struct, frozen=True, kw_only=True):
    """A row of the store.

    Attributes:
        notebook: absolute path of the source.
        source: what a run takes: the notebook as it is on the disk then, or as it was when this was made.
        submission: what every run is submitted with (`services.requests.Submission` as JSON).
        trigger: `at` a time; when a device is `free`; when an hour of a device that is free `cost`s less than `below`;
            by `cron` expression.
        cron, zone: five fields, in the time zone of this IANA name.
        next: when it runs next (seconds since the epoch), for `at` and `cron`; None: not known or never.
        device: id of the device that is waited for.
        firings: the newest last, a bounded number.
        runs: how often it ran.
        removed: when it was deleted; it can be restored for a while.
    """

    id: str
    name: str
    notebook: str
    created: float
    trigger: Trigger
    source: Source = "disk"
    submission: dict[str, Any] = {}
    arguments: tuple[str, ...] = ()
    cron: str = ""
    zone: str = ""
    next: float | None = None
    device: str = ""
    below: float | None = None
    state: ScheduleState = "active"
    before: ScheduleState = "active"
    firings: tuple[Firing, ...] = ()
    runs: int = 0
    removed: float | None = None
    owner: str = ""

    @property
    def open(self) -> bool:
        """Whether it may run yet."""
        return self.state == "active"


class ScheduleReport(msgspec.Struct, frozen=True, kw_only=True):
    """A schedule as it is now, the same for every face.

    Attributes:
        when: in words, in the reader's language.
        dates: when it runs next, seconds since the epoch, as far as that is known.
        note: what is to be known of the last firing: that dates were missed, or why it did not run.
    """

    id: str
    name: str
    notebook: str
    created: float
    trigger: Trigger
    state: ScheduleState
    source: Source
    when: Message
    cron: str = ""
    zone: str = ""
    device: str = ""
    below: float | None = None
    dates: tuple[float, ...] = ()
    last: Firing | None = None
    note: Message | None = None
    runs: int = 0
    owner: str = ""


def token(schedule_id: str, due: float) -> str:
    """By which the run of a date is found again: the store takes one job for each."""
    return f"{schedule_id}/{due:.3f}"


def note_of(firing: Firing | None) -> Message | None:
    """What is to be said of a firing, where it was not as planned."""
    if firing is None:
        return None
    if firing.why is not None:
        return Message(
            code="schedule_refused", text="The last run was not submitted: {why}", params={"why": firing.why}
        )
    if firing.missed == 1:
        return Message(
            code="schedule_missed",
            text="Its time passed while the machine was off, asleep, or nothing looked after it; it ran after that.",
        )
    if firing.missed:
        return Message(
            code="schedule_missed",
            text="{count} dates passed while the machine was off, asleep, or nothing looked after it; it ran once.",
            params={"count": firing.missed},
        )
    return None
