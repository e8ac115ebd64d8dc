"""A server in a process of its own on two stand-in cards, and a person who writes wishes into its store."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from jupyter_paddle_gpu.domain.jobs.job import ENDED
from jupyter_paddle_gpu.services import Services, Settings

SERVER = """
import sys, time
from pathlib import Path
from jupyter_paddle_gpu.services import Services, Settings
clock = Path(sys.argv[1], "clock")
def now():
    return float(clock.read_text()) if clock.exists() else time.time()
services = Services(Settings(data_folder=Path(sys.argv[1]), clock=now, policy_file=None))
services.start_jobs()
print("up", flush=True)
time.sleep(600)
"""
"""As a Jupyter server has it. The clock by which schedules go stands in a file where a test sets one."""


class Server:
    """Looks after the queue until it is killed."""

    def __init__(self, data: Path, environment: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", SERVER, str(data)], stdout=subprocess.PIPE, env=environment
        )
        assert self.process.stdout
        assert self.process.stdout.readline() == b"up\n"

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture
def two_cards(tmp_path: Path, stand_in: Path) -> dict[str, str]:
    """The environment of a machine with two cards: the dynamic loader reads it when a process starts."""
    (tmp_path / "world").write_text("count 2\n")
    return {
        **os.environ,
        "LD_LIBRARY_PATH": str(stand_in / "new"),
        "NVML_STAND_IN": str(tmp_path / "world"),
        "PADDLE_GPU_DATA": str(tmp_path / "data"),
    }


@pytest.fixture
def server(tmp_path: Path, two_cards: dict[str, str]) -> Iterator[Callable[[], Server]]:
    made: list[Server] = []

    def start() -> Server:
        (tmp_path / "data").mkdir(exist_ok=True)
        made.append(Server(tmp_path / "data", two_cards))
        return made[-1]

    yield start
    for one in made:
        one.kill()


@pytest.fixture
def person(tmp_path: Path) -> Iterator[Services]:
    """Writes wishes into the store and looks after nothing."""
    clock = tmp_path / "data" / "clock"

    def now() -> float:
        return float(clock.read_text()) if clock.exists() else time.time()

    services = Services(Settings(data_folder=tmp_path / "data", policy_file=None, clock=now))
    services.jobs._dispatcher = None
    yield services
    for job in services.jobs.list():
        if job.state not in ENDED:
            services.jobs.cancel(job.id, force=True)
    if any(job.state not in ENDED for job in services.jobs.list()):
        services.jobs.start()
        for job in services.jobs.list():
            services.jobs.wait(job.id, 30)
    services.close()


@pytest.fixture
def notebook(tmp_path: Path) -> Callable[..., Path]:
    def write(*sources: str, name: str = "train.ipynb") -> Path:
        empty: dict[str, Any] = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
        cells = [{**empty, "id": f"c{number}", "source": source} for number, source in enumerate(sources)]
        path = tmp_path / "work" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
        return path

    return write


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
