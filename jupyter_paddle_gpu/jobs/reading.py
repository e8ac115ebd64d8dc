"""What is known of jobs: rows, logs, curves, the notebook. Any number of processes read; nothing here changes a row."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable
from pathlib import Path

import msgspec

from ..domain.errors import PaddleGpuError
from ..domain.jobs.figures import Figures
from ..domain.jobs.job import ENDED, Job, JobState, LogPage
from ..domain.jobs.metrics import JobMetrics
from ..domain.jobs.statistics import JobStatistics
from ..engines import own_files
from ..engines.base import JobFolder
from . import reconciler
from .folder import ranks
from .folder.figures import NOTEBOOK_BYTES, read_figures
from .folder.log import LogReaders
from .folder.metrics import MetricHistories
from .folder.statistics import History
from .settings import JobSettings
from .store.job_store import JobStore

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


class JobReader:
    """The jobs of one user, to be looked at.

    Args:
        store: the index.
        folder: holds a folder per job (`<folder>/<job id>/`).
    """

    def __init__(self, store: JobStore, folder: Path, settings: JobSettings) -> None:
        self.store, self.folder, self.settings = store, folder, settings
        self._readers = LogReaders()
        self._histories = MetricHistories()

    def folder_of(self, job_id: str) -> JobFolder:
        """A job's folder. Raises `PaddleGpuError` (404) for an id that could lead out of ours."""
        if not _ID.fullmatch(job_id):
            raise PaddleGpuError("no_such_job", "There is no job {id}.", status=404, id=job_id[:80])
        return JobFolder(self.folder / job_id)

    def get(self, job_id: str) -> Job:
        """A job. Raises `PaddleGpuError` (404)."""
        return self.store.get(job_id)

    def list(
        self,
        *,
        states: Iterable[JobState] | None = None,
        engine: str | None = None,
        notebook: str | None = None,
        limit: int | None = None,
    ) -> tuple[Job, ...]:
        """Jobs, newest first."""
        return self.store.select(states=states, engine=engine, notebook=notebook, limit=limit)

    def log(self, job_id: str, since: int = 0, limit: int | None = None, rank: int = 0) -> LogPage:
        """Lines of the log from sequence number `since` on; negative: the last so many. `rank`: of that process of a
        distributed training. A page is bounded in lines and in bytes."""
        ended = self.store.get(job_id).state in ENDED  # asked before the file: what came until then is in it
        most = self.settings.log_page_lines
        folder = self.folder_of(job_id)
        reader = self._readers.of(ranks.log_of(folder, rank), folder.path)
        page = reader.page(since, most if limit is None else min(limit, most), self.settings.log_page_bytes)
        return msgspec.structs.replace(page, ended=ended and page.next >= page.total)

    def statistics(self, job_id: str) -> JobStatistics:
        """What the job used over time; nothing for one that did not start. Raises `PaddleGpuError` (404)."""
        self.store.get(job_id)
        return History(self.folder_of(job_id), self.settings.statistics_points).statistics()

    def metrics(self, job_id: str) -> JobMetrics:
        """What the training said of itself over time. Raises `PaddleGpuError` (404)."""
        self.store.get(job_id)
        return self._histories.of(self.folder_of(job_id).events).read()

    def figures(self, job_id: str) -> Figures:
        """The pictures that its notebook has drawn so far. Raises `PaddleGpuError` (404)."""
        self.store.get(job_id)
        return Figures(read_figures(self.folder_of(job_id)))

    def source(self, job_id: str) -> bytes:
        """The notebook as it was submitted. Raises `PaddleGpuError`: `no_such_job` (404), `source_missing` (409)."""
        self.store.get(job_id)
        try:
            return own_files.read(self.folder_of(job_id).source)
        except OSError as error:
            raise PaddleGpuError(
                "source_missing",
                "The notebook of job {id} is not in its folder any more.",
                hint="Submit the notebook anew.",
                status=409,
                id=job_id,
            ) from error

    def executed(self, job_id: str) -> bytes:
        """The notebook as executed so far, as JSON in which texts are whole, not lists of lines.

        Raises:
            PaddleGpuError: `no_such_job` (404), `nothing_executed` (409), also where a job has left no notebook there.
        """
        import nbformat.v4  # of the faces only the server wants it

        self.store.get(job_id)
        try:
            written = own_files.read(self.folder_of(job_id).notebook, NOTEBOOK_BYTES)
            return json.dumps(nbformat.v4.reads(written.decode())).encode()
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            raise _nothing_executed(job_id) from error

    def publish(self, job_id: str) -> Path:
        """Copy the notebook as executed so far to the job's output path. Raises `PaddleGpuError`."""
        job = self.store.get(job_id)
        try:
            return reconciler.publish(job, self.folder_of(job_id))
        except FileNotFoundError as error:
            raise _nothing_executed(job_id) from error
        except own_files.LinkError as error:
            raise PaddleGpuError(
                "link_refused",
                "The executed notebook is not copied: {path} is a link or no plain file, which is not followed.",
                hint="Remove it; a job may have put it there.",
                status=409,
                path=str(error.filename),
            ) from error
        except OSError as error:
            raise PaddleGpuError(
                "not_published",
                "The executed notebook cannot be written to {path}: {why}",
                hint="Check the folder's permissions and free space. The job keeps it; its archive has it too.",
                status=409,
                path=job.spec.output,
                why=error.strerror or str(error),
            ) from error

    def wait(self, job_id: str, timeout: float | None = None) -> Job:
        """The job when it has ended, or as it is after `timeout` seconds."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            job = self.store.get(job_id)
            if job.state in ENDED or (deadline is not None and time.monotonic() >= deadline):
                return job
            time.sleep(self.settings.wait_seconds)


def _nothing_executed(job_id: str) -> PaddleGpuError:
    return PaddleGpuError(
        "nothing_executed",
        "Job {id} has executed nothing yet.",
        hint="Wait for it to start.",
        status=409,
        id=job_id,
    )
