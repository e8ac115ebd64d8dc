"""How a row begins, and changes of rows that the reconciler and the threads that start jobs have in common."""

from __future__ import annotations

import contextlib
import getpass
import logging
import time
from collections.abc import Callable

import msgspec

from ...domain.errors import PaddleGpuError
from ...domain.jobs.job import Job, JobSpec, QueuePlace
from ...domain.messages import Message
from .. import names
from .job_store import JobStore

_logger = logging.getLogger(__name__)
_change = msgspec.structs.replace


def tell(store: JobStore, job: Job, reason: Message) -> None:
    """Say in the row why the job is where it is, unless it has moved meanwhile."""
    with contextlib.suppress(PaddleGpuError):
        store.change(job.id, lambda now: _change(now, reason=reason) if now.state == job.state else now)


def tell_place(store: JobStore, job: Job, reason: Message | None, place: QueuePlace | None) -> None:
    """Say in the row what a job waits for (None: as it was) and where, unless it has moved meanwhile."""
    reason = reason or job.reason
    if reason == job.reason and place == job.place:
        return
    with contextlib.suppress(PaddleGpuError):
        store.change(job.id, lambda now: _change(now, reason=reason, place=place) if now.state == job.state else now)


def fail(store: JobStore, job: Job, reason: Message) -> None:
    """End the job, unless somebody else has."""
    with contextlib.suppress(PaddleGpuError):
        store.change(job.id, lambda now: _change(now, state="failed", reason=reason, ended=time.time()))


def guard(store: JobStore, job: Job, act: Callable[[Job], None]) -> None:
    """Do something for a job. Its trouble (an engine that does not answer, a folder that is gone) is told in its row
    and is nobody else's."""
    try:
        act(job)
    except PaddleGpuError as error:
        if error.code not in ("bad_move", "no_such_job"):  # somebody else was quicker: nothing to do
            tell(store, job, error.message)
    except Exception:
        _logger.exception("looking after job %s", job.id)


def new_job(spec: JobSpec) -> Job:
    """The row of a job that is submitted now, with an id of its own."""
    now = time.time()
    job_id = names.new_id(now)
    spec = _change(spec, output=names.output_of(spec.output, job_id))
    return Job(id=job_id, spec=spec, state="queued", created=now, updated=now, owner=owner(), priority=spec.priority)


def owner() -> str:
    """The name of this user; empty where the system has none."""
    with contextlib.suppress(Exception):  # no entry in the user database: a container's bare uid
        return getpass.getuser()
    return ""
