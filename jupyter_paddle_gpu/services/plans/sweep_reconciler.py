"""Looks after sweeps: submits the trials whose turn it is. Each look begins at what store and jobs say."""

from __future__ import annotations

import logging
from collections.abc import Mapping

import msgspec

from ...domain.errors import PaddleGpuError
from ...domain.jobs.job import ENDED, Job
from ...domain.jobs.notices import Notice
from ...domain.plans.sweeps import Sweep, Trial, is_over, report, token
from .checking import of_trial
from .searching import suggested
from .sweeping import Sweeps, planned
from .tools import Tools
from .wanted import unkept

_logger = logging.getLogger(__name__)
_change = msgspec.structs.replace
PASSING = 500
"""From this status on a refusal is a fault that passes: the trial stays planned."""


class SweepReconciler:
    """One look after another; killed between any two lines, the next look goes on as if nothing had been.

    What makes a trial run once is its token: the store takes one job for it, whoever comes how often.
    """

    def __init__(self, tools: Tools, sweeps: Sweeps) -> None:
        self._tools, self._sweeps = tools, sweeps

    def pending(self) -> bool:
        """Whether a sweep is not over."""
        return bool(self._sweeps.store.all(open_only=True))

    def look(self) -> None:
        """Go through all that are open, the oldest first."""
        for sweep in reversed(self._sweeps.store.all(open_only=True)):
            try:
                self._look_after(sweep)
            except PaddleGpuError as error:  # noqa: PERF203  # one's trouble is no other's
                _logger.warning("sweep %s: %s", sweep.id, error)

    def _look_after(self, sweep: Sweep) -> None:
        made = self._sweeps.by_token(sweep)
        sweep = self._written_down(sweep, made)
        jobs = self._tools.jobs()
        # A trial that was submitted in the moment in which its sweep was cancelled.
        for trial in sweep.trials:
            job = made.get(token(sweep.id, trial))
            if trial.closed == "cancelled" and job is not None and job.state not in ENDED:
                jobs.cancel(job.id)
        current = {token(sweep.id, trial) for trial in sweep.trials}
        going = sum(job.state not in ENDED for key, job in made.items() if key in current)
        waiting = planned(sweep, made)
        while going < sweep.at_once:
            if not waiting and (asked := self._asked(sweep)) is not None:
                sweep = asked
                waiting = [sweep.trials[-1]]
            if not waiting:
                break
            going += self._submit(sweep, waiting.pop(0))
        self._close(sweep.id)

    def _written_down(self, sweep: Sweep, made: Mapping[str, Job]) -> Sweep:
        """With the jobs of trials whose submitter died before it could write them down."""

        def named(trial: Trial) -> Trial:
            job = made.get(token(sweep.id, trial))
            return _change(trial, job_id=job.id) if job is not None and not trial.job_id else trial

        return self._sweeps.store.change(sweep.id, lambda row: _change(row, trials=tuple(map(named, row.trials))))

    def _asked(self, sweep: Sweep) -> Sweep | None:
        """With one trial more, of a search that decides as it goes; None where there is none to come. It stands in the
        row before it is submitted: after a crash the same values are run, and no others besides."""
        if sweep.search != "optuna" or sweep.stopped or len(sweep.trials) >= sweep.wanted:
            return None
        now = self._sweeps.store.get(sweep.id)
        values = suggested(now, report(now, self._sweeps.jobs_of(now)))
        trial = Trial(number=len(now.trials) + 1, values=values)

        def make(row: Sweep) -> Sweep:
            if row.stopped or len(row.trials) != len(now.trials):
                return row
            return _change(row, trials=(*row.trials, trial))

        row = self._sweeps.store.change(sweep.id, make)
        return row if row.trials and row.trials[-1] == trial else None

    def _submit(self, sweep: Sweep, trial: Trial) -> bool:
        """Make its job; False where it is refused."""
        base = unkept(sweep.submission)
        wanted = _change(
            of_trial(base, sweep.dimensions, trial.values),
            name=sweep.name,
            token=token(sweep.id, trial),
            plan=sweep.id,
            trial=trial.number,
        )
        try:
            job = self._tools.submit(self._sweeps.source(sweep), wanted)
        except PaddleGpuError as error:
            if error.status >= PASSING:
                raise
            refusal = error.message

            def refuse(one: Trial) -> Trial:
                mine = one.number == trial.number and one.attempt == trial.attempt and not one.closed
                return _change(one, closed="refused", why=refusal) if mine else one

            self._sweeps.store.change(sweep.id, lambda row: _change(row, trials=tuple(map(refuse, row.trials))))
            return False
        row = self._written_down(self._sweeps.store.get(sweep.id), {job.spec.token: job})
        if any(one.closed == "cancelled" and one.job_id == job.id for one in row.trials):
            self._tools.jobs().cancel(job.id)
        return True

    def _close(self, sweep_id: str) -> None:
        """Say of a sweep that is over that it is."""
        now = self._tools.clock()
        sweep = self._sweeps.store.get(sweep_id)
        jobs = self._sweeps.jobs_of(sweep)
        if is_over(sweep, jobs):
            self._tell(sweep, jobs)

        def make(row: Sweep) -> Sweep:
            return _change(row, open=False, ended=now) if is_over(row, jobs) else row

        self._sweeps.store.change(sweep_id, make)

    def _tell(self, sweep: Sweep, jobs: Mapping[str, Job]) -> None:
        """Have its end told, by the row of the trial that ended last, like any job's: once, whoever dies meanwhile.

        After a death before the sweep was closed the next look finds them there and adds none; one that is run once
        more has another last trial. A sweep without any job tells nobody.
        """
        wanted = unkept(sweep.submission).notify
        names = self._tools.notices().usual if wanted is None else wanted
        if not names or not jobs:
            return
        last = max(jobs.values(), key=lambda job: (job.ended or 0.0, job.id))
        due = tuple(Notice(receiver=name) for name in dict.fromkeys(names))
        self._tools.jobs().store.change(last.id, lambda job: job if job.notices else _change(job, notices=due))
