"""A finished job narrows the next estimate: through REST, by a real job whose process the driver's stand-in lists."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

GIB = 2**30
LIMIT = 180
"""Seconds after which a test gives up waiting."""
ON_THE_CARD = """
import os, time
if os.environ.get("PADDLE_GPU_JOB_ID"):  # the stand-in's driver lists this process on the card
    held = open("held").read()
    with open(f"processes/{os.getpid()}", "w") as file:
        file.write(f"0 {held} 25")
"""
TRAINING = """
import paddle
net = paddle.nn.Sequential(paddle.nn.Linear(256, 512), paddle.nn.ReLU(), paddle.nn.Linear(512, 10))
adam = paddle.optimizer.Adam(parameters=net.parameters())
for step in range(STEPS):
    loss = net(paddle.ones([64, 256])).mean()
    loss.backward()
    adam.step()
    adam.clear_grad()
"""
HELD = """
while os.environ.get("PADDLE_GPU_JOB_ID") and not os.path.exists("seen"):
    time.sleep(0.05)
"""
"""Keeps the card until it has been looked at often enough."""


class Server:
    """A Jupyter Server of its own process, in which the loader finds the stand-in for the driver."""

    def __init__(self, work: Path, environment: dict[str, str]) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.token, self.base = secrets.token_hex(8), f"http://127.0.0.1:{port}/paddle-gpu/api/"
        command = [sys.executable, "-m", "jupyter", "server", "--allow-root", "--no-browser", "--ip=127.0.0.1"]
        command += [f"--port={port}", "--ServerApp.port_retries=0", f"--IdentityProvider.token={self.token}"]
        command += [f"--ServerApp.root_dir={work}", "--ServerApp.jpserver_extensions=jupyter_paddle_gpu=True"]
        with (work.parent / "server.log").open("ab") as log:
            self.process = subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=work)
        deadline = time.monotonic() + LIMIT
        while not self.answers():
            assert self.process.poll() is None, "the server went"
            assert time.monotonic() < deadline, "the server did not come up"
            time.sleep(0.1)

    def answers(self) -> bool:
        """Whether it is up."""
        with contextlib.suppress(OSError):
            return bool(self("version"))
        return False

    def __call__(self, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"token {self.token}"}
        with urllib.request.urlopen(urllib.request.Request(self.base + path, data, headers), timeout=300) as answer:
            return json.load(answer)

    def run(self, path: str, samples: int, seen: Path) -> dict[str, Any]:
        """The job of a notebook, when it has ended: it waits for `seen`, which comes after so many samples."""
        job = self("jobs", {"path": path, "engine": "local"})
        deadline = time.monotonic() + LIMIT
        while job["state"] not in ("succeeded", "failed", "cancelled") and time.monotonic() < deadline:
            time.sleep(0.2)
            devices = self(f"jobs/{job['id']}/statistics")["summary"]["devices"]
            if devices and devices[0]["memory_samples"] >= samples:
                seen.touch()
            job = self(f"jobs/{job['id']}")
        assert job["state"] == "succeeded", (job["state"], job["reason"])
        return job

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


def notebook(path: Path, steps: int) -> None:
    cells = [
        {"cell_type": "code", "id": f"c{n}", "metadata": {}, "outputs": [], "execution_count": None, "source": source}
        for n, source in enumerate([ON_THE_CARD, f"STEPS = {steps}", TRAINING, HELD])
    ]
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))


@pytest.fixture
def serve(stand_in: Path, tmp_path: Path) -> Iterator[Callable[[], Server]]:
    work = tmp_path / "work"
    (work / "processes").mkdir(parents=True)
    (tmp_path / "world").write_text(f"count 1\nprocess 0 1 {20 * GIB}\nprocesses {work / 'processes'}\n")
    environment = {
        **os.environ,
        "LD_LIBRARY_PATH": str(stand_in / "new"),
        "NVML_STAND_IN": str(tmp_path / "world"),
        "PADDLE_GPU_DATA": str(tmp_path / "data"),
    }
    servers: list[Server] = []

    def start() -> Server:
        servers.append(Server(work, environment))
        return servers[-1]

    yield start
    for server in servers:
        server.kill()


@pytest.mark.paddle
def test_a_finished_job_narrows_the_next_estimate_for_its_card(serve: Callable[[], Server], tmp_path: Path) -> None:
    work, asked = tmp_path / "work", {"path": "train.ipynb", "request": {}}
    notebook(work / "train.ipynb", 16)
    server = serve()
    before = server("estimates", asked)
    assert (before["status"], before["device"], before["terms"]["observations"]) == ("ok", "A100 SXM 80GB", 0)
    held = before["low"] + (before["high"] - before["low"]) // 4
    (work / "held").write_text(str(held))

    job = server.run("train.ipynb", 6, work / "seen")
    assert job["device_ids"] == ["GPU-0"]
    assert job["spec"]["estimated_terms"]["mapped_low"] == before["terms"]["mapped_low"]
    statistics = server(f"jobs/{job['id']}/statistics")
    assert statistics["summary"] == job["result"]["statistics"]
    (card,) = statistics["summary"]["devices"]
    assert card["memory_peak_bytes"] == held, "the process of somebody else on the card does not count"
    assert card["peak_samples"] == card["memory_samples"] >= 5
    assert card["device_memory_peak_bytes"] == held
    assert (card["utilization_mean_percent"], card["process_utilization_mean_percent"]) == (37.0, 25.0)
    assert (card["temperature_peak_celsius"], card["power_mean_watts"]) == (41, 61.5)
    assert [note["code"] for note in job["result"]["notes"]] == ["learnt"]

    server.kill()
    after = serve()("estimates", asked)
    assert after["terms"]["jobs"] == after["terms"]["observations"] == 1
    assert after["high"] - after["low"] < 0.5 * (before["high"] - before["low"])
    assert after["low"] <= held <= after["high"]
    assert "The range is narrowed by one finished job on this card." in [note["message"] for note in after["notes"]]
