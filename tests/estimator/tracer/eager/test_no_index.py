"""Parts of an index that are none, values that are none, masks behind new axes: each beside what Paddle itself says, by
the same words at the same line."""

from __future__ import annotations

import re

import pytest

from tests.estimator.tracer.refusing import Answers, answers_of_lines

pytestmark = pytest.mark.paddle

NO_INDEX = (
    "z = z[0.5]", "z = z[:, 0.5]", "z = z[step / 2]", "z = z['a']", "z['a', 0] = 1", "z = z[1j]", "z = z[{}]",
    "z = z[np.float32(1)]", "z = z[0.5:]", "z = z[:, 1.5:2]", "z = z[:len(x) / 2]", "z = z['a':]", "z = z[..., ...]",
    "z[..., ...] = 0", "z[::0] = 1", "z = z[[0.5]]", "z[[0.5]] = 0.0", "z = z[paddle.to_tensor([0.5])]",
    "z = z[paddle.to_tensor(0.5)]", "z[paddle.to_tensor(1.0)] = 0.0", "z = z[np.array(1.0)]", "z = z[x.mean()]",
)  # fmt: skip
NO_PLACES = (
    "z[[]] = 0.0", "z[[]] = x[:0]", "z[:, []] = 0.0", "z[[], []] = 0.0", "z[np.array([])] = 0.0",
    "z[np.array([], 'int64')] = 0.0", "z[np.array([], 'int64')] = x[:0]", "z[paddle.to_tensor([])] = 0.0",
    "z[paddle.to_tensor([], dtype='int64')] = 0.0",
)  # fmt: skip
BEHIND_NEW_AXES = tuple(
    f"z[{index}] = 0.0".replace("<", "paddle.ones([").replace(">", "], 'bool')")
    for index in (":, None, <3>", "None, :, <3>", ":, :, None, <6>", ":, None, :, <6>", "None, None, <4>")
)
NO_VALUES = (
    "z[0] = None", "z[0] = {}", "z[0] = range(6)", "z[0] = print", "z[0] = np.float32(1)", "z[0] = np.int64(1)",
    "z[z > 0] = None", "z[0] = x.shape",
)  # fmt: skip
"""Of which Paddle gives the address of the type."""
RUNS = (
    "z = z[[]]", "z = z[paddle.to_tensor([])]", "z[[]] = paddle.zeros([0, 3, 6])", "z[None, z > 0] = 0.0",
    "z[None, paddle.ones([4], 'bool')] = 0.0", "z[0, None, paddle.ones([3], 'bool')] = 0.0",
    "z[np.int64(0)] = 1.0", "z[np.int64(0)] = x[0]", "z[:, np.int64(0)] = 0.0", "z = z[np.int64(0)]",
    "for k in np.arange(3): z[k] = 0.0", "z[0] = x.mean().item()", "z[0] = np.float64(1)", "z[0] = True",
    "z[np.random.randint(3)] = 1.0",
)  # fmt: skip
FILLED_LIKE = (
    "z = paddle.masked_scatter(x, paddle.ones([4, 3, 6], 'bool'), paddle.ones([3]))",
    "z = x.masked_scatter(paddle.to_tensor([True, True, False, False, True, False]), paddle.ones([2]))",
)
ROWS = (
    "z = paddle.addmm(x[0], x[1][:, :3], x[2], beta=paddle.to_tensor([2.0]))",
    "z = paddle.addmm(x[0], x[1][:, :3], x[2], alpha=paddle.to_tensor([2.0]))",
    "z = paddle.baddbmm(x, x[:, :, :3], x, beta=paddle.to_tensor([2.0]))",
)
RUNS_TOO = (
    "z = paddle.addmm(x[0], x[1][:, :3], x[2], beta=paddle.to_tensor(2.0))",
    "z = F.dropout(x, paddle.to_tensor([0.5]))",
    "z = paddle.clip(x, paddle.to_tensor([0.0]))", "z = paddle.masked_scatter(x, x > 0, paddle.ones([72]))",
    "z = x.reshape([int(paddle.ones_like(x).sum())])",
    "z = F.binary_cross_entropy(F.sigmoid(x), paddle.ones_like(x) * 2)",
)  # fmt: skip
SCALARS = (
    "z = x.topk(1.5)[0]", "z = x.topk('2')[0]", "z = x.topk(k=len(x) / 2)[0]", "y = x.argmax(1.5)", "z = x.cumsum('1')",
    "y = x.argmin(axis=-1.0)", "z = paddle.gather(x, paddle.to_tensor([1]), 1.5)", "z = x.clip('0', '1')",
    "y = paddle.multinomial(F.softmax(x[0]), 1.5)", "y = F.one_hot(paddle.to_tensor([1]), 3.5)",
    "z = paddle.scale(x, '2')", "z = x.clone(3)",
)  # fmt: skip
"""Numbers of another kind, and text, where Paddle has a Scalar: it cuts them."""
NO_SCALARS = (
    "z = x.topk(99.5)[0]", "z = x.topk('a')[0]", "y = x.argmax(7.5)", "y = F.one_hot(paddle.to_tensor([3]), 3.5)",
    "x.grad = x", "x.grad = None", "linear.weight.grad = 3", "linear.weight.grad = np.ones([6, 6])",
    "paddle.numel([1])",
    "paddle.shape(99)", "z = paddle.index_fill(x, paddle.to_tensor([1], 'float32'), 0, 1.0)",
    "z = paddle.index_put(x, (paddle.to_tensor([1.0]),), x[0])", "z = F.cross_entropy(x[:, 0], paddle.full([4], 6.0))",
)  # fmt: skip
_INTEGERS = "i = paddle.to_tensor([[1, 2], [3, 4]], stop_gradient=False); "
BACKWARD = tuple(
    _INTEGERS + line
    for line in (
        "(i @ i).sum().backward()", "paddle.grad((i @ i).sum(), i)", "F.linear(i, i).sum().backward()",
        "F.pad(i.reshape([1, 1, 4]), [1, 1], data_format='NCL').sum().backward()",
        "i.astype('int32').log().sum().backward()", "paddle.inner(i[0], i[1]).backward()",
    )
)  # fmt: skip
"""Whole numbers that a gradient is asked of: the call is taken, and its backward pass refused."""
FORWARD = tuple(
    _INTEGERS + line
    for line in (
        "j = i @ i",
        "i.cumsum(0).sum().backward()",
        "z = x[i[0]]",
        "z = x + F.embedding(i[0], linear.weight).sum()",
    )
)
_ADDRESS = re.compile(r"(?<=but received )[\w.]+(?=\.$)")
REFUSED = (*NO_INDEX, *NO_PLACES, *BEHIND_NEW_AXES, *FILLED_LIKE, *ROWS, *BACKWARD, *NO_SCALARS)
RUN = (*RUNS, *RUNS_TOO, *FORWARD, *SCALARS)


@pytest.fixture(scope="module")
def answers() -> Answers:
    return answers_of_lines((*REFUSED, *NO_VALUES, *RUN))


@pytest.mark.parametrize("line", REFUSED)
def test_it_ends_by_the_same_words(answers: Answers, line: str) -> None:
    real, traced = answers[line]
    assert real["ended"] == "refused"
    assert traced == real


@pytest.mark.parametrize("line", NO_VALUES)
def test_a_type_has_its_name(answers: Answers, line: str) -> None:
    real, traced = ({**one, "text": _ADDRESS.sub("", one["text"])} for one in answers[line])
    assert real["ended"] == "refused"
    assert traced == real


@pytest.mark.parametrize("line", RUN)
def test_what_runs_runs(answers: Answers, line: str) -> None:
    assert [one["ended"] for one in answers[line]] == ["ran", "ran"]
