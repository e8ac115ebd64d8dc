"""What engines have is asked of each, and one that does not answer holds up nobody else's jobs."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import cast

import pytest

from jupyter_paddle_gpu.domain.devices import Device, HostSample, Inventory
from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.domain.messages import Message
from jupyter_paddle_gpu.engines.base import Engine
from jupyter_paddle_gpu.engines.local import LocalEngine
from jupyter_paddle_gpu.jobs.scheduling.supplies import Supplies
from jupyter_paddle_gpu.jobs.settings import JobSettings

HOST = HostSample(cpu_count=1, cpu_percent=0.0, memory_total=1, memory_available=1)
SETTINGS = JobSettings(engine_seconds=0.2, cpu_slots={"local": 3})


def seen(*ids: str, problems: tuple[Message, ...] = ()) -> Inventory:
    devices = tuple(Device(id=name, index=0, vendor="nvidia", name="Card") for name in ids)
    return Inventory(time=1.0, host=HOST, devices=devices, problems=problems)


@dataclass
class Far(LocalEngine):
    """An engine with devices of its own, which may be slow or away."""

    gate: threading.Event = field(default_factory=threading.Event)
    away: bool = False
    asked: int = 0
    assigns_devices: bool = False

    def inventory(self) -> Inventory:
        self.asked += 1
        if self.away:
            raise PaddleGpuError("engine_unreachable", "The cluster does not answer.", status=503)
        self.gate.wait(30)
        return seen("far/0")


@pytest.fixture
def far() -> Iterator[Far]:
    engine = Far()
    engine.gate.set()
    yield engine
    engine.gate.set()


def supplies(far: Far) -> Supplies:
    engines = {"local": cast(Engine, LocalEngine()), "far": cast(Engine, far)}
    return Supplies(engines, SETTINGS, lambda: seen("here"))


def test_each_engine_has_its_own(far: Far) -> None:
    supply = supplies(far).ask({"local", "far"})
    assert [device.id for device in supply("local").devices or ()] == ["here"]
    assert [device.id for device in supply("far").devices or ()] == ["far/0"]
    assert (supply("local").pool, supply("far").pool) == ("", "far")
    assert (supply("local").slots, supply("far").slots) == (3, 1)


def test_nobody_is_asked_for_what_nobody_wants(far: Far) -> None:
    supply = supplies(far).ask(set())
    assert far.asked == 0
    assert supply("local").devices is None and supply("far").devices is None


def test_one_that_is_silent_is_not_waited_for_and_not_asked_twice(far: Far) -> None:
    far.gate.clear()
    asking = supplies(far)
    for _ in range(2):
        supply = asking.ask({"local", "far"})
        trouble = supply("far").trouble
        assert trouble is not None and trouble.code == "engine_unreachable"
        assert [device.id for device in supply("local").devices or ()] == ["here"]
    assert far.asked == 1
    far.gate.set()
    deadline = time.monotonic() + 30
    while asking.ask({"far"})("far").devices is None and time.monotonic() < deadline:
        pass
    assert [device.id for device in asking.ask({"far"})("far").devices or ()] == ["far/0"]


def test_one_that_is_away_says_why(far: Far) -> None:
    far.away = True
    trouble = supplies(far).ask({"far"})("far").trouble
    assert trouble is not None and trouble.render() == "The cluster does not answer."
