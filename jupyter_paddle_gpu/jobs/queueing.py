"""How a job comes into the queue, how that is, and one's own jobs held, released and moved in it."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from ..domain.jobs.differences import run_differences
from ..domain.jobs.job import ACTIVE, Job, JobSpec
from ..domain.queues import QueueView
from .scheduling.own_order import moved, not_waiting, ordered
from .scheduling.planning import Planner
from .scheduling.queue import HELD
from .scheduling.queue_view import view
from .settings import JobSettings
from .store import rows
from .store.job_store import JobStore

_change = msgspec.structs.replace


class Queue:
    """The jobs of a store that wait, among those of other users.

    Args:
        nudge: somebody is to look after the queue, soon.
    """

    def __init__(self, store: JobStore, planner: Planner, nudge: Callable[[], None], settings: JobSettings) -> None:
        self._store, self._planner, self._nudge, self._settings = store, planner, nudge, settings

    def view(self) -> QueueView:
        """All that wait now, other users' jobs among them. Where nobody looks after them, somebody does from now on."""
        self._nudge()
        plan = self._planner.plan(self._queued(), self._store.select(states=ACTIVE))
        return view(plan, rows.owner(), self._settings.now())

    def first(self) -> str:
        """The job of this store that stands before all others of it; empty: none waits."""
        return next((job.id for job in ordered(self._queued())), "")

    def hold(self, job_id: str, held: bool = True) -> Job:
        """Keep a waiting job from starting, or let it wait again: behind others then, as one that came now.

        Raises:
            PaddleGpuError: `no_such_job` (404), `not_waiting` (409).
        """

        def make(job: Job) -> Job:
            if job.state != "queued":
                raise not_waiting(job_id)
            return job if job.held == held else _change(job, held=held, place=None, reason=HELD if held else None)

        job = self._store.change(job_id, make)
        self._nudge()
        return job

    def move(self, job_id: str, before: str | None = None) -> Job:
        """Put a waiting job before another one of this store (None: behind all).

        Raises:
            PaddleGpuError: `no_such_job` (404), `not_waiting` (409).
        """
        self._store.get(job_id)
        for name, (priority, position) in moved(self._queued(), job_id, before).items():
            self._store.change(name, _placed(priority, position))
        self._nudge()
        return self._store.get(job_id)

    def _queued(self) -> tuple[Job, ...]:
        return self._store.select(states=("queued",), oldest_first=True)


def compared(store: JobStore, spec: JobSpec) -> JobSpec:
    """A specification with what it has otherwise than the notebook's last run; trials of a sweep are none."""
    before = store.select(notebook=spec.notebook, limit=1, trials=False)
    if not before:
        return _change(spec, differs=(), differs_from="")
    return _change(spec, differs=run_differences(before[0].spec, spec), differs_from=before[0].id)


def _placed(priority: int, position: int) -> Callable[[Job], Job]:
    def make(job: Job) -> Job:
        return _change(job, priority=priority, position=position) if job.state == "queued" else job

    return make
