"""What a request makes of a notebook's cells: only what is meant changes, and what cannot is refused with a reason."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from jupyter_paddle_gpu.domain.changes import ChangedCell
from jupyter_paddle_gpu.domain.estimates import BatchPlace
from jupyter_paddle_gpu.domain.what_ifs import EstimateRequest
from jupyter_paddle_gpu.notebook.changes.difference import unified
from jupyter_paddle_gpu.notebook.changes.table import changes
from jupyter_paddle_gpu.notebook.files.reading import parse_notebook

HIDDEN = """import paddle
from mine import Runner
size = 64
loader = paddle.io.DataLoader(data, batch_size=size, shuffle=True)
test_loader = paddle.io.DataLoader(data, batch_size=100)
net = paddle.nn.Linear(8, 1)
Runner(net, paddle.optimizer.SGD(parameters=net.parameters())).train(loader, test_loader)
"""

LOOP = """\
import paddle
from paddle import nn

net = nn.Sequential(nn.Linear(64, 64), nn.Linear(64, 10))  # 中文
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
loader = paddle.io.DataLoader(data, batch_size=64, shuffle=True)  # 64 fit
for epoch in range(2):
    for x, y in loader:
        text = '''
    kept as it is'''
        loss = nn.functional.cross_entropy(net(x), y)
        print(float(loss))
        loss.backward()  # the pass
        opt.step()
        opt.clear_grad()
"""
FIT = """\
import paddle
model = paddle.Model(paddle.vision.models.LeNet())
model.prepare(
    paddle.optimizer.Adam(parameters=model.parameters()),
    paddle.nn.CrossEntropyLoss(),
)
model.fit(data, epochs=1, batch_size=64)
"""


def made(request, *cells, tags=None, places=(), among=None):
    content = {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {},
        "cells": [
            {
                "cell_type": "code",
                "id": f"c{number}",
                "metadata": {"tags": (tags or {}).get(number, [])},
                "outputs": [],
                "execution_count": None,
                "source": source,
            }
            for number, source in enumerate(cells)
        ],
    }
    return changes(parse_notebook(content, Path("/home/a.ipynb")), EstimateRequest(**request), places, among)


def lines(found):
    """The added and the removed lines, without headers."""
    shown = [line for line in found.difference.split("\n") if line[:1] in ("+", "-") and line[:3] not in ("+++", "---")]
    return [line.rstrip() for line in shown]


def refused(found):
    return [(one.change, one.why.code) for one in found.refused]


@pytest.mark.parametrize(
    ("request_", "cell", "difference"),
    [
        (
            {"batch_size": 32},
            LOOP,
            [
                "-loader = paddle.io.DataLoader(data, batch_size=64, shuffle=True)  # 64 fit",
                "+loader = paddle.io.DataLoader(data, batch_size=32, shuffle=True)  # 64 fit",
            ],
        ),
        (
            {"batch_size": 32},
            FIT,
            ["-model.fit(data, epochs=1, batch_size=64)", "+model.fit(data, epochs=1, batch_size=32)"],
        ),
        ({"batch_size": 64}, FIT, []),
        ({"set_to_zero": False}, LOOP, ["-        opt.clear_grad()", "+        opt.clear_grad(set_to_zero=False)"]),
        ({"amp": "O1"}, FIT, ['+    amp_configs="O1",']),
        (
            {"amp": "O1", "amp_dtype": "bfloat16"},
            LOOP,
            [
                "-        loss = nn.functional.cross_entropy(net(x), y)",
                "-        print(float(loss))",
                '+        with paddle.amp.auto_cast(level="O1", dtype="bfloat16"):',
                "+            loss = nn.functional.cross_entropy(net(x), y)",
                "+            print(float(loss))",
            ],
        ),
        (
            {"accumulation": 4},
            LOOP,
            [
                "-loader = paddle.io.DataLoader(data, batch_size=64, shuffle=True)  # 64 fit",
                "+loader = paddle.io.DataLoader(data, batch_size=16, shuffle=True)  # 64 fit",
                "+import itertools",
                "+micro_batches = itertools.count(1)",
                "-        loss.backward()  # the pass",
                "-        opt.step()",
                "-        opt.clear_grad()",
                "+        (loss / 4).backward()  # the pass",
                "+        if next(micro_batches) % 4 == 0:",
                "+            opt.step()",
                "+            opt.clear_grad()",
            ],
        ),
        (
            {"devices": 2},
            LOOP,
            [
                "+paddle.distributed.init_parallel_env()",
                "+net = paddle.DataParallel(net)",
                "-loader = paddle.io.DataLoader(data, batch_size=64, shuffle=True)  # 64 fit",
                "+loader = paddle.io.DataLoader(data, batch_sampler=paddle.io.DistributedBatchSampler(data, "
                "batch_size=64, shuffle=True))  # 64 fit",
            ],
        ),
        ({"devices": 2}, FIT, []),
    ],
)
def test_only_what_is_meant_changes(request_, cell, difference):
    _, found = made(request_, cell)
    assert (lines(found), found.refused) == (difference, ())


def test_all_at_once_is_python_and_says_what_it_is():
    request = {"batch_size": 32, "amp": "O2", "accumulation": 4, "recompute": True, "set_to_zero": False}
    copy, found = made(request, LOOP)
    source = copy.content["cells"][0]["source"]
    ast.parse(source)
    assert found.refused == ()
    assert "batch_size=8" in source and 'decorate(net, opt, level="O2", dtype="float16")' in source
    assert "text = '''\n    kept as it is'''" in source, "a string is no code"
    assert [one.render() for one in found.says] == [
        "with batch 8 × 4",
        "with recompute",
        "with 4 steps accumulated",
        "with mixed precision O2",
        "with gradients freed",
    ]
    again, same = made({**request, "amp": None}, source)
    assert again.content["cells"][0]["source"] != source or same.refused


BLOCKS = """\
import paddle
from paddle.distributed.fleet.utils import recompute as again

