"""Keeps rows true: dispatches what is queued and reconciles what is active with engine and folder.

One process of a user does this at a time (a lock that its death releases); everybody else only writes requests into the
store: a new job, a cancel. Nothing here is remembered that the next reconciler could not find again.
"""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ..claims.records import Given
from ..domain.devices import Inventory
from ..domain.errors import PaddleGpuError
from ..domain.jobs import reasons
from ..domain.jobs.job import ACTIVE, Job, JobResult
from ..domain.messages import Message
from ..engines import own_files
from ..engines.base import Engine, JobFolder, Observation
from ..engines.capabilities import explained, inventory_of
from ..matching.policy import Policy
from ..matching.waiting import no_longer
from .folder import log
from .folder.progress import ProgressReader
from .monitoring import clocks, leftovers, space
from .monitoring.device_failures import lost_device
from .monitoring.device_use import unused_device
from .monitoring.endings import Ending, ending_of, warning_of, with_measurements
from .monitoring.notifying import Notifying, Tell
from .monitoring.observing import Observing, Seen
from .monitoring.sampling import Sampling
from .scheduling import admission, queue
from .scheduling.planning import Planner
from .scheduling.queue_view import place_of, with_next_step
from .scheduling.starting import Starting
from .settings import JobSettings
from .store import rows
from .store.job_store import JobStore

if TYPE_CHECKING:
    from ..claims.boards import Boards
    from ..claims.claims import Claims

_logger = logging.getLogger(__name__)
_change = msgspec.structs.replace

Learn = Callable[[Job, JobResult], tuple[Message, ...]]
"""What is done with a job that ended well, and what is to be said of it. Must bear being called again."""


