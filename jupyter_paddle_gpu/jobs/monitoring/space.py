"""Whether a job is held up because its disk is full."""

from __future__ import annotations

import shutil
from pathlib import Path

from ...domain.jobs import reasons
from ...domain.jobs.job import Job
from ...domain.messages import Message
from ...engines.base import JobFolder

FULL_BYTES = 256 << 10
"""With less the runner writes no log any more: a block of it has up to this."""


def held_up(job: Job, folder: JobFolder) -> Message | None:
    """What its row says meanwhile; None where there is space."""
    for path in (folder.path, Path(job.spec.folder)):
        try:
            free = shutil.disk_usage(path).free
        except OSError:  # the folder is gone, or not to be seen from here
            continue
        if free < FULL_BYTES:
            return reasons.waits_for_space(str(path))
    return None
