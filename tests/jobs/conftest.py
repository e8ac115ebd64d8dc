"""A real job service on a data folder of its own, with the local engine and real processes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from jupyter_paddle_gpu.domain.jobs.job import Job, JobSpec
from jupyter_paddle_gpu.engines.local import LocalEngine
from jupyter_paddle_gpu.jobs.service import JobService
from jupyter_paddle_gpu.jobs.settings import JobSettings
from tests.work import end_all, notebook

FAST = JobSettings(active_seconds=0.05, idle_seconds=0.2, progress_seconds=0.1, wait_seconds=0.05, linger_seconds=0.3)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


@pytest.fixture
def spec(work: Path) -> Callable[..., JobSpec]:
    def make(name: str = "job", **fields: Any) -> JobSpec:
        path = str(work / f"{name}.ipynb")
        known = {"notebook": path, "output": str(work / "out" / f"{name}.ipynb"), "folder": str(work)}
        return JobSpec(**{**known, "name": name, "engine": "local", **fields})

    return make


@pytest.fixture
def open_service(tmp_path: Path) -> Iterator[Callable[..., JobService]]:
    services: list[JobService] = []

    def make(settings: JobSettings = FAST, **options: Any) -> JobService:
        services.append(
            JobService.open(
                {"local": LocalEngine()},
                data_folder=tmp_path / "data",
                settings=settings,
                **{"factory": "jupyter_paddle_gpu.services.dispatching:job_service", **options},
            )
        )
        return services[-1]

    yield make
    if services:
        end_all(services[-1])
    for service in services:
        service.stop()


@pytest.fixture
def service(open_service: Callable[..., JobService]) -> JobService:
    service = open_service()
    service.start()
    return service


@pytest.fixture
def make_notebook() -> Callable[..., str]:
    return lambda *sources: json.dumps(notebook(*sources))


@pytest.fixture
def texts(open_service: Any) -> Callable[[JobService, Job], list[str]]:
    def read(service: JobService, job: Job) -> list[str]:
        lines, since = [], 0
        while True:
            page = service.log(job.id, since)
            lines += [line.text for line in page.lines if line.stream == "stdout"]
            if page.next >= page.total:
                return lines
            since = page.next

    return read
