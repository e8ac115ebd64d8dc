"""A user's own order among his jobs: by priority, then as he moved them, then as they came."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...domain.errors import PaddleGpuError
from ...domain.jobs.job import Job


def ordered(queued: Iterable[Job]) -> list[Job]:
    """Jobs in the order in which they are to start.

    Args:
        queued: in the order of their submission.
    """
    return sorted(queued, key=lambda job: (-job.priority, job.position is None, job.position or 0))


def moved(queued: Sequence[Job], job_id: str, before: str | None) -> dict[str, tuple[int, int]]:
    """(priority, position) of each waiting job after one was moved.

    Args:
        queued: in the order of their submission.
        before: the job that it is to stand before; None: it is to be the last.

    Raises:
        PaddleGpuError: `not_waiting` (409) where one of both does not wait.
    """
    order = ordered(queued)
    known = {job.id: job for job in order}
    for name in (job_id, before or job_id):
        if name not in known:
            raise not_waiting(name)
    rest = [job for job in order if job.id != job_id]
    at = len(rest) if before in (None, job_id) else [job.id for job in rest].index(str(before))
    if before == job_id:
        return {}
    # It takes the priority of the one it goes before: what stands lower would fall behind again.
    level = known[job_id].priority
    if rest:
        level = rest[at].priority if at < len(rest) else min(level, rest[-1].priority)
    found = [*rest[:at], known[job_id], *rest[at:]]
    return {job.id: (level if job.id == job_id else job.priority, place) for place, job in enumerate(found, 1)}


def not_waiting(job_id: str) -> PaddleGpuError:
    """Of a job that runs or has ended."""
    return PaddleGpuError(
        "not_waiting",
        "Job {id} does not wait in the queue.",
        hint="`jupyter paddle-gpu queue` lists the jobs that do.",
        status=409,
        id=job_id,
    )
