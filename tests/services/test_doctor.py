"""What the doctor says of the kernel's Paddle: whether steps of it are traced, and what it no longer has."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from jupyter_paddle_gpu.claims import folder as claims
from jupyter_paddle_gpu.domain.devices import Device, HostSample, Inventory
from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.domain.messages import Message
from jupyter_paddle_gpu.engines.registry import Registry
from jupyter_paddle_gpu.estimator.workers.outcomes import Greeting
from jupyter_paddle_gpu.services import doctor
from jupyter_paddle_gpu.services.requests import Check
from jupyter_paddle_gpu.services.service import Services, Settings


def absent():
    raise PaddleGpuError(Message(code="absent", text="Not looked at here."))


def tracing(greeting, folder: Path) -> list[Check]:
    return [check for check in examined(greeting, folder) if check.name == "tracing"]


def examined(greeting, folder: Path, inventory=absent) -> list[Check]:
    checks = doctor.examine(
        "python3",
        greeting=greeting,
        inventory=inventory,
        registry=lambda: Registry({}, ()),
        engines=dict,
        policies=absent,
        data_folder=folder,
        claims_folder=folder / "claims",
        queue_folder=folder / "queue",
    )
    return list(checks)


def test_names_what_this_paddle_has_no_place_for(tmp_path):
    (check,) = tracing(lambda: Greeting(paddle_version="9.9", unpatched=("paddle.gone", "paddle.jit.gone")), tmp_path)

    assert not check.ok and not check.needed
    assert "Paddle 9.9 no longer has what a trace replaces: paddle.gone, paddle.jit.gone." in check.finding.render()


def test_names_a_paddle_whose_steps_cannot_be_traced(tmp_path):
    (check,) = tracing(lambda: Greeting(paddle_version="2.0", tracer_error="ImportError: pir"), tmp_path)

    assert not check.ok and check.finding.code == "untraced_paddle"


def test_says_nothing_of_a_kernel_without_paddle(tmp_path):
    assert tracing(lambda: Greeting(error="No module named 'paddle'"), tmp_path) == []


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="the shared folder must be root's")
def test_says_how_devices_are_shared_with_other_users(tmp_path, monkeypatch):
    host = HostSample(cpu_count=1, cpu_percent=0.0, memory_total=1, memory_available=1)
    card = Device(id="GPU-one", index=0, vendor="nvidia", name="Stand-in", memory_total=1 << 30)

    def found(*devices: Device) -> list[Check]:
        inventory = Inventory(time=0.0, host=host, devices=devices)
        return [check for check in examined(absent, tmp_path, lambda: inventory) if check.name in ("claims", "queue")]

    assert found() == []
    checks = found(card)
    assert [(check.ok, check.needed) for check in checks] == [(False, False)] * 2
    assert [check.finding.code for check in checks] == ["claims_alone", "queue_of_ones_own"]
    for check in checks:
        command = check.finding.render_hint().partition("`sudo ")[2].partition("`")[0]
        subprocess.run(command.split(), check=True)
    ready = [(True, "claims_shared"), (True, "queue_shared")]
    assert [(check.ok, check.finding.code) for check in found(card)] == ready
    assert [(check.ok, check.finding.code) for check in found()] == ready  # prepared before the card is there
    (tmp_path / "open").write_text("0\n")
    monkeypatch.setattr(claims, "PROTECTED_LINKS", tmp_path / "open")
    assert [check.finding.code for check in found() if not check.ok] == ["links_open"]
    (tmp_path / "claims").chmod(0o755)
    assert [check.ok for check in found()] == [False, True]


@pytest.mark.paddle
def test_this_paddle_has_all_of_it(tmp_path):
    services = Services(Settings(data_folder=tmp_path / "data"))
    try:
        (check,) = [check for check in services.doctor() if check.name == "tracing"]
    finally:
        services.close()

    assert check.ok and check.finding.code == "tracing_ready"