class Net(paddle.nn.Layer):
    def forward(self, x):
        x = {first}
        return {second}  # 中文
"""


def test_recompute_of_the_notebook_becomes_plain_calls():
    own = BLOCKS.format(first="again(self.one, x, mask, use_reentrant=False)", second="again(lambda y: y + 1, x)")
    copy, found = made({"recompute": False}, own)
    plain = BLOCKS.format(first="self.one(x, mask)", second="(lambda y: y + 1)(x)")
    assert copy.content["cells"][0]["source"] == plain
    assert [one.render() for one in found.says] == ["without recompute"]
    assert made({"recompute": False}, LOOP)[1].refused == ()


NAMED = "BATCH_SIZE = 64\nlearning_rate = 0.1"
USES = LOOP.replace("batch_size=64", "batch_size=BATCH_SIZE")


def test_a_batch_size_is_found_behind_names():
    default = "def loader(batch=64):\n    return paddle.io.DataLoader(data, batch_size=batch)\n"
    config = 'config = {"batch": 64}\nargs = Namespace(bs=config["batch"])\n'
    for cells, was, becomes in (
        ((NAMED, USES), "BATCH_SIZE = 64", "BATCH_SIZE = 32"),
        (
            (default, LOOP.replace("paddle.io.DataLoader(data, batch_size=64, shuffle=True)", "loader()")),
            "batch=64",
            "batch=32",
        ),
        ((config, LOOP.replace("batch_size=64", "batch_size=args.bs")), '"batch": 64', '"batch": 32'),
    ):
        _, found = made({"batch_size": 32}, *cells)
        assert [(one.cell, one.after) for one in found.cells] == [(0, cells[0].replace(was, becomes))]


def test_a_loop_in_a_module_is_given_the_loader_of_the_cells():
    copy, _ = made({"batch_size": 32}, HIDDEN)
    assert copy.content["cells"][0]["source"] == HIDDEN.replace("size = 64", "size = 32")
    copy, _ = made({"devices": 2}, HIDDEN)
    lines = copy.content["cells"][0]["source"].splitlines()
    assert "paddle.distributed.init_parallel_env()" in lines and "net = paddle.DataParallel(net)" in lines
    sampler = "paddle.io.DistributedBatchSampler(data, batch_size=size, shuffle=True)"
    assert f"loader = paddle.io.DataLoader(data, batch_sampler={sampler})" in lines


def test_a_model_that_a_module_trains_is_the_one_that_it_is_handed():
    head = "import paddle, textbook\nfrom paddle import nn\n"
    own = "class Net(nn.Layer):\n    pass\nclass Loss(nn.CrossEntropyLoss):\n    pass\n"
    derived = "class Net(textbook.Classifier):\n    def __init__(self):\n        self.net = nn.Linear(8, 2)\n"
    derived += "class Small(Net):\n    pass\n"
    build = "def build():\n    return nn.Sequential(*blocks, nn.Linear(8, 2))\n"
    for source in (
        head + "net = nn.Sequential(nn.Linear(8, 8), nn.ReLU())\nloss = nn.CrossEntropyLoss()\n",
        head + own + "loss = Loss()\nnet = Net()\n",
        head + build + "net = build()\nloss = nn.MSELoss()\n",
        head + "net = paddle.vision.models.resnet18()\nloss = None\n",
        head + derived + "loss, net = None, 1\nnet = Small(lr=0.1)\n",
    ):
        copy, found = made({"recompute": True}, source, "textbook.train(loss, net, batches)")
        assert found.refused == () and "\nrecompute_blocks(net)" in copy.content["cells"][0]["source"]
        loader = "batches = paddle.io.DataLoader(data, batch_size=8, shuffle=True)\n"
        copy, found = made({"devices": 2}, source + loader, "textbook.train(loss, net, batches)")
        assert found.refused == () and "\nnet = paddle.DataParallel(net)" in copy.content["cells"][0]["source"]
    made_of_class = head + derived + "net = Small()\ntrainer = textbook.Trainer(epochs=3)\ntrainer.fit(net, batches)"
    copy, found = made({"recompute": True}, made_of_class)
    assert found.refused == () and "\nrecompute_blocks(net)" in copy.content["cells"][0]["source"]
    clip = head + "net = nn.ClipGradByNorm(1.0)\n"
    _, found = made({"recompute": True}, clip, "textbook.train(net)")
    assert [one.why.code for one in found.refused] == ["recompute_nowhere"]


def test_where_a_cell_is_tagged_for_parameters_they_are_injected_behind_it():
    tags = {0: ["parameters"]}
    copy, found = made({"batch_size": 32}, NAMED, USES, tags=tags)
    assert [cell["source"] for cell in copy.content["cells"]] == [NAMED, "# Parameters\nBATCH_SIZE = 32", USES]
    assert [(one.cell, one.before, one.tags) for one in found.cells] == [(0, None, ("injected-parameters",))]
    injected = "# Parameters\nBATCH_SIZE = 16\nseed = 3"
    copy, found = made({"batch_size": 32}, NAMED, injected, USES, tags={0: ["parameters"], 1: ["injected-parameters"]})
    assert copy.content["cells"][1]["source"] == "# Parameters\nseed = 3\nBATCH_SIZE = 32"


def test_a_difference_is_shown_in_the_order_of_the_cells():
    """A cell that is put in is found first, and stands behind the one that it follows."""
    found = unified(
        (
            ChangedCell(cell=1, before=None, after="BATCH_SIZE = 32"),
            ChangedCell(cell=0, before="a", after="b"),
            ChangedCell(cell=1, before="c", after="d"),
            ChangedCell(cell=2, before="e", after="f"),
        )
    )
    named = [line for line in found.splitlines() if line.startswith("+++")]
    assert named == ["+++ cell 1", "+++ cell 2", "+++ after cell 2", "+++ cell 3"]


@pytest.mark.parametrize(
    ("request_", "cells", "why"),
    [
        ({"batch_size": 8}, ["print(1)"], [("batch_size", "batch_size_unnamed")]),
        ({"batch_size": 8}, [LOOP.replace("=64", "=int(input())")], [("batch_size", "batch_size_computed")]),
        ({"amp": "O1"}, ["import paddle\nfrom mine import train\ntrain()"], [("amp", "change_step_hidden")]),
        ({"amp": "O1"}, [LOOP + "        print(net.weight.grad)\n"], [("amp", "amp_gradients")]),
        ({"amp": "O2"}, [LOOP.replace("net.parameters()", "found")], [("amp", "amp_no_optimizer")]),
        ({"accumulation": 5}, [LOOP], [("accumulation", "accumulation_divides")]),
        (
            {"accumulation": 4},
            [LOOP.replace("opt.step()", "if epoch:\n            opt.step()")],
            [("accumulation", "accumulation_own")],
        ),
        (
            {"accumulation": 4},
            [FIT.replace("batch_size=64", "batch_size=64, accumulate_grad_batches=2")],
            [("accumulation", "accumulation_in_fit")],
        ),
        (
            {"amp": "O1"},
            [
                LOOP.replace("loss.backward()", "scaler.scale(loss).backward()").replace(
                    "opt.step()", "scaler.step(opt)"
                )
            ],
            [("amp", "amp_own")],
        ),
        (
            {"accumulation": 4},
            [LOOP.replace("opt.step()", "for one in [opt, opt]:\n            one.step()")],
            [("accumulation", "change_several_steps")],
        ),
        ({"set_to_zero": False}, ["from mine import train\ntrain()"], [("set_to_zero", "clear_grad_nowhere")]),
        ({"recompute": True}, ["from mine import train\ntrain()"], [("recompute", "recompute_nowhere")]),
        ({"recompute": False}, ["Net(use_recompute=True)\n" + LOOP], [("recompute", "recompute_otherwise")]),
        (
            {"recompute": False},
            [BLOCKS.format(first="again(*blocks)", second="x")],
            [("recompute", "recompute_otherwise")],
        ),
        ({"devices": 2}, [LOOP.replace("in loader", "in zip(a, b)")], [("devices", "devices_no_loader")]),
        ({"batch_size": 8}, [HIDDEN + "more = paddle.io.DataLoader(b, 1)\n"], [("batch_size", "batch_size_unnamed")]),
        ({"batch_size": 8}, [FIT, FIT], [("batch_size", "change_several_trainings")]),
        ({"amp": "O1"}, [FIT, FIT], [("amp", "change_several_trainings")]),
        ({"devices": 2}, [LOOP + "net.head\n"], [("devices", "devices_attribute")]),
        (
            {"batch_size": 8},
            ["import paddle\n" + LOOP.replace("loader = ", "%time loader = ")],
            [("batch_size", "change_in_magic")],
        ),
    ],
)
def test_what_cannot_be_changed_is_refused_with_its_reason(request_, cells, why):
    copy, found = made(request_, *cells)
    assert refused(found) == why
    assert [cell["source"] for cell in copy.content["cells"]] == cells, "what is refused changes nothing"
    assert all(one.why.hint for one in found.refused)


@pytest.mark.parametrize(
    ("imported", "said", "bound"),
    [
        ("import config as mine", "mine.BATCH", "import config as mine\nmine.BATCH = 8\n"),
        ("from config import LR, BATCH as n", "n", "from config import LR, BATCH as n\nn = 8\n"),
        ("import os; import config", "config.BATCH", "import os\nimport config\nconfig.BATCH = 8\n"),
    ],
)
def test_what_a_module_says_is_bound_behind_its_import(imported, said, bound):
    cell = LOOP.replace("batch_size=64", f"batch_size={said}")
    copy, found = made({"batch_size": 16, "accumulation": 2}, f"{imported}\n{cell}")
    assert not found.refused
    assert copy.content["cells"][0]["source"].startswith(bound)


@pytest.mark.parametrize(
    ("imported", "said"),
    [
        ("from config import settings", "settings.batch"),  # may be frozen
        ("import config", "config.train.batch"),
        ("import config", "int(config.BATCH)"),
        ("def late(): from config import BATCH", "BATCH"),
    ],
)
def test_what_an_object_of_a_module_says_is_left_alone(imported, said):
    cell = LOOP.replace("batch_size=64", f"batch_size={said}")
    _, found = made({"batch_size": 16}, f"{imported}\n{cell}")
    assert refused(found) == [("batch_size", "batch_size_computed")]
    assert ("computed (" in found.refused[0].why.text) == said.startswith("int(")


def test_gradients_of_each_of_some_optimizers_are_freed():
    both = "for one in (opt, more):\n            one.clear_grad()"
    cell = LOOP.replace("loader =", "more = paddle.optimizer.Adam(parameters=[])\nloader =")
    copy, found = made({"set_to_zero": False}, cell.replace("opt.clear_grad()", both))
    assert not found.refused and "one.clear_grad(set_to_zero=False)" in copy.content["cells"][0]["source"]
    _, found = made({"set_to_zero": False}, LOOP.replace("opt.clear_grad()", both.replace("more", "net")))
    assert refused(found) == [("set_to_zero", "clear_grad_nowhere")]


@pytest.mark.parametrize("package", ["torch", "tensorflow"])
@pytest.mark.parametrize(
    "asked", [{"amp": "O1"}, {"accumulation": 2}, {"recompute": True}, {"set_to_zero": False}, {"devices": 2}]
)
def test_nothing_of_paddle_is_written_into_a_training_of_another_framework(package, asked):
    cell = LOOP.replace("paddle", package)
    copy, found = made(asked, cell)
    assert refused(found) == [(*asked, "notebook_other_framework")]
    assert copy.content["cells"][0]["source"] == cell
    assert made(asked, f"import {package}\n{LOOP}")[1].refused == (), "Paddle trains in it, whatever else it imports"


@pytest.mark.parametrize("asked", [{"amp": "O1"}, {"batch_size": 8}, {"on_cpu": True}])
def test_of_another_language_it_is_said_which_one(asked):
    content = {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {"kernelspec": {"name": "ir", "display_name": "R", "language": "R"}},
        "cells": [{"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": "x <- 1"}],
    }
    _, found = changes(parse_notebook(content, Path("/home/a.ipynb")), EstimateRequest(**asked))
    assert [(one.change, one.why.code, one.why.params["language"]) for one in found.refused] == [
        (*asked, "notebook_other_language", "r")
    ]


def test_a_place_that_a_trace_found_is_written_to():
    code = LOOP.replace(
        "for x, y in loader:", "for _ in range(3):\n        x = 中 = paddle.rand([48, 64]); y = f([48])"
    )
    line = next(number for number, text in enumerate(code.split("\n"), 1) if "48" in text)
    text = code.split("\n")[line - 1]
    spots = [len(text[:at].encode()) for at in (text.index("48"), text.rindex("48"))]
    places = tuple(BatchPlace(cell=0, line=line, column=at, end=at + 2, how="literal") for at in spots)
    copy, found = made({"batch_size": 16, "accumulation": 4}, code.replace("loader = ", "other = "), places=places)
    assert found.refused == ()
    assert "中 = paddle.rand([4, 64]); y = f([4])" in copy.content["cells"][0]["source"]


def test_a_refused_accumulation_does_not_make_batches_smaller():
    copy, found = made({"accumulation": 4}, LOOP.replace("opt.step()", "if epoch: opt.step()"))
    assert refused(found) == [("accumulation", "accumulation_own")]
    assert "batch_size=64" in copy.content["cells"][0]["source"]


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("!python train.py --batch-size 8", "stands in a script that a cell starts"),
        ("!pip install tqdm", "does not say its batch size in its cells"),
    ],
)
def test_why_another_batch_cannot_be_had_is_true(cell: str, said: str) -> None:
    (refusal,) = made({"batch_size": 16}, cell)[1].refused
    assert said in refusal.why.render()


def test_gradients_that_are_looked_at_after_the_training_are_in_nobodys_way():
    assert not refused(made({"amp": "O1", "amp_dtype": "float16"}, LOOP, "print(net[0].weight.grad)")[1])
    used = LOOP.replace("        opt.step()", "        show()\n        opt.step()")
    found = made({"amp": "O1", "amp_dtype": "float16"}, "def show():\n    print(net[0].weight.grad)", used)[1]
    assert refused(found) == [("amp", "amp_gradients")]


def test_a_clipping_in_the_way_is_told_with_its_cell():
    step = "        opt.step()"
    clipped = LOOP.replace(step, f"        nn.utils.clip_grad_norm_(net.parameters(), 1.0)\n{step}")
    refused = made({"amp": "O1", "amp_dtype": "float16"}, "print(1)", clipped)[1].refused
    assert [(one.why.code, one.why.params) for one in refused] == [("amp_clips", {"cell": 2, "line": 14})]
