"""A training that learns nothing, or from sums of all gradients, runs in Paddle without a word: a note tells of it."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

CHILD = """
import json, sys
sys.path.insert(0, sys.argv[1])
import tracer

for name, source in json.load(sys.stdin).items():
    found = tracer.trace_notebook({"cells": [{"index": 0, "source": source}]})
    print(json.dumps([name, [found["status"], [[one["code"], one["params"].get("line")] for one in found["notes"]]]]))
"""
HEAD = """import paddle
net, other = paddle.nn.Linear(6, 3), paddle.nn.Linear(6, 3)
opt = paddle.optimizer.Adam(parameters=net.parameters())
"""
LOOP = "for step in range(5):\n    loss = net(paddle.rand([8, 6])).mean()\n"
FORWARD = HEAD + LOOP
BACK, STEP, CLEAR = "    loss.backward()\n", "    opt.step()\n", "    opt.clear_grad()\n"
SOURCES = {
    "right": FORWARD + BACK + STEP + CLEAR,
    "cleared first": FORWARD + CLEAR + BACK + STEP,
    "summed over two": FORWARD + BACK + "    if step % 2:\n    " + STEP + "    " + CLEAR,
    "zeroed by hand": FORWARD + BACK + STEP + "    with paddle.no_grad(): [p.grad.zero_() for p in net.parameters()]\n",
    "two that take turns": HEAD + "second = paddle.optimizer.SGD(parameters=other.parameters())\n" + LOOP
    + BACK + STEP + CLEAR + "    other(paddle.rand([8, 6])).mean().backward(); second.step(); second.clear_grad()\n",
    "no backward pass": FORWARD + STEP + CLEAR,
    "cleared before the update": FORWARD + BACK + CLEAR + STEP,
    "of another model": FORWARD.replace("net.parameters", "other.parameters") + BACK + STEP + CLEAR,
    "without gradients": FORWARD.replace("loss =", "with paddle.no_grad(): loss =") + BACK + STEP + CLEAR,
    "never cleared": FORWARD + BACK + STEP,
    "never stepped": FORWARD + BACK + CLEAR,
}  # fmt: skip


@pytest.fixture(scope="module")
def told(run_code):
    return run_code(CHILD, SOURCES)


@pytest.mark.parametrize("name", list(SOURCES)[:5])
def test_a_training_that_learns_is_told_nothing(told, name):
    assert told[name] == ["ok", []]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("no backward pass", ["ok", [["no_backward", 6]]]),
        ("cleared before the update", ["ok", [["no_gradients", 8]]]),
        ("of another model", ["ok", [["no_gradients", 7]]]),
        ("without gradients", ["ok", [["no_gradients", 7]]]),
        ("never cleared", ["ok", [["gradients_add_up", 7]]]),
        ("never stepped", ["no_model", [["never_steps", 6]]]),
    ],
)
def test_what_learns_nothing_is_told_with_its_line(told, name, said):
    assert told[name] == said
