"""What is written to the part that masks and places choose, and places that do not go together: each beside what Paddle
itself says, by the same words at the same line."""

from __future__ import annotations

import re

import pytest

from tests.estimator.tracer.refusing import Answers, answers_of_lines

pytestmark = pytest.mark.paddle

HALF = "paddle.to_tensor([True, False, True, False])"
TWO = "paddle.to_tensor([True, False, True])"
KNOWN = (
    f"z[{HALF}] = paddle.rand([3, 3, 6])", "z[paddle.arange(4) < 2] = paddle.rand([3, 3, 6])",
    "z[paddle.zeros([4], 'bool')] = paddle.rand([3, 3, 6])", "z[[True, False, True, False]] = paddle.rand([3, 3, 6])",
    "z[np.array([True, False, True, False])] = np.ones([3, 3, 6], 'float32')",
    "z[paddle.tril(paddle.ones([4, 3])).astype('bool')] = paddle.rand([5, 6])",
    "m = F.sequence_mask(paddle.to_tensor([1, 2, 3, 3]), 3).astype('bool'); z[m] = paddle.rand([8, 6])",
    f"z[:, {TWO}] = paddle.rand([4, 3, 6])", f"z[:, {TWO}, 0] = paddle.rand([4, 3])",
    f"z[1:, {TWO}, 1:3] = paddle.rand([3, 2, 3])", f"z[0, {TWO}] = paddle.rand([3, 6])",
    f"z[{HALF}, 0] = paddle.rand([3, 6])", f"z[{HALF}, :, [0, 1]] = paddle.rand([3, 3])",
    f"z[{HALF}, paddle.to_tensor([0, 1])] = paddle.rand([3, 6])", f"z[{HALF}] = paddle.rand([2, 2, 3, 6])",
    "z[paddle.to_tensor([[[True]*6, [False]*6, [True]*6]]*4)] = paddle.rand([47])",
    "z[:, 0][paddle.to_tensor([True, False, True, False])] = paddle.rand([3, 6])",
    "z[:, [0, 1]] = paddle.rand([4, 3, 6])", "z[1:3, paddle.to_tensor([0, 1])] = paddle.rand([3, 2, 6])",
    "z[0, [0, 1]] = paddle.rand([3, 6])", "z[[0, 1], :, [0, 1]] = paddle.rand([3, 3])",
    "z[np.array([0, 1])] = paddle.rand([3, 3, 6])", "z[[[0, 1], [1, 2]]] = paddle.rand([3, 3, 6])",
    "z[[]] = paddle.rand([3, 3, 6])", "z[np.random.permutation(4)[:2]] = paddle.rand([3, 3, 6])",
    "z[[0, 1], [0, 1, 2]] = 0.0", f"z[{HALF}, [0, 1, 2]] = paddle.rand([3, 6])",
    "z[:, paddle.to_tensor([[0, 1], [1, 2]]), paddle.to_tensor([0, 1, 2])] = 0.0",
    "z = x[[0, 1], [0, 1, 2]]", "z = x[[0, 1], :, [0, 1, 2]]", "z = x[[0], [0, 1], [0, 1, 2, 3]]",
    "z = x[paddle.to_tensor([[0, 1], [1, 2]]), paddle.to_tensor([0, 1, 2])]", f"z = x[{HALF}, [0, 1, 2]]",
    "z = x[paddle.to_tensor([[0, 1, 2]] * 3), paddle.to_tensor([[0, 1, 2]] * 2)]",
)  # fmt: skip
OPEN = (
    "z[x > 0] = paddle.rand([3, 6])", "z[x > 0] = paddle.rand([100])",
    "z[x.sum([1, 2]) > 0] = paddle.rand([9, 3, 6])", "z[x.sum([1, 2]) > 0] = paddle.rand([4, 2, 6])",
    "z[:, x.sum([0, 2]) > 0] = paddle.rand([4, 9, 6])", "z[paddle.rand([4]) > 0.5] = paddle.rand([9, 3, 6])",
)  # fmt: skip
"""How many are chosen hangs on the model or on draws, and what is written fits no such number."""
RUNS = (
    f"z[{HALF}] = paddle.rand([2, 3, 6])", f"z[{HALF}] = paddle.rand([1, 3, 6])", f"z[{HALF}] = paddle.rand([6])",
    f"z[:, {TWO}] = paddle.rand([4, 2, 6])", f"z[0, {TWO}] = paddle.rand([2, 6])",
    f"z[{HALF}, :, [0, 1]] = paddle.rand([2, 3])", "z[[0], [0, 1, 2]] = paddle.rand([3, 6])",
    "z[[[0, 1], [1, 2]]] = paddle.rand([2, 2, 3, 6])", "z[[0, 1], 0] = paddle.rand([2, 6])",
    "z[:, [True, False, True]] = paddle.rand([4, 2, 6])", "z[x > 0] = 0.0", "z[x > 0] = x[x > 0] * 2",
    "z[x > 0] = paddle.zeros([int((x > 0).sum())])",
    "m = x.detach() > 0; z[m] = paddle.concat([x[m & (x > 1)], x[m & (x <= 1)]])",
    "m = paddle.rand([4]) > 0.5; n = int(m.sum()); z[m] = paddle.rand([n, 3, 6])",
    "m = np.random.rand(4) > 0.5; z[m] = paddle.rand([int(m.sum()), 3, 6])",
    f"z = x[{HALF}, [0, 1]]", "z = x[[0], [0, 1], [2]]", f"z = x[{HALF}, None]",
    f"z[{HALF}, None] = 0.0",
)  # fmt: skip
_SAID = re.compile(r"(?<=indexing result of shape )\[.*\]")


@pytest.fixture(scope="module")
def answers() -> Answers:
    return answers_of_lines((*KNOWN, *OPEN, *RUNS))


@pytest.mark.parametrize("line", KNOWN)
def test_it_ends_by_the_same_words(answers: Answers, line: str) -> None:
    real, traced = answers[line]
    assert real["ended"] == "refused"
    assert traced == real


@pytest.mark.parametrize("line", OPEN)
def test_a_count_that_nobody_knows_is_none_in_the_words(answers: Answers, line: str) -> None:
    real, traced = answers[line]
    assert real["ended"] == "refused"
    assert {**traced, "text": _SAID.sub("", traced["text"])} == {**real, "text": _SAID.sub("", real["text"])}
    assert traced["text"].count("?") == 1


@pytest.mark.parametrize("line", RUNS)
def test_what_runs_runs(answers: Answers, line: str) -> None:
    assert [one["ended"] for one in answers[line]] == ["ran", "ran"]
