"""Which job a person means who types only a part of its id."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...domain.errors import PaddleGpuError
from ...domain.jobs.job import NEWEST, Job

if TYPE_CHECKING:
    from ...jobs.service import JobService

NO_JOBS = "There are no jobs yet."


def find_job(jobs: JobService, text: str) -> Job:
    """The job by its id, by the beginning or the end of it, by its name (of those that have not ended, first), or the
    newest one."""
    known = jobs.list()
    if text == NEWEST and known:
        return max(known, key=lambda job: job.created)
    if text == NEWEST:
        raise PaddleGpuError("no_jobs", NO_JOBS, hint="`jupyter paddle-gpu submit train.ipynb` makes one.", status=404)
    found = [job for job in known if job.id == text]
    found = found or [job for job in known if text and (job.id.startswith(text) or job.id.endswith(text))]
    named = [job for job in known if job.spec.name == text]
    found = found or [job for job in named if not job.ended] or named
    if len(found) > 1:
        raise PaddleGpuError(
            "ambiguous_job",
            "“{start}” fits several jobs: {ids}.",
            hint="Type more of it.",
            start=text,
            ids=", ".join(job.id for job in found[:5]),
        )
    if not found:
        raise PaddleGpuError(
            "no_such_job",
            "There is no job “{id}”.",
            hint="`jupyter paddle-gpu jobs` lists them.",
            status=404,
            id=text,
        )
    return found[0]


def is_job(jobs: JobService, text: str) -> bool:
    """Whether this names a job, or several, and no file."""
    if "." in text or "/" in text:
        return False
    return text == NEWEST or any(
        text and (job.id.startswith(text) or job.id.endswith(text) or job.spec.name == text) for job in jobs.list()
    )
