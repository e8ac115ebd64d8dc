"""What the Docker engine adds to plain Docker: ratios within one run, on a private daemon or on the machine's own.

    python -m benchmarks.docker_overhead [--host unix:///run/docker.sock --image IMAGE] [--lines 300000]

Without `--host` the tests' private daemon and their image are used (root, dockerd). Each side is measured in turn, so
that a busy machine slows all. `reader`: who reads the log in the server's own process; `panel`: REST and a client on
the WebSocket of a real Jupyter server, until it has decoded the message, with an image that the policy names;
`terminal`: `jupyter paddle-gpu submit --follow` in a process of its own, without a server, with an image that is found
by choice (private daemon only).
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import psutil

from jupyter_paddle_gpu.domain.jobs.job import ENDED, JobSpec, Resources
from jupyter_paddle_gpu.engines.docker import DockerSettings
from jupyter_paddle_gpu.engines.docker.engine import DockerEngine
from jupyter_paddle_gpu.jobs.service import JobService
from jupyter_paddle_gpu.jobs.settings import JobSettings

from .report import save, show

STAND_INS = Path(__file__).parents[1] / "tests" / "engines" / "docker"
POLL_SECONDS = 0.01
WIDTH = 92


@contextlib.contextmanager
def daemon(host: str, image: str) -> Iterator[tuple[str, str]]:
    """(host, image): the given ones, or a private daemon with the tests' image."""
    if host:
        yield host, image
        return
    sys.path.insert(0, str(STAND_INS))
    from stand_ins.daemon import PrivateDaemon
    from stand_ins.image import make_image

    folder = Path(tempfile.mkdtemp(prefix="pgd-"))
    private = PrivateDaemon(folder)
    private.start()
    try:
        make_image(private.api(), "stand-in/paddle:1")
        private.api().tag("stand-in/paddle:1", "paddlepaddle/paddle", metadata.version("paddlepaddle"))
        yield private.host, "stand-in/paddle:1"
    finally:
        private.dispose()


class Ours:
    """Submit to the job service and read its log, as a server does."""

    def __init__(self, folder: Path, host: str, image: str) -> None:
        self.work, self.image = folder / "work", image
        self.work.mkdir()
        data = folder / "data"
        settings = DockerSettings(
            host=host, store=str(data / "jobs"), allowed_images=(image,), networks=("none",), shm_bytes=64 << 20
        )
        self.service = JobService.open(
            {"docker": DockerEngine(settings)}, data_folder=data, settings=JobSettings(cpu_slots={"docker": 4})
        )
        self.service.start()

    def submit(self, code: str) -> str:
        notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [
            {"cell_type": "code", "id": "a", "metadata": {}, "outputs": [], "execution_count": None, "source": code}
        ]}  # fmt: skip
        path = self.work / "n.ipynb"
        path.write_text(json.dumps(notebook))
        spec = JobSpec(
            name="n",
            notebook=str(path),
            output=str(self.work / "out.ipynb"),
            folder=str(self.work),
            engine="docker",
            image=self.image,
            resources=Resources(memory_bytes=2 << 30),
        )
        return self.service.submit(spec, notebook).id

    def lines(self, code: str) -> Iterator[str]:
        """The lines that a notebook prints, as they come."""
        job, since = self.submit(code), 0
        while True:
            page = self.service.log(job, since)
            for line in page.lines:
                if line.stream == "stdout":
                    yield line.text
            since = page.next
            if page.ended:
                row = self.service.get(job)
                if row.state != "succeeded":
                    raise RuntimeError(f"the job {row.state}: {row.reason and row.reason.render()}")
                return
            if not page.lines:
                time.sleep(POLL_SECONDS)

    def settle(self) -> None:
        """Wait until nothing runs any more."""
        while any(job.state not in ENDED for job in self.service.list()):
            time.sleep(0.05)


class Terminal:
    """The command in a process of its own, which ends with the job; nobody else looks after the queue."""

    def __init__(self, folder: Path, host: str) -> None:
        self.work = folder / "terminal"
        self.work.mkdir()
        policy = folder / "policy.json"
        policy.write_text(json.dumps({"docker": {"host": host, "networks": ["none"], "shm_bytes": 64 << 20}}))
        self.environment = {
            **os.environ,
            "PADDLE_GPU_POLICY": str(policy),
            "JUPYTER_DATA_DIR": str(folder / "jupyter"),
            "LANGUAGE": "en",
        }

    def lines(self, code: str) -> Iterator[str]:
        """The lines that a notebook prints, as the command prints them into a pipe."""
        kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
        cell = {"cell_type": "code", "id": "a", "metadata": {}, "outputs": [], "execution_count": None, "source": code}
        notebook = self.work / "n.ipynb"
        notebook.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": kernel, "cells": [cell]}))
        program = Path(sys.executable).with_name("jupyter-paddle-gpu")
        command = [str(program), "submit", str(notebook), "--engine", "docker", "--follow"]
        run = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.environment, cwd=self.work
        )
        assert run.stdout is not None and run.stderr is not None
        runs = False
        for line in run.stdout:
            if line.startswith("All cells ran in"):
                break
            if runs:
                yield line.rstrip("\n")
            runs = runs or line.startswith("Python ")
        run.stdout.read()
        said = run.stderr.read()
        if run.wait():
            raise RuntimeError(f"the command ended with {run.returncode}: {said}")

    def settle(self) -> None:
        """The command has waited for the job; what looks after the queue behind it goes by itself."""


