"""What a kernel holds by a question's name is tried before anything else, and suggested where it holds."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

CHILD = """
import json, sys
sys.path.insert(0, sys.argv[1])
import tracer

for name, source, held in json.load(sys.stdin):
    asked = {"cells": [{"index": 0, "source": source}], "answers": {}, "target": "cpu", "held": held}
    found = tracer.trace_notebook(asked)
    rows = [[q["name"], q["suggestion"], q["params"].get("source")] for q in found["questions"] if q["kind"] != "path"]
    print(json.dumps([name, {"status": found["status"], "questions": rows}]))
"""
TRAINING = """
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for x in paddle.io.DataLoader(rows, batch_size=4):
    loss = net(x[0]).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
COUNT = """
import paddle
rows = paddle.io.TensorDataset([paddle.rand([64, 13])])
count = len(open('absent.txt').read())
net = paddle.nn.Linear(13, count)
"""
LOADER = """
import numpy as np, paddle
rows = np.load('absent.npy')
net = paddle.nn.Linear(13, 1)
"""
ROWS = """
class Rows(paddle.io.Dataset):
    def __len__(self):
        return len(rows)
    def __getitem__(self, i):
        return rows[i], 0
"""
LOADED = LOADER + ROWS + TRAINING.replace("rows, batch_size=4", "Rows(), batch_size=4")
ASKED = [
    ("a number", COUNT + TRAINING, {"count": 7}),
    ("a number that is not held", COUNT + TRAINING, {}),
    ("a batch", LOADED, {"loader": "float32[9,13] int64[9]"}),
    ("what the model refuses", LOADED, {"loader": 3}),
]


@pytest.fixture(scope="module")
def traced(run_code):
    return run_code(CHILD, ASKED)


@pytest.mark.parametrize(
    ("name", "question"),
    [("a number", ["count", 7, "kernel"]), ("a batch", ["loader", "float32[9,13] int64[9]", "kernel"])],
)
def test_what_is_held_is_suggested(traced, name, question):
    assert traced[name] == {"status": "needs_input", "questions": [question]}


def test_what_is_not_held_is_suggested_by_the_notebook_alone(traced):
    assert all(source != "kernel" for _, _, source in traced["a number that is not held"]["questions"])


def test_what_is_held_and_does_not_hold_is_not_suggested(traced):
    assert all(value != 3 for _, value, _ in traced["what the model refuses"]["questions"])
