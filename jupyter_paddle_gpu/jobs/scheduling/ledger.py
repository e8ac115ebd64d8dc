"""What a store's jobs have used of devices: device-seconds, of which half counts after a day.

It goes by the machine's clock since its boot, which nobody can set. By the wall clock a machine whose time is set a day
ahead while a queue's process is away would charge a day to whoever had a job then, and put him behind everybody else.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable
from typing import NamedTuple

from ...claims.boards import MOST_RUNNING, Board
from ...claims.processes import boot_id
from ...domain.jobs.job import Job
from . import admission

DAY = 86400.0
"""Half of what was used counts after so long."""
LONGEST = 7 * DAY
"""What was used while nobody looked is counted for so long at most."""


class Now(NamedTuple):
    """One moment: seconds since the epoch, and of which boot it is, with seconds that only grow while it lasts."""

    time: float
    boot: str
    clock: float


def now() -> Now:
    """This moment. The monotonic clock is the whole machine's, one for all processes (`clock_gettime(2)`)."""
    return Now(time.time(), boot_id(), time.monotonic())


def faded(seconds: float) -> float:
    """What counts after so long of what was used."""
    return float(0.5 ** (max(0.0, seconds) / DAY))


def since_told(board: Board, at: Now) -> float:
    """Seconds since a board was written. Only after another boot the wall clock has to say it."""
    same = board.process is not None and board.process.boot == at.boot and board.clock is not None
    return max(0.0, at.clock - board.clock if same and board.clock is not None else at.time - board.at)


def used_in(span: float, at: Now, jobs: Iterable[Job], running: Collection[str] | None = None) -> float:
    """Device-seconds that jobs used in the last `span` seconds, never more than their devices could give in it.

    Args:
        running: ids of those that were running at its begin; whoever says that he began before and is none of them did
            not run in it. None: not known, their own times alone say it.
    """
    span = min(span, LONGEST)
    begin, used = at.time - span, 0.0
    for job in {job.id: job for job in jobs}.values():
        if job.started is None or not job.device_ids:
            continue
        if running is not None and job.id not in running and job.started < begin:
            continue
        first = begin if running is not None and job.id in running else max(begin, job.started)
        last = at.time if job.ended is None else min(at.time, job.ended)
        if last > first:
            used += admission.weight(job) * (last - first) * faded(at.time - (first + last) / 2)
    return used


class Ledger:
    """The account of one store, kept by whoever looks after its queue."""

    def __init__(self) -> None:
        self.used: float | None = None
        self._clock = 0.0
        self._had = 0.0

    def open(self, before: Board, at: Now, active: Iterable[Job], past: Iterable[Job]) -> None:
        """Go on where a process before this one ended.

        Args:
            before: what it told last.
            active: jobs that run; `past`: those that ended lately.
        """
        span, known = since_told(before, at), tuple(active)
        running = {one.job for one in before.running} if before.at and len(before.running) < MOST_RUNNING else None
        self.used = before.usage * faded(span) + used_in(span, at, (*known, *past), running)
        self._note(known, at)

    def count(self, active: Iterable[Job], at: Now) -> None:
        """Add what the jobs used that ran since it was asked last; `active`: those that run from now on."""
        passed = max(0.0, at.clock - self._clock)
        self.used = (self.used or 0.0) * faded(passed) + self._had * passed
        self._note(active, at)

    def _note(self, active: Iterable[Job], at: Now) -> None:
        self._clock = at.clock
        self._had = sum(admission.weight(job) for job in active if job.started is not None and job.device_ids)
