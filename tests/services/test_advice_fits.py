"""Advice that is followed fits: on small cards each way out, asked for, gets the training a card with room for it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from jupyter_paddle_gpu.devices.reader import Reading
from jupyter_paddle_gpu.devices.service import DeviceService
from jupyter_paddle_gpu.domain.devices import Device
from jupyter_paddle_gpu.domain.what_ifs import EstimateRequest
from jupyter_paddle_gpu.services import Services, Settings

pytestmark = pytest.mark.paddle

MIB = 1 << 20
PROGRAM = """
import paddle
from paddle import nn
BATCH_SIZE = {batch}
net = nn.Sequential({layers})
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
for step in range(3):
    loss = net(paddle.rand([BATCH_SIZE, {inputs}])).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
WIDE = PROGRAM.format(
    batch=60_000,
    inputs="500",
    layers="nn.Linear(500, 1000), nn.ReLU(), nn.Linear(1000, 1000), nn.ReLU(), nn.Linear(1000, 10)",
)
IMAGES = PROGRAM.format(
    batch=512,
    inputs="3, 64, 64",
    layers="nn.Conv2D(3, 32, 3, padding=1), nn.ReLU(), nn.Conv2D(32, 32, 3, padding=1), nn.ReLU(), nn.Flatten(), "
    "nn.Linear(32 * 64 * 64, 10)",
)


class Cards:
    """Cards of these sizes in MiB, of which so many are in use."""

    def __init__(self, *sizes: tuple[int, int]) -> None:
        self.sizes = sizes

    def read(self) -> Reading:
        """The same every time."""
        return Reading(
            devices=tuple(
                Device(
                    id=f"GPU-{at}",
                    index=at,
                    vendor="nvidia",
                    name="A small card",
                    memory_total=total * MIB,
                    memory_used=used * MIB,
                    memory_free=(total - used) * MIB,
                )
                for at, (total, used) in enumerate(self.sizes)
            )
        )

    def close(self) -> None:
        """Nothing is held."""


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    """One for all: what a step takes does not depend on the cards that it is to fit."""
    folder = tmp_path_factory.mktemp("services")
    made = Services(Settings(data_folder=folder, system_policy_file=folder / "none"))
    yield made
    made.close()


@pytest.mark.parametrize(
    ("program", "cards"),
    [
        (WIDE, ((2000, 0),)),
        (WIDE, ((2000, 1200), (1500, 0))),
        (IMAGES, ((2200, 0), (2200, 0))),
        (IMAGES, ((2200, 100),)),
    ],
    ids=["wide", "wide-two-sizes", "images-two", "images-small"],
)
def test_every_way_out_leads_to_a_card_with_room(
    services: Services, tmp_path: Path, program: str, cards: tuple[tuple[int, int], ...]
) -> None:
    cell = {"cell_type": "code", "id": "a", "metadata": {}, "outputs": [], "execution_count": None, "source": program}
    path = tmp_path / "n.ipynb"
    path.write_text(json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    services._built["devices"] = DeviceService(tmp_path, simulate="", readers=[Cards(*cards)])
    source = services.open(path)
    first = services.match(source, EstimateRequest(details=True))
    decision = first.placement.decision
    assert (decision.outcome, decision.searched) == ("refuse", True), first.estimate.questions
    assert decision.ways
    for way in decision.ways:
        request = msgspec.convert(way.request, EstimateRequest)
        choice = {} if way.gpus is None else {"gpus": way.gpus}
        again = services.match(source, request, **choice)
        followed = again.placement.decision
        assert followed.outcome in ("run", "wait"), (way.change, followed.reason.render())
        best = max(total for total, _ in cards) * MIB
        assert again.estimate.high <= services.policy.allowed(best), way.change
        if all(used == 0 for _, used in cards):
            assert followed.outcome == "run", way.change
