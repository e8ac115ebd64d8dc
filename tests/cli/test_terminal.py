"""What a terminal shows to somebody who waits at it, and a pipe does not."""

from __future__ import annotations

import io
import sys

import click
import pytest

from jupyter_paddle_gpu.cli.terminal import TerminalFace
from jupyter_paddle_gpu.commands.machine import gpus
from jupyter_paddle_gpu.domain.devices import Device, HostSample, Inventory

HOST = HostSample(cpu_count=8, cpu_percent=12, memory_total=64 << 30, memory_available=48 << 30)
CARD = Device(id="GPU-0", index=0, vendor="nvidia", name="NVIDIA A100")


class Screen(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


class Machine:
    """The services of a machine with these devices."""

    def __init__(self, *devices: Device) -> None:
        self._inventory = Inventory(time=0, host=HOST, devices=devices)

    def inventory(self, engine: str) -> Inventory:
        return self._inventory

    def device_history(self, seconds: float, cells: int) -> None:
        return None


@pytest.mark.parametrize(("stream", "shown"), [(Screen, True), (io.StringIO, False)])
def test_whoever_waits_sees_that_a_step_is_traced(monkeypatch, stream, shown):
    monkeypatch.setattr(sys, "stderr", stream())
    with TerminalFace("en").working():
        pass
    assert ("Tracing one training step" in sys.stderr.getvalue()) is shown


@pytest.mark.parametrize(("devices", "watched"), [((CARD,), True), ((), False)])
def test_a_machine_without_devices_is_shown_once(monkeypatch, devices, watched):
    monkeypatch.setattr(sys, "stdout", Screen())
    face, seen = TerminalFace("en"), []
    face.__dict__["services"] = Machine(*devices)
    monkeypatch.setattr(face, "watch", lambda view, seconds: seen.append(view().data))
    with click.Context(gpus, obj=face):
        answer = click.get_current_context().invoke(
            gpus, catalog=False, engine="", once=False, watch=False, interval=1.0, details=False
        )
    assert (bool(seen), answer is None) == (watched, watched)
