"""Static graphs: their lines are named, and what else a notebook does in dynamic mode is estimated."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

TRAINING = """
import paddle
model = paddle.nn.Linear(20, 3)
optimizer = paddle.optimizer.Adam(parameters=model.parameters())
for step in range(4):
    model(paddle.rand([8, 20])).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""
GRAPH = """
import paddle
paddle.enable_static()
image = paddle.static.data(name="image", shape=[None, 20], dtype="float32")
"""
SOURCES = {
    "graph": GRAPH + "loss = paddle.static.nn.fc(image, 3).mean()\npaddle.optimizer.Adam().minimize(loss)",
    "executor": "import paddle\npaddle.enable_static()\nexecutor = paddle.static.Executor(paddle.CPUPlace())",
    "left": GRAPH + "#---\nimport paddle\npaddle.disable_static()\n#---" + TRAINING,
    "switched-only": "import paddle\npaddle.enable_static()\npaddle.disable_static()" + TRAINING,
    "plain": TRAINING,
}


@pytest.fixture(scope="module")
def traced(run_child):
    return run_child("trace", SOURCES)


@pytest.mark.parametrize(("name", "line"), [("graph", 4), ("executor", 3)])
def test_the_line_of_a_static_graph_is_named(traced, name, line):
    row = traced[name]
    assert row["status"] == "needs_input"
    assert [(one["why"], one["line"], one["name"]) for one in row["questions"]] == [("static_graph", line, "")]


@pytest.mark.parametrize("name", ["left", "switched-only"])
def test_a_training_in_dynamic_mode_is_estimated_beside_it(traced, name):
    assert traced[name]["status"] == "ok"
    assert traced[name]["peak"] == traced["plain"]["peak"]
