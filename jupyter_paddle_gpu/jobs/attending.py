"""Looking after the queue: one process of a user does it, elected by a file lock, and others stand by."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable
from pathlib import Path

from ..domain.jobs.job import ACTIVE
from .plans.periodic import PeriodicTasks
from .reading import JobReader
from .reconciler import Reconciler
from .settings import JobSettings
from .store.doorbell import Doorbell
from .store.job_store import JobStore
from .store.lock import FileLock
from .store.subscribers import JobCallback, Subscribers

_logger = logging.getLogger(__name__)


class Attendant(JobReader):
    """Has the reconciler step while this process is the one that looks after the queue.

    Args:
        reconciler: of one thread at a time, that of whoever has the queue's lock.
        dispatcher: how a detached dispatcher is started when no process looks after the queue; None: it is not.
        periodic: what is looked after beside the queue.
    """

    def __init__(
        self,
        store: JobStore,
        folder: Path,
        settings: JobSettings,
        reconciler: Reconciler,
        *,
        dispatcher: Callable[[], None] | None,
        periodic: PeriodicTasks | None,
    ) -> None:
        super().__init__(store, folder, settings)
        self._reconciler = reconciler
        self._lock_path = store.path.with_suffix(".lock")
        self._lock = FileLock(self._lock_path)
        self._standby_lock = FileLock(store.path.with_suffix(".standby"))
        self._dispatcher = dispatcher
        self._periodic = periodic
        self._subscribers = Subscribers()
        self._wake = Doorbell(store.path.with_suffix(".bell"))
        self._turn = threading.Lock()  # starting and stopping, one at a time
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self._leaving: threading.Thread | None = None
        self._late: threading.Thread | None = None
        self._successor_due = math.inf  # on the monotonic clock: when somebody is to stand by

    def subscribe(self, callback: JobCallback) -> Callable[[], None]:
        """Be told of every change, whichever process made it, as long as this service is started."""
        forget = self._subscribers.add(callback)
        self._wake.ring()
        return forget

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
            if self._periodic is not None:
                self._periodic.close(timeout)
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
        return self._has_jobs() or (self._periodic is not None and self._periodic.pending())

    def _has_jobs(self) -> bool:
        if self.store.select(states=ACTIVE, limit=1) or self.store.with_open_notices():
            return True
        return any(not job.held for job in self.store.select(states=("queued",)))

    def _step(self) -> bool:
        busy = self._reconciler.step()
        return (self._periodic is not None and self._periodic.look()) or busy

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
