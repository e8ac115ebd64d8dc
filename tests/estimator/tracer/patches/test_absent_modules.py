"""Modules that the kernel's Python lacks: a log or a progress bar is passed by, what the step needs is asked for."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

CHILD = """
import json, sys
sys.path.insert(0, sys.argv[1])
import tracer

for name, cells in json.load(sys.stdin).items():
    found = tracer.trace_notebook({"cells": [{"index": i, "source": cell} for i, cell in enumerate(cells)]})
    row = {key: found.get(key) for key in ("status", "batch_size", "optimizer")}
    asked = found["questions"]
    row["questions"] = [[q["why"], q["params"].get("module"), q["name"], q["cell"], q["line"]] for q in asked]
    row["notes"] = {note["code"]: note["params"] for note in found["notes"]}
    print(json.dumps([name, row]))
"""
MODEL = """
import paddle
model = paddle.nn.Linear(10, 2)
optimizer = paddle.optimizer.SGD(parameters=model.parameters())
"""
LOOP = """
for step in {steps}:
    loss = {loss}
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    {then}
"""
MEAN = "model(paddle.rand([16, 10])).mean()"


def loop(steps: str = "range(9)", loss: str = MEAN, then: str = "pass") -> str:
    return LOOP.format(steps=steps, loss=loss, then=then)


FIT = """
class Data(paddle.io.Dataset):
    def __getitem__(self, i):
        return paddle.rand([10]).numpy(), paddle.rand([2]).numpy()
    def __len__(self):
        return 64
trained = paddle.Model(model)
trained.prepare(optimizer, paddle.nn.MSELoss())
trained.fit(Data(), batch_size=16, epochs=2, verbose=0, callbacks=[paddle.callbacks.VisualDL('log')])
"""
CASES = {
    "log": [
        "import absent_log\nfrom absent_log.writers import Writer as Log\n"
        + MODEL
        + "log = Log('x')\nabsent_log.init()",
        loop(then="log.add_scalar('loss', loss, step)"),
    ],
    "bar": ["from tqdm import tqdm, trange\n" + MODEL, loop("tqdm(range(9), total=9)")],
    "bar-of-numbers": ["from tqdm.notebook import trange\n" + MODEL, loop("trange(9)")],
    "callback": [MODEL, FIT],
    "plots": [
        "import matplotlib.pyplot as plt, wandb\nfrom IPython import display\n" + MODEL,
        "def train():\n    figure, (left, right) = plt.subplots(1, 2)\n    for axis in left:\n        axis.grid()\n"
        "    run = wandb.init(config={'rate': 0.1})\n"
        + "\n".join("    " + line for line in loop(then="left[0].plot(step, float(loss) * run.scale)").splitlines())
        + "\n    with plt.style.context('dark'):\n        display.clear_output()\ntrain()",
    ],
    "in-a-step": [MODEL, loop(loss=f"{MEAN} + paddle.vision.image_load('x.png', backend='cv2').sum()")],
    "number": [MODEL, "import absent_game\ngame = absent_game.make()", loop("range(game.steps)")],
    "loss": ["import absent_losses\n" + MODEL, loop(loss=f"absent_losses.dice({MEAN})")],
    "wrapped": [MODEL, "from absent_nets.deep import Net\nwhole = paddle.Model(Net(10))" + loop()],
    "model": [MODEL, "import absent_nets as nets\nmodel = nets.wrap(model)", loop()],
    "starred": ["from absent_all import *\n" + MODEL, loop("range(STEPS)")],
    "whole-training": ["import absent_trainer\n" + MODEL, "absent_trainer.fit(model, optimizer)"],
    "own-way": [
        MODEL + "try:\n    import absent_bar\nexcept ImportError:\n    absent_bar = None",
        loop(loss=f"{MEAN} if absent_bar is None else absent_bar.loss()"),
    ],
    "not-installed": [f"import importlib.metadata\nimportlib.metadata.version('absent_all')\n{MODEL}", loop()],
    "framework": [MODEL, "import torch.nn" + loop()],
}


@pytest.fixture(scope="module")
def traced(run_code):
    return run_code(f"import sys; sys.modules.update(dict.fromkeys({HIDDEN}))\n{CHILD}", CASES)


HIDDEN = (
    "tqdm",
    "tqdm.notebook",
    "matplotlib",
    "matplotlib.pyplot",
    "wandb",
    "IPython",
    "cv2",
    "visualdl",
    "torch",
    "torch.nn",
)
"""Modules that the child does not find, whatever is installed here."""


@pytest.mark.parametrize(
    ("name", "module"),
    [
        ("log", "absent_log"),
        ("bar", "tqdm"),
        ("bar-of-numbers", "tqdm"),
        ("callback", "visualdl"),
        ("plots", "matplotlib, wandb, IPython"),
    ],
)
def test_what_only_watches_is_passed_by_and_told(traced, name, module):
    row = traced[name]
    assert (row["status"], row["batch_size"], row["optimizer"]) == ("ok", 16, "SGD")
    assert row["questions"] == []
    assert row["notes"]["modules_passed_by"] == {"modules": module}


@pytest.mark.parametrize(
    ("name", "module", "place"),
    [
        ("number", "absent_game", [2, 2]),
        ("loss", "absent_losses", [1, 4]),
        ("wrapped", "absent_nets", [1, 2]),
        ("model", "absent_nets", [2, 3]),
        ("starred", "absent_all", [0, 1]),
        ("whole-training", "absent_trainer", [0, 1]),
        ("framework", "torch.nn", [1, 1]),
        ("in-a-step", "cv2", [1, 3]),
    ],
)
def test_what_the_step_needs_is_asked_for_where_it_is_needed(traced, name, module, place):
    """There is nothing that could be typed for it."""
    row = traced[name]
    assert row["status"] == "needs_input"
    assert row["questions"] == [["module_missing", module, "", *place]]


def test_the_notebooks_own_way_without_a_module_is_taken(traced):
    row = traced["own-way"]
    assert (row["status"], row["questions"]) == ("ok", [])
    assert "modules_passed_by" not in row["notes"]


def test_a_package_that_was_never_installed_is_asked_for(traced):
    """It asks for its own version; nothing that could be passed by is missing."""
    row = traced["not-installed"]
    assert (row["status"], [why for why, *_ in row["questions"]]) == ("needs_input", ["module_missing"])
