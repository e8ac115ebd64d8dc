"""Changes of one of several trainings: those of the others stay as they are typed, whatever names they share."""

from __future__ import annotations

import pytest

from jupyter_paddle_gpu.domain.estimates import Among
from jupyter_paddle_gpu.domain.notebooks import Place
from jupyter_paddle_gpu.notebook.cells import parsed_cells
from jupyter_paddle_gpu.notebook.changes.one_training import has_several
from tests.notebook.changes.test_table import FIT, LOOP, made, refused

HELPER = """\
import paddle
def train(net, batch=64):
    opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
    for x in paddle.io.DataLoader(data, batch_size=batch):
        net(x).mean().backward()
        opt.step()
        opt.clear_grad()
"""
SECOND = "second = paddle.nn.Linear(8, 8)\ntrain(second, batch=32)\n"
WHERE = {LOOP: 7, FIT: 7, SECOND: 2}


def first_and_second(source, *, first):
    places = [Place(cell, WHERE[source]) for cell in (1, 2)]
    return Among(id="1" if first else "2", where=places[not first], others=(places[first],))


@pytest.mark.parametrize("source", [LOOP, FIT], ids=["loop", "fit"])
@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize(
    "asked",
    [{"batch_size": 8}, {"amp": "O1"}, {"accumulation": 4}, {"recompute": True}, {"set_to_zero": False}],
    ids=lambda one: next(iter(one)),
)
def test_only_the_chosen_training_is_changed(source, first, asked):
    among = first_and_second(source, first=first)
    copy, found = made(asked, "import paddle", source, source, among=among)
    assert not found.refused
    _, one, other = (cell["source"] for cell in copy.content["cells"])
    alone = made(asked, "import paddle", source)[0].content["cells"][1]["source"]
    assert (one, other) == ((alone, source) if first else (source, alone))


def test_several_changes_of_one_training_at_once():
    asked = {"batch_size": 32, "amp": "O1", "accumulation": 2, "recompute": True}
    copy, found = made(asked, "import paddle", FIT, FIT, among=first_and_second(FIT, first=True))
    assert (not found.refused, len(found.says)) == (True, 4)
    _, one, other = (cell["source"] for cell in copy.content["cells"])
    assert "batch_size=16, accumulate_grad_batches=2" in one and "amp_configs" in one and other == FIT


def test_a_function_that_both_use_takes_the_batch_of_the_chosen_call():
    copy, found = made({"batch_size": 8}, HELPER, SECOND, SECOND, among=first_and_second(SECOND, first=False))
    assert not found.refused
    assert [cell["source"] for cell in copy.content["cells"]] == [HELPER, SECOND, SECOND.replace("32", "8")]


def test_several_devices_are_refused_where_other_trainings_would_run_on_each():
    _, found = made({"devices": 2}, "import paddle", LOOP, LOOP, among=first_and_second(LOOP, first=True))
    assert refused(found) == [("devices", "devices_several_trainings")]


@pytest.mark.parametrize(
    ("cells", "several"),
    [([FIT], False), ([LOOP], False), ([FIT, LOOP], True), ([HELPER, SECOND], False), ([HELPER, SECOND, SECOND], True)],
)
def test_reading_tells_whether_there_are_several(cells, several):
    assert has_several(parsed_cells([{"cell_type": "code", "source": one} for one in cells])) is several
