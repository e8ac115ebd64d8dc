"""The number that stands first is of where the job would run, in each face; what a device takes stands beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jupyter_paddle_gpu.commands.speech import Speech
from jupyter_paddle_gpu.commands.views.estimate import EstimateView
from jupyter_paddle_gpu.devices.reader import Reading
from jupyter_paddle_gpu.devices.service import DeviceService
from jupyter_paddle_gpu.domain.devices import Device
from jupyter_paddle_gpu.domain.what_ifs import EstimateRequest
from jupyter_paddle_gpu.services import Services, Settings, Submission
from jupyter_paddle_gpu.services.jobs.submitting import specify

pytestmark = pytest.mark.paddle

TRAINING = """
import paddle
net = paddle.nn.Linear(8, 2)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for _ in range(5):
    loss = net(paddle.rand([16, 8])).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
CARD = Device(
    id="GPU-a", index=0, vendor="nvidia", name="A card", memory_total=1 << 34, memory_used=0, memory_free=1 << 34
)


class OneCard:
    """One empty card of 16 GiB."""

    def read(self) -> Reading:
        """The same every time."""
        return Reading(devices=(CARD,))

    def close(self) -> None:
        """Nothing is held."""


def test_the_number_is_of_where_the_job_would_run(tmp_path: Path, subtests: Any) -> None:
    services = Services(Settings(data_folder=tmp_path / "data", root=tmp_path))
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "id": "a", "source": TRAINING}
    source = services.open("train.ipynb", {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]})
    try:
        with subtests.test("no device: the CPU's, and a GPU's beside it"):
            matched = services.match(source)
            estimate, placement = matched.estimate, matched.placement
            assert (estimate.target, placement.decision.outcome) == ("cpu", "cpu")
            assert estimate.peak_bytes == estimate.allocated_peak_bytes
            assert placement.on_device is not None
            assert placement.on_device.peak_bytes == services.estimate(source, EstimateRequest(target="gpu")).peak_bytes
            assert services.estimate(source).peak_bytes == estimate.peak_bytes
            text = EstimateView(estimate, placement).html(Speech("en"))
            assert "on the CPU" in text
            assert "on a GPU (between" in text
        with subtests.test("of another training than the largest: the device's is told as the largest one's"):
            larger = TRAINING.replace("Linear(8, 2)", "Sequential(paddle.nn.Linear(8, 900), paddle.nn.Linear(900, 2))")
            cells = [{**cell, "source": text, "id": name} for name, text in (("a", TRAINING), ("b", larger))]
            two = services.open("two.ipynb", {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells})
            for training, is_told in (("1", True), ("2", False)):
                matched = services.match(two, EstimateRequest(training=training))
                text = EstimateView(matched.estimate, matched.placement).html(Speech("en"))
                assert (") for Sequential, which needs most" in text) == is_told
        with subtests.test("its job carries the same number"):
            assert specify(services.desk(), source, Submission()).estimated_peak_bytes == estimate.peak_bytes
        with subtests.test("a device that is named is meant"):
            named = services.match(source, EstimateRequest(device="A100-80GB"))
            assert (named.estimate.target, named.placement.on_device) == ("gpu", None)
        services._built["devices"] = DeviceService(tmp_path, simulate="", readers=[OneCard()])
        with subtests.test("with a device: the device's"):
            matched = services.match(source)
            assert (matched.estimate.target, matched.estimate.device) == ("gpu", "A card")
            assert (matched.placement.decision.outcome, matched.placement.on_device) == ("run", None)
        with subtests.test("a policy beside the notebook keeps the card from it"):
            beside = tmp_path / "paddle-gpu.yaml"
            beside.write_text("matching: {excluded: ['0']}\n")
            matched = services.match(source)
            assert (matched.estimate.target, matched.placement.decision.outcome) == ("cpu", "cpu")
            assert services.estimate(source).peak_bytes == matched.estimate.peak_bytes
            assert (
                specify(services.desk(source), source, Submission()).estimated_peak_bytes == matched.estimate.peak_bytes
            )
            beside.unlink()
        with subtests.test("the CPU was chosen"):
            chosen = services.match(source, gpus=0)
            assert (chosen.estimate.target, chosen.placement.decision.outcome) == ("cpu", "cpu")
            assert chosen.placement.on_device is not None
    finally:
        services.close()
