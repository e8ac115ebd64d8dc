"""A server in a process of its own on two stand-in cards, and a person who writes wishes into its store."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from jupyter_paddle_gpu.services import Services, Settings
from tests import work
from tests.work import Server, end_all

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
        made.append(Server(SERVER, tmp_path / "data", two_cards))
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
    end_all(services.jobs)
    services.close()


@pytest.fixture
def notebook(tmp_path: Path) -> Callable[..., Path]:
    def write(*sources: str, name: str = "train.ipynb") -> Path:
        path = tmp_path / "work" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(work.notebook(*sources)))
        return path

    return write
