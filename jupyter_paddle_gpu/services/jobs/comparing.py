"""Two jobs side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...domain.jobs.differences import run_differences
from ..requests import Comparison
from .reruns import source_of

if TYPE_CHECKING:
    from ...jobs.service import JobService


def compare(jobs: JobService, before: str, after: str) -> Comparison:
    """What the second job has otherwise than the first, code included. Raises `PaddleGpuError` (404, 409)."""
    from ...notebook.files.comparing import compare_code

    one, other = jobs.get(before), jobs.get(after)
    code = compare_code(source_of(jobs, one), source_of(jobs, other))
    return Comparison(differs=run_differences(one.spec, other.spec), code=code)
