"""What a job's state is called, the same in all faces."""

from __future__ import annotations

from .job import Job

STATE_WORDS: dict[str, str] = {
    "queued": "waiting",
    "preparing": "preparing",
    "running": "running",
    "stopping": "stopping",
    "succeeded": "done",
    "failed": "failed",
    "cancelled": "stopped",
}
"""What people read in all faces; the panel's are in `src/components/jobs/words.ts`, by the same catalogue."""
PROGRAM_FAILED = "done, its program failed"
"""Of one that succeeded: a program that a cell started has failed, behind which a notebook goes on."""


def state_words(job: Job) -> str:
    """The state of a job, as people read it in all faces."""
    has_failed = job.state == "succeeded" and job.result is not None and bool(job.result.program_status)
    return PROGRAM_FAILED if has_failed else STATE_WORDS[job.state]
