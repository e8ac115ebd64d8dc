"""Modules that lie beside a notebook whose data is not here."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

CHILD = """
import json, sys
sys.path.insert(0, sys.argv[1])
import tracer

for name, (folder, source) in json.load(sys.stdin).items():
    found = tracer.trace_notebook({"cells": [{"index": 0, "source": source}], "folder": folder})
    row = {key: found.get(key) for key in ("status", "stop")}
    print(json.dumps([name, {**row, "questions": [one["why"] for one in found["questions"]]}]))
"""
STEP = """
model = paddle.nn.Linear(4, 1)
optimizer = paddle.optimizer.SGD(parameters=model.parameters())
for step in range(4):
    model(paddle.rand([8, 4])).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""
TABLE = "import paddle\ntable = open('absent.csv').read()\n"


@pytest.fixture(scope="module")
def traced(run_code, tmp_path_factory):
    folder = tmp_path_factory.mktemp("beside")
    (folder / "helpers_beside.py").write_text("class Runner:\n    def train(self, solve, data):\n        solve(data)\n")
    cases = {
        "a name that it lacks": f"{TABLE}from helpers_beside import Accuracy\n{STEP}",
        "its function trains nothing": f"{TABLE}from helpers_beside import Runner\nRunner().train(sorted, table)",
    }
    return run_code(CHILD, {name: [str(folder), source] for name, source in cases.items()})


def test_a_name_that_a_module_beside_the_notebook_lacks_is_no_question(traced):
    row = traced["a name that it lacks"]
    assert (row["status"], row["stop"]["line"]) == ("would_stop", 3)
    assert row["stop"]["error"].startswith("ImportError: cannot import name 'Accuracy'")


def test_a_function_of_the_notebooks_own_that_trains_nothing_is_no_training(traced):
    row = traced["its function trains nothing"]
    assert (row["status"], row["questions"]) == ("no_model", [])
