"""Modules that only cells behind the training import."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

TRAINS = """
import paddle
net = paddle.nn.Linear(6, 3)
opt = paddle.optimizer.Adam(parameters=net.parameters())
for _ in range(4):
    net(paddle.rand([4, 6])).mean().backward()
    opt.step()
    opt.clear_grad()
"""
CELL = "#---\n"
ABSENT = "no_module_of_this_name"
SOURCES = {
    "a module": TRAINS + CELL + f"import json\nimport {ABSENT}.plots as plots\n",
    "a part of one": TRAINS + CELL + "print(1)\n" + CELL + f"from {ABSENT}.metrics import score\n",
    "two": f"import wandb\nwandb.init()\n{TRAINS}{CELL}import {ABSENT}\n",
    "where it is tried": TRAINS + CELL + f"try:\n    import {ABSENT}\nexcept ImportError:\n    pass\n",
    "where it is chosen": TRAINS + CELL + f"if 1 > 2:\n    import {ABSENT}\n",
    "which is installed": TRAINS + CELL + f"!pip install {ABSENT}\n".replace("!", "# %") + f"import {ABSENT}\n",
    "which is here": TRAINS + CELL + "import csv, paddle.vision\nfrom numpy import ndarray\n",
}
TOLD = {"a module": ABSENT, "a part of one": ABSENT, "two": f"wandb, {ABSENT}"}


def test_they_are_told_as_those_before_it(run_child):
    found = run_child("trace", SOURCES)
    named = {
        name: params["modules"]
        for name, row in found.items()
        for code, params in zip(row["notes"], row["params"], strict=True)
        if code == "modules_passed_by"
    }
    assert named == TOLD
    assert {row["status"] for row in found.values()} == {"ok"}
