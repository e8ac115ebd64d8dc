"""The ways in which a job is taken elsewhere. Raises `PaddleGpuError` (404) where there is no such job."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ....domain.messages import Translate, untranslated
from .archive import archive
from .report import report
from .table import metrics_csv

if TYPE_CHECKING:
    from ....jobs.service import JobService


class Exports:
    """The exports of a user's jobs."""

    def __init__(self, jobs: JobService) -> None:
        self._jobs = jobs

    def report(self, job_id: str, translate: Translate = untranslated) -> str:
        """The job on one HTML page, in a reader's language."""
        return report(self._jobs, self._jobs.get(job_id), translate)

    def archive(self, job_id: str) -> Iterator[bytes]:
        """All that the job left as a ZIP archive, piece by piece."""
        return archive(self._jobs, self._jobs.get(job_id))

    def metrics_csv(self, job_id: str) -> str:
        """What the training said of itself as CSV."""
        return metrics_csv(self._jobs.metrics(job_id))
