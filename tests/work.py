"""Notebooks, jobs, and servers that look after them, as tests of several rooms have them."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from jupyter_paddle_gpu.domain.jobs.job import ENDED
from jupyter_paddle_gpu.jobs.service import JobService

PATIENCE = 180.0
"""Seconds after which a test gives up waiting; on a machine that is not busy nothing takes a tenth of it."""


def notebook(*sources: str, **metadata: Any) -> dict[str, Any]:
    """The content of a notebook with these code cells."""
    empty: dict[str, Any] = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    cells = [{**empty, "id": f"cell-{number}", "source": source} for number, source in enumerate(sources)]
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def wait_until(condition: Callable[[], Any], timeout: float = PATIENCE) -> Any:
    """Wait for something to be true, and return it."""
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        if found := condition():
            return found
        time.sleep(0.02)
    raise AssertionError("did not come true")


def end_all(service: JobService) -> None:
    """Leave no job of a store running or waiting."""
    for job in service.list():
        if job.state not in ENDED:
            service.cancel(job.id, force=True)
    if any(job.state not in ENDED for job in service.list()):
        service.start()
        for job in service.list():
            service.wait(job.id, 30)


class Server:
    """A process of its own that says when it is up and looks after jobs until it is killed.

    Args:
        program: prints `up` when it looks after the jobs of the data folder that is its argument.
    """

    def __init__(self, program: str, data: Path, environment: Mapping[str, str] | None = None) -> None:
        data.mkdir(exist_ok=True)
        command = [sys.executable, "-c", program, str(data)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment)
        assert self.process.stdout
        assert self.process.stdout.readline() == b"up\n"

    def kill(self) -> None:
        """As a power cut."""
        self.process.kill()
        self.process.wait()
