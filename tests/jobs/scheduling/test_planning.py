"""The planner asks store, devices and what was measured, and tells when waiting jobs start."""

from __future__ import annotations

import time
from pathlib import Path
from typing import cast

import msgspec
import pytest

from jupyter_paddle_gpu.domain.decisions import Need
from jupyter_paddle_gpu.domain.devices import Device, HostSample, Inventory
from jupyter_paddle_gpu.domain.jobs.job import Job, Resources
from jupyter_paddle_gpu.domain.learned import LearnedRun
from jupyter_paddle_gpu.engines.base import Engine
from jupyter_paddle_gpu.engines.local import LocalEngine
from jupyter_paddle_gpu.jobs.scheduling.planning import Planner
from jupyter_paddle_gpu.jobs.settings import JobSettings
from jupyter_paddle_gpu.jobs.store.job_store import JobStore
from jupyter_paddle_gpu.matching.learned.experience import Experience
from jupyter_paddle_gpu.matching.policy import Policy

from .test_queue import job

GIB = 1 << 30
STEP = Need(low=GIB, high=2 * GIB, flops=10**12, bytes_moved=10**10, steps=100)
NAMES = {"g0": "Tesla T4", "g1": "NVIDIA A100-SXM4-80GB"}
CARDS = tuple(
    Device(
        id=name,
        index=index,
        vendor="nvidia",
        name=model,
        memory_total=16 * GIB,
        memory_used=0,
        memory_free=16 * GIB,
    )
    for index, (name, model) in enumerate(NAMES.items())
)
RUNS = (
    LearnedRun(job="a", time=1.0, card="T4 16GB", need=STEP, step_seconds=3.0),
    LearnedRun(job="b", time=2.0, card="A100 SXM 80GB", need=STEP, step_seconds=0.5),
)


def wanting(name: str, **fields: object) -> Job:
    made = job(name, 1, engine="local", **fields)
    return msgspec.structs.replace(made, spec=msgspec.structs.replace(made.spec, need=STEP))


@pytest.mark.parametrize(
    ("runs", "device", "seconds"),
    [
        (RUNS, "g0", 300.0),  # a hundred steps as they were measured on its own card
        (RUNS, "g1", 50.0),
        ((), "g0", None),  # a roofline is none
    ],
)
def test_a_waiting_job_starts_when_the_measured_steps_of_the_one_before_it_are_over(
    tmp_path: Path, runs: tuple[LearnedRun, ...], device: str, seconds: float | None
) -> None:
    began = time.time()
    waiting = wanting("then")
    asked = msgspec.structs.replace(waiting.spec, resources=Resources(gpus=1, device_ids=(device,)))
    waiting = msgspec.structs.replace(waiting, spec=asked)
    host = HostSample(cpu_count=1, cpu_percent=0, memory_total=GIB, memory_available=GIB)
    seen = Inventory(time=began, host=host, devices=CARDS)
    store = JobStore(tmp_path / "jobs.sqlite")
    try:
        store.add(wanting("first"))
        running = store.change(
            "first",
            lambda one: msgspec.structs.replace(one, state="preparing", device_ids=(device,), started=began),
            claim=(device,),
        )
        policy = Policy(experience=Experience(runs=runs))
        planner = Planner(store, {"local": cast(Engine, LocalEngine())}, JobSettings(), lambda: seen, policy=policy)
        (turn,) = planner.plan((waiting,), (running,)).turns
    finally:
        store.close()
    assert not turn.start
    assert turn.starts == (None if seconds is None else pytest.approx(began + seconds))
