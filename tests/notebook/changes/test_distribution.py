"""Which notebooks several processes can train, and which are refused because their models would not stay the same."""

from __future__ import annotations

import ast

import pytest

from tests.notebook.changes.test_table import FIT, LOOP, made

GAN = LOOP.replace(
    "        opt.step()\n", "        opt.step()\n        other = paddle.mean(head(x))\n        opt_g.step()\n"
).replace("loader =", "head = nn.Linear(64, 1)\nopt_g = paddle.optimizer.SGD(parameters=head.parameters())\nloader =")
OWN = "class Net(nn.Layer):\n    pass\n\nnet = Net()\n"
TWO = LOOP.replace("opt =", f"{OWN}head = Net()\nopt =")
SOME = LOOP.replace("opt =", f"{OWN}opt =")
BUILT = LOOP.replace("net = nn", "def build():\n    return nn").replace("opt =", "net = build()\nopt =")
GIVEN = LOOP.replace("loader =", "def batches(size):\n    return").replace("in loader", "in batches(64)")
TRAINER = """\
import paddle
class Trainer:
    def __init__(self):
        self.model = Net()
        self.opt = paddle.optimizer.SGD(parameters=self.model.parameters())
        self.loader = paddle.io.DataLoader(data, batch_size=4)
    def fit(self):
        for x in self.loader:
            self.model(x).mean().backward()
            self.opt.step()
            self.opt.clear_grad()
class Net(paddle.nn.Layer):
    pass
Trainer().fit()
"""

HANDED = (
    TRAINER.replace("__init__(self)", "__init__(self, model)")
    .replace("= Net()", "= model")
    .replace("Trainer().fit()", "net = Net()\nTrainer(net).fit()")
)


def test_a_model_that_is_handed_to_a_trainer_is_made_parallel_before() -> None:
    copy, found = made({"devices": 2}, HANDED)
    assert not found.refused
    source = copy.content["cells"][0]["source"]
    assert "net = Net()\nnet = paddle.DataParallel(net)\nTrainer(net).fit()" in source
    assert "DistributedBatchSampler(data, batch_size=4)" in source
    own = HANDED.replace("self.model(x)", "self.model.encode(x)")
    assert [one.why.code for one in made({"devices": 2}, own)[1].refused] == ["devices_attribute"]
    late = HANDED.replace(
        "net = Net()\nTrainer(net).fit()", "trainer = Trainer(Net())\nnet = trainer.model\ntrainer.fit()"
    )
    assert [one.why.code for one in made({"devices": 2}, late)[1].refused] == ["devices_no_model"]


def test_what_means_the_model_itself_is_given_it() -> None:
    """A `DataParallel` cannot be copied, and is of another class."""
    average = LOOP.replace(
        "loader =", "import copy\nema = copy.deepcopy(net)\nassert isinstance(net, nn.Layer)\nloader ="
    )
    copy, found = made({"devices": 2}, average)
    assert not found.refused
    source = "\n".join(cell["source"] for cell in copy.content["cells"])
    assert "ema = copy.deepcopy(net._layers)\nassert isinstance(net._layers, nn.Layer)\n" in source


READY = """for p in net.parameters():
    p.stop_gradient = True
width = net[1].weight.shape[0]
net.extra = nn.Linear(width, 2)
print(net)
"""


def test_a_model_is_made_parallel_once_it_is_ready() -> None:
    """`DataParallel` takes the parameters that train then, and hands no attribute on."""
    copy, found = made({"devices": 2}, LOOP.replace("opt =", READY + "opt ="))
    assert not found.refused
    source = copy.content["cells"][0]["source"]
    assert READY + "net = paddle.DataParallel(net)\nopt =" in source


def test_blocks_that_are_computed_again_are_wrapped_with_the_model() -> None:
    copy, found = made({"devices": 2, "recompute": True}, LOOP.replace("opt =", READY + "opt ="))
    assert not found.refused
    source = copy.content["cells"][0]["source"]
    assert "recompute_blocks(net)\n" + READY + "net = paddle.DataParallel(net)\nopt =" in source
    assert "recompute(once, *args, use_reentrant=False, **kwargs)" in source


def test_several_processes_compute_again_by_hooks() -> None:
    """`DataParallel` refuses gradients that come of a `PyLayer`'s own pass."""
    own = LOOP.replace("opt =", "parallel = paddle.DataParallel(net)\nopt =")
    for cell, options in ((own, ", use_reentrant=False"), (LOOP, "")):
        copy, _ = made({"recompute": True}, cell)
        assert f"recompute(once, *args{options}, **kwargs)" in copy.content["cells"][0]["source"]


