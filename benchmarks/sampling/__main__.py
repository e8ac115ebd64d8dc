"""What looking at eight cards costs, in one run beside jupyterlab-nvdashboard's server, gpustat and nvitop.

    python3 -m venv /tmp/peers && /tmp/peers/bin/pip install jupyterlab-nvdashboard gpustat nvitop
    PEERS=/tmp/peers python -m benchmarks.sampling

All ask the same stand-in for libnvidia-ml.so.1 (needs a C compiler), in which a call takes 0.1 ms in the servers and
nothing where samples are timed. Writes `benchmarks/results/sampling.json`.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import secrets
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from tornado.websocket import websocket_connect

from ..report import save, show
from .loop.sitecustomize import FORM

HERE = Path(__file__).parent
CARDS, CLIENTS, SECONDS, INTERVAL = 8, 100, 20.0, 2.0
DELAY = 100
SETTLE = 4.0
"""Seconds after clients came or went that are not counted."""
SAMPLES = 100


@dataclass
class Server:
    """One Jupyter Server with one extension.

    Attributes:
        python: the interpreter that has it.
        path: of the devices' socket; `hello`: what a client says there to have samples every two seconds.
    """

    name: str
    python: str
    extension: str
    path: str
    hello: str
    folder: Path
    token: str = field(default_factory=lambda: secrets.token_hex(8))
    port: int = 0

    @contextlib.contextmanager
    def running(self, environment: dict[str, str]) -> Iterator[psutil.Process]:
        """Its process, when it answers."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        root = self.folder / f"root-{self.name}"
        root.mkdir()
        command = [
            *(self.python, "-m", "jupyter_server", "--no-browser", "--allow-root", f"--port={self.port}"),
            *(f"--IdentityProvider.token={self.token}", f"--ServerApp.root_dir={root}"),
            f"--ServerApp.jpserver_extensions={{'{self.extension}': True}}",
        ]
        with (self.folder / f"{self.name}.log").open("wb") as log:
            process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
            try:
                while True:
                    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                        break
                    if process.poll() is not None:
                        raise RuntimeError((self.folder / f"{self.name}.log").read_text()[-2000:])
                    time.sleep(0.2)
                yield psutil.Process(process.pid)
            finally:
                process.terminate()
                process.wait(60)

    def clients(self, count: int) -> subprocess.Popen[bytes]:
        """A process with so many clients, until its standard input ends; it has said that all have come."""
        url = f"ws://127.0.0.1:{self.port}/{self.path}?token={self.token}"
        command = [sys.executable, "-m", "benchmarks.sampling", "--clients", str(count), url, self.hello]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert process.stdout is not None
        assert process.stdout.readline() == b"there\n"
        return process


