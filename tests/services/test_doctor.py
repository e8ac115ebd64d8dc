"""What the doctor says of the kernel's Paddle: whether steps of it are traced, and what it no longer has."""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.domain.messages import Message
from jupyter_paddle_gpu.engines.registry import Registry
from jupyter_paddle_gpu.estimator.workers.outcomes import Greeting
from jupyter_paddle_gpu.services import doctor
from jupyter_paddle_gpu.services.requests import Check
from jupyter_paddle_gpu.services.service import Services, Settings


def tracing(greeting, folder: Path) -> list[Check]:
    def absent():
        raise PaddleGpuError(Message(code="absent", text="Not looked at here."))

    checks = doctor.examine(
        "python3",
        greeting=greeting,
        inventory=absent,
        registry=lambda: Registry({}, ()),
        engines=dict,
        policies=absent,
        data_folder=folder,
    )
    return [check for check in checks if check.name == "tracing"]


def test_names_what_this_paddle_has_no_place_for(tmp_path):
    (check,) = tracing(lambda: Greeting(paddle_version="9.9", unpatched=("paddle.gone", "paddle.jit.gone")), tmp_path)

    assert not check.ok and not check.needed
    assert "Paddle 9.9 no longer has what a trace replaces: paddle.gone, paddle.jit.gone." in check.finding.render()


def test_names_a_paddle_whose_steps_cannot_be_traced(tmp_path):
    (check,) = tracing(lambda: Greeting(paddle_version="2.0", tracer_error="ImportError: pir"), tmp_path)

    assert not check.ok and check.finding.code == "untraced_paddle"


def test_says_nothing_of_a_kernel_without_paddle(tmp_path):
    assert tracing(lambda: Greeting(error="No module named 'paddle'"), tmp_path) == []


@pytest.mark.paddle
def test_this_paddle_has_all_of_it(tmp_path):
    services = Services(Settings(data_folder=tmp_path / "data"))
    try:
        (check,) = [check for check in services.doctor() if check.name == "tracing"]
    finally:
        services.close()

    assert check.ok and check.finding.code == "tracing_ready"
