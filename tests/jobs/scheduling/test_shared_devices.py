"""Two users' queues, each with its own store, on the same cards: the claims keep their jobs apart."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from jupyter_paddle_gpu.claims.boards import Board, Boards, Waiting
from jupyter_paddle_gpu.claims.claims import Claims
from jupyter_paddle_gpu.devices.makers.registry import makers
from jupyter_paddle_gpu.domain.devices import Device, HostSample, Inventory
from jupyter_paddle_gpu.domain.jobs.job import Job, JobSpec, Resources
from jupyter_paddle_gpu.engines.local import LocalEngine
from jupyter_paddle_gpu.jobs.service import JobService
from jupyter_paddle_gpu.jobs.settings import JobSettings

FAST = JobSettings(active_seconds=0.05, idle_seconds=0.1, progress_seconds=0.1, wait_seconds=0.05,
                   retry_seconds=0.1)  # fmt: skip
WAIT = "import pathlib, time\nwhile not pathlib.Path('go').exists(): time.sleep(0.02)"
NOTEBOOK: dict[str, Any] = {
    "nbformat": 4, "nbformat_minor": 5, "metadata": {},
    "cells": [{"cell_type": "code", "id": "a", "source": WAIT, "metadata": {}, "outputs": [], "execution_count": None}],
}  # fmt: skip


def inventory() -> Inventory:
    card = Device(id="GPU-one", index=0, vendor="nvidia", name="Stand-in", memory_total=10 << 30, memory_free=10 << 30)
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


def submit(service: JobService, folder: Path, share: float | None = None) -> str:
    folder.mkdir(exist_ok=True)
    path = str(folder / "n.ipynb")
    spec = JobSpec(name="n", notebook=path, output=path + "-out", folder=str(folder), engine="local",
                   resources=Resources(gpus=1, share=share))  # fmt: skip
    return service.submit(spec, NOTEBOOK).id


def until(service: JobService, job: str, done: Callable[[Job], Any]) -> Job:
    deadline = time.monotonic() + 120
    while not done(now := service.get(job)):
        assert time.monotonic() < deadline, now
        time.sleep(0.05)
    return now


def test_two_users_train_on_one_card_at_once_each_kept_to_its_share(serve, tmp_path):
    mine, theirs = serve("mine"), serve("theirs")
    first = submit(mine, tmp_path / "a", 0.5)
    until(mine, first, lambda job: job.state == "running")
    whole = submit(mine, tmp_path / "w")
    second = submit(theirs, tmp_path / "b", 4e9)
    ran = until(theirs, second, lambda job: job.state == "running")
    (part,) = ran.shares
    assert (part.bytes, part.total) == (4_000_000_000, 10 << 30)
    spec = msgspec.json.decode((tmp_path / "theirs" / "jobs" / second / "spec.json").read_bytes())
    left = 4_000_000_000 - makers().of_device("GPU-one").context(None, None).high
    assert spec["environment"] == {"FLAGS_gpu_memory_limit_mb": str(left >> 20)}
    third = submit(theirs, tmp_path / "c", 1e9)
    waits = until(theirs, third, lambda job: job.reason)
    assert waits.reason.code == "chosen_later", "beside both there are 0.5 GiB"
    assert until(mine, whole, lambda job: job.reason).reason.code in ("device_held", "waits_device")
    (tmp_path / "b" / "go").touch()
    until(theirs, second, lambda job: job.state == "succeeded")
    until(theirs, third, lambda job: job.state == "running")
    assert mine.get(first).state == "running"


def test_the_second_waits_for_the_first_and_starts_when_it_has_ended(serve, tmp_path):
    mine, theirs = serve("mine"), serve("theirs")
    first = submit(mine, tmp_path / "a")
    until(mine, first, lambda job: job.state == "running")
    second = submit(theirs, tmp_path / "b")
    waits = until(theirs, second, lambda job: job.reason)
    assert (waits.state, waits.reason.code) == ("queued", "device_held")
    assert (waits.reason.params["job"], waits.reason.params["owner"]) == (first, "root")
    # Whoever looked after the first one's queue is gone: the job goes on, and has its card.
    mine.stop()
    assert Claims(tmp_path / "claims", tmp_path / "third").held()["GPU-one"][0].job == first
    (tmp_path / "a" / "go").touch()
    (tmp_path / "b" / "go").touch()
    assert until(theirs, second, lambda job: job.state in ("succeeded", "failed")).state == "succeeded"
    again = serve("mine")
    assert until(again, first, lambda job: job.state in ("succeeded", "failed")).state == "succeeded"
    deadline = time.monotonic() + 120
    while Claims(tmp_path / "claims", tmp_path / "third").held():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_who_cannot_tell_the_others_of_it_takes_no_device(serve, tmp_path):
    obstacle = tmp_path / "mine" / "claims.lock"
    obstacle.mkdir(parents=True)
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "go").touch()
    mine = serve("mine")
    job = submit(mine, tmp_path / "a")
    waits = until(mine, job, lambda now: now.reason and now.reason.code == "device_unclaimed")
    assert "others cannot be told that it has GPU 0 (Stand-in)" in waits.reason.render()
    assert (waits.state, waits.attempts) == ("queued", 0), "that was no attempt of its own"
    obstacle.rmdir()
    assert until(mine, job, lambda now: now.state in ("succeeded", "failed")).state == "succeeded"


def test_who_waits_for_nothing_sees_what_others_wait_for(tmp_path):
    if os.name != "posix" or os.geteuid() != 0:
        pytest.skip("the shared folder must be root's")
    for name in ("claims", "queue", "mine", "theirs", "third"):
        (tmp_path / name).mkdir()
    for name in ("claims", "queue"):
        (tmp_path / name).chmod(0o1777)
    Claims(tmp_path / "claims", tmp_path / "third").take("has-it", ("GPU-one",))
    Boards(tmp_path / "queue", tmp_path / "theirs").tell(Board(waiting=(Waiting(job="waits", count=1),)), {"waits"})
    claims, boards = Claims(tmp_path / "claims", tmp_path / "mine"), Boards(tmp_path / "queue", tmp_path / "mine")
    service = JobService.open(
        {"local": LocalEngine()},
        data_folder=tmp_path / "mine",
        settings=FAST,
        inventory=inventory,
        claims=claims,
        boards=boards,
    )
    (entry,) = service.queue.view().entries
    assert (entry.job, entry.number, entry.mine) == ("waits", 1, False)
    assert entry.reason is not None, "the only card is another's"
