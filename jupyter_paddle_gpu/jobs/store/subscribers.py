"""Who is told of changes to jobs, whichever process made them."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from ...domain.jobs.job import Job
from .job_store import Changes

_logger = logging.getLogger(__name__)

JobCallback = Callable[[str, Job | None], None]
"""Called with a job's id and its new row, None where it was deleted; from the service's thread."""


class Subscribers:
    """Thread-safe."""

    def __init__(self) -> None:
        self._callbacks: dict[int, JobCallback] = {}
        self._lock = threading.Lock()

    def __bool__(self) -> bool:
        return bool(self._callbacks)

    def add(self, callback: JobCallback) -> Callable[[], None]:
        """Tell it from now on; what is returned ends that."""
        with self._lock:
            key = max(self._callbacks, default=0) + 1
            self._callbacks[key] = callback
        return lambda: self._forget(key)

    def _forget(self, key: int) -> None:
        with self._lock:
            self._callbacks.pop(key, None)

    def tell(self, changes: Changes) -> None:
        """Tell everybody of everything, in order."""
        with self._lock:
            callbacks = list(self._callbacks.values())
        told: list[tuple[str, Job | None]] = [(job.id, job) for job in changes.jobs]
        told += [(job_id, None) for job_id in changes.deleted]
        for job_id, job in told:
            for callback in callbacks:
                _call(callback, job_id, job)


def _call(callback: JobCallback, job_id: str, job: Job | None) -> None:
    # A listener's fault must not end the thread that everything else relies on.
    try:
        callback(job_id, job)
    except Exception:
        _logger.exception("telling of job %s", job_id)
