"""The viewer of the event files that a job's notebook writes."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ...domain.errors import PaddleGpuError
from ...domain.jobs.job import Job
from ...viewers.viewer import VIEWERS, Viewer

if TYPE_CHECKING:
    from ...jobs.service import JobService
    from ...viewers.running import Viewers


def open_viewer(
    jobs: JobService, viewers: Viewers, job_id: str, name: str, prefix: str, *, again: bool = False
) -> Path:
    """The socket on which the viewer shows what the job wrote.

    Args:
        prefix: path under which the browser reaches it.
        again: start it anew: it did not answer.

    Raises:
        PaddleGpuError: `no_such_job` (404), `nothing_to_view` (404), `viewer_missing` (409), `viewer_failed` (502).
    """
    job = jobs.get(job_id)
    viewer = VIEWERS.get(name)
    folder = None if viewer is None else _folder(jobs, job, viewer)
    if viewer is None or folder is None:
        raise PaddleGpuError(
            "nothing_to_view",
            "Job {id} has no files for {viewer} that are still there.",
            hint="They may have been moved, or written where only the job's container could see them.",
            status=404,
            id=job_id,
            viewer=viewer.title if viewer else name[:40],
        )
    return viewers.open(viewer, job.id, folder=folder, prefix=prefix, pythons=_pythons(job), again=again)


def _folder(jobs: JobService, job: Job, viewer: Viewer) -> Path | None:
    """Where the job wrote: of several folders the one that holds them all, where it lies below the notebook's."""
    told = [jobs.on_host(job, one.folder) for one in job.progress.event_files if one.viewer == viewer.name]
    there = [folder for folder in told if folder is not None and _has_files(folder, viewer)]
    if not there:
        return None
    common = Path(os.path.commonpath(there))
    whole = jobs.on_host(job, job.spec.folder)
    return common if len(there) == 1 or (whole is not None and common.is_relative_to(whole)) else there[-1]


def _has_files(folder: Path, viewer: Viewer) -> bool:
    try:
        with os.scandir(folder) as entries:
            return any(entry.name.startswith(viewer.files) for entry in entries)
    except OSError:
        return False


def _pythons(job: Job) -> list[str]:
    """The kernel's interpreter, which wrote the files, then the server's own."""
    found = [python for python in (job.spec.python, sys.executable) if python and os.access(python, os.X_OK)]
    return list(dict.fromkeys(found)) or [sys.executable]
