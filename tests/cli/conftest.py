"""The command line as its users run it: a process of its own, on a data folder of the test's own.

`cli` forks that process from one that has imported what commands import when they need it. What is imported when, and
`python -m jupyter_paddle_gpu` itself, is tested by `test_following.py`, `test_four_faces.py` and whatever else starts
Python by itself.
"""

from __future__ import annotations

import json
import os
import pkgutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import jupyter_paddle_gpu
from tests import processes, work
from tests.warm_python import WarmPython

LIBRARIES = ("nbformat", "pynvml", "rich.markdown", "rich.progress", "rich.table", "ssl", "tarfile")
ELSEWHERE = ("__main__", "app", "estimator.tracer", "estimator.zygote", "locale", "magics", "runner", "server")
"""What of the package runs in other processes."""
COMMAND = """
import atexit, threading
from jupyter_paddle_gpu.cli import main
try:
    main()
finally:  # the orderly end of a process
    threading._shutdown()
    atexit._run_exitfuncs()
"""


def modules() -> list[str]:
    """All that a command may import of ours."""
    package = jupyter_paddle_gpu.__name__
    elsewhere = tuple(f"{package}.{name}" for name in ELSEWHERE)
    every = (one.name for one in pkgutil.walk_packages(jupyter_paddle_gpu.__path__, f"{package}."))
    return [name for name in every if not name.startswith(elsewhere)]


@dataclass(frozen=True)
class Ran:
    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


@pytest.fixture
def environment(tmp_path):
    """What commands have. Whoever still looks after this data folder when the test is over, as for a schedule, ends."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG", "COLUMNS"))}
    yield {**plain, "PADDLE_GPU_DATA": str(tmp_path / "data"), "LANG": "C.UTF-8"}
    processes.end("PADDLE_GPU_DATA", str(tmp_path / "data"))


@pytest.fixture(scope="session")
def terminal():
    """Where commands come from."""
    made = WarmPython(*LIBRARIES, *modules())
    yield made
    made.close()


@pytest.fixture
def cli(tmp_path, environment, terminal):
    def run(*arguments: str, **more: str) -> Ran:
        whole = {**environment, **more}
        if any(name.startswith(("LD_", "PYTHON")) for name in more):  # read when a process starts
            command = [sys.executable, "-m", "jupyter_paddle_gpu", *arguments]
            done = subprocess.run(command, cwd=tmp_path, env=whole, capture_output=True, text=True, check=False)
        else:
            done = terminal.run("-c", COMMAND, *arguments, environment=whole, folder=tmp_path)
        ours = [room for room in ("cli", "commands") if f"jupyter_paddle_gpu/{room}" in done.stderr]
        assert not ours, done.stderr  # a traceback of ours
        return Ran(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def notebook(tmp_path):
    def write(*sources: str, name: str = "train.ipynb") -> str:
        Path(tmp_path, name).write_text(json.dumps(work.notebook(*sources)))
        return name

    return write
