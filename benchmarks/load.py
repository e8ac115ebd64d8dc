"""Fifty jobs submitted at once on two stand-in GPUs: does the server answer others meanwhile, and does every job run?

    python -m benchmarks.load [--jobs 50]

A real Jupyter Server in a process of its own, the local engine, real runners; the two cards are the tests' stand-in for
NVML (needs a C compiler). Latencies are those of requests sent one after the other by somebody else: devices, the list
of jobs, the version. The server's own share of the processors is what the runners leave.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import secrets
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import requests

from .report import save, show

STAND_IN = Path(__file__).parents[1] / "tests" / "devices" / "nvml_stand_in.c"
GOAL_SECONDS = 0.1
ENDED = ("succeeded", "failed", "cancelled")
CELL = "import os, time\nprint(os.environ['CUDA_VISIBLE_DEVICES'], flush=True)\ntime.sleep(0.2)"


class Client:
    """REST with a token."""

    def __init__(self, port: int, token: str) -> None:
        self.base, self.session = f"http://127.0.0.1:{port}/paddle-gpu/api/", requests.Session()
        self.session.headers["Authorization"] = f"token {token}"

    def get(self, path: str) -> Any:
        answer = self.session.get(self.base + path, timeout=60)
        answer.raise_for_status()
        return answer.json()

    def post(self, path: str, body: dict[str, Any]) -> Any:
        answer = self.session.post(self.base + path, json=body, timeout=120)
        answer.raise_for_status()
        return answer.json()


@contextlib.contextmanager
def server(folder: Path) -> Iterator[tuple[int, str]]:
    """(port, token) of a server whose machine has two cards."""
    library = folder / "libnvidia-ml.so.1"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, STAND_IN], check=True)
    (folder / "world").write_text("count 2\n")
    (folder / "root").mkdir()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    token = secrets.token_hex(8)
    environment = {
        **os.environ,
        "LD_LIBRARY_PATH": str(folder),
        "NVML_STAND_IN": str(folder / "world"),
        "PADDLE_GPU_DATA": str(folder / "data"),
    }
    command = [
        *(sys.executable, "-m", "jupyter_server", "--no-browser", "--allow-root", f"--port={port}"),
        *(f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={folder / 'root'}"),
        "--ServerApp.jpserver_extensions={'jupyter_paddle_gpu': True}",
    ]
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        try:
            client, deadline = Client(port, token), time.monotonic() + 60
            while True:
                with contextlib.suppress(requests.RequestException):
                    client.get("version")
                    break
                if time.monotonic() > deadline or process.poll() is not None:
                    raise RuntimeError((folder / "server.log").read_text()[-2000:])
                time.sleep(0.1)
            yield port, token
        finally:
            process.terminate()
            process.wait(20)


class Watch:
    """Somebody else's requests, one after the other, until told to stop."""

    PATHS = ("version", "devices", "jobs")

    def __init__(self, client: Client) -> None:
        self.client, self.seconds = client, {path: list[float]() for path in self.PATHS}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        while not self._stop.wait(0.01):
            for path in self.PATHS:
                began = time.perf_counter()
                self.client.get(path)
                self.seconds[path].append(time.perf_counter() - began)

    def stop(self) -> dict[str, dict[str, float]]:
        self._stop.set()
        self._thread.join()
        return {path: figures(seconds) for path, seconds in self.seconds.items()}


def figures(seconds: list[float]) -> dict[str, float]:
    """Count, median, 95th of a hundred, longest, and the share within the goal."""
    ordered = sorted(seconds)
    return {
        "requests": len(ordered),
        "median": statistics.median(ordered),
        "p95": ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))],
        "longest": ordered[-1],
        "within_goal": sum(one <= GOAL_SECONDS for one in ordered) / len(ordered),
    }


def measure(count: int) -> dict[str, Any]:
    """One server, `count` jobs."""
    with tempfile.TemporaryDirectory() as name, server(Path(name)) as (port, token):
        cell = {"cell_type": "code", "id": "a", "metadata": {}, "outputs": [], "execution_count": None, "source": CELL}
        kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
        content = {"nbformat": 4, "nbformat_minor": 5, "metadata": kernel, "cells": [cell]}
        client = Client(port, token)
        cards = [item["id"] for item in client.get("devices")["devices"] if item["vendor"] == "nvidia"]
        quiet = Watch(Client(port, token))
        time.sleep(5)
        before = quiet.stop()

        def submit(number: int) -> tuple[str, float]:
            began = time.perf_counter()
            body = {"path": f"work/{number}.ipynb", "content": content, "engine": "local", "resources": {"gpus": 1}}
            job = Client(port, token).post("jobs", body)
            return job["id"], time.perf_counter() - began

        (Path(name) / "root" / "work").mkdir()
        watch, began = Watch(Client(port, token)), time.monotonic()
        with ThreadPoolExecutor(count) as pool:
            submitted = list(pool.map(submit, range(count)))
        accepted = time.monotonic() - began
        jobs = client.get("jobs")["jobs"]
        while any(job["state"] not in ENDED for job in jobs):
            time.sleep(0.5)
            jobs = client.get("jobs")["jobs"]
        done, after = time.monotonic() - began, watch.stop()
        printed = {job: [line["x"] for line in client.get(f"jobs/{job}/log")["lines"]] for job, _ in submitted}
        order = [job["id"] for job in sorted(jobs, key=lambda job: job["started"])]
        accepted_order = [job["id"] for job in reversed(jobs)]  # the list has the newest first
        return {
            "goal_seconds": GOAL_SECONDS,
            "cards": len(cards),
            "processors": os.cpu_count(),
            "load_average_before": os.getloadavg()[0],
            "jobs": len(jobs),
            "succeeded": sum(job["state"] == "succeeded" for job in jobs),
            "attempts_most": max(job["attempts"] for job in jobs),
            "printed_once": sum(sum(text in cards for text in lines) == 1 for lines in printed.values()),
            "furthest_out_of_order": max(abs(order.index(job) - accepted_order.index(job)) for job in order),
            "accepted_seconds": accepted,
            "submit": figures([seconds for _, seconds in submitted]),
            "all_ended_seconds": done,
            "quiet": before,
            "meanwhile": after,
        }


def main() -> None:
    """Measure, show, keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=50)
    options, _ = parser.parse_known_args()
    found = measure(options.jobs)
    rows = [
        (f"{when}: {path}", *(1000 * seen[name] for name in ("median", "p95", "longest")), 100 * seen["within_goal"])
        for when in ("quiet", "meanwhile")
        for path, seen in found[when].items()
    ]
    submit = found["submit"]
    rows.append(("submit", *(1000 * submit[n] for n in ("median", "p95", "longest")), 100 * submit["within_goal"]))
    show(f"{found['jobs']} jobs at once (ms)", ("request", "median", "95 %", "longest", "% within goal"), rows)
    print({name: value for name, value in found.items() if not isinstance(value, dict)})
    print(save("load", found))


if __name__ == "__main__":
    main()
