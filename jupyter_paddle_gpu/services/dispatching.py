"""What the detached dispatcher looks after the queue with: the same engines and devices as every face."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .service import Services
from .settings import Settings

if TYPE_CHECKING:
    from ..jobs.service import JobService


def job_service(data_folder: Path) -> JobService:
    """The jobs of a data folder, with all engines. Raises `PaddleGpuError`: a policy file is wrong."""
    services = Services(Settings(data_folder=data_folder))
    _ = services.policies  # nothing starts without them
    return services.jobs
