"""Plots: nothing is drawn, and what they are called with is worked out all the same."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

CHILD = """
import json, sys
sys.path.insert(0, sys.argv[1])
import tracer

for name, cells in json.load(sys.stdin).items():
    found = tracer.trace_notebook({"cells": [{"index": i, "source": cell} for i, cell in enumerate(cells)]})
    stop = found.get("stop")
    row = {"status": found["status"], "others": len(found.get("others", ())), "stop": stop and stop["error"]}
    print(json.dumps([name, row]))
"""
TRAINING = """
import paddle, matplotlib.pyplot as plt
losses, scores = [], []
def train(width):
    model = paddle.nn.Linear(width, 2)
    optimizer = paddle.optimizer.SGD(parameters=model.parameters())
    for epoch in range(30):
        loss = model(paddle.rand([4, width])).mean()
        losses.append(loss.item())
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        scores.append(epoch)
train(3)
"""
CASES = {
    "uneven": [
        TRAINING,
        "fig, (left, right) = plt.subplots(1, 2)\nleft.plot(range(30), losses)\n"
        "counts, edges, _ = plt.hist(losses)\nline, = right.plot(scores, losses)\nline.set_label('x')\n"
        "plt.imshow([[1]])\nplt.colorbar()\nplt.savefig('x.png')\nplt.show()",
        "train(5)",
    ],
    "refused": [TRAINING, "plt.plot(paddle.rand([2, 3]) @ paddle.rand([4, 5]))", "train(5)"],
}


@pytest.fixture(scope="module")
def traced(run_code):
    pytest.importorskip("matplotlib")
    return run_code(CHILD, CASES)


def test_a_plot_of_a_training_that_was_left_stops_nothing(traced):
    assert traced["uneven"] == {"status": "ok", "others": 1, "stop": None}


def test_what_is_plotted_is_worked_out(traced):
    assert "matmul" in traced["refused"]["stop"]
