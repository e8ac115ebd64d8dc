"""Keeps rows true: dispatches what is queued and reconciles what is active with engine and folder.

One process of a user does this at a time (a lock that its death releases); everybody else only writes wishes into the
store: a new job, a cancel. Nothing here is remembered that the next keeper could not find again.
"""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from ..domain import reasons
from ..domain.devices import Inventory
from ..domain.errors import PaddleGpuError
from ..domain.jobs import ACTIVE, Job, JobResult
from ..domain.messages import Message
from ..engines import own_files
from ..engines.base import Engine, JobFolder, Observation, Say, write_spec
from ..matching.policy import Policy
from ..runner import files
from . import clocks, leftovers, log, queue, ranks
from .endings import Ending, ending_of, with_measurements
from .lost import lost_device
from .observing import Observing, Seen
from .progress import ProgressReader
from .sampling import Sampling
from .settings import JobSettings
from .store import JobStore

_logger = logging.getLogger(__name__)
_change = msgspec.structs.replace

PASSING = frozenset({"driver_failed", "driver_no_answer", "driver_mismatch", "driver_not_loaded"})
"""A driver that is there and does not answer: jobs that want a device wait until it does, and say so."""

Learn = Callable[[Job, JobResult], tuple[Message, ...]]
"""What is done with a job that ended well, and what is to be said of it. Must bear being called again."""


