"""What faces call: submit, list, cancel, log, …. Blocking and thread-safe; nothing here decides what an engine does."""

from __future__ import annotations

import logging
import math
import shutil
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from ..domain.devices import Inventory
from ..domain.errors import PaddleGpuError
from ..domain.jobs import reasons
from ..domain.jobs.job import ACTIVE, ENDED, Job, JobSpec
from ..domain.jobs.limits import raised
from ..domain.messages import Message
from ..engines.base import Engine, metadata_of
from ..matching.policy import Policy
from ..runner import files
from . import detached, names
from .monitoring.notifying import Tell
from .plans.chores import Chores
from .plans.plan_store import Plan, PlanStore
from .queueing import Queue, compared
from .reading import JobReader
from .reconciler import Learn, Reconciler
from .scheduling.queue import Standing
from .settings import JobSettings, default_data_folder
from .store import rows
from .store.doorbell import Doorbell
from .store.job_store import JobStore
from .store.lock import FileLock
from .store.subscribers import JobCallback, Subscribers

if TYPE_CHECKING:
    from ..claims.boards import Boards
    from ..claims.claims import Claims

_logger = logging.getLogger(__name__)
_change = msgspec.structs.replace
P = TypeVar("P", bound=Plan)


class JobService(JobReader):
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
        chores: what makes jobs by itself, looked after beside the queue.

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
        chores: Chores | None = None,
    ) -> None:
        super().__init__(store, folder, settings)
        self.engines = engines
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._lock_path = store.path.with_suffix(".lock")
        self._lock = FileLock(self._lock_path)
        self._standby_lock = FileLock(store.path.with_suffix(".standby"))
        self._reconciler = Reconciler(
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
        )
        self.queue = Queue(store, self._reconciler.planner, self._nudge)
        self._dispatcher = dispatcher
        self._chores = chores
        self._subscribers = Subscribers()
        self._wake = Doorbell(store.path.with_suffix(".bell"))
        self._turn = threading.Lock()  # starting and stopping, one at a time
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self._leaving: threading.Thread | None = None
        self._late: threading.Thread | None = None
        self._successor_due = math.inf  # on the monotonic clock: when somebody is to stand by

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
        chores: Chores | None = None,
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
            chores=chores,
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
        return (*hopeless, *engine.check(job, metadata_of(source_content)))

    def cancel(self, job_id: str, force: bool = False) -> Job:
        """Ask a job to end: one that waits ends now, one that runs saves first (`force`: does not). Cancelling an
        ended job changes nothing. What the engine may hold of one that waits for another attempt goes first."""

        def make(job: Job) -> Job:
            if job.state in ENDED:
                return job
            if job.state == "queued" and not job.server_id:
                return _change(job, state="cancelled", reason=reasons.cancelled(), ended=time.time())
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

    def subscribe(self, callback: JobCallback) -> Callable[[], None]:
        """Be told of every change, whichever process made it, as long as this service is started."""
        forget = self._subscribers.add(callback)
        self._wake.ring()
        return forget

    # ---- the thread

    def start(self) -> None:
        """Look after the jobs from now on, unless another process does; then stand by and take over when it goes."""
        with self._turn:
            if self._thread is not None:
                return
            self._reconciler.open()
            self._stopped = threading.Event()  # of this thread alone: one that still leaves must not be called back
            self._thread = threading.Thread(
                target=self._run, args=(self._stopped, self._leaving), name="paddle-gpu jobs", daemon=True
            )
            self._thread.start()

    def attend(self) -> None:
        """As `start`, for a command that follows a job: to start a dispatcher takes longer than to start the job. One
        that goes on with everything, however this process ends, stands by a moment later (`standby_seconds`)."""
        self._successor_due = time.monotonic() + self.settings.standby_seconds
        self.start()

    def stop(self, timeout: float = 3.0) -> None:
        """End the thread; jobs go on, and a detached dispatcher looks after those that are left.

        A thread that an engine keeps longer than `timeout` seconds ends after it, and holds the queue until then.
        """
        with self._turn:
            thread, self._thread = self._thread, None
            if thread is not None:
                self._leaving = thread
                self._stopped.set()
                self._wake.ring()
                thread.join(timeout)
                self._late = thread
            self._reconciler.close(timeout)
            if self._chores is not None:
                self._chores.close(timeout)
            if thread is not None:
                self._nudge()

    def _nudge(self) -> None:
        """See to it that somebody looks after the queue, soon."""
        if self._thread is not None:
            self._wake.ring()
        elif self._dispatcher is not None and self._pending():
            # Not our own lock: a thread of ours that is leaving may hold that one still.
            with FileLock(self._lock_path).held() as free:
                pass
            if free:  # Nobody does. (Somebody who ends just now looks once more after he let go of the lock.)
                self._dispatcher()
            else:
                self._wake.ring()

    def nudge(self) -> None:
        """See to it that somebody looks after the plans, soon: one was made or changed."""
        self._nudge()

    def _pending(self) -> bool:
        return self._has_jobs() or (self._chores is not None and self._chores.pending())

    def _has_jobs(self) -> bool:
        if self.store.select(states=ACTIVE, limit=1) or self.store.with_open_notices():
            return True
        return any(not job.held for job in self.store.select(states=("queued",)))

    def _step(self) -> bool:
        busy = self._reconciler.step()
        return (self._chores is not None and self._chores.look()) or busy

    def _run(self, stopped: threading.Event, before: threading.Thread | None) -> None:
        while before is not None and before.is_alive():  # the reconciler is for one thread at a time
            before.join(self.settings.active_seconds)
            if stopped.is_set():
                return
        try:
            self._look_until(stopped)
        finally:
            self._wake.close()
            self._lock.release()
            if self._late is threading.current_thread():  # whoever stopped us found the queue still held
                self._nudge()

    def _look_until(self, stopped: threading.Event) -> None:
        revision = self.store.revision()
        while not stopped.is_set():
            busy = False
            try:
                if self._lock.acquire():
                    self._wake.listen()
                    busy = self._step()
                    self._appoint(busy)
                changes = self.store.changes(revision)
                self._subscribers.tell(changes)
                revision = changes.revision
            except Exception:
                _logger.exception("looking after the jobs")
            watched = bool(self._subscribers)
            self._wake.wait(self.settings.active_seconds if busy or watched else self.settings.idle_seconds)

    def _appoint(self, busy: bool) -> None:
        """Have a dispatcher stand by where this process may be gone any moment."""
        if busy and self._dispatcher is not None and time.monotonic() > self._successor_due:
            self._successor_due = math.inf
            self._dispatcher()

    def run_until_idle(self) -> None:
        """Look after the jobs in this thread until nothing is queued or active, or their folder is gone. Where another
        process does, this one stands by, unless yet another one does that."""
        while self._take_over():
            idle_since = time.monotonic()
            while time.monotonic() - idle_since < self.settings.linger_seconds:
                if not self.store.path.exists():
                    return
                if self._step():
                    idle_since = time.monotonic()
                time.sleep(self.settings.active_seconds)
            self._lock.release()
            if not self._pending():  # submitted between the last look and the release: then once more
                return
            if not self._has_jobs():  # a plan for later: whoever else wants the queue meanwhile gets it
                time.sleep(self.settings.idle_seconds)

    def _take_over(self) -> bool:
        """Wait for the queue; False where nothing is left to be looked after, or somebody else waits already."""
        while not self._lock.acquire():
            if not self.store.path.exists() or not self._pending() or not self._standby_lock.acquire():
                return False
            time.sleep(self.settings.active_seconds)
        self._standby_lock.release()
        return True
