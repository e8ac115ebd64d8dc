"""Runs what is scheduled. Each look begins at what the store says and what the clock shows."""

from __future__ import annotations

import logging

import msgspec

from ...domain.errors import PaddleGpuError
from ...domain.plans.schedules import Firing, Schedule, token
from ..jobs.submitting import Settled
from ..requests import Submission
from .dates import next_dates, passed
from .freeing import waits_for_device
from .pricing import cheap
from .scheduling import Schedules
from .sweep_reconciler import PASSING
from .tools import Tools

_logger = logging.getLogger(__name__)
_change = msgspec.structs.replace
LATE_SECONDS = 60.0
"""From so long after a date on, it counts as missed: nothing looked after it then."""
LOOK_SECONDS = 5.0
"""Between two looks at devices that somebody waits for; also until what failed is tried again."""
MOST_FIRINGS = 20


class ScheduleTender:
    """One look after another; killed between any two lines, the next look goes on as if nothing had been."""

    def __init__(self, tools: Tools, schedules: Schedules) -> None:
        self._tools, self._schedules = tools, schedules

    def pending(self) -> bool:
        """Whether something may run yet."""
        return bool(self._schedules.store.all(open_only=True))

    def look(self) -> float | None:
        """Run what is due; answers the moment at which to look again, None where nothing is scheduled."""
        self._schedules.purge()
        now = self._tools.clock()
        for schedule in reversed(self._schedules.store.all(open_only=True)):
            try:
                self._look_at(schedule, now)
            except PaddleGpuError as error:  # noqa: PERF203  # one's trouble is no other's
                _logger.warning("schedule %s: %s", schedule.id, error)
        left = self._schedules.store.all(open_only=True)
        # What is due still could not be run: it is tried again.
        moments = [one.next if one.next is not None and one.next > now else now + LOOK_SECONDS for one in left]
        return min(moments, default=None)

    def _look_at(self, schedule: Schedule, now: float) -> None:
        submission = self._schedules.submission_of(schedule)
        if schedule.next is not None:
            if schedule.next <= now:
                self._fire(schedule, submission, schedule.next, now)
        elif schedule.trigger == "free":
            # The queue keeps a place for its device, and says about when it starts; it starts what needs nobody knows
            # how much beside others, who are to be gone here.
            others = waits_for_device(self._tools.inventory(), schedule.device) is not None
            if not others or self._settled(schedule, submission).spec.need is not None:
                self._fire(schedule, submission, schedule.created, now)
        elif schedule.trigger == "cost":
            for device in cheap(self._tools.inventory(), self._tools.policy(), schedule.below or 0.0):
                there = self._schedules.submission_of(schedule, device.id)
                if self._settled(schedule, there).decision.outcome == "run":
                    self._fire(schedule, there, schedule.created, now)
                    return

    def _settled(self, schedule: Schedule, submission: Submission) -> Settled:
        """What its job would come to now, as every face would say it."""
        return self._tools.settle(self._schedules.read(schedule), submission, False)

    def _fire(self, schedule: Schedule, submission: Submission, due: float, now: float) -> None:
        """Submit the job of the newest date that has passed. Its token makes that one job, whoever comes how often
        before the row says so; one of an earlier date that a killed process made is written down as well."""
        dates = passed(schedule.cron, schedule.zone, due, now) if schedule.trigger == "cron" else [due]
        made = {job.spec.token: job.id for job in self._tools.jobs().store.with_token(f"{schedule.id}/")}
        ran = [
            Firing(due=date, fired=date, job_id=made[key])
            for date in dates
            if (key := token(schedule.id, date)) in made
        ]
        job_id, why = made.get(token(schedule.id, dates[-1]), ""), None
        if not job_id:
            try:
                source = self._schedules.read(schedule)
                job_id = self._tools.submit(source, _change(submission, token=token(schedule.id, dates[-1]))).id
            except PaddleGpuError as error:
                if error.status >= PASSING:
                    raise
                why = error.message
                _logger.warning("schedule %s was not run: %s", schedule.id, why.render())
            late = [date for date in dates if schedule.next is not None and now - date > LATE_SECONDS]
            missed = sum(token(schedule.id, date) not in made for date in late)
            ran.append(Firing(due=dates[-1], fired=now, job_id=job_id, why=why, missed=missed))

        def make(one: Schedule) -> Schedule:
            if one.next != schedule.next or (one.firings and one.firings[-1].due >= due):
                return one  # somebody else was quicker
            repeated = one.trigger == "cron"
            return _change(
                one,
                firings=(*one.firings, *ran)[-MOST_FIRINGS:],
                runs=one.runs + sum(bool(firing.job_id) for firing in ran),
                next=next_dates(one.cron, one.zone, now, 1)[0] if repeated else None,
                state=one.state if repeated or one.state != "active" else "done",
            )

        self._schedules.store.change(schedule.id, make)
