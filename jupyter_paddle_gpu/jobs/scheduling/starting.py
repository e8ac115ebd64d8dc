"""From the queue's word to a job that runs: prepared in a thread of its own, started when those before it have been."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import msgspec

from ...domain.errors import PaddleGpuError
from ...domain.jobs import reasons
from ...domain.jobs.job import ACTIVE, Job
from ...domain.messages import Message
from ...domain.scripts import said_of
from ...engines import own_files
from ...engines.base import Engine, JobFolder, Say, write_spec
from ...runner import files
from ..folder import log, ranks
from ..settings import JobSettings
from ..store import rows
from ..store.job_store import JobStore
from .order import StartOrder, StartPlace

if TYPE_CHECKING:
    from ...claims.claims import Claims

_change = msgspec.structs.replace


class Starting:
    """The jobs that are being prepared and started by this process.

    `begin` is called by one thread; the order of its calls is the order in which the jobs start.
    """

    def __init__(
        self,
        store: JobStore,
        folder_of: Callable[[str], JobFolder],
        engines: Mapping[str, Engine],
        settings: JobSettings,
        claims: Claims | None = None,
    ) -> None:
        self._store, self._folder_of, self._engines, self._settings = store, folder_of, engines, settings
        self._claims = claims
        self._order = StartOrder(settings.order_seconds)
        self._threads: dict[str, threading.Thread] = {}
        self._told: set[str] = set()  # jobs whose log says already that their engine is away
        self._closing = threading.Event()

    def __contains__(self, job_id: str) -> bool:
        return job_id in self._threads

    def forget_ended(self) -> None:
        """Leave out the jobs that are no longer under way."""
        self._threads = {job: thread for job, thread in self._threads.items() if thread.is_alive()}

    def begin(self, job: Job) -> None:
        """Prepare a job (state `preparing`), then start it."""
        place = self._order.join(job.spec.engine, lambda: self._is_wanted(job.id))
        thread = threading.Thread(target=self._work, args=(job, place), name=f"prepare {job.id}", daemon=True)
        self._threads[job.id] = thread
        try:
            thread.start()
        except RuntimeError:  # no thread to be had now: nobody is to wait for this one, the next look tries it again
            place.leave()
            raise

    def open(self) -> None:
        """Jobs may be begun from now on."""
        self._closing.clear()

    def close(self, seconds: float) -> None:
        """This process goes: wait so many seconds until the preparations have noticed."""
        self._closing.set()
        deadline = time.monotonic() + seconds
        for thread in list(self._threads.values()):
            if thread.ident is None:  # about to start: it sees the sign before it does anything
                continue
            thread.join(max(0.0, deadline - time.monotonic()))

    def _work(self, job: Job, place: StartPlace) -> None:
        with place:
            rows.guard(self._store, job, lambda one: self._start(one, place))

    def _start(self, job: Job, place: StartPlace) -> None:
        engine, folder = self._engines[job.spec.engine], self._folder_of(job.id)
        try:
            seen = engine.observe(job, folder)
            if seen.state in ("absent", "starting"):
                if self._claims is not None:
                    self._claims.take(job.id, job.device_ids, job.shares, self._beside(job))
                if job.attempts > 1:
                    _clear_attempt(folder)
                self._copy_checkpoints(job, folder, place)
                write_spec(job, folder, stop_seconds=self._settings.stop_seconds)
                handle = engine.prepare(
                    job, folder, self._teller(job, folder), lambda: not self._is_wanted(job.id), place
                )
                if not self._is_wanted(job.id):
                    return  # cancelled meanwhile: the next step ends it
                if self._claims is not None:
                    self._claims.starting(job.id)
                handle, started = engine.start(job, folder, handle, place), None
            else:
                handle, started = job.handle, seen.started
        except PaddleGpuError as error:
            self._not_started(job, reasons.called(error.message, job.device_names))
            return
        except OSError as error:
            full = files.is_full(error)
            self._not_started(job, reasons.disk_full(str(folder.path)) if full else reasons.runner_error(str(error)))
            return
        self._told.discard(job.id)
        # Before the place is left: the rows' times are to follow each other as the starts did.
        self._running(job, handle, started)

    def _teller(self, job: Job, folder: JobFolder) -> Say:
        def say(said: str | Message) -> None:
            if isinstance(said, str):
                log.say(folder, said)
            else:
                log.say(folder, *list(log.phrases(said))[:1])
                rows.tell(self._store, job, said)

        return say

    def _running(self, job: Job, handle: dict[str, object], started: float | None) -> None:
        def make(now: Job) -> Job:
            state = "running" if now.state == "preparing" else now.state
            began = now.started or started or time.time()
            return _change(now, state=state, handle=dict(handle), started=began, reason=None)

        self._store.change(job.id, make)

    def _not_started(self, job: Job, reason: Message) -> None:
        if self._closing.is_set() or reason.code == "cancelled":
            return  # this process goes, or somebody wished it: who looks next sees what the row says
        if self._store.get(job.id).state == "stopping":
            return
        if reason.code == "engine_unreachable" and not self._engines[job.spec.engine].supported_features().available:
            self._put_off(job, reasons.engine_away(reason))
            return
        if reason.code == reasons.DEVICE_UNCLAIMED:
            self._put_off(job, reason)
            return
        self._told.discard(job.id)
        # A driver that lists a card and does not give it would go on for ever: so many attempts, as for any fault.
        vanished = reason.code == reasons.DEVICE_UNKNOWN and not job.spec.resources.device_ids
        vanished = vanished and job.attempts < self._settings.attempts
        if reason.code == reasons.DEVICE_HELD or vanished:
            self._wait_for_device(job, reason)
            return
        folder = self._folder_of(job.id)
        reason = said_of(job.spec.notebook, reason)
        log.tell(folder, reason)
        if reasons.is_transient(reason) and (job.attempts < self._settings.attempts or self._may_live(job, reason)):
            wait = self._settings.retry_after(job.attempts)
            again = reasons.tried_again(reason, wait, job.attempts + 1, self._settings.attempts)
            log.say(folder, *list(log.phrases(again))[1:])
            later = time.time() + wait
            self._store.change(job.id, lambda now: _change(now, state="queued", not_before=later, reason=again))
        else:
            rows.fail(self._store, job, reason)

    def _may_live(self, job: Job, reason: Message) -> bool:
        """Whether something of the job may be on its engine though no answer came: then it cannot be given up yet. What
        was made and did not start is removed."""
        if reason.code != "engine_unreachable":
            return False
        engine, folder = self._engines[job.spec.engine], self._folder_of(job.id)
        try:
            if engine.observe(job, folder).state in ("running", "ended"):
                return True
            engine.collect(job, folder)
        except PaddleGpuError:
            return True
        return False

    def _put_off(self, job: Job, reason: Message) -> None:
        """What is missing is nothing of the job's, and may come back at any time: that is no attempt of its."""
        if job.id not in self._told:
            self._told.add(job.id)
            log.tell(self._folder_of(job.id), reason)
        later = time.time() + self._settings.retry_seconds

        def make(now: Job) -> Job:
            return _change(now, state="queued", not_before=later, reason=reason, attempts=now.attempts - 1)

        self._store.change(job.id, make)

    def _wait_for_device(self, job: Job, reason: Message) -> None:
        """Another user's job was faster, which is no attempt of this job's, or a device that nobody named has gone. The
        queue gives it another device, or waits for one."""
        log.tell(self._folder_of(job.id), reason)

        free = 1 if reason.code == reasons.DEVICE_HELD else 0

        def make(now: Job) -> Job:
            attempts = now.attempts - free
            return _change(now, state="queued", device_ids=(), shares=(), reason=reason, attempts=attempts)

        self._store.change(job.id, make)

    def _beside(self, job: Job) -> dict[str, int]:
        """Device id -> bytes that other jobs of this store have of it."""
        found: dict[str, int] = {}
        for other in self._store.select(states=ACTIVE) if job.shares else ():
            if other.id != job.id:
                for device, part in zip(other.device_ids, other.shares, strict=False):
                    found[device] = found.get(device, 0) + part.bytes
        return found

    def _is_wanted(self, job_id: str) -> bool:
        try:
            return not self._closing.is_set() and self._store.get(job_id).state == "preparing"
        except PaddleGpuError:
            return False

    def _copy_checkpoints(self, job: Job, folder: JobFolder, place: StartPlace) -> None:
        """A re-run goes on from what the job before it saved."""
        if folder.checkpoints.is_symlink():
            folder.checkpoints.unlink()
        folder.checkpoints.mkdir(parents=True, exist_ok=True)
        if not job.spec.rerun_of or any(folder.checkpoints.iterdir()):
            return
        before = self._folder_of(job.spec.rerun_of).checkpoints
        if before.is_dir() and any(before.iterdir()):
            place.step_aside()
            own_files.copy_tree(before, folder.checkpoints)


def _clear_attempt(folder: JobFolder) -> None:
    """A new attempt starts without the last one's end; the log goes on, checkpoints stay."""
    for path in (folder.result, folder.identity, folder.events, folder.statistics):
        own_files.remove_tree(path)
    ranks.clear(folder)
