"""Loops that train nothing and whose rounds are alike: the last one is come to behind two of them."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

HEAD = """
import paddle
A, B, C = paddle.zeros([160, 160]), paddle.randn([160, 160]), paddle.randn([160, 160])
net, rows, seen = paddle.nn.Linear(160, 160), [], 0
rounds, width = 160, 4
"""
TAIL = """
net = paddle.nn.Linear(5, width)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for _ in range(3):
    net(paddle.randn([16, 5])).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""
LEFT = {
    "a product by hand": """
for i in range(rounds):
    for j in range(160):
        A[i, j] = paddle.dot(B[i, :], C[:, j])
""",
    "what stands in the last round": """
for i in reversed(range(20 * rounds)):
    out = paddle.matmul(paddle.matmul(paddle.matmul(paddle.matmul(A, B), C), B), C)
    if i == 0:
        width = 9
""",
    "a function that has a list of its own": """
def forward(x):
    parts = []
    for i in range(160):
        parts.append(x[i] * B[i])
    return paddle.stack(parts)
for i in range(rounds):
    out = forward(A)
""",
}
"""By what it is: each of some 20,000 operations and more."""
GONE_THROUGH = {
    "a list that grows": """
for i in range(12 * rounds):
    A = paddle.matmul(B, C) + A * 2
    A = paddle.nn.functional.relu(A - 1) * 3
    rows.append(i)
width = len(rows)
""",
    "a list that grows in a function": """
def note(i):
    rows.append(i)
for i in range(12 * rounds):
    A = paddle.matmul(B, C) + A * 2
    A = paddle.nn.functional.relu(A - 1) * 3
    note(i)
width = len(rows)
""",
    "a number that counts": """
for i in range(12 * rounds):
    A = paddle.matmul(B, C) + A * 2
    A = paddle.nn.functional.relu(A - 1) * 3
    seen += 1
width = seen
""",
    "rounds that grow": """
for i in range(12 * rounds):
    A = paddle.matmul(B, C) + A * 2
    A = paddle.nn.functional.relu(A - 1) * 3
    grown = paddle.zeros([i + 1, 7])
width = grown.shape[0]
""",
    "what ends it": """
for i in range(12 * rounds):
    A = paddle.matmul(B, C) + A * 2
    A = paddle.nn.functional.relu(A - 1) * 3
    if i == 1800:
        break
width = i
""",
}


@pytest.fixture(scope="module")
def found(run_child):
    loops = {name: HEAD + loop + TAIL for name, loop in {**LEFT, **GONE_THROUGH}.items()}
    return run_child("trace", loops | {"without": HEAD + TAIL})


@pytest.mark.parametrize("name", LEFT)
def test_rounds_that_are_alike_are_not_all_gone_through(found, name):
    assert (found[name]["status"], found[name]["questions"]) == ("ok", [])
    assert found[name]["reached"] < 40_000
    width = 9 if "last round" in name else 4
    assert found[name]["parameters"] == 6 * width


@pytest.mark.parametrize(("name", "width"), list(zip(GONE_THROUGH, (1920, 1920, 1920, 1920, 1800), strict=True)))
def test_rounds_that_leave_something_behind_are(found, name, width):
    assert (found[name]["status"], found[name]["parameters"]) == ("ok", 6 * width)


def test_the_figure_is_that_of_all_rounds(found):
    """Nothing of the loop is alive where the training begins but what was before."""
    assert found["a product by hand"]["peak"] == found["without"]["peak"]
