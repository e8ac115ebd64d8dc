"""What a user waits for: the server's start with and without us, an estimate, a job id, a line on the screen."""

from __future__ import annotations

import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

import websocket

from .report import save, show

EXAMPLE = Path(__file__).parents[1] / "examples" / "digits_fit.ipynb"
TOKEN = "benchmark"
STARTS = 7
SUBMITS = 10
LINES = 100
LINE_SECONDS = 0.05
STARTUP_SECONDS = 60.0

PRINTER = f"""
import time
for number in range({LINES}):
    print(time.time(), flush=True)
    time.sleep({LINE_SECONDS})
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Server:
    """A Jupyter Server in a process of its own."""

    def __init__(self, root: Path, *, extension: bool) -> None:
        self.port = free_port()
        enabled = {"jupyter_paddle_gpu": extension}
        command = [sys.executable, "-m", "jupyter_server", "--no-browser", "--allow-root", f"--port={self.port}"]
        command += [f"--ServerApp.root_dir={root}", f"--IdentityProvider.token={TOKEN}"]
        command += [f"--ServerApp.jpserver_extensions={enabled}"]
        started = time.perf_counter()
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PADDLE_GPU_DATA": str(root / "data")},
        )
        self._wait(started + STARTUP_SECONDS)
        self.start_seconds = time.perf_counter() - started

    def _wait(self, until: float) -> None:
        while not self._answers():
            if time.perf_counter() > until:
                raise TimeoutError("the server does not answer")
            time.sleep(0.005)

    def _answers(self) -> bool:
        try:
            self.call("GET", "/api")
        except (URLError, OSError):
            return False
        return True

    def call(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = Request(f"http://127.0.0.1:{self.port}{path}", data=data, method=method)
        request.add_header("Authorization", f"token {TOKEN}")
        with urlopen(request, timeout=300) as answer:
            return json.load(answer)

    def api(self, method: str, path: str, body: Any = None) -> Any:
        return self.call(method, f"/paddle-gpu/api/{path}", body)

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(30)


@contextmanager
def server(root: Path, *, extension: bool = True) -> Iterator[Server]:
    running = Server(root, extension=extension)
    try:
        yield running
    finally:
        running.stop()


def timed(call: Any, *arguments: Any) -> tuple[float, Any]:
    started = time.perf_counter()
    answer = call(*arguments)
    return time.perf_counter() - started, answer


def start_times(root: Path) -> dict[str, list[float]]:
    """Starts taken in turn, so that a busy moment of the machine meets both; the first pair warms the disk cache."""
    times: dict[str, list[float]] = {"without": [], "with": []}
    for number in range(STARTS + 1):
        for name, extension in (("without", False), ("with", True)):
            with server(root, extension=extension) as running:
                if number:
                    times[name].append(running.start_seconds)
    return times


def estimates(running: Server) -> dict[str, float]:
    def ask(batch_size: int) -> Any:
        return running.api("POST", "estimates", {"path": EXAMPLE.name, "request": {"batch_size": batch_size}})

    first, answer = timed(ask, 32)
    if answer["status"] != "ok":
        raise RuntimeError(f"no estimate: {answer}")
    second, _ = timed(ask, 48)
    repeated, _ = timed(ask, 48)
    return {"first": first, "second": second, "repeated": repeated}


def notebook(code: str) -> dict[str, Any]:
    cell = {"cell_type": "code", "id": "a", "metadata": {}, "source": code, "outputs": [], "execution_count": None}
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": kernel}, "cells": [cell]}


def submits(running: Server) -> list[float]:
    running.api("GET", "jobs")  # the store is opened by the first question, whoever asks it
    times = []
    for number in range(SUBMITS):
        body = {"path": f"quick{number}.ipynb", "content": notebook("print(1)"), "engine": "local"}
        seconds, job = timed(running.api, "POST", "jobs", body)
        times.append(seconds)
        wait_for(running, job["id"])
    return times


def wait_for(running: Server, job_id: str) -> None:
    while running.api("GET", f"jobs/{job_id}")["state"] not in ("succeeded", "failed", "cancelled"):
        time.sleep(0.1)


def line_delays(running: Server) -> list[float]:
    """From the `print` in the notebook to the line in the browser's socket, seconds a line."""
    address = f"ws://127.0.0.1:{running.port}/paddle-gpu/api/events?token={TOKEN}"
    events = websocket.create_connection(address, timeout=60)
    job = running.api("POST", "jobs", {"path": "lines.ipynb", "content": notebook(PRINTER), "engine": "local"})
    events.send(json.dumps({"logs": {job["id"]: 0}}))
    delays, ended = [], False
    while not ended:
        event = json.loads(events.recv())
        now = time.time()
        if event["type"] == "log":
            delays += [now - float(line["x"]) for line in event["lines"] if line["s"] == "stdout"]
            ended = event["ended"]
    events.close()
    return delays


def main() -> None:
    """Measure, print, save."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        shutil.copy(EXAMPLE, root)
        starts = start_times(root)
        with server(root) as running:
            asked, submitted, delays = estimates(running), submits(running), line_delays(running)
    without, with_us = statistics.median(starts["without"]), statistics.median(starts["with"])
    high = sorted(delays)[int(len(delays) * 0.95)]
    rows = [
        ("server start without the extension", without),
        ("server start with it", with_us),
        ("ratio", with_us / without),
        ("first estimate of the example", asked["first"]),
        ("second, another batch size", asked["second"]),
        ("the same again", asked["repeated"]),
        ("submit to job id, median", statistics.median(submitted)),
        ("line printed to line in the socket, median", statistics.median(delays)),
        ("the same, 95th percentile", high),
    ]
    show("What a user waits for", ["what", "seconds"], rows)
    save(
        "startup",
        {
            "start_without_seconds": starts["without"],
            "start_with_seconds": starts["with"],
            "start_ratio": with_us / without,
            "estimate_seconds": asked,
            "submit_seconds": submitted,
            "line_seconds": {"median": statistics.median(delays), "p95": high, "lines": len(delays)},
        },
    )


if __name__ == "__main__":
    main()
