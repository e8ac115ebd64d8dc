"""Waiting for a device that others have: what is said meanwhile, and by what it ends."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from jupyter_paddle_gpu.domain.devices import Device, DeviceProcess, HostSample, Inventory
from jupyter_paddle_gpu.services.plans.freeing import waits_for_device

HOST = HostSample(cpu_count=1, cpu_percent=0, memory_total=1, memory_available=1)
GIB = 2**30


def said(used: int | None, *own: int, total: int | None = 24 * GIB) -> str | None:
    processes = tuple(DeviceProcess(pid=at, memory_bytes=taken, job_id="mine") for at, taken in enumerate(own))
    card = Device(
        id="GPU-1",
        index=1,
        vendor="nvidia",
        name="NVIDIA GeForce RTX 3090",
        memory_total=total,
        memory_used=used,
        processes=processes,
    )
    found = waits_for_device(Inventory(time=0, host=HOST, devices=(card,)), "GPU-1")
    return found and found.render()


@pytest.mark.parametrize(
    "card",
    [
        pytest.param((0,), id="empty"),
        pytest.param((GIB,), id="what a driver takes"),
        pytest.param((20 * GIB, 20 * GIB), id="this person's own job, for which the queue waits"),
        pytest.param((None,), id="tells nothing"),
    ],
)
def test_a_device_is_free_where_no_other_has_it(card: tuple[int | None, ...]) -> None:
    assert said(*card) is None  # type: ignore[arg-type]


def test_who_has_it_is_said() -> None:
    assert said(20 * GIB, 4 * GIB) == (
        "Others have 16.0 GiB of GPU 1 (NVIDIA GeForce RTX 3090), and what the training needs is not known."
    )
    assert waits_for_device(Inventory(time=0, host=HOST, devices=()), "GPU-1") is None


def test_a_notebook_of_unknown_need_waits_until_others_have_left(person, server, notebook, two_cards, until, tmp_path):
    begin = """
import sys
from jupyter_paddle_gpu.services import Services, Submission
from jupyter_paddle_gpu.services.plans.wanted import ScheduleRequest
services = Services()
services.jobs._dispatcher = None
request = ScheduleRequest(free="1", submission=Submission(engine="local"))
made = services.plans.schedules.create(services.open(sys.argv[1]), request)
print(made.id, made.note.code)
"""
    world = tmp_path / "world"
    world.write_text(f"count 2\nused 1 {79 * GIB}\nprocess 1 {os.getpid()} {79 * GIB}\n")
    server()
    path = notebook("print(1)")
    made = subprocess.run([sys.executable, "-c", begin, str(path)], env=two_cards, check=True, capture_output=True)
    schedule, note = made.stdout.decode().split()
    assert note == "device_in_use"
    with pytest.raises(AssertionError, match="did not come true"):
        until(person.jobs.list, 4)
    world.write_text("count 2\n")
    until(lambda: person.plans.schedules.get(schedule).state == "done")
    assert [job.spec.resources.device_ids for job in person.jobs.list()] == [("GPU-1",)]
    until(lambda: person.jobs.list()[0].state == "succeeded")