@pytest.mark.parametrize("kept", ["last = net[1]", "trainer = Trainer(net)", "parts = [net]", "head = net.head"])
def test_a_model_that_is_handed_on_is_made_parallel_before(kept: str) -> None:
    copy, found = made({"devices": 2}, LOOP.replace("opt =", f"{kept}\nopt ="))
    source = copy.content["cells"][0]["source"]
    if "head" in kept:
        assert [one.why.code for one in found.refused] == ["devices_attribute"]
    else:
        assert "net = paddle.DataParallel(net)\n" + kept.replace("net[1]", "net._layers[1]") in source


def test_layers_of_the_model_are_taken_out_of_it() -> None:
    groups = LOOP.replace("net.parameters()", "[{'params': net[0].parameters()}, {'params': net[1:].parameters()}]")
    copy, found = made({"devices": 2}, groups.replace("loader =", "for layer in net:\n    print(layer)\nloader ="))
    assert not found.refused
    source = copy.content["cells"][0]["source"]
    assert "[{'params': net._layers[0].parameters()}, {'params': net._layers[1:].parameters()}]" in source
    assert "for layer in net._layers:\n" in source


def test_a_sampler_of_batches_becomes_one_for_several_processes() -> None:
    sampled = LOOP.replace("loader =", "sampler = paddle.io.BatchSampler(data, batch_size=64, shuffle=True)\nloader =")
    copy, found = made({"devices": 2}, _with_sampler(sampled))
    assert not found.refused
    source = "\n".join(cell["source"] for cell in copy.content["cells"])
    assert "sampler = paddle.io.DistributedBatchSampler(data, batch_size=64, shuffle=True)\n" in source
    own = _with_sampler(sampled.replace("(data, batch", "(sampler=chosen, batch"))
    assert [one.why.code for one in made({"devices": 2}, own)[1].refused] == ["devices_no_loader"]


def test_a_loader_that_is_asked_for_the_next_batch_is_divided() -> None:
    asked = LOOP.replace(
        "    for x, y in loader:\n",
        "    batches = iter(loader)\n    for _ in range(9):\n        x, y = next(batches)\n",
    )
    copy, found = made({"devices": 2}, asked)
    assert not found.refused
    assert "DistributedBatchSampler(data, batch_size=64, shuffle=True))" in copy.content["cells"][0]["source"]
    tests = asked.replace("loader", "test_loader")
    assert [one.why.code for one in made({"devices": 2}, tests)[1].refused] == ["devices_no_loader"]


def _with_sampler(source: str) -> str:
    made = next(line for line in source.split("\n") if line.startswith("loader ="))
    return source.replace(made, "loader = paddle.io.DataLoader(data, batch_sampler=sampler)")


@pytest.mark.parametrize(
    ("cell", "why"),
    [
        (GAN, "devices_several_optimizers"),
        (TWO.replace("net.parameters()", "net.parameters() + head.parameters()"), "devices_several_models"),
        (TWO.replace("net.parameters()", "[*net.parameters(), *head.parameters()]"), "devices_several_models"),
        (
            TWO.replace("opt =", "both = list(net.parameters())\nboth += head.parameters()\nopt =").replace(
                "parameters=net.parameters()", "parameters=both"
            ),
            "devices_several_models",
        ),
        (TRAINER + "self.model.head\n", "devices_attribute"),
        (LOOP + "print(net[0](x))\n", "devices_attribute"),
    ],
    ids=["two optimizers", "sum", "list", "added", "attribute of a trainer's model", "a layer of it"],
)
def test_models_that_would_not_stay_the_same_are_refused(cell: str, why: str) -> None:
    copy, found = made({"devices": 2}, cell)
    assert [one.why.code for one in found.refused] == [why]
    assert copy.content["cells"][0]["source"] == cell
    assert all(one.why.hint for one in found.refused)


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        (BUILT, "net = build()\nnet = paddle.DataParallel(net)\n"),
        (TRAINER, "        self.model = Net()\n        self.model = paddle.DataParallel(self.model)\n"),
        (GIVEN, "    return paddle.io.DataLoader(data, batch_sampler=paddle.io.DistributedBatchSampler(data, "),
        (SOME.replace("net.parameters()", "[p for p in net.parameters()]"), "net = paddle.DataParallel(net)\n"),
        (LOOP.replace("net.parameters()", "net[1].parameters()"), "parameters=net._layers[1].parameters())"),
    ],
    ids=["a function makes the model", "a class holds it", "a function makes the loader", "some of it", "a part of it"],
)
def test_a_model_is_found_where_its_name_is_bound(cell: str, written: str) -> None:
    copy, found = made({"devices": 2}, cell)
    source = copy.content["cells"][0]["source"]
    ast.parse(source)
    assert not found.refused and written in source


