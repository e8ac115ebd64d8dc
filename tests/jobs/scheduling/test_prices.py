"""What a job costs: its time by the price of its devices when they were given, from where `explain` has its prices."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jupyter_paddle_gpu.domain.devices import Device, DeviceShare, HostSample, Inventory
from jupyter_paddle_gpu.domain.jobs.job import Price, Resources
from jupyter_paddle_gpu.engines.local import LocalEngine
from jupyter_paddle_gpu.jobs.scheduling.planning import hour_of
from jupyter_paddle_gpu.jobs.service import JobService
from jupyter_paddle_gpu.jobs.settings import JobSettings
from jupyter_paddle_gpu.matching.policy import Policy
from jupyter_paddle_gpu.services.jobs.export.report import report

from .. import conftest as jobs_conftest
from ..conftest import notebook

spec, work = jobs_conftest.spec, jobs_conftest.work  # fixtures
FAST = JobSettings(active_seconds=0.05, idle_seconds=0.1, progress_seconds=0.1, wait_seconds=0.05)
GIB = 1 << 30
CARD = Device(id="GPU-1", index=0, vendor="nvidia", name="RTX 4090", memory_total=24 * GIB, memory_free=24 * GIB)
OTHER = Device(id="GPU-2", index=1, vendor="nvidia", name="A100 80GB", memory_total=80 * GIB, memory_free=80 * GIB)
POLICY = Policy(prices={"RTX 4090": 0.5, "A100": 2.0}, currency="CNY")

ESTIMATED = {"estimated_peak_bytes": 2 << 30, "estimated_device": "RTX 4090"}


def test_a_job_keeps_the_price_of_its_devices(tmp_path: Path, spec: Callable[..., Any]) -> None:
    host = HostSample(cpu_count=1, cpu_percent=0.0, memory_total=1, memory_available=1)
    seen = Inventory(time=0.0, host=host, devices=(CARD,))
    engines = {"local": LocalEngine()}
    jobs = JobService.open(engines, data_folder=tmp_path / "data", settings=FAST, inventory=lambda: seen, policy=POLICY)
    jobs.start()
    try:
        done = jobs.wait(jobs.submit(spec(resources=Resources(gpus=1), **ESTIMATED), notebook("1")).id, 120)
        assert done.price == Price(hour=0.5, currency="CNY")
        assert done.started is not None
        assert done.ended is not None
        assert done.cost(0.0) == pytest.approx(0.5 * (done.ended - done.started) / 3600)
        told = report(jobs, done)
        assert " CNY</td>" in told
        assert "2.00 GiB, RTX 4090" in told
        assert "<th>Devices</th><td>GPU 0 (RTX 4090)</td>" in told
        free = jobs.wait(jobs.submit(spec(), notebook("1")).id, 120)
        assert (free.price, free.cost(0.0)) == (None, None)
    finally:
        jobs.stop()


def test_several_devices_a_share_and_what_nobody_says() -> None:
    assert hour_of([CARD, OTHER], (), POLICY) == Price(hour=2.5, currency="CNY")
    quarter = DeviceShare(bytes=20 * GIB, most=72 * GIB, total=80 * GIB)
    assert hour_of([OTHER], [quarter], POLICY) == Price(hour=0.5, currency="CNY")
    assert hour_of([CARD, OTHER], (), Policy(prices={"A100": 2.0})) is None
    assert hour_of([CARD, None], (), POLICY) is None
    assert hour_of([CARD], (), None) is None
    assert hour_of([], (), POLICY) is None
