"""What a static program is fed with is not on this machine: the program says itself what that looks like."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

_GRAPH = """
import numpy as np, pandas as pd, paddle
paddle.enable_static()
x = paddle.static.data("x", [None, 13])
y = paddle.static.data("y", [None, 1])
loss = paddle.nn.functional.mse_loss(paddle.static.nn.fc(x, 1), y)
paddle.optimizer.SGD(0.01).minimize(loss)
exe = paddle.static.Executor()
exe.run(paddle.static.default_startup_program())
"""
SLICED = f"""{_GRAPH}
rows = pd.read_csv("absent.csv").values.astype("float32")
for epoch in range(4):
    for start in range(0, len(rows), 16):
        batch = rows[start : start + 16]
        exe.run(feed={{"x": batch[:, :13], "y": batch[:, 13:]}}, fetch_list=[loss])
"""
WHOLE = f"""{_GRAPH}
rows = pd.read_csv("absent.csv").values.astype("float32")
for epoch in range(4):
    exe.run(feed={{"x": rows[:, :13], "y": rows[:, 13:]}}, fetch_list=[loss])
"""
READ = f"""{_GRAPH}
def reader():
    for line in open("absent.csv"):
        numbers = [float(one) for one in line.split(",")]
        yield numbers[:13], numbers[13:]
for inputs, wanted in reader():
    feed = {{"x": np.array([inputs], "float32"), "y": np.array([wanted], "float32")}}
    exe.run(feed=feed, fetch_list=[loss])
"""
_BATCHES = "train_reader = paddle.batch(reader, batch_size=20)\nfor batch in train_reader():"
BATCHED = READ.replace("for inputs, wanted in reader():", _BATCHES)
BATCHED = BATCHED.replace("[inputs]", "[one[0] for one in batch]").replace("[wanted]", "[one[1] for one in batch]")


@pytest.fixture(scope="module")
def traced(run_child):
    sources = {"sliced": SLICED, "whole": WHOLE, "read": READ, "answered": WHOLE, "batched": BATCHED}
    return run_child("trace", sources, {"answered": {"answers": {"x": "float32[404,13]"}}})


def test_a_slice_of_known_length_needs_no_answer(traced):
    row = traced["sliced"]
    assert (row["status"], row["batch_size"]) == ("ok", 16)
    notes = dict(zip(row["notes"], row["params"], strict=True))
    assert notes["data_followed"] == {"batches": "x=float32[16,13], y=float32[16,1]"}


def test_one_question_stands_for_all_that_is_fed(traced):
    row = traced["whole"]
    assert row["status"] == "needs_input"
    assert [(one["name"], one["suggestion"]) for one in row["questions"]] == [("x", "float32[1000,13]")]
    found = traced["answered"]
    assert (found["status"], found["inputs"]) == ("ok", ["float32[404, 13]", "float32[404, 1]"])


def test_a_reader_is_asked_for_as_the_program_declares_it(traced):
    (asked,) = traced["read"]["questions"]
    assert (asked["name"], asked["suggestion"]) == ("reader", "float32[32,13] float32[32,1]")


def test_the_batches_of_a_reader_are_lists_of_samples(traced):
    (asked,) = traced["batched"]["questions"]
    assert (asked["name"], asked["suggestion"]) == ("train_reader", "float32[20,13] float32[20,1]")
