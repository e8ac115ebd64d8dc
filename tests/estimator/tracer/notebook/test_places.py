"""Errors of Python's in the round of a training that hang on no number of it: places that a tensor's numbers do not
have, files that nobody writes, what cannot be saved, constants; each beside what a real run ends by."""

from __future__ import annotations

import re

import pytest

from tests.estimator.tracer.refusing import Answers, answers_of

pytestmark = pytest.mark.paddle

PROGRAM = """
import paddle, threading, numpy as np
net = paddle.nn.Linear(6, 3)
optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for step in range(3):
    loss = net(paddle.rand([4, 6])).mean()
    {before}
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    {behind}
{after}
"""
SEARCH = """
import paddle
net = paddle.nn.Linear(6, 3)
optimizer = paddle.optimizer.LBFGS(max_iter=5, parameters=net.parameters())
x = paddle.rand([40, 6])
def closure():
    optimizer.clear_grad()
    loss = (net(x) ** 2).mean()
    loss.backward()
    return loss
for step in range(4):
    loss = optimizer.step(closure)
    {line}
"""
LINES = (
    "net.weight.numpy()[7]", "a = net.weight.tolist()[0][3]", "net.weight.tolist()[-7]",
    "w = net.weight.numpy(); w[2, 5]", "s = paddle.load('nowhere.pdparams')",
    "net.set_state_dict(paddle.load('nowhere.pdparams'))", "paddle.save(lambda: 1, 'x.pd')",
    "paddle.save({'a': lambda: 1}, 'x.pd')", "paddle.save({'a': (i for i in range(3))}, 'x.pd')",
    "paddle.save({'a': threading.Lock()}, 'x.pd')", "paddle.save({'r': range(3)}, 'x.pd')",
)  # fmt: skip
RUNS = (
    "net.weight.numpy()[5]",
    "a = net.weight.tolist()[0][2]",
    "w = net.weight.numpy(); w[2]; w[:, -3]",
    "paddle.save({'net': net.state_dict(), 'opt': optimizer.state_dict(), 'epoch': step, 'f': print}, 'x.pd')",
    "paddle.save({'a': loss, 'b': loss.item(), 'c': loss.numpy(), 'd': (1, {2})}, 'x.pd')",
)
BEHIND_SEARCH = (
    "print(float('wrong'))", "print(step, float('wrong'))", "int('2.5')", "net.weight.numpy()[7]", "{'a': 1}['b']",
    "paddle.load('nowhere.pdparams')", "print(loss.itme())", "paddle.reshape(x, [5])",
)  # fmt: skip
PLACES = ("before", "behind", "after")
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def _program(line: str, place: str) -> str:
    return PROGRAM.format(**{**dict.fromkeys(PLACES[:2], "pass"), "after": "", place: line})


@pytest.fixture(scope="module")
def answers() -> Answers:
    sources = {f"{place} {line}": _program(line, place) for line in (*LINES, *RUNS) for place in PLACES}
    return answers_of(sources | {line: SEARCH.format(line=line) for line in (*BEHIND_SEARCH, "print(loss.item())")})


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("line", LINES)
def test_it_ends_by_the_same_words(answers: Answers, line: str, place: str) -> None:
    real, traced = answers[f"{place} {line}"]
    assert real["ended"] == "refused"
    assert traced == {**real, "text": _ADDRESS.sub("", real["text"])}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("line", RUNS)
def test_what_runs_runs(answers: Answers, line: str, place: str) -> None:
    assert [one["ended"] for one in answers[f"{place} {line}"]] == ["ran", "ran"]


@pytest.mark.parametrize("line", BEHIND_SEARCH)
def test_it_is_told_behind_a_step_that_calls_a_closure(answers: Answers, line: str) -> None:
    real, traced = answers[line]
    assert real["ended"] == "refused"
    assert traced == real


def test_a_search_without_a_fault_has_its_figure(answers: Answers) -> None:
    assert [one["ended"] for one in answers["print(loss.item())"]] == ["ran", "ran"]
