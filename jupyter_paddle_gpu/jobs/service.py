"""What faces call: submit, list, cancel, log, …. Blocking and thread-safe; nothing here decides what an engine does."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from ..domain.devices import Inventory
from ..domain.errors import PaddleGpuError
from ..domain.jobs import reasons
from ..domain.jobs.job import ENDED, Job, JobSpec
from ..domain.jobs.limits import raised
from ..domain.messages import Message
from ..domain.scripts import said_of
from ..engines.base import Engine, metadata_of
from ..engines.capabilities import on_host
from ..matching.policy import Policy
from ..runner import files
from . import detached, names
from .attending import Attendant
from .monitoring.notifying import Tell
from .plans.periodic import PeriodicTasks
from .plans.plan_store import Plan, PlanStore
from .queueing import Queue, compared
from .reconciler import Learn, Reconciler
from .scheduling.queue import Standing
from .settings import JobSettings, default_data_folder
from .store import rows
from .store.job_store import JobStore

if TYPE_CHECKING:
    from ..claims.boards import Boards
    from ..claims.claims import Claims

_change = msgspec.structs.replace
P = TypeVar("P", bound=Plan)


class JobService(Attendant):
    """The jobs of one user.

    Args:
        store: the index.
        folder: holds a folder per job (`<folder>/<job id>/`).
        engines: by name.
        inventory: the devices now, for jobs that leave the choice to us.
        dispatcher: how a detached dispatcher is started when no process looks after the queue (command line);
            None: it is not.
        learn: called once or more with a job that ended well and its result, in time for what it says of them to be
            kept with the result.
        claims: agreed with other users' stores; None: nobody else is known.
        boards: by which all users' jobs wait in one order; None: this store's alone.
        policy: which devices may be chosen for a job that names none; None: any, the freest first.
        tell: how people are told of ends; None: nobody is.
        periodic: what makes jobs by itself, looked after beside the queue.

    Attributes:
        queue: the jobs that wait.
    """

    def __init__(
        self,
        store: JobStore,
        folder: Path,
        engines: Mapping[str, Engine],
        settings: JobSettings = JobSettings(),  # noqa: B008  # frozen
        *,
        inventory: Callable[[], Inventory] | None = None,
        dispatcher: Callable[[], None] | None = None,
        learn: Learn | None = None,
        claims: Claims | None = None,
        boards: Boards | None = None,
        policy: Policy | None = None,
        tell: Tell | None = None,
        periodic: PeriodicTasks | None = None,
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        super().__init__(
            store,
            folder,
            settings,
            Reconciler(
                store,
                self.folder_of,
                engines,
                settings,
                inventory,
                policy=policy,
                learn=learn,
                claims=claims,
                tell=tell,
                boards=boards,
            ),
            dispatcher=dispatcher,
            periodic=periodic,
        )
        self.engines = engines
        self.queue = Queue(store, self._reconciler.planner, self._nudge, settings)

    @classmethod
    def open(
        cls,
        engines: Mapping[str, Engine],
        *,
        data_folder: Path | None = None,
        settings: JobSettings = JobSettings(),  # noqa: B008
        inventory: Callable[[], Inventory] | None = None,
        factory: str = "",
        dispatcher_environment: Mapping[str, str] | None = None,
        learn: Learn | None = None,
        claims: Claims | None = None,
        boards: Boards | None = None,
        policy: Policy | None = None,
        tell: Tell | None = None,
        periodic: PeriodicTasks | None = None,
    ) -> JobService:
        """The service on a data folder (Jupyter's by default): `jobs.sqlite` and `jobs/`.

        Args:
            factory: `module:function` that makes the service of a detached dispatcher from the data folder; empty:
                nobody looks after the queue when no process that started its service does.
        """
        data = data_folder or default_data_folder()
        store = JobStore(data / "jobs.sqlite", busy_seconds=settings.busy_seconds)
        return cls(
            store,
            data / "jobs",
            engines,
            settings,
            inventory=inventory,
            dispatcher=(lambda: detached.spawn(data, factory, dispatcher_environment or {})) if factory else None,
            learn=learn,
            claims=claims,
            boards=boards,
            policy=policy,
            tell=tell,
            periodic=periodic,
        )

    def use(self, policy: Policy) -> None:
        """Choose devices by another policy from now on: what was learned belongs to it."""
        self._reconciler.planner.policy = policy

    # ---- what people ask for

    def submit(self, spec: JobSpec, source_content: Mapping[str, Any] | str | bytes) -> Job:
        """Accept a job; it starts when its turn comes. A token seen before returns the job it made.

        Args:
            source_content: the notebook (nbformat 4 JSON), kept as it is now.

        Raises:
            PaddleGpuError: `engine_unknown`, `disk_full`, what the queue would call hopeless, or what the engine finds
                missing before it starts.
        """
        if known := self.store.by_token(spec.token):
            return known
        job = rows.new_job(compared(self.store, spec))
        for problem in filter(lambda found: not reasons.is_note(found), self._problems(job, source_content)):
            raise PaddleGpuError.of(problem, status=409)
        folder = self.folder_of(job.id)
        content = source_content if isinstance(source_content, (str, bytes)) else msgspec.json.encode(source_content)
        try:
            folder.path.mkdir(parents=True, mode=0o700)
            files.replace(folder.source, content.encode() if isinstance(content, str) else content)
            stored = self.store.add(job)
        except OSError as error:
            shutil.rmtree(folder.path, ignore_errors=True)
            if files.is_full(error):
                raise PaddleGpuError.of(reasons.disk_full(str(folder.path)), status=503) from error
            raise
        if stored.id != job.id:  # the same token came twice at once
            shutil.rmtree(folder.path, ignore_errors=True)
            return stored
        self._nudge()
        return stored

    def standing(self, engine: str, devices: Inventory, share: float | None = None) -> Standing:
        """What a job for an engine with these devices would find, behind all jobs of this store."""
        return self._reconciler.planner.standing(engine, devices, share)

    def preflight(self, spec: JobSpec, source_content: Mapping[str, Any] | str | bytes) -> tuple[Message, ...]:
        """Everything that `submit` would refuse this with now, and what is only to be known (`reasons.is_note`)."""
        return self._problems(rows.new_job(spec), source_content)

    def _problems(self, job: Job, source_content: Mapping[str, Any] | str | bytes) -> tuple[Message, ...]:
        engine = self.engines.get(job.spec.engine)
        if engine is None:
            return (reasons.engine_unknown(job.spec.engine),)
        turn = self._reconciler.planner.turn_of(job)
        hopeless = (turn.reason,) if turn.hopeless and turn.reason is not None else ()
        found = (*hopeless, *engine.check(job, metadata_of(source_content)))
        return tuple(said_of(job.spec.notebook, one) for one in found)

    def on_host(self, job: Job, path: str) -> Path | None:
        """Where on this machine that lies which a job calls `path`; None: where nobody but the job sees it."""
        engine = self.engines.get(job.spec.engine)
        return None if engine is None else on_host(engine, job, self.folder_of(job.id), path)

    def cancel(self, job_id: str, force: bool = False) -> Job:
        """Ask a job to end: one that waits ends now, one that runs saves first (`force`: does not). Cancelling an
        ended job changes nothing. What the engine may hold of one that waits for another attempt goes first."""

        def make(job: Job) -> Job:
            if job.state in ENDED:
                return job
            if job.state == "queued" and not job.server_id:
                reason = said_of(job.spec.notebook, reasons.cancelled())
                return _change(job, state="cancelled", reason=reason, ended=time.time())
            return _change(job, state="stopping", force=job.force or force)

        job = self.store.change(job_id, make)
        if job.state not in ENDED:
            self._nudge()
        return job

    def delete(self, job_id: str) -> None:
        """Remove an ended job and its folder; what was published stays. Raises `PaddleGpuError`: `not_ended` (409)."""
        self.store.remove(job_id)
        shutil.rmtree(self.folder_of(job_id).path, ignore_errors=True)
        self._wake.ring()

    def rerun(self, job_id: str) -> Job:
        """Submit the same notebook again as a new job; it starts with a copy of the old one's checkpoints, and may take
        more memory where it was the estimate's limit that ended it."""
        job = self.store.get(job_id)
        content = self.source(job_id)
        output = job.spec.output.replace(names.short(job_id), names.OUTPUT_ID)  # the old result is not overwritten
        limits = raised(job.spec.limits, job.reason)
        spec = _change(job.spec, output=output, token="", rerun_of=job_id, limits=limits, plan="", trial=None)
        return self.submit(spec, content)

    def plans(self, kind: str, row: type[P]) -> PlanStore[P]:
        """The rows of a kind of plans, in the same store."""
        return PlanStore(self.store.database, kind, row)

    def owner(self) -> str:
        """The name of this user; empty where the system has none."""
        return rows.owner()

    def annotate(self, job_id: str, *, note: str | None = None, starred: bool | None = None) -> Job:
        """Keep a person's note or star; None leaves it as it is. Raises `PaddleGpuError` (404)."""

        def make(job: Job) -> Job:
            return _change(
                job,
                note=job.note if note is None else note.strip(),
                starred=job.starred if starred is None else starred,
            )

        return self.store.change(job_id, make)
