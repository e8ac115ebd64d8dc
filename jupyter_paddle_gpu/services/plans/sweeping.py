"""Sweeps: what they would be, making one, changing one, and how each is."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ...domain.errors import PaddleGpuError
from ...domain.jobs.job import ENDED, Job, WantedResources
from ...domain.jobs.metrics import Direction
from ...domain.notebooks import NotebookSource
from ...domain.plans.sweeps import Sweep, SweepReport, Trial, report, token
from ...jobs import names
from ...runner import files
from ..jobs.reruns import source_of, submission_of
from ..requests import Rerun
from .checking import checked, prepared, refusals
from .searching import check_installed
from .tools import Tools
from .wanted import Prepared, SweepCheck, SweepRequest, kept

if TYPE_CHECKING:
    from ...jobs.plans.plan_store import PlanStore

MOST_AT_ONCE = 64
_change = msgspec.structs.replace


class Sweeps:
    """The sweeps of one user. Thread-safe; what it answers is read from the store each time."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    @property
    def store(self) -> PlanStore[Sweep]:
        """Their rows."""
        return self._tools.jobs().plans("sweep", Sweep)

    def folder(self, sweep_id: str) -> Path:
        """Holds the notebook that its trials run."""
        return self._tools.folder / "plans" / sweep_id

    def source(self, sweep: Sweep) -> NotebookSource:
        """The notebook as it was when the sweep was made. Raises `PaddleGpuError` (`source_missing`, 409)."""
        from ...notebook.files.reading import parse_notebook

        try:
            content = (self.folder(sweep.id) / "source.ipynb").read_bytes()
        except OSError as error:
            raise PaddleGpuError(
                "source_missing",
                "The notebook of sweep {id} is not in its folder any more.",
                hint="Start the sweep anew.",
                status=409,
                id=sweep.id,
            ) from error
        return parse_notebook(content, Path(sweep.notebook))

    # What people ask for

    def of_job(self, job_id: str, request: SweepRequest) -> tuple[NotebookSource, SweepRequest]:
        """The notebook of a job, and the request with what that job had where it says nothing of its own."""
        jobs = self._tools.jobs()
        job = jobs.get(job_id)
        asked = request.submission
        wanted = Rerun(
            request=asked.request,
            engine=asked.engine,
            resources=asked.resources if isinstance(asked.resources, WantedResources) else None,
            environment=asked.environment or None,
            anyway=asked.anyway,
        )
        base = submission_of(job, wanted)
        return source_of(jobs, job), _change(request, submission=base, name=request.name or job.spec.name)

    def check(self, source: NotebookSource, request: SweepRequest) -> SweepCheck:
        """What each trial would come to now; nothing is submitted. Raises `PaddleGpuError` for what cannot be tried."""
        found = prepared(source, request)
        return self._checked(source, request, found)

    def create(self, source: NotebookSource, request: SweepRequest) -> SweepReport:
        """Begin a sweep. Its trials are submitted by whoever looks after the queue, so many at once.

        Raises:
            PaddleGpuError: `sweep_values`, `sweep_open`, `sweep_unknown`, `sweep_size` (400), `optuna_missing`,
                `trials_refused` (409): some fit nowhere and nobody insists.
        """
        if request.search == "optuna":
            check_installed()
        self._tools.notices().check(request.submission.notify or ())
        found = prepared(source, request)
        check = self._checked(source, request, found)
        refused = {one.number: one.why for one in check.trials if one.outcome == "refuse"}
        if refused and not request.submission.anyway and (not request.skip or len(refused) == len(check.trials)):
            raise refusals(check)
        jobs, now = self._tools.jobs(), self._tools.clock()
        planned = (
            ()
            if found.corners
            else tuple(
                Trial(number=n, values=values, closed="refused" if n in refused else "", why=refused.get(n))
                for n, values in enumerate(found.values, 1)
            )
        )
        sweep = Sweep(
            id="sweep-" + names.new_id(now),
            name=request.name or source.path.stem,
            notebook=str(source.path),
            created=now,
            dimensions=found.dimensions,
            trials=planned,
            wanted=found.wanted,
            search=request.search,
            at_once=check.at_once,
            metric=request.metric.strip().lower(),
            direction=request.direction,
            seed=request.seed,
            submission=kept(request.submission),
            owner=jobs.owner(),
        )
        folder = self.folder(sweep.id)
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        files.replace(folder / "source.ipynb", msgspec.json.encode(source.content))
        self.store.add(sweep)
        jobs.nudge()
        return report(sweep, {})

    def _checked(self, source: NotebookSource, request: SweepRequest, found: Prepared) -> SweepCheck:
        devices = max(1, self._tools.devices())
        at_once = request.at_once if request.at_once is not None else devices
        if not 1 <= at_once <= MOST_AT_ONCE:
            raise PaddleGpuError(
                "sweep_size",
                "{asked} trials at once cannot be: it must be from 1 to {most}.",
                asked=at_once,
                most=MOST_AT_ONCE,
            )
        return checked(self._tools.settle, source, request, found, at_once)

    def list(self) -> tuple[SweepReport, ...]:
        """All of them, the newest first."""
        return tuple(report(sweep, self.jobs_of(sweep)) for sweep in self.store.all())

    def get(self, sweep_id: str, *, metric: str = "", direction: str = "") -> SweepReport:
        """One, by its id or the end of it. Raises `PaddleGpuError` (404)."""
        sweep = self.find(sweep_id)
        return report(sweep, self.jobs_of(sweep), metric=metric, direction=direction)

    def over(self, sweep_id: str) -> SweepReport | None:
        """How a sweep ended, also in the moment before its row says that it has; None where it is gone."""
        try:
            sweep = self.store.get(sweep_id)
        except PaddleGpuError:
            return None
        jobs = self.jobs_of(sweep)
        ended = max((job.ended or 0.0 for job in jobs.values()), default=sweep.created)
        return report(_change(sweep, open=False, ended=sweep.ended or ended), jobs)

    def find(self, text: str) -> Sweep:
        """The row whose id is `text`, or ends with it; `last` is the newest."""
        rows = self.store.all()
        found = rows[:1] if text == "last" else [one for one in rows if one.id == text]
        found = found or [one for one in rows if text and one.id.endswith(f"-{text}")]
        return found[0] if found else self.store.get(text)

    def set(
        self, sweep_id: str, *, metric: str | None, direction: Direction | None, at_once: int | None
    ) -> SweepReport:
        """Compare its trials by another metric, or run more or fewer at once. None leaves it as it is."""
        if at_once is not None and not 1 <= at_once <= MOST_AT_ONCE:
            raise PaddleGpuError(
                "sweep_size",
                "{asked} trials at once cannot be: it must be from 1 to {most}.",
                asked=at_once,
                most=MOST_AT_ONCE,
            )

        metric = None if metric is None else metric.strip().lower()

        def make(sweep: Sweep) -> Sweep:
            other = metric is not None and metric != sweep.metric
            return _change(
                sweep,
                metric=sweep.metric if metric is None else metric,
                direction=direction or ("" if other else sweep.direction),
                at_once=at_once or sweep.at_once,
            )

        sweep = self.store.change(self.find(sweep_id).id, make)
        self._tools.jobs().nudge()
        return report(sweep, self.jobs_of(sweep))

    def cancel(self, sweep_id: str) -> SweepReport:
        """Submit no further trial, and ask those that wait or run to end."""

        def make(sweep: Sweep) -> Sweep:
            trials = tuple(
                _change(one, closed=one.closed or "cancelled") if not one.job_id else one for one in sweep.trials
            )
            return _change(sweep, trials=trials, stopped=True)

        sweep = self.store.change(self.find(sweep_id).id, make)
        jobs = self._tools.jobs()
        for job in self.jobs_of(sweep).values():
            if job.state not in ENDED:
                jobs.cancel(job.id)
        jobs.nudge()
        return report(sweep, self.jobs_of(sweep))

    def retry(self, sweep_id: str) -> SweepReport:
        """Plan those trials once more that failed or were refused."""
        sweep_id = self.find(sweep_id).id
        jobs = self.jobs_of(self.store.get(sweep_id))
        failed = {id_ for id_, job in jobs.items() if job.state == "failed"}

        def again(trial: Trial) -> Trial:
            if trial.closed != "refused" and trial.job_id not in failed:
                return trial
            return _change(trial, attempt=trial.attempt + 1, job_id="", closed="", why=None)

        def make(sweep: Sweep) -> Sweep:
            trials = tuple(map(again, sweep.trials))
            return sweep if trials == sweep.trials else _change(sweep, trials=trials, open=True, ended=None)

        sweep = self.store.change(sweep_id, make)
        self._tools.jobs().nudge()
        return report(sweep, self.jobs_of(sweep))

    def delete(self, sweep_id: str) -> None:
        """Remove an ended sweep with the jobs of its trials. Raises `PaddleGpuError`: `not_ended` (409)."""
        sweep, jobs = self.find(sweep_id), self._tools.jobs()
        mine = self._made(sweep)
        if sweep.open or any(job.state not in ENDED for job in mine):
            raise PaddleGpuError(
                "not_ended",
                "Sweep {id} has not ended yet.",
                hint="Stop it first: `jupyter paddle-gpu sweeps cancel {id}`.",
                status=409,
                id=sweep.id,
            )
        for job in mine:
            jobs.delete(job.id)
        self.store.remove(sweep.id)
        shutil.rmtree(self.folder(sweep.id), ignore_errors=True)

    # What its rows say

    def jobs_of(self, sweep: Sweep) -> Mapping[str, Job]:
        """The jobs of its trials by id: those of the newest attempt."""
        now = {one.job_id for one in sweep.trials if one.job_id}
        return {job.id: job for job in self._made(sweep) if job.id in now}

    def by_token(self, sweep: Sweep) -> Mapping[str, Job]:
        """All jobs that were made for it by their tokens, whether somebody has written them down or not."""
        return {job.spec.token: job for job in self._made(sweep)}

    def _made(self, sweep: Sweep) -> Iterable[Job]:
        return self._tools.jobs().store.with_token(f"{sweep.id}/")


def planned(sweep: Sweep, made: Mapping[str, Job]) -> list[Trial]:
    """Trials that nobody has submitted yet and that shall run, in their order."""
    return [one for one in sweep.trials if not one.closed and not one.job_id and token(sweep.id, one) not in made]