class Plain:
    """`docker run -d` of the same image, and `docker logs -f` to read it."""

    def __init__(self, host: str, image: str) -> None:
        self.docker, self.image = ["docker", "--host", host], image

    def lines(self, code: str) -> Iterator[str]:
        run = [*self.docker, "run", "-d", "--network", "none", self.image, "python3", "-u", "-c", code]
        container = subprocess.run(run, capture_output=True, text=True, check=True).stdout.strip()
        reader = subprocess.Popen([*self.docker, "logs", "-f", container], stdout=subprocess.PIPE, text=True)
        assert reader.stdout is not None
        try:
            for line in reader.stdout:
                yield line.rstrip("\n")
        finally:
            reader.wait()
            subprocess.run([*self.docker, "rm", "-f", container], capture_output=True, check=True)


def first_line(side: Any) -> float:
    """Seconds from submitting to the first line."""
    begun, at = time.perf_counter(), 0.0
    for _ in side.lines("print('up', flush=True)"):
        at = at or time.perf_counter() - begun
    return at


def delays(side: Any, count: int) -> list[float]:
    """Seconds from `print` to the reader, line by line; the first two lines, which wait for a start, are left out."""
    code = f"import time\nfor n in range({count} + 2):\n    print(time.time(), flush=True)\n    time.sleep(0.1)"
    return [time.time() - float(line) for line in side.lines(code)][2:]


def rate(side: Any, lines: int) -> float:
    """Lines a second from the first to the last one, as read."""
    code = f"for n in range({lines}): print(f'{{n:07d}}', 'x' * {WIDTH})"
    begun, count = 0.0, 0
    for count, _ in enumerate(side.lines(code), 1):
        if count == 1:
            begun = time.perf_counter()
    if count != lines:
        raise RuntimeError(f"{count} lines came, {lines} were printed")
    return (lines - 1) / (time.perf_counter() - begun)


class Memory:
    """Peak of a process's resident memory while it is entered, above what it was before."""

    def __init__(self, process: psutil.Process) -> None:
        self._process = process

    def __enter__(self) -> Memory:
        self.before = self.peak = self._process.memory_info().rss
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def _watch(self) -> None:
        while not self._stop.wait(0.05):
            self.peak = max(self.peak, self._process.memory_info().rss)

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()


def measure(
    host: str, image: str, folder: Path, *, lines: int, rounds: int, choice: bool
) -> tuple[dict[str, Any], dict[str, float]]:
    """(row -> figures of the sides, memory of the server)."""
    from .panel import Panel

    ours, plain = Ours(folder, host, image), Plain(host, image)
    rates: dict[str, float] = {}
    with Panel(folder / "server", host, image) as panel:
        sides: dict[str, Any] = {"reader": ours, "panel": panel, "plain": plain}
        if choice:
            sides["terminal"] = Terminal(folder, host)
        first: dict[str, list[float]] = {name: [] for name in sides}
        delay: dict[str, list[float]] = {name: [] for name in sides}
        for _ in range(rounds):
            for name, side in sides.items():
                first[name].append(first_line(side))
                _settle(side)
        for _ in range(rounds):
            for name, side in sides.items():
                delay[name] += delays(side, 10)
                _settle(side)
        with Memory(panel.process) as memory:
            rates["panel"] = rate(panel, lines)
        panel.settle()
        for name, side in sides.items():
            if name != "panel":
                rates[name] = rate(side, lines)
                _settle(side)
    ours.service.stop()
    rows = {
        "submit to first line, s": {name: statistics.median(seconds) for name, seconds in first.items()},
        "a line from print to reader, ms": {name: 1000 * statistics.median(all_) for name, all_ in delay.items()},
        "the same, 95th of a hundred": {
            name: 1000 * statistics.quantiles(all_, n=20)[-1] for name, all_ in delay.items()
        },
        "lines a second": rates,
    }
    streamed = lines * (WIDTH + 9) / 1e6
    grown = (memory.peak - memory.before) / 2**20
    return rows, {"streamed_mb": streamed, "before_mib": memory.before / 2**20, "grown_mib": grown}


def _settle(side: Any) -> None:
    if not isinstance(side, Plain):
        side.settle()


def main() -> None:
    """Measure, show, keep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--host", default="", help="a daemon; none: a private one")
    parser.add_argument("--image", default="stand-in/paddle:1")
    parser.add_argument("--lines", type=int, default=1_000_000, help="lines of 100 bytes for rate and memory")
    parser.add_argument("--rounds", type=int, default=5)
    options, _ = parser.parse_known_args()
    with daemon(options.host, options.image) as (host, image), tempfile.TemporaryDirectory() as text:
        size = {"lines": options.lines, "rounds": options.rounds}
        rows, memory = measure(host, image, Path(text), **size, choice=not options.host)
    sides = ["reader", "panel", "terminal"] if not options.host else ["reader", "panel"]
    table = [
        (name, *(row[side] for side in (*sides, "plain")), *(row[side] / row["plain"] for side in sides[1:]))
        for name, row in rows.items()
    ]
    ratios = [f"{side}'s ratio" for side in sides[1:]]
    show("Docker engine against plain Docker", ["", *sides, "docker run / logs -f", *ratios], table)
    about = f"{memory['before_mib']:.0f} MiB, {memory['grown_mib']:+.1f} MiB at its peak"
    print(f"The Jupyter server's memory while {memory['streamed_mb']:.0f} MB went to the panel: {about}")
    print(save("docker_overhead", {"rows": rows, "memory": memory}))


if __name__ == "__main__":
    main()