class Keeper:
    """One step is one look at everything; `step` is called by one thread, preparations run in threads of their own."""

    def __init__(
        self,
        store: JobStore,
        folder_of: Callable[[str], JobFolder],
        engines: Mapping[str, Engine],
        settings: JobSettings,
        inventory: Callable[[], Inventory] | None,
        *,
        policy: Policy | None = None,
        learn: Learn | None = None,
    ) -> None:
        self._store, self._folder_of, self._engines = store, folder_of, engines
        self._settings, self._inventory, self._policy = settings, inventory, policy
        self._preparing: dict[str, threading.Thread] = {}
        self._progress: dict[str, tuple[ProgressReader, float]] = {}
        self._sampling = Sampling(settings, inventory)
        self._learn = learn
        self._stopping: dict[str, float] = {}  # job -> when it was asked to stop, on the monotonic clock
        self._killed: set[str] = set()
        self._run_times = clocks.RunTimes()
        self._observing = Observing(engines, folder_of, patience=settings.engine_seconds)
        self._name = f"{socket.gethostname()}:{os.getpid()}"
        self.closing = threading.Event()
        self._swept = False

    def step(self) -> bool:
        """Look after every queued and active job once; False where there is none."""
        if not self._swept:  # what a crash left; afterwards everything is known that is started
            self._swept = True
            leftovers.sweep(self._store, self._engines)
        self._preparing = {job: thread for job, thread in self._preparing.items() if thread.is_alive()}
        active = self._store.select(states=ACTIVE)
        here = [job for job in active if job.id not in self._preparing and job.spec.engine in self._engines]
        seen = self._observing.ask(here)
        for job in active:
            self._guard(job, lambda one: self._reconcile(one, seen.get(one.id)))
        queued = self._store.select(states=("queued",), oldest_first=True)
        if queued:
            self._dispatch(queued)
        return bool(active or queued)

    def _guard(self, job: Job, act: Callable[[Job], None]) -> None:
        # One job's trouble (an engine that does not answer, a folder that is gone) is not the other jobs' trouble.
        try:
            act(job)
        except PaddleGpuError as error:
            if error.code not in ("bad_move", "no_such_job"):  # somebody else was quicker: nothing to do
                self._tell(job, error.message)
        except Exception:
            _logger.exception("looking after job %s", job.id)

    def _tell(self, job: Job, reason: Message) -> None:
        with contextlib.suppress(PaddleGpuError):
            self._store.change(job.id, lambda now: _change(now, reason=reason) if now.state == job.state else now)

    # ---- dispatching

    def _dispatch(self, queued: tuple[Job, ...]) -> None:
        needs_devices = any(job.spec.resources.gpus and not job.spec.resources.device_ids for job in queued)
        seen = self._inventory() if needs_devices and self._inventory else None
        active = self._store.select(states=ACTIVE)
        claims = self._store.claims()
        plan = queue.turns(
            queued,
            active,
            claims=claims,
            devices=seen.devices if seen else None,
            settings=self._settings,
            now=time.time(),
            policy=self._policy,
            trouble=next((p for p in seen.problems if p.code in PASSING), None) if seen else None,
        )
        for turn in plan:
            if turn.job.spec.engine not in self._engines:
                self._fail(turn.job, reasons.engine_unknown(turn.job.spec.engine))
            elif turn.hopeless and turn.reason:
                self._fail(turn.job, turn.reason)
            elif turn.start:
                self._guard(turn.job, lambda job, ids=turn.device_ids: self._begin(job, ids))  # type: ignore[misc]
            elif turn.reason != turn.job.reason and turn.reason:
                self._tell(turn.job, turn.reason)

    def _begin(self, job: Job, device_ids: tuple[str, ...]) -> None:
        def make(now: Job) -> Job:
            if now.state != "queued":  # cancelled since the queue was read, or begun by another keeper
                raise PaddleGpuError("bad_move", "Job {id} is {state} already.", status=409, id=now.id, state=now.state)
            return _change(
                now,
                state="preparing",
                device_ids=device_ids,
                reason=None,
                attempts=now.attempts + 1,
                not_before=None,
                server_id=self._name,
            )

        self._prepare_in_thread(self._store.change(job.id, make, claim=device_ids))

    def _prepare_in_thread(self, job: Job) -> None:
        thread = threading.Thread(target=self._guard, args=(job, self._prepare), name=f"prepare {job.id}", daemon=True)
        self._preparing[job.id] = thread
        thread.start()

    def _prepare(self, job: Job) -> None:
        engine, folder = self._engines[job.spec.engine], self._folder_of(job.id)
        try:
            if engine.observe(job, folder).state in ("absent", "starting"):
                if job.attempts > 1:
                    _clear_attempt(folder)
                self._copy_checkpoints(job, folder)
                write_spec(job, folder, stop_seconds=self._settings.stop_seconds)
                handle = engine.prepare(job, folder, self._teller(job, folder), lambda: self._unwanted(job.id))
                if self._unwanted(job.id):
                    return  # cancelled meanwhile: the next step ends it
                handle = engine.start(job, folder, handle)
            else:
                handle = job.handle
        except PaddleGpuError as error:
            self._not_started(job, error.message)
            return
        except OSError as error:
            full = files.is_full(error)
            self._not_started(job, reasons.disk_full(str(folder.path)) if full else reasons.runner_error(str(error)))
            return
        self._running(job, handle)

    def _teller(self, job: Job, folder: JobFolder) -> Say:
        def say(said: str | Message) -> None:
            if isinstance(said, str):
                _say(folder, said)
            else:
                _say(folder, said.render())
                self._tell(job, said)

        return say

    def _running(self, job: Job, handle: dict[str, object]) -> None:
        def make(now: Job) -> Job:
            state = "running" if now.state == "preparing" else now.state
            return _change(now, state=state, handle=dict(handle), started=now.started or time.time(), reason=None)

        self._store.change(job.id, make)

    def _not_started(self, job: Job, reason: Message) -> None:
        if self.closing.is_set():
            return  # this process goes; the next keeper prepares again
        if self._store.get(job.id).state == "stopping":
            return
        _say(self._folder_of(job.id), reason.render(), reason.render_hint())
        if reasons.is_transient(reason) and job.attempts < self._settings.attempts:
            wait = self._settings.retry_after(job.attempts)
            again = reasons.tried_again(reason, wait, job.attempts + 1, self._settings.attempts)
            _say(self._folder_of(job.id), again.render_hint())
            later = time.time() + wait
            self._store.change(job.id, lambda now: _change(now, state="queued", not_before=later, reason=again))
        else:
            self._fail(job, reason)

    def _fail(self, job: Job, reason: Message) -> None:
        with contextlib.suppress(PaddleGpuError):
            self._store.change(job.id, lambda now: _change(now, state="failed", reason=reason, ended=time.time()))

    def _unwanted(self, job_id: str) -> bool:
        try:
            return self.closing.is_set() or self._store.get(job_id).state != "preparing"
        except PaddleGpuError:
            return True

    def _copy_checkpoints(self, job: Job, folder: JobFolder) -> None:
        """A re-run goes on from what the job before it saved."""
        if folder.checkpoints.is_symlink():
            folder.checkpoints.unlink()
        folder.checkpoints.mkdir(parents=True, exist_ok=True)
        if not job.spec.rerun_of or any(folder.checkpoints.iterdir()):
            return
        before = self._folder_of(job.spec.rerun_of).checkpoints
        if before.is_dir():
            own_files.copy_tree(before, folder.checkpoints)

    # ---- reconciling

    def _reconcile(self, job: Job, observation: Seen | None) -> None:
        engine = self._engines.get(job.spec.engine)
        if engine is None:
            self._tell(job, reasons.engine_unknown(job.spec.engine))
            return
        if job.id in self._preparing:
            return
        if isinstance(observation, Exception):
            raise observation
        if observation is None:
            return
        folder = self._folder_of(job.id)
        if job.state == "preparing":
            # Whoever prepared it is gone. What it started is taken over, what it did not is done again.
            self._prepare_in_thread(job)
            return
        if observation.state in ("absent", "ended"):
            self._end(job, engine, folder, observation)
            return
        self._update_progress(job, folder, observation)
        if observation.state == "running":
            self._sampling.look(job, engine, folder)
        if job.state == "stopping":
            self._push_stop(job, engine, folder)
        elif self._over_time(job, observation):
            self._stop(job.id)

    def _over_time(self, job: Job, observation: Observation) -> bool:
        # The runner keeps the limit itself; this is for one that hangs.
        limit, ran = job.spec.resources.seconds, self._run_times.seconds(job.id, observation.seconds)
        return bool(limit and ran > limit + self._settings.time_limit_grace)

    def _stop(self, job_id: str) -> None:
        self._store.change(job_id, lambda now: _change(now, state="stopping"))

    def _push_stop(self, job: Job, engine: Engine, folder: JobFolder) -> None:
        asked = self._stopping.get(job.id)
        if asked is None:
            self._stopping[job.id] = time.monotonic()
            engine.stop(job, folder, force=job.force)
            if job.force:
                self._killed.add(job.id)
            return
        late = time.monotonic() - asked > self._settings.stop_seconds + self._settings.kill_seconds
        if (late or job.force) and job.id not in self._killed:
            self._killed.add(job.id)
            engine.stop(job, folder, force=True)

    def _update_progress(self, job: Job, folder: JobFolder, observation: Observation) -> None:
        reader, written = self._progress.get(job.id) or (ProgressReader(folder.events), 0.0)
        self._progress[job.id] = (reader, written)
        now = time.monotonic()
        if now - written < self._settings.progress_seconds:
            return
        progress = reader.read(time.time())
        started = job.started or observation.started
        if progress != job.progress or started != job.started or observation.reason != job.reason:
            self._progress[job.id] = (reader, now)

            def make(row: Job) -> Job:
                return _change(row, progress=progress, started=started, reason=observation.reason)

            self._store.change(job.id, make)

    def _end(self, job: Job, engine: Engine, folder: JobFolder, observation: Observation) -> None:
        if not own_files.is_file(folder.result):
            self._keep_engine_log(job, engine, folder)
        engine.collect(job, folder)
        ending = with_measurements(ending_of(job, folder, observation), job, self._sampling.finish(job, folder))
        ending = self._learnt_from(job, self._with_lost_device(job, ending))
        if ending.result is None or ending.result.reason == "runner_vanished":
            _say(folder, ending.reason.render())
            _publish_partial(job, folder)
        reader, _ = self._progress.get(job.id) or (ProgressReader(folder.events), 0.0)
        progress = _change(reader.read(time.time()), seconds_left=None)

        def make(now: Job) -> Job:
            ran = ending.result.seconds if ending.result else None
            started, ended = clocks.span(now.started, ending.ended or time.time(), ran)
            return _change(
                now,
                state=ending.state,
                reason=ending.reason,
                result=ending.result,
                progress=progress,
                started=started,
                ended=ended,
            )

        self._store.change(job.id, make)
        self._run_times.forget(job.id)
        self._progress.pop(job.id, None)
        self._stopping.pop(job.id, None)
        self._killed.discard(job.id)

    def _with_lost_device(self, job: Job, ending: Ending) -> Ending:
        """A card that failed explains an end better than the error that followed from it."""
        if ending.state != "failed" or not job.device_ids or self._inventory is None:
            return ending
        reason = lost_device(job, self._inventory().devices)
        return ending if reason is None else _change(ending, reason=reason)

    def _learnt_from(self, job: Job, ending: Ending) -> Ending:
        """Before the row says that it ended: whoever dies in between leaves it to the next one to learn from it."""
        if self._learn is None or ending.state != "succeeded" or ending.result is None:
            return ending
        try:
            notes = (*ending.result.notes, *self._learn(job, ending.result))
        except Exception:  # a job that ended well must be said to have
            _logger.exception("learning from job %s", job.id)
            return ending
        return _change(ending, result=_change(ending.result, notes=notes))

    def _keep_engine_log(self, job: Job, engine: Engine, folder: JobFolder) -> None:
        lines = [line for _, line in engine.log(job, folder, "")]
        if lines:
            _say(folder, *lines[-1000:])

    def wait_for_preparations(self, seconds: float) -> None:
        """Let preparations notice that this process goes."""
        self.closing.set()
        deadline = time.monotonic() + seconds
        for thread in list(self._preparing.values()):
            if thread.ident is None:  # about to start: it sees the sign before it does anything
                continue
            thread.join(max(0.0, deadline - time.monotonic()))


def _say(folder: JobFolder, *texts: str) -> None:
    log.say(folder, *[text for text in texts if text])


def _clear_attempt(folder: JobFolder) -> None:
    """A new attempt starts without the last one's end; the log goes on, checkpoints stay."""
    for path in (folder.result, folder.identity, folder.events, folder.statistics):
        own_files.remove_tree(path)
    ranks.clear(folder)


def _publish_partial(job: Job, folder: JobFolder) -> None:
    """A runner that was killed could not publish what it had."""
    with contextlib.suppress(OSError):
        publish(job, folder)


def publish(job: Job, folder: JobFolder) -> Path:
    """Copy the notebook as executed so far to where the job's output belongs, through no link that the job could have
    put on either side. Raises `OSError`."""
    output, root, executed = Path(job.spec.output), Path(job.spec.folder), own_files.read(folder.notebook)
    if output.is_relative_to(root):
        own_files.write_below(root, output, executed)
    else:
        output.parent.mkdir(parents=True, exist_ok=True)
        own_files.write(output, executed)
    return output
