"""A job changes the training that was chosen, and is decided by what all of its trainings take then."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from jupyter_paddle_gpu.commands.views.decision import refusal
from jupyter_paddle_gpu.devices.service import DeviceService
from jupyter_paddle_gpu.domain.decisions import RefusedError
from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.domain.notebooks import NotebookSource
from jupyter_paddle_gpu.domain.what_ifs import EstimateRequest
from jupyter_paddle_gpu.services import Services, Settings, Submission
from jupyter_paddle_gpu.services.jobs.submitting import settle
from tests.services.test_advice_fits import MIB, Cards

pytestmark = pytest.mark.paddle

FIRST = """
import paddle
from paddle import nn
big_count = {count}
big = nn.Sequential(nn.Linear(500, 1000), nn.ReLU(), nn.Linear(1000, 10))
opt = paddle.optimizer.Adam(parameters=big.parameters())
for step in range(3):
    loss = big(paddle.rand([big_count, 500])).mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
"""
SECOND = """
small_count = 100
small = nn.Linear(500, 10)
opt2 = paddle.optimizer.Adam(parameters=small.parameters())
for step in range(3):
    loss = small(paddle.rand([small_count, 500])).mean()
    loss.backward()
    opt2.step()
    opt2.clear_grad()
"""


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    folder = tmp_path_factory.mktemp("services")
    made = Services(Settings(data_folder=folder, system_policy_file=folder / "none"))
    made._built["devices"] = DeviceService(folder, simulate="", readers=[Cards((1200, 0))])
    yield made
    made.close()


def notebook(services: Services, folder: Path, *cells: str) -> NotebookSource:
    made = [
        {"cell_type": "code", "id": f"c{at}", "metadata": {}, "outputs": [], "execution_count": None, "source": source}
        for at, source in enumerate(cells)
    ]
    (folder / "n.ipynb").write_text(json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    return services.open(folder / "n.ipynb")


SMALLER = EstimateRequest(training="2", batch_size=8)


@pytest.mark.parametrize("count", [60_000, 100], ids=["larger", "same"])
def test_the_batch_of_the_chosen_training_is_changed(services: Services, tmp_path: Path, count: int) -> None:
    source = notebook(services, tmp_path, FIRST.format(count=count), SECOND)
    services.estimate(source, EstimateRequest(batch_size=50))  # another training's batch was sought before
    estimate = services.estimate(source, SMALLER)
    assert [one.batch_size for one in estimate.trainings] == [count, 8]
    changes = services.changes(source, Submission(request=SMALLER), runs=True)
    assert (changes.refused, [one.cell for one in changes.cells]) == ((), [1])
    assert "small_count = 8" in changes.cells[0].after


def test_devices_are_judged_by_what_the_other_trainings_take(services: Services, tmp_path: Path) -> None:
    source = notebook(services, tmp_path, FIRST.format(count=60_000), SECOND)
    placement = services.match(source, SMALLER).placement
    assert (placement.decision.outcome, placement.verdicts[0].fit) == ("refuse", "never")
    assert [note.code for note in placement.decision.notes] == ["decided_by_most"]
    of_the_largest = services.match(source, EstimateRequest(training="1", batch_size=8)).placement
    assert "decided_by_most" not in [note.code for note in of_the_largest.decision.notes]
    told = services.preflight(source, Submission(request=SMALLER))
    assert told.decision is not None and told.decision.reason == placement.decision.reason
    first = EstimateRequest(training="1", batch_size=800)
    placement = services.match(source, first).placement
    settled = settle(services.desk(source), source, Submission(request=first))
    assert placement.decision.outcome == settled.decision.outcome == "run"
    assert settled.spec.need is not None and settled.spec.need.high < 900 * MIB


def test_a_training_that_there_is_not_is_refused_by_estimate_and_job(services: Services, tmp_path: Path) -> None:
    source = notebook(services, tmp_path, FIRST.format(count=1000), SECOND)
    settled = Submission(request=EstimateRequest(training="7"), estimate=True)
    asks: tuple[Callable[[], object], ...] = (
        lambda: services.estimate(source, EstimateRequest(training="7")),
        lambda: services.match(source, EstimateRequest(training="0", target="cpu")),
        lambda: services.estimate(source, EstimateRequest(training="x", batch_size=8)),
        lambda: settle(services.desk(source), source, settled),
    )
    for ask in asks:
        with pytest.raises(PaddleGpuError) as raised:
            ask()
        assert (raised.value.code, raised.value.status) == ("no_such_training", 404)
        assert raised.value.message.params["known"] == "1, 2"


def test_a_training_is_told_only_what_is_of_it(services: Services, tmp_path: Path) -> None:
    """The second one binds the first one's names anew: what that leaves waits beside the second one alone."""
    again = FIRST.replace("big = ", "paddle.seed(1)\nbig = ")
    source = notebook(services, tmp_path, FIRST.format(count=100), again.format(count=200))
    told = {
        one: [note.code for note in services.estimate(source, EstimateRequest(training=one)).notes]
        for one in (None, "1", "2")
    }
    assert "waits_for_collector" in told[None] and "waits_for_collector" in told["2"]
    assert "waits_for_collector" not in told["1"]


def test_a_way_out_changes_the_training_that_decides(services: Services, tmp_path: Path) -> None:
    source = notebook(services, tmp_path, FIRST.format(count=60_000), SECOND)
    chosen = EstimateRequest(training="2", details=True)
    placement = services.match(source, chosen).placement
    assert placement.verdicts[0].largest_batch is None, "of the other training, which is not looked at"
    way = next(way for way in placement.decision.ways if way.change == "batch_size")
    assert way.request["training"] == "1"
    taken = services.match(source, EstimateRequest(**way.request)).placement.decision
    assert taken.outcome == "run"
    with pytest.raises(RefusedError) as refused:
        settle(services.desk(source), source, Submission(request=chosen))
    assert way.request in [one.request for one in refused.value.decision.ways]
    assert [note.code for note in refused.value.decision.notes] == ["decided_by_most"]
    said = refusal(refused.value.decision)
    assert f"`--training 1 --batch-size {way.request['batch_size']}`" in said.render_hint()
    most = services.match(source, EstimateRequest(training="1", details=True)).placement
    assert most.verdicts[0].largest_batch == way.request["batch_size"]
    assert all("training" not in one.request for one in most.decision.ways)
