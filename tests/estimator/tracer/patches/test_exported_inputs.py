"""What `paddle.jit.to_static` refuses of specifications of inputs, beside what Paddle itself says."""

from __future__ import annotations

import pytest

from tests.estimator.tracer.refusing import Answers, answers_of

pytestmark = pytest.mark.paddle

PROGRAM = """
import paddle
from paddle.static import InputSpec
class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.inner = paddle.nn.Linear(6, 3)
    def forward(self, x, {more}):
        return self.inner(x)
net = Net()
optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())
net = paddle.jit.to_static(net, input_spec={specs})
for step in range(4):
    net({given}).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""
ONE, TWO, X = "[InputSpec([None, 6])]", "[InputSpec([None, 6]), InputSpec([None, 6])]", "paddle.rand([4, 6])"
ENDS = {
    "a default in place of a second one": {"specs": TWO},
    "specifications in no list": {"specs": "InputSpec([None, 6])"},
    "more specifications than arguments": {"specs": TWO, "more": "**rest"},
    "an argument that the layer does not list": {"given": f"{X}, scale=2", "more": "**rest"},
}
RUNS = {
    "as many": {},
    "a second one": {"specs": TWO, "given": f"{X}, {X}"},
    "by names": {"specs": TWO, "given": f"x={X}, y={X}"},
    "one by its name": {"given": f"x={X}"},
}
AS_USUAL = {"specs": ONE, "more": "y=None", "given": X}


@pytest.fixture(scope="module")
def answers() -> Answers:
    return answers_of({name: PROGRAM.format(**AS_USUAL | parts) for name, parts in {**ENDS, **RUNS}.items()})


@pytest.mark.parametrize("name", ENDS)
def test_it_ends_by_the_same_words(answers: Answers, name: str) -> None:
    real, traced = answers[name]
    assert real["ended"] == "refused"
    assert traced == real


@pytest.mark.parametrize("name", RUNS)
def test_what_runs_runs(answers: Answers, name: str) -> None:
    assert [one["ended"] for one in answers[name]] == ["ran", "ran"]
