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
net = paddle.jit.to_static(net, input_spec={specs}, full_graph={whole})
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
    "none, in parts": {"specs": "[]"},
    "a second one": {"specs": TWO, "given": f"{X}, {X}"},
    "by names": {"specs": TWO, "given": f"x={X}, y={X}"},
    "one by its name": {"given": f"x={X}"},
}
WITHIN = {
    "no inputs": {"specs": "[]", "whole": True},
    "more than its inputs": {"whole": True, "given": f"{X}, paddle.rand([1])"},
}
"""Of one whole program: Paddle puts the lines of its own code before its words."""
SAVED = """
import paddle
class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.inner = paddle.nn.Linear(6, 3)
    def forward(self, x):
        z = self.inner(x)
        return {result}
net = Net()
optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for step in range(3):
    net.inner(paddle.rand([4, 6])).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
paddle.jit.save(net, 'exported/net', input_spec=[paddle.static.InputSpec([4, 6])])
"""
RESULTS = {"an attribute": "z.nothing()", "a name": "undefined + z"}
LAST = {
    "no inputs": "(InvalidArgument) The size of tensors and tensor_names should be equal, but got tensors size: 1, "
    "tensor_names size: 0.",
    "more than its inputs": "(InvalidArgument) The size of tensors and tensor_names should be equal, but got tensors "
    "size: 2, tensor_names size: 1.",
    "an attribute": "'paddle.base.libpaddle.pir.Value' object has no attribute 'nothing'",
    "a name": "name 'undefined' is not defined",
}
"""The last sentence of what Paddle says: four hundred characters of it are told, which end before."""
AS_USUAL = {"specs": ONE, "more": "y=None", "given": X, "whole": False}


@pytest.fixture(scope="module")
def answers() -> Answers:
    sources = {name: PROGRAM.format(**AS_USUAL | parts) for name, parts in {**ENDS, **RUNS, **WITHIN}.items()}
    return answers_of(sources | {name: SAVED.format(result=result) for name, result in RESULTS.items()})


@pytest.mark.parametrize("name", ENDS)
def test_it_ends_by_the_same_words(answers: Answers, name: str) -> None:
    real, traced = answers[name]
    assert real["ended"] == "refused"
    assert traced == real


@pytest.mark.parametrize(("name", "said"), LAST.items())
def test_what_a_program_says_is_told_by_its_last_sentence(answers: Answers, name: str, said: str) -> None:
    real, traced = answers[name]
    assert (real["ended"], real["line"]) == ("refused", traced["line"])
    assert real["text"].startswith("In transformed code:") or real["text"] == "could not get source code"
    assert traced["text"] == said


@pytest.mark.parametrize("name", RUNS)
def test_what_runs_runs(answers: Answers, name: str) -> None:
    assert [one["ended"] for one in answers[name]] == ["ran", "ran"]
