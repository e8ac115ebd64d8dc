"""A real job service on a data folder of its own, with the local engine and real processes."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from jupyter_paddle_gpu.domain.jobs.job import ENDED, Job, JobSpec
from jupyter_paddle_gpu.engines.local import LocalEngine
from jupyter_paddle_gpu.jobs.service import JobService
from jupyter_paddle_gpu.jobs.settings import JobSettings

FAST = JobSettings(active_seconds=0.05, idle_seconds=0.2, progress_seconds=0.1, wait_seconds=0.05, linger_seconds=0.3)


def notebook(*sources: str) -> str:
    cells = [
        {
            "cell_type": "code",
            "id": f"cell-{number}",
            "source": source,
            "metadata": {},
            "outputs": [],
            "execution_count": None,
        }
        for number, source in enumerate(sources)
    ]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


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
        sweeper = services[-1]
        for job in sweeper.list():
            if job.state not in ENDED:
                sweeper.cancel(job.id, force=True)
        if any(job.state not in ENDED for job in sweeper.list()):
            sweeper.start()
            for job in sweeper.list():
                sweeper.wait(job.id, 30)
    for service in services:
        service.stop()


@pytest.fixture
def service(open_service: Callable[..., JobService]) -> JobService:
    service = open_service()
    service.start()
    return service


@pytest.fixture
def until() -> Callable[..., Any]:
    def wait(condition: Callable[[], Any], timeout: float = 180) -> Any:
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            if found := condition():
                return found
            time.sleep(0.02)
        raise AssertionError("did not come true")

    return wait


@pytest.fixture
def make_notebook() -> Callable[..., str]:
    return notebook


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
