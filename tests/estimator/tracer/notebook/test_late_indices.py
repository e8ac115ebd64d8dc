"""An index that a later round brings is told beside the figure, where nothing in the loop may keep it from coming."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

LOOP = """
import numpy as np, paddle
xs = [paddle.rand([8, 4]) for _ in range(5)]
ys = np.zeros([5, 8, 1], 'float32')
net = paddle.nn.Linear(4, 1)
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for i in range(10):
    loss = net(xs[i]).mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
"""
STEP = "    loss = net(xs[i]).mean()\n"
LATE = {
    "list": LOOP,
    "array": LOOP.replace(STEP, "    loss = (net(paddle.rand([8, 4])) - paddle.to_tensor(ys[i])).mean()\n"),
    "tuple": LOOP.replace("_ in range(5)]", "_ in range(5)]\nxs = tuple(xs)"),
    "in a function": LOOP.replace("for i in range(10):", "def train(rounds):\n  for i in range(rounds):").replace(
        "\n    ", "\n      "
    )
    + "train(10)\n",
}
FINE = {
    "as many": LOOP.replace("range(10)", "range(5)"),
    "as many as there are": LOOP.replace("range(10)", "range(len(xs))"),
    "left before": LOOP + "    if i == 3:\n        break\n",
    "under a condition": LOOP.replace(STEP, "    x = xs[i] if i < 5 else xs[0]\n    loss = net(x).mean()\n"),
    "grows": LOOP + "    xs.append(xs[0])\n",
    "handled": LOOP.replace("for i in", "try:\n  for i in").replace("\n    ", "\n      ") + "except IndexError: pass\n",
    "another index": LOOP.replace(STEP, "    i = i % 5\n" + STEP),
}
WHY = {
    "list": "IndexError: list index out of range",
    "array": "IndexError: index 5 is out of bounds for axis 0 with size 5",
    "tuple": "IndexError: tuple index out of range",
    "in a function": "IndexError: list index out of range",
}


@pytest.fixture(scope="module")
def traced(run_child):
    cases = {**LATE, **FINE}
    return run_child("trace", cases, {name: {"target": "cpu"} for name in cases})


@pytest.mark.parametrize("name", WHY)
def test_the_round_that_fails_is_told_with_the_figure(name, traced):
    row = traced[name]
    lines = LATE[name].split("\n")
    assert (row["status"], row["stop"]["error"]) == ("ok", WHY[name])
    assert "[i]" in lines[row["stop"]["line"] - 1]
    assert row["peak"]


@pytest.mark.parametrize("name", FINE)
def test_what_may_not_come_is_not_told(name, traced):
    assert (traced[name]["status"], traced[name]["stop"]) == ("ok", None)
