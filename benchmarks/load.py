"""Fifty jobs submitted at once on two stand-in GPUs: does the server answer others meanwhile, and does every job run?

    python -m benchmarks.load [--jobs 50] [--engine local|docker|both]

A real Jupyter Server in a process of its own, real runners; the two cards are the tests' stand-in for NVML (needs a C
compiler). Engine `docker`: the tests' private daemon with their stand-in for NVIDIA's hook (root, dockerd), real
containers. Latencies are those of requests sent one after the other by somebody else: devices, the list of jobs, the
version. The server's own share of the processors is what the runners leave.
"""

from __future__ import annotations

import argparse
import contextlib
import json
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

from .docker_overhead import daemon
from .report import save, show

STAND_IN = Path(__file__).parents[1] / "tests" / "devices" / "nvml_stand_in.c"
GOAL_SECONDS = 0.1
LIMIT_SECONDS = 180
"""For the server to come up or to go, on a busy machine."""
ENDED = ("succeeded", "failed", "cancelled")
CELL = """
import os, time
nodes = sorted(name.replace("nvidia", "GPU-") for name in os.listdir("/dev") if name in ("nvidia0", "nvidia1"))
print("device", os.environ.get("CUDA_VISIBLE_DEVICES") or ",".join(nodes), flush=True)
time.sleep(0.2)
"""
"""Prints the card that the job was given: the local engine names it, a container has only its node."""


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


class Containers:
    """The private daemon's containers of jobs."""

    OURS = ("--filter", "label=jupyter-paddle-gpu.role=job")

    def __init__(self, host: str) -> None:
        self.docker = ("docker", "--host", host)
        command = [*self.docker, "events", *self.OURS, "--filter", "event=start"]
        command += ["--format", '{{index .Actor.Attributes "jupyter-paddle-gpu.job"}}']
        self._events = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def left(self) -> int:
        """How many there are, running or not."""
        listed = subprocess.run([*self.docker, "ps", "-aq", *self.OURS], capture_output=True, text=True, check=True)
        return len(listed.stdout.split())

    def started(self) -> list[str]:
        """The jobs whose containers the daemon has started, in its order; asked once, at the end."""
        time.sleep(0.5)  # the last event
        self._events.terminate()
        return self._events.communicate()[0].split()


@contextlib.contextmanager
def server(folder: Path, docker: dict[str, Any] | None = None, image: str = "") -> Iterator[tuple[int, str]]:
    """(port, token) of a server whose machine has two cards.

    `docker`: that section of its policy file; `image`: the pattern of images that the file allows.
    """
    library = folder / "libnvidia-ml.so.1"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, STAND_IN], check=True)
    (folder / "world").write_text("count 2\n")
    (folder / "root" / "work").mkdir(parents=True)
    (folder / "data").mkdir()
    if docker is not None:
        (folder / "data" / "policy.json").write_text(
            json.dumps({"engine": "docker", "docker": docker, "images": {"allowed": [image]}})
        )
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
            client, deadline = Client(port, token), time.monotonic() + LIMIT_SECONDS
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
            process.wait(LIMIT_SECONDS)


class Watch:
    """Somebody else's requests, one after the other, until told to stop; in a process of their own, which the clients
    that submit cannot hold up. (They share the processors: what the system's scheduler takes is in the figures.)"""

    PATHS = ("version", "devices", "jobs")

    def __init__(self, port: int, token: str) -> None:
        command = [sys.executable, "-m", "benchmarks.load", "--watch", str(port), token]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=Path(__file__).parents[1]
        )
        assert self._process.stdout is not None
        self._process.stdout.readline()  # it is up

    def stop(self) -> dict[str, dict[str, float]]:
        """The figures so far, by path."""
        seconds = json.loads(self._process.communicate(b"stop", 60)[0])
        return {path: figures(seconds[path]) for path in self.PATHS}

    @classmethod
    def run(cls, port: int, token: str) -> None:
        """The process: ask until something comes from standard input, then print every latency in seconds."""
        client, seconds = Client(port, token), {path: list[float]() for path in cls.PATHS}
        stop = threading.Event()

        def listen() -> None:
            sys.stdin.read(1)
            stop.set()

        threading.Thread(target=listen, daemon=True).start()
        print("up", flush=True)
        while not stop.wait(0.01):
            for path in cls.PATHS:
                began = time.perf_counter()
                client.get(path)
                seconds[path].append(time.perf_counter() - began)
        print(json.dumps(seconds))


def figures(seconds: list[float]) -> dict[str, float]:
    """Count, median, 95th and 99th of a hundred, longest, and the share within the goal."""
    ordered = sorted(seconds)
    return {
        "requests": len(ordered),
        "median": statistics.median(ordered),
        "p95": ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))],
        "p99": ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))],
        "longest": ordered[-1],
        "within_goal": sum(one <= GOAL_SECONDS for one in ordered) / len(ordered),
    }


