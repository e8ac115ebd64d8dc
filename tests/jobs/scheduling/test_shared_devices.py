"""Two users' queues, each with its own store, on the same cards: the claims keep their jobs apart."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from jupyter_paddle_gpu.claims.claims import Claims
from jupyter_paddle_gpu.domain.devices import Device, HostSample, Inventory
from jupyter_paddle_gpu.domain.jobs.job import Job, JobSpec, Resources
from jupyter_paddle_gpu.engines.local import LocalEngine
from jupyter_paddle_gpu.jobs.service import JobService
from jupyter_paddle_gpu.jobs.settings import JobSettings

FAST = JobSettings(active_seconds=0.05, idle_seconds=0.1, progress_seconds=0.1, wait_seconds=0.05)
WAIT = "import pathlib, time\nwhile not pathlib.Path('go').exists(): time.sleep(0.02)"
NOTEBOOK: dict[str, Any] = {
    "nbformat": 4, "nbformat_minor": 5, "metadata": {},
    "cells": [{"cell_type": "code", "id": "a", "source": WAIT, "metadata": {}, "outputs": [], "execution_count": None}],
}  # fmt: skip


def inventory() -> Inventory:
    card = Device(id="GPU-one", index=0, vendor="nvidia", name="Stand-in", memory_total=1 << 30, memory_free=1 << 30)
    host = HostSample(cpu_count=1, cpu_percent=0.0, memory_total=1, memory_available=1)
    return Inventory(time=0.0, host=host, devices=(card,))


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[[str], JobService]]:
    """The service of somebody's store; the folder that both share is root's, as an administrator makes it."""
    if os.name != "posix" or os.geteuid() != 0:
        pytest.skip("the shared folder must be root's")
    shared = tmp_path / "claims"
    shared.mkdir()
    shared.chmod(0o1777)
    made: list[JobService] = []

    def make(name: str) -> JobService:
        data = tmp_path / name
        data.mkdir(exist_ok=True)
        engines = {"local": LocalEngine()}
        claims = Claims(shared, data)
        made.append(JobService.open(engines, data_folder=data, settings=FAST, inventory=inventory, claims=claims))
        made[-1].start()
        return made[-1]

    yield make
    for service in made:
        for job in service.list():
            service.cancel(job.id, force=True)
            service.wait(job.id, 30)
        service.stop()


def submit(service: JobService, folder: Path) -> str:
    folder.mkdir(exist_ok=True)
    path = str(folder / "n.ipynb")
    spec = JobSpec(name="n", notebook=path, output=path + "-out", folder=str(folder), engine="local",
                   resources=Resources(gpus=1))  # fmt: skip
    return service.submit(spec, NOTEBOOK).id


def until(service: JobService, job: str, done: Callable[[Job], Any]) -> Job:
    deadline = time.monotonic() + 120
    while not done(now := service.get(job)):
        assert time.monotonic() < deadline, now
        time.sleep(0.05)
    return now


def test_the_second_waits_for_the_first_and_starts_when_it_has_ended(serve, tmp_path):
    mine, theirs = serve("mine"), serve("theirs")
    first = submit(mine, tmp_path / "a")
    until(mine, first, lambda job: job.state == "running")
    second = submit(theirs, tmp_path / "b")
    waits = until(theirs, second, lambda job: job.reason)
    assert (waits.state, waits.reason.code) == ("queued", "device_held")
    assert dict(waits.reason.params) == {"device": "GPU-one", "job": first, "owner": "root"}
    # Whoever looked after the first one's queue is gone: the job goes on, and has its card.
    mine.stop()
    assert Claims(tmp_path / "claims", tmp_path / "third").held()["GPU-one"].job == first
    (tmp_path / "a" / "go").touch()
    (tmp_path / "b" / "go").touch()
    assert until(theirs, second, lambda job: job.state in ("succeeded", "failed")).state == "succeeded"
    again = serve("mine")
    assert until(again, first, lambda job: job.state in ("succeeded", "failed")).state == "succeeded"
    deadline = time.monotonic() + 120
    while Claims(tmp_path / "claims", tmp_path / "third").held():
        assert time.monotonic() < deadline
        time.sleep(0.05)
