"""Times of jobs on a machine whose clock may be set: hours forward or back, while a job runs or between two servers."""

from __future__ import annotations

import time

JUMP_SECONDS = 60.0
"""Two clocks of one run that differ by more than this: the wall clock was set meanwhile (slower drift is none)."""


class RunTimes:
    """How long jobs have run, on clocks that do not jump."""

    def __init__(self) -> None:
        self._seen: dict[str, float] = {}

    def seconds(self, job_id: str, told: float | None) -> float:
        """Seconds: what the engine tells (`Observation.seconds`), else since this process saw the job run first.

        Never the wall clock's difference to the row's start: a clock that was set would end a job hours too early. The
        other way round a job that nobody can tell the age of gets its time anew from each server that comes up.
        """
        now = time.monotonic()
        seen = now - self._seen.setdefault(job_id, now)
        return seen if told is None else told

    def forget(self, job_id: str) -> None:
        """It has ended."""
        self._seen.pop(job_id, None)


def span(started: float | None, ended: float, ran: float | None) -> tuple[float | None, float]:
    """Start and end of a row (seconds since the epoch) that agree with `ran`, the seconds the runner measured.

    Where they do not, the clock was set in between. The later reading is kept: clocks are set to be right.
    """
    if started is None:
        return started, ended
    if ran is not None and abs(ended - started - ran) > JUMP_SECONDS:
        return ended - ran, ended
    return min(started, ended), ended
