"""Which number format mixed precision gets: by the card's sheet, or by its maker's word for its compute capability."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jupyter_paddle_gpu.devices import catalogue
from jupyter_paddle_gpu.devices.catalogue import find
from jupyter_paddle_gpu.devices.reader import Reading
from jupyter_paddle_gpu.devices.service import DeviceService
from jupyter_paddle_gpu.domain.decisions import Choice
from jupyter_paddle_gpu.domain.devices import Accelerator, Device, Inventory
from jupyter_paddle_gpu.domain.jobs.job import WantedResources
from jupyter_paddle_gpu.domain.what_ifs import EstimateRequest
from jupyter_paddle_gpu.matching.policy import Policy
from jupyter_paddle_gpu.notebook.files.reading import parse_notebook
from jupyter_paddle_gpu.services import Services, Settings, Submission
from jupyter_paddle_gpu.services.estimates.cache import EstimateCache
from jupyter_paddle_gpu.services.estimates.copies import settled
from jupyter_paddle_gpu.services.estimates.estimating import Estimating, Where
from jupyter_paddle_gpu.services.jobs.submitting import settle
from tests.matching.situations import HOST

A100, T4 = (one for name in ("A100 SXM 40GB", "T4") for one in catalogue.accelerators() if one is find(name))
SOURCE = """import paddle
net = paddle.nn.Linear(4, 1)
opt = paddle.optimizer.SGD(parameters=net.parameters())
for x in paddle.rand([8, 4, 4]):
    loss = net(x).mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
"""
CELL = {"cell_type": "code", "id": "a", "metadata": {}, "outputs": [], "execution_count": None, "source": SOURCE}
NOTEBOOK = parse_notebook(
    {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [CELL]}, Path("/nowhere/n.ipynb")
)


def unknown(vendor: Any, capability: tuple[int, int] | None) -> Accelerator:
    """A card that stands in no catalogue."""
    return Accelerator(name="X1", vendor=vendor, memory_bytes=1 << 30, compute_capability=capability)


@pytest.mark.parametrize(
    ("cards", "expected"),
    [
        ([A100], "bfloat16"),
        ([T4], "float16"),
        ([A100, T4], "float16"),
        ([find("MI100")], "bfloat16"),
        ([find("MI50")], "float16"),
        ([unknown("nvidia", (12, 1))], "bfloat16"),
        ([unknown("nvidia", (7, 5))], "float16"),
        ([unknown("nvidia", None)], "float16"),
        ([unknown("amd", (12, 1))], "float16"),
        ([], "float16"),
    ],
)
def test_bfloat16_only_where_each_card_computes_in_it(cards: list[Accelerator], expected: str) -> None:
    assert settled(EstimateRequest(amp="O1"), cards).amp_dtype == expected


@pytest.mark.parametrize(
    ("request_", "choice", "expected"),
    [
        (EstimateRequest(amp="O1"), Choice(), "float16"),  # it may be given either card
        (EstimateRequest(amp="O1"), Choice(device_ids=("GPU-1",)), "bfloat16"),
        (EstimateRequest(amp="O1", device="A100 SXM 40GB"), Choice(), "bfloat16"),
    ],
)
def test_a_job_computes_in_a_format_of_whichever_card_it_is_given(
    request_: EstimateRequest, choice: Choice, expected: str
) -> None:
    cards = [("Tesla T4", 16 << 30), ("NVIDIA A100-SXM4-40GB", 40 << 30)]
    devices = tuple(
        Device(id=f"GPU-{at}", index=at, vendor="nvidia", name=name, memory_total=size, memory_free=size)
        for at, (name, size) in enumerate(cards)
    )
    inventory = Inventory(time=0, host=HOST, devices=devices)
    estimates = Estimating(lambda: None, lambda: inventory, find, Policy, EstimateCache(1))  # type: ignore[arg-type]
    copy, changes = estimates.copy(NOTEBOOK, request_, Where(choice=choice))
    assert not changes.refused and f'dtype="{expected}"' in copy.content["cells"][0]["source"]


def test_what_is_said_stays() -> None:
    assert settled(EstimateRequest(amp="O1", amp_dtype="bfloat16"), [T4]).amp_dtype == "bfloat16"
    assert settled(EstimateRequest(amp="off"), [T4]).amp_dtype is None
    assert settled(EstimateRequest(), [T4]).amp_dtype is None


@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        (None, "float16"),
        (WantedResources(device_ids=("1",)), "bfloat16"),
        (WantedResources(gpus=2), "float16"),
        (WantedResources(gpus=0), "float16"),
    ],
    ids=["any card", "the one that has it", "both", "the CPU"],
)
def test_the_difference_that_is_shown_is_that_of_the_job(
    tmp_path: Path, resources: WantedResources | None, expected: str
) -> None:
    services = Services(Settings(data_folder=tmp_path, root=tmp_path, system_policy_file=tmp_path / "none"))
    services._built["devices"] = DeviceService(tmp_path, simulate="", readers=[Both()])
    source = services.open("n.ipynb", {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [CELL]})
    submission = Submission(request=EstimateRequest(amp="O1"), resources=resources, estimate=False)
    try:
        shown = services.changes(source, submission)
        settled = settle(services.desk(source), source, submission)
    finally:
        services.close()
    assert not shown.refused
    assert f'dtype="{expected}"' in shown.difference
    assert shown.cells[0].after == settled.content["cells"][0]["source"]


class Both:
    """A card with bfloat16 beside one without."""

    def read(self) -> Reading:
        """The same every time."""
        return Reading(
            devices=tuple(
                Device(
                    id=f"GPU-{at}", index=at, vendor="nvidia", name=card.name,
                    memory_total=card.memory_bytes, memory_used=0, memory_free=card.memory_bytes,
                )
                for at, card in enumerate((T4, A100))
            )
        )  # fmt: skip

    def close(self) -> None:
        """Nothing is held."""