@pytest.mark.parametrize("cell", [BUILT, TRAINER])
def test_blocks_of_such_a_model_are_recomputed(cell: str) -> None:
    copy, found = made({"recompute": True}, cell)
    assert not found.refused
    assert "recompute_blocks(" in copy.content["cells"][0]["source"].split("opt =")[0]


LOADED = FIT.replace("fit(data, epochs=1, batch_size=64)", "fit(train, checked)").replace(
    "model.prepare(",
    "train = paddle.io.DataLoader(data, batch_size=64, shuffle=True)\n"
    "checked = paddle.io.DataLoader(data, batch_size=2)\nmodel.prepare(",
)
DIVIDED = "batch_sampler=paddle.io.DistributedBatchSampler(data, batch_size="


def test_fit_has_its_loaders_divided_and_its_data_sets_left_to_paddle() -> None:
    source = made({"devices": 2}, LOADED)[0].content["cells"][0]["source"]
    assert f"train = paddle.io.DataLoader(data, {DIVIDED}64, shuffle=True))" in source
    assert f"checked = paddle.io.DataLoader(data, {DIVIDED}2))" in source
    assert made({"devices": 2}, FIT)[0].content["cells"][0]["source"] == FIT
    assert made({"devices": 2}, source)[1].difference == "", "is divided"


def test_predict_answers_for_all_of_the_data_in_each_process() -> None:
    whole = LOADED.replace("fit(train, checked)", "fit(train)\nmodel.predict(checked)\nmodel.predict(data, 2)")
    copy, found = made({"devices": 2}, whole)
    source = copy.content["cells"][0]["source"]
    ast.parse(source)
    assert not found.refused and source.count("DistributedBatchSampler") == 1
    assert source.rstrip().endswith(
        "    return model.predict(data, batch_size, num_workers, **options)\n\n\npredict_all(model, data, 2)"
    )
    again = LOADED.replace("fit(train, checked)", "fit(train)\nmodel.predict(train)")
    assert [one.why.code for one in made({"devices": 2}, again)[1].refused] == ["devices_predicted"]


def test_data_without_places_is_not_divided():
    """A sampler asks an `IterableDataset` for its length, which it does not have: each process ended there."""
    stream = LOOP.replace("loader =", "class Rows(paddle.io.IterableDataset):\n    pass\ndata = Rows()\nloader =")
    for source in (stream, stream.replace("DataLoader(data", "DataLoader(Rows()")):
        assert [one.why.code for one in made({"devices": 2}, source)[1].refused] == ["devices_stream"]
    assert not made({"devices": 2}, stream.replace("IterableDataset", "Dataset"))[1].refused


def test_a_loader_is_divided_that_a_bar_with_a_name_goes_over():
    cell = LOOP.replace("    for x, y in loader:", "    bar = tqdm(loader, desc='a')\n    for x, y in enumerate(bar):")
    copy, found = made({"devices": 2}, "from tqdm import tqdm\n" + cell)
    assert not found.refused
    assert "batch_sampler=paddle.io.DistributedBatchSampler(data, batch_size=64" in copy.content["cells"][0]["source"]


def test_a_loader_with_options_is_told_with_its_place():
    cell = LOOP.replace("data, batch_size=64, shuffle=True", "data, **options")
    (refusal,) = made({"devices": 2}, "options = dict(batch_size=64)\n" + cell)[1].refused
    assert refusal.why.code == "devices_options"
    assert "**options (cell 1, line 7)" in refusal.why.render()


ZIPPED = LOOP.replace("in loader", "in zip(loader, more)").replace(
    "for epoch", "more = paddle.io.DataLoader(others, batch_size=64)\nfor epoch", 1
)


def test_loaders_that_are_read_in_step_are_divided_alike():
    copy, found = made({"devices": 2}, ZIPPED)
    assert not found.refused
    source = copy.content["cells"][0]["source"]
    assert "batch_sampler=paddle.io.DistributedBatchSampler(data, batch_size=64, shuffle=True)" in source
    assert "more = paddle.io.DataLoader(others, batch_sampler=paddle.io.DistributedBatchSampler(others" in source


def test_loaders_that_are_read_in_step_with_one_batch_size_keep_one():
    source = made({"batch_size": 8}, ZIPPED)[0].content["cells"][0]["source"]
    assert source.count("batch_size=8") == 2 and "batch_size=64" not in source
    other = ZIPPED.replace("others, batch_size=64", "others, batch_size=32")
    source = made({"batch_size": 8}, other)[0].content["cells"][0]["source"]
    assert source.count("batch_size=8") == 1 and "others, batch_size=32" in source
    named = "size = 64\n" + ZIPPED.replace("batch_size=64", "batch_size=size")
    source = made({"batch_size": 8}, named)[0].content["cells"][0]["source"]
    assert source == named.replace("size = 64", "size = 8", 1)