async def _clients(count: int, url: str, hello: str) -> None:
    """Connect, ask, read all that comes until standard input ends; then say how many messages came."""
    told = 0

    async def listen(line: Any) -> None:
        nonlocal told
        while await line.read_message() is not None:
            told += 1

    lines = [await websocket_connect(url) for _ in range(count)]
    for line in lines:
        await line.write_message(hello)
    tasks = [asyncio.create_task(listen(line)) for line in lines]
    print("there", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    print(told, flush=True)
    for line in lines:
        line.close()
    await asyncio.wait(tasks, timeout=5)


class Counters:
    """What the library and the loop write down."""

    def __init__(self, folder: Path) -> None:
        self.calls, self.loop = folder / "calls", folder / "loop"
        self.calls.write_bytes(bytes(8))
        self.loop.write_bytes(bytes(FORM.size))

    def measured(self, process: psutil.Process, seconds: float) -> dict[str, float]:
        """What happened in so many seconds from now on."""
        with self.loop.open("r+b") as file:
            file.write(bytes(FORM.size))
        before, calls, began = process.cpu_times(), self._count(), time.monotonic()
        time.sleep(seconds)
        passed, after = time.monotonic() - began, process.cpu_times()
        longest, busiest, late, heavy = FORM.unpack(self.loop.read_bytes())
        used = after.user + after.system - before.user - before.system
        return {
            "calls_a_second": (self._count() - calls) / passed,
            "processor_ms_a_second": 1000 * used / passed,
            "longest_round_ms": 1000 * longest,
            "busiest_round_ms": 1000 * busiest,
            "rounds_over_10_ms": late,
            "rounds_over_10_ms_of_processor": heavy,
        }

    def _count(self) -> int:
        found: int = struct.unpack("l", self.calls.read_bytes())[0]
        return found


def served(server: Server, environment: dict[str, str], counters: Counters) -> dict[str, Any]:
    """A server without anybody, with one client, with a hundred, and without anybody again."""
    found: dict[str, Any] = {}
    with server.running(environment) as process:
        time.sleep(SETTLE)
        found["nobody"] = counters.measured(process, SECONDS / 2)
        for count in (1, CLIENTS):
            watching = server.clients(count)
            time.sleep(SETTLE)
            found[f"{count}"] = counters.measured(process, SECONDS)
            told = watching.communicate()[0]
            found[f"{count}"]["messages"] = int(told)
        time.sleep(SETTLE)
        found["nobody again"] = counters.measured(process, SECONDS / 2)
    return found


def library(folder: Path, *options: str) -> Path:
    """The folder with the library."""
    folder.mkdir()
    command = [
        "cc",
        "-shared",
        "-fPIC",
        "-O1",
        "-Wl,-Bsymbolic",
        *options,
        "-o",
        folder / "libnvidia-ml.so.1",
        HERE / "counted.c",
        "-ldl",
    ]
    subprocess.run(command, check=True)
    return folder


def main() -> None:
    """Measure, print and keep."""
    peers = Path(os.environ.get("PEERS", "")) / "bin" / "python"
    if not peers.is_file():
        sys.exit("PEERS must name a virtual environment with jupyterlab-nvdashboard, gpustat and nvitop.")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        counters = Counters(folder)
        world = [f"count {CARDS}", *(f"process {card} {os.getpid()} 1073741824" for card in range(CARDS))]
        (folder / "world").write_text("\n".join(world) + "\n")
        counting = library(folder / "counting", "-finstrument-functions")
        environment = {
            **os.environ,
            "NVML_STAND_IN": str(folder / "world"),
            "NVML_CALLS": str(counters.calls),
            "PADDLE_GPU_DATA": str(folder / "data"),
            "LD_LIBRARY_PATH": str(counting),
        }
        tools = {"ours": sys.executable, **dict.fromkeys(("nvdashboard", "gpustat", "nvitop"), str(peers))}
        samples: dict[str, Any] = {}
        plain = {**environment, "LD_LIBRARY_PATH": str(library(folder / "plain"))}
        for tool, python in tools.items():
            told = [
                subprocess.run(
                    [python, HERE / "samples.py", tool, str(count)],
                    env=each,
                    check=True,
                    capture_output=True,
                    text=True,
                )
                for count, each in ((10, environment), (SAMPLES, plain))
            ]
            counted, timed = (json.loads(one.stdout.splitlines()[-1]) for one in told)
            samples[tool] = {**timed, "calls": counted["calls"]}
        watched = {
            **environment,
            "NVML_DELAY": str(DELAY),
            "LOOP_FILE": str(counters.loop),
            "PYTHONPATH": str(HERE / "loop"),
        }
        servers = (
            Server("ours", sys.executable, "jupyter_paddle_gpu", "paddle-gpu/api/events", '{"devices": true}', folder),
            Server(
                "nvdashboard",
                str(peers),
                "jupyterlab_nvdashboard",
                "nvdashboard/gpu_resource",
                json.dumps({"updateFrequency": 1000 * INTERVAL, "isPaused": False}),
                folder,
            ),
        )
        clients = {server.name: served(server, watched, counters) for server in servers}
    rows = [[tool, one["calls"], 1000 * one["processor"], 1000 * one["wall"]] for tool, one in samples.items()]
    show(f"One sample of {CARDS} cards", ("tool", "calls of NVML", "processor ms", "wall ms"), rows)
    columns = ("server, clients", *next(iter(clients["ours"].values())))
    lines = [
        [f"{server}, {who}", *(one[key] for key in columns[1:])]
        for server, each in clients.items()
        for who, one in each.items()
    ]
    show(f"A call of NVML takes {DELAY} microseconds, a sample every {INTERVAL} s", columns, lines)
    listed = subprocess.run([peers, "-m", "pip", "list", "--format=json"], check=True, capture_output=True, text=True)
    wanted = ("jupyterlab_nvdashboard", "gpustat", "nvitop", "jupyter_server", "nvidia-ml-py")
    versions = {one["name"]: one["version"] for one in json.loads(listed.stdout) if one["name"] in wanted}
    save(
        "sampling",
        {"cards": CARDS, "delay_microseconds": DELAY, "peers": versions, "sample": samples, "served": clients},
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", nargs=3, metavar=("COUNT", "URL", "HELLO"))
    asked = parser.parse_args().clients
    if asked:
        asyncio.run(_clients(int(asked[0]), asked[1], asked[2]))
    else:
        main()
