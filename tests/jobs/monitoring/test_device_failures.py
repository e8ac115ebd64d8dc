"""A job whose card failed says so."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from jupyter_paddle_gpu.devices.makers.nvidia.problems import card
from jupyter_paddle_gpu.domain.devices import Device, HostSample, Inventory
from jupyter_paddle_gpu.domain.jobs import reasons
from jupyter_paddle_gpu.domain.jobs.job import Resources
from jupyter_paddle_gpu.domain.messages import Message


class Lost(Exception):
    """As NVML raises it."""

    value = 15

    def __str__(self) -> str:
        return "GPU is lost"


#: Seconds since the epoch, after the start of any job.
LATER = 4e9
WELL: dict[str, Any] = {"memory_total": 1 << 30, "memory_free": 1 << 30, "memory_used": 0}


@pytest.mark.parametrize(
    ("cell", "after", "state", "code"),
    [
        ("1 / 0", {"problem": card(Lost(), 0)}, "failed", "device_lost"),
        ("1 / 0", {**WELL, "fault": "Xid 79", "fault_time": LATER}, "failed", "device_lost"),
        ("1 / 0", {**WELL, "fault": "Xid 79", "fault_time": 1.0}, "failed", "cell_error"),  # long before the job
        ("1 / 0", WELL, "failed", "cell_error"),
        ("1 / 1", {"problem": card(Lost(), 0)}, "succeeded", "succeeded"),
    ],
)
def test_the_card_explains_an_end_better_than_the_error_that_followed(
    open_service: Any,
    spec: Any,
    make_notebook: Any,
    tmp_path: Path,
    cell: str,
    after: dict[str, Any],
    state: str,
    code: str,
) -> None:
    fields, failed = dict(WELL), tmp_path / "failed"

    def inventory() -> Inventory:
        host = HostSample(cpu_count=1, cpu_percent=0, memory_total=1, memory_available=1)
        device = Device(id="GPU-7", index=0, vendor="nvidia", name="Card", **fields)
        return Inventory(time=time.time(), host=host, devices=(device,))

    service = open_service(inventory=inventory)
    service._dispatcher = None
    waits = f"import pathlib, time\nwhile not pathlib.Path({str(failed)!r}).exists():\n    time.sleep(0.02)\n"
    job = service.submit(spec(resources=Resources(gpus=1, device_ids=("GPU-7",))), make_notebook(waits + cell))
    service.start()
    while service.get(job.id).state != "running":  # a card that is lost before is waited for
        time.sleep(0.02)
    fields.clear()
    fields.update(after)
    failed.touch()
    ended = service.wait(job.id, 180)
    assert (ended.state, ended.reason.code) == (state, code)
    if code == "device_lost":
        assert "The device GPU 0 (Card) failed" in ended.reason.render()
        assert "-i GPU-7" in ended.reason.render_hint(), "a command takes the id"
        assert ended.result.failure.name == "ZeroDivisionError", "the error itself stays with the result"


def test_devices_in_a_reason_are_called_as_everywhere():
    names = {one: Message(code="device", text=one.upper()) for one in ("a", "b")}
    lost = reasons.device_lost("a,b,c", "x")
    assert reasons.called(lost, names).render() == "The device A, B, c failed while the job ran: x"
    assert reasons.called(lost, {}) == lost
    assert reasons.called(reasons.succeeded(), names) == reasons.succeeded()