def notebook() -> dict[str, Any]:
    """One cell that says on which card it runs."""
    cell: dict[str, Any] = {
        "cell_type": "code",
        "id": "a",
        "metadata": {},
        "outputs": [],
        "execution_count": None,
        "source": CELL,
    }
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": kernel, "cells": [cell]}


def submit_all(port: int, token: str, count: int, options: dict[str, Any]) -> list[tuple[str, float]]:
    """(id, seconds until the answer) of so many jobs, all submitted at the same moment by clients of their own."""

    everybody = threading.Barrier(count)

    def submit(number: int) -> tuple[str, float]:
        client = Client(port, token)
        client.get("version")  # connected
        everybody.wait()
        began = time.perf_counter()
        job = client.post("jobs", {"path": f"work/{number}.ipynb", "content": notebook(), **options})
        return job["id"], time.perf_counter() - began

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(submit, range(count)))


def wait_for_all(client: Client) -> list[dict[str, Any]]:
    """Every job's row, once all have ended."""
    while True:
        jobs: list[dict[str, Any]] = client.get("jobs")["jobs"]
        if all(job["state"] in ENDED for job in jobs):
            return jobs
        time.sleep(0.5)


def measure(count: int, engine: str) -> dict[str, Any]:
    """One server, `count` jobs."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        options: dict[str, Any] = {"engine": engine, "resources": {"gpus": 1}}
        docker, containers = None, None
        if engine == "docker":
            host, image = stack.enter_context(daemon("", "stand-in/paddle:1"))
            docker = {"host": host, "networks": ["none"], "shm_bytes": 64 << 20}
            options["image"], containers = image, Containers(host)
        port, token = stack.enter_context(server(folder, docker, options.get("image", "")))
        client = Client(port, token)
        cards = [item["id"] for item in client.get("devices")["devices"] if item["vendor"] == "nvidia"]
        quiet = Watch(port, token)
        time.sleep(5)
        before = quiet.stop()
        watch, began = Watch(port, token), time.monotonic()
        submitted = submit_all(port, token, count, options)
        accepted = time.monotonic() - began
        jobs = wait_for_all(client)
        done, after = time.monotonic() - began, watch.stop()
        printed = {job: [line["x"] for line in client.get(f"jobs/{job}/log")["lines"]] for job, _ in submitted}
        order = [job["id"] for job in sorted(jobs, key=lambda job: job["started"])]
        accepted_order = [job["id"] for job in reversed(jobs)]  # the list has the newest first
        started = containers.started() if containers else order
        return {
            "engine": engine,
            "goal_seconds": GOAL_SECONDS,
            "cards": len(cards),
            "processors": os.cpu_count(),
            "load_average_before": os.getloadavg()[0],
            "jobs": len(jobs),
            "succeeded": sum(job["state"] == "succeeded" for job in jobs),
            "attempts_most": max(job["attempts"] for job in jobs),
            "printed_once": sum(sum(text in _SAID for text in lines) == 1 for lines in printed.values()),
            "furthest_out_of_order": out_of_order(order, accepted_order),
            "furthest_out_of_order_engine": out_of_order(started, accepted_order),
            "containers_left": containers.left() if containers else 0,
            "accepted_seconds": accepted,
            "submit": figures([seconds for _, seconds in submitted]),
            "all_ended_seconds": done,
            "quiet": before,
            "meanwhile": after,
        }


def out_of_order(order: list[str], queue: list[str]) -> int:
    """How many places the job that changed most has changed; each must be there once."""
    if sorted(order) != sorted(queue):
        raise RuntimeError(f"started: {order}, submitted: {queue}")
    return max(abs(order.index(job) - queue.index(job)) for job in queue)


_SAID = ("device GPU-0", "device GPU-1")


def table(found: dict[str, Any]) -> None:
    """Show one engine's figures."""
    names = ("median", "p95", "p99", "longest")
    rows = [
        (f"{when}: {path}", *(1000 * seen[name] for name in names), 100 * seen["within_goal"])
        for when in ("quiet", "meanwhile")
        for path, seen in found[when].items()
    ]
    submit = found["submit"]
    rows.append(("submit", *(1000 * submit[name] for name in names), 100 * submit["within_goal"]))
    columns = ("request", "median", "95 %", "99 %", "longest", "% within goal")
    show(f"{found['jobs']} jobs at once on {found['engine']} (ms)", columns, rows)
    print({name: value for name, value in found.items() if not isinstance(value, dict)})


def main() -> None:
    """Measure, show, keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=50)
    parser.add_argument("--watch", nargs=2, metavar=("PORT", "TOKEN"), help=argparse.SUPPRESS)
    parser.add_argument("--engine", choices=("local", "docker", "both"), default="both")
    options, _ = parser.parse_known_args()
    if options.watch:
        Watch.run(int(options.watch[0]), options.watch[1])
        return
    engines = ("local", "docker") if options.engine == "both" else (options.engine,)
    found = {engine: measure(options.jobs, engine) for engine in engines}
    for figures_of in found.values():
        table(figures_of)
    if options.engine == "both":
        print(save("load", found))


if __name__ == "__main__":
    main()
