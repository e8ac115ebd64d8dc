"""A notebook run by the real runner, in a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

RUNNER = Path(__file__).parents[2] / "jupyter_paddle_gpu" / "runner"


def code(source: str, **metadata: Any) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "source": source,
        "metadata": metadata,
        "outputs": [],
        "execution_count": None,
        "id": "c",
    }


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines() if line]


@dataclass
class Run:
    """A job folder and the runner's process in it."""

    folder: Path
    entry: Path = RUNNER
    python: tuple[str, ...] = (sys.executable,)
    process: subprocess.Popen[bytes] | None = None
    environment: dict[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = ()

    def start(self) -> Run:
        command = [*self.python, str(self.entry), *self.options, str(self.folder / "spec.json")]
        environment = {**os.environ, **self.environment}
        errors = (self.folder / "runner.log").open("ab")
        self.process = subprocess.Popen(command, env=environment, stderr=errors, stdout=errors, start_new_session=True)
        return self

    def wait(self, timeout: float = 300) -> int:
        assert self.process is not None
        return self.process.wait(timeout)

    def until(self, condition: Callable[[], Any], timeout: float = 180) -> Any:
        """Wait until something holds; fails where the runner ended before."""
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            if found := condition():
                return found
            assert self.process is None or self.process.poll() is None, (self.folder / "runner.log").read_text()
            time.sleep(0.02)
        raise AssertionError("did not come true")

    def until_logged(self, text: str) -> None:
        self.until(lambda: (self.folder / "log.jsonl").exists() and text in (self.folder / "log.jsonl").read_text())

    @property
    def log(self) -> list[dict[str, Any]]:
        return lines_of(self.folder / "log.jsonl")

    def texts(self, stream: str = "stdout") -> list[str]:
        return [line["x"] for line in self.log if line["s"] == stream]

    @property
    def events(self) -> list[dict[str, Any]]:
        return lines_of(self.folder / "events.jsonl")

    @property
    def result(self) -> dict[str, Any]:
        return json.loads((self.folder / "result.json").read_text())

    @property
    def notebook(self) -> dict[str, Any]:
        return json.loads((self.folder / "notebook.ipynb").read_text())

    def outputs(self, cell: int) -> list[dict[str, Any]]:
        return self.notebook["cells"][cell]["outputs"]

    def stream(self, cell: int, name: str = "stdout") -> str:
        return "".join("".join(out["text"]) for out in self.outputs(cell) if out.get("name") == name)


@pytest.fixture
def prepare(tmp_path: Path) -> Iterator[Callable[..., Run]]:
    runs: list[Run] = []

    def make(*cells: str | dict[str, Any], python: tuple[str, ...] = (sys.executable,), **spec: Any) -> Run:
        folder = tmp_path / f"job{len(runs)}"
        work = tmp_path / f"work{len(runs)}"
        folder.mkdir()
        work.mkdir()
        notebook = {
            "cells": [
                {**(code(cell) if isinstance(cell, str) else cell), "id": f"cell-{number}"}
                for number, cell in enumerate(cells)
            ],
            "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
            "nbformat": 4,
            "nbformat_minor": 5,
        }
        (folder / "source.ipynb").write_text(json.dumps(notebook))
        spec = {"id": folder.name, "folder": str(work), "output": str(work / "out" / "done.ipynb"), **spec}
        (folder / "spec.json").write_text(json.dumps(spec))
        runs.append(Run(folder, python=python))
        return runs[-1]

    yield make
    for run in runs:
        if run.process is not None and run.process.poll() is None:
            os.killpg(run.process.pid, signal.SIGKILL)
            run.process.wait()


@pytest.fixture
def execute(prepare: Callable[..., Run]) -> Callable[..., Run]:
    def make(*cells: str | dict[str, Any], **spec: Any) -> Run:
        run = prepare(*cells, **spec).start()
        run.wait()
        return run

    return make
