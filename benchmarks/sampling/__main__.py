"""What looking at eight cards costs, in one run beside jupyterlab-nvdashboard's server, gpustat and nvitop.

    python3 -m venv /tmp/peers && /tmp/peers/bin/pip install jupyterlab-nvdashboard gpustat nvitop
    PEERS=/tmp/peers python -m benchmarks.sampling

All ask the same stand-in for libnvidia-ml.so.1 (needs a C compiler), in which a call takes 0.1 ms in the servers and
nothing where samples are timed. Writes `benchmarks/results/sampling.json`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tornado.websocket import websocket_connect

from ..report import save, show
from .serving import CARDS, DELAY, HERE, Counters, Server, environment, library, watched

CLIENTS, SECONDS, INTERVAL = 100, 20.0, 2.0
SETTLE = 4.0
"""Seconds after clients came or went that are not counted."""
SAMPLES = 100


def clients(server: Server, count: int) -> subprocess.Popen[bytes]:
    """A process with so many clients, until its standard input ends; it has said that all have come."""
    url = f"ws://127.0.0.1:{server.port}/{server.path}?token={server.token}"
    command = [sys.executable, "-m", "benchmarks.sampling", "--clients", str(count), url, server.hello]
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


def served(server: Server, settings: dict[str, str], counters: Counters) -> dict[str, Any]:
    """A server without anybody, with one client, with a hundred, and without anybody again."""
    found: dict[str, Any] = {}
    with server.running(settings) as process:
        time.sleep(SETTLE)
        found["nobody"] = counters.measured(process, SECONDS / 2)
        for count in (1, CLIENTS):
            watching = clients(server, count)
            time.sleep(SETTLE)
            found[f"{count}"] = counters.measured(process, SECONDS)
            told = watching.communicate()[0]
            found[f"{count}"]["messages"] = int(told)
        time.sleep(SETTLE)
        found["nobody again"] = counters.measured(process, SECONDS / 2)
    return found


def main() -> None:
    """Measure, print and keep."""
    peers = Path(os.environ.get("PEERS", "")) / "bin" / "python"
    if not peers.is_file():
        sys.exit("PEERS must name a virtual environment with jupyterlab-nvdashboard, gpustat and nvitop.")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        counters = Counters(folder)
        counting = environment(folder, counters)
        tools = {"ours": sys.executable, **dict.fromkeys(("nvdashboard", "gpustat", "nvitop"), str(peers))}
        samples: dict[str, Any] = {}
        plain = {**counting, "LD_LIBRARY_PATH": str(library(folder / "plain"))}
        for tool, python in tools.items():
            told = [
                subprocess.run(
                    [python, HERE / "samples.py", tool, str(count)],
                    env=each,
                    check=True,
                    capture_output=True,
                    text=True,
                )
                for count, each in ((10, counting), (SAMPLES, plain))
            ]
            counted, timed = (json.loads(one.stdout.splitlines()[-1]) for one in told)
            samples[tool] = {**timed, "calls": counted["calls"]}
        servers = (
            Server(
                *("ours", sys.executable, "jupyter_paddle_gpu", "paddle-gpu/api/events", '{"devices": true}', folder),
                options=(f"--PaddleGpuApp.device_seconds={INTERVAL}",),
            ),
            Server(
                "nvdashboard",
                str(peers),
                "jupyterlab_nvdashboard",
                "nvdashboard/gpu_resource",
                json.dumps({"updateFrequency": 1000 * INTERVAL, "isPaused": False}),
                folder,
            ),
        )
        seen = watched(counting, counters)
        by_server = {server.name: served(server, seen, counters) for server in servers}
    rows = [[tool, one["calls"], 1000 * one["processor"], 1000 * one["wall"]] for tool, one in samples.items()]
    show(f"One sample of {CARDS} cards", ("tool", "calls of NVML", "processor ms", "wall ms"), rows)
    columns = ("server, clients", *next(iter(by_server["ours"].values())))
    lines = [
        [f"{server}, {who}", *(one[key] for key in columns[1:])]
        for server, each in by_server.items()
        for who, one in each.items()
    ]
    show(f"A call of NVML takes {DELAY} microseconds, a sample every {INTERVAL} s", columns, lines)
    listed = subprocess.run([peers, "-m", "pip", "list", "--format=json"], check=True, capture_output=True, text=True)
    wanted = ("jupyterlab_nvdashboard", "gpustat", "nvitop", "jupyter_server", "nvidia-ml-py")
    versions = {one["name"]: one["version"] for one in json.loads(listed.stdout) if one["name"] in wanted}
    save(
        "sampling",
        {"cards": CARDS, "delay_microseconds": DELAY, "peers": versions, "sample": samples, "served": by_server},
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", nargs=3, metavar=("COUNT", "URL", "HELLO"))
    asked = parser.parse_args().clients
    if asked:
        asyncio.run(_clients(int(asked[0]), asked[1], asked[2]))
    else:
        main()