class Reconciler:
    """One step is one look at everything; `step` is called by one thread, preparations run in threads of their own
    (`starting`)."""

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
        claims: Claims | None = None,
        tell: Tell | None = None,
        boards: Boards | None = None,
    ) -> None:
        self._store, self._folder_of, self._engines = store, folder_of, engines
        self._settings, self._inventory = settings, inventory
        self._progress: dict[str, tuple[ProgressReader, float]] = {}
        self._sampling = Sampling(settings, inventory)
        self.planner = Planner(store, engines, settings, inventory, policy=policy, claims=claims, boards=boards)
        self._starting = Starting(store, folder_of, engines, settings, claims)
        self._learn = learn
        self._notifying = Notifying(store, settings, tell)
        self._stopping: dict[str, float] = {}  # job -> when it was asked to stop, on the monotonic clock
        self._killed: set[str] = set()
        self._run_times = clocks.RunTimes()
        self._claims = claims
        self._observing = Observing(engines, folder_of, patience=settings.engine_seconds)
        self._name = f"{socket.gethostname()}:{os.getpid()}"
        self._swept = False

    def step(self) -> bool:
        """Look after every queued and active job once; False where there is none."""
        if not self._swept:  # what a crash left; afterwards everything is known that is started
            self._swept = True
            leftovers.sweep(self._store, self._engines)
        self._starting.forget_ended()
        active = self._store.select(states=ACTIVE, oldest_first=True)  # in order, too, what is left to be started anew
        here = [job for job in active if job.id not in self._starting and job.spec.engine in self._engines]
        seen = self._observing.ask(here)
        self._keep_claims(active, seen)
        for job in active:
            rows.guard(self._store, job, partial(self._reconcile, observation=seen.get(job.id)))
        queued = self._store.select(states=("queued",), oldest_first=True)
        self.planner.tell(queued, active)
        if queued:
            self._dispatch(queued)
        return self._notifying.step() or bool(active or any(not job.held for job in queued))

    def open(self) -> None:
        """Steps are taken from now on."""
        self._starting.open()

    def close(self, seconds: float) -> None:
        """No step is taken any more: let preparations end, for so many seconds."""
        self._notifying.close()
        self._starting.close(seconds)

    def _keep_claims(self, active: Iterable[Job], seen: Mapping[str, Seen]) -> None:
        """What other users are told of this store's jobs."""
        if self._claims is None:
            return
        given: dict[str, Given] = {}
        for job in active:
            now = seen.get(job.id)
            running = isinstance(now, Observation) and now.state == "running"
            if job.device_ids:
                pid = now.pid if isinstance(now, Observation) else None
                given[job.id] = Given(job.device_ids, running, pid, tuple(part.bytes for part in job.shares))
        self._claims.keep(given)

    # ---- dispatching

    def _dispatch(self, queued: tuple[Job, ...]) -> None:
        plan = self.planner.plan(queued, self._store.select(states=ACTIVE))
        self.planner.note(plan)
        for turn in plan.turns:
            if turn.job.spec.engine == queue.ANOTHERS:
                continue
            if turn.job.spec.engine not in self._engines:
                rows.fail(self._store, turn.job, reasons.engine_unknown(turn.job.spec.engine))
            elif turn.reason is not None and turn.reason.code == admission.WAITED_TOO_LONG:
                rows.fail(self._store, turn.job, turn.reason)
            elif turn.hopeless and turn.reason:  # it was not when it was accepted
                if (told := no_longer(turn.reason)) != turn.job.reason:
                    rows.tell(self._store, turn.job, told)
            elif turn.start:
                rows.guard(self._store, turn.job, partial(self._begin, turn=turn))
            else:
                place = place_of(turn, turn.job.place, time.time())
                rows.tell_place(self._store, turn.job, with_next_step(turn.reason), place)

    def _begin(self, job: Job, turn: queue.Turn) -> None:
        names = self.planner.names(turn)

        def make(now: Job) -> Job:
            if now.state != "queued":  # cancelled since the queue was read, or begun by another reconciler
                raise PaddleGpuError("bad_move", "Job {id} is {state} already.", status=409, id=now.id, state=now.state)
            return _change(
                now,
                state="preparing",
                device_ids=turn.device_ids,
                device_names=names,
                shares=turn.shares,
                price=self.planner.price(turn),
                # It still stands while this one tries whether the engine answers again.
                reason=now.reason if now.reason and now.reason.code == reasons.ENGINE_AWAY else None,
                attempts=now.attempts + 1,
                not_before=None,
                server_id=self._name,
                place=None,
            )

        try:
            begun = self._store.change(job.id, make, claim=turn.device_ids, shares=turn.shares)
        except PaddleGpuError as error:
            raise PaddleGpuError.of(reasons.called(error.message, names), status=error.status) from error
        self._starting.begin(begun)

    # ---- reconciling

    def _reconcile(self, job: Job, observation: Seen | None) -> None:
        engine = self._engines.get(job.spec.engine)
        if engine is None:
            rows.tell(self._store, job, reasons.engine_unknown(job.spec.engine))
            return
        if job.id in self._starting:
            return
        if isinstance(observation, Exception):
            raise observation
        if observation is None:
            return
        folder = self._folder_of(job.id)
        if job.state == "preparing":
            # Whoever prepared it is gone. What it started is taken over, what it did not is done again.
            self._starting.begin(job)
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
            self._stop(job)

    def _over_time(self, job: Job, observation: Observation) -> bool:
        # The runner keeps the limit itself; this is for one that hangs.
        limit, ran = job.spec.resources.seconds, self._run_times.seconds(job.id, observation.seconds)
        return bool(limit and ran > limit + self._settings.time_limit_grace)

    def _stop(self, job: Job) -> None:
        """Its runner let the time limit pass. The row says so, or the end would be a cancel."""
        reason = reasons.time_limit(job.spec.resources.seconds or 0.0)

        def make(now: Job) -> Job:
            return now if now.state == "stopping" else _change(now, state="stopping", reason=reason)

        self._store.change(job.id, make)

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
        reader, written = self._progress.get(job.id) or (_progress_of(job, folder), 0.0)
        self._progress[job.id] = (reader, written)
        now = time.monotonic()
        if now - written < self._settings.progress_seconds:
            return
        progress = reader.read(time.time())
        started = job.started or observation.started
        reason = observation.reason or space.held_up(job, folder)
        if job.state == "stopping" and job.reason is not None and job.reason.code == "time_limit":
            reason = job.reason  # why it stops
        if progress != job.progress or started != job.started or reason != job.reason:
            self._progress[job.id] = (reader, now)

            def make(row: Job) -> Job:
                return _change(row, progress=progress, started=started, reason=reason)

            self._store.change(job.id, make)

    def _end(self, job: Job, engine: Engine, folder: JobFolder, observation: Observation) -> None:
        if not own_files.is_file(folder.result):
            self._keep_engine_log(job, engine, folder)
        engine.collect(job, folder)
        ending = with_measurements(ending_of(job, folder, observation), job, self._sampling.finish(job, folder))
        ending = self._learnt_from(job, self._with_lost_device(job, engine, ending))
        ending = _change(ending, reason=reasons.called(explained(engine, ending.reason), job.device_names))
        if ending.result is None or ending.result.reason == "runner_vanished":
            log.say(folder, *list(log.phrases(ending.reason))[:1])
            _publish_partial(job, folder)
        reader, _ = self._progress.get(job.id) or (_progress_of(job, folder), 0.0)
        progress = _change(reader.read(time.time()), seconds_left=None)
        warning = warning_of(ending) or progress.warning or unused_device(job, ending.result)
        progress = _change(progress, warning=warning)

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

    def _with_lost_device(self, job: Job, engine: Engine, ending: Ending) -> Ending:
        """A card that failed explains an end better than the error that followed from it."""
        if ending.state != "failed" or not job.device_ids or self._inventory is None:
            return ending
        reason = lost_device(job, inventory_of(engine, self._inventory).devices)
        return ending if reason is None else _change(ending, reason=reason)

    def _learnt_from(self, job: Job, ending: Ending) -> Ending:
        """Before the row says that it ended: whoever dies in between leaves it to the next one to learn from it."""
        if self._learn is None or ending.state not in ("succeeded", "failed") or ending.result is None:
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
            log.say(folder, *lines[-1000:])


def _progress_of(job: Job, folder: JobFolder) -> ProgressReader:
    """Goes on where the row is, which another server may have written."""
    trains = job.spec.need is not None or job.spec.estimated_allocated_bytes is not None
    counted = next((one for one in job.spec.settings.variables if one.role == "epochs" and one.name), None)
    return ProgressReader(folder.events, trains=trains, told=job.progress.share, counted=counted)


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
