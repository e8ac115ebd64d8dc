"""Sends the notices of jobs that have ended: each once, whatever process does it, and never in anybody's way.

A job's row and the store's list of rows with open notices are written in one transaction with its end. Before a notice
is handed over its row says so: one that is found like that by another process may have arrived, and is not sent again.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

import msgspec

from ...domain.errors import PaddleGpuError
from ...domain.jobs.job import Job
from ...domain.jobs.notices import OPEN, Notice
from ...domain.messages import Message
from ..settings import JobSettings
from ..store.job_store import JobStore

_logger = logging.getLogger(__name__)
_change = msgspec.structs.replace
THREADS = 2
"""One receiver that does not answer must not hold up the others."""


class Tell(Protocol):
    """How somebody is told."""

    def send(self, receiver: str, job: Job, started: Callable[[], None]) -> bool:
        """Tell of a job; False where the receiver does not want this kind of end. Raises `PaddleGpuError`."""

    def is_final(self, error: PaddleGpuError) -> bool:
        """Whether another attempt would only fail again."""


class Notifying:
    """One step is one look at the open notices; sending goes on in threads of its own."""

    def __init__(self, store: JobStore, settings: JobSettings, tell: Tell | None) -> None:
        self._store, self._settings, self._tell = store, settings, tell
        self._under_way: set[tuple[str, str]] = set()
        self._in_threads: set[tuple[str, str]] = set()
        self._lock = threading.Lock()
        self._pool: ThreadPoolExecutor | None = None

    def step(self) -> bool:
        """Begin what is due; False where nothing is open."""
        if self._tell is None:
            return False
        waiting = self._store.with_open_notices()
        for job in waiting:
            for notice in job.notices:
                if notice.state in OPEN:
                    self._look(job, notice)
        return bool(waiting)

    def close(self) -> None:
        """Begin nothing more. What is being handed over ends by itself, or is `unsure` to the next process."""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            self._under_way &= self._in_threads

    def _look(self, job: Job, notice: Notice) -> None:
        key = (job.id, notice.receiver)
        with self._lock:
            if key in self._under_way:
                return
            if notice.state == "due" and time.time() >= (notice.not_before or 0.0):
                self._under_way.add(key)
                self._pool = self._pool or ThreadPoolExecutor(THREADS, thread_name_prefix="paddle-gpu notices")
                self._pool.submit(self._send, job, notice)
                return
        if notice.state == "sending":
            self._write(job.id, notice.receiver, state="unsure", problem=_unsure(notice.receiver))

    def _send(self, job: Job, notice: Notice) -> None:
        name, attempts = notice.receiver, notice.attempts + 1
        handed = False
        with self._lock:
            self._in_threads.add((job.id, name))

        def started() -> None:
            nonlocal handed
            self._write(job.id, name, state="sending", attempts=attempts)
            handed = True

        try:
            assert self._tell is not None
            wanted = self._tell.send(name, job, started)
            self._write(job.id, name, state="sent" if wanted else "unwanted", attempts=attempts, problem=None)
        except PaddleGpuError as error:
            self._failed(job.id, name, attempts, error, arrived=handed and error.code == "notice_unreachable")
        except Exception:
            _logger.exception("telling of job %s", job.id)
            self._write(job.id, name, state="failed", attempts=attempts, problem=_broken(name))
        finally:
            with self._lock:
                self._under_way.discard((job.id, name))
                self._in_threads.discard((job.id, name))

    def _failed(self, job_id: str, name: str, attempts: int, error: PaddleGpuError, *, arrived: bool) -> None:
        assert self._tell is not None
        if arrived:  # no answer came: it may have arrived, and nobody is to be told twice
            self._write(job_id, name, state="unsure", attempts=attempts, problem=_unsure(name))
        elif self._tell.is_final(error) or attempts >= self._settings.notice_attempts:
            self._write(job_id, name, state="failed", attempts=attempts, problem=error.message)
        else:
            later = time.time() + self._settings.retry_after(attempts)
            self._write(job_id, name, state="due", attempts=attempts, not_before=later, problem=error.message)

    def _write(self, job_id: str, receiver: str, **fields: object) -> None:
        def make(job: Job) -> Job:
            changed = tuple(
                _change(one, time=time.time(), **fields) if one.receiver == receiver else one for one in job.notices
            )
            return _change(job, notices=changed)

        with contextlib.suppress(PaddleGpuError):  # deleted meanwhile
            self._store.change(job_id, make)


def _unsure(name: str) -> Message:
    return Message(
        code="notice_unsure",
        text="“{name}” may have been told, or not: no answer came.",
        hint="It is not sent a second time.",
        params={"name": name},
    )


def _broken(name: str) -> Message:
    return Message(
        code="notice_broken",
        text="“{name}” could not be told.",
        hint="The server's log tells more.",
        params={"name": name},
    )
