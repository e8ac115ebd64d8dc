"""`binary_cross_entropy` takes numbers from 0 to 1 alone, which Paddle finds out when it computes them."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

TRAINING = """
import paddle
import paddle.nn.functional as F
paddle.seed(1)
net = {net}
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for step in range(4):
    x = paddle.rand([64, 8])
    loss = F.binary_cross_entropy({given}, paddle.ones([64, {columns}]))
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""


def of(net, given, columns=1):
    return TRAINING.format(net=net, given=given, columns=columns)


PLAIN = "paddle.nn.Linear(8, 1)"
BOUNDED = "paddle.nn.Sequential(paddle.nn.Linear(8, 1), paddle.nn.Sigmoid())"
LIKELY = {
    "layer": of(net=PLAIN, given="net(x)"),
    "view": of(net=PLAIN, given="net(x).reshape([64, 1])"),
    "convolution": of(
        net="paddle.nn.Conv2D(1, 1, 1)", given="net(x.reshape([64, 1, 8, 1])).reshape([64, 8])", columns=8
    ),
}
FINE = {
    "sigmoid": of(net=BOUNDED, given="net(x)"),
    "in place": of(net=PLAIN, given="net(x).sigmoid_()"),
    "clip": of(net=PLAIN, given="net(x).clip(0, 1)"),
    "product of probabilities": of(net=BOUNDED, given="paddle.full([64, 64], 1 / 64) @ net(x)"),
    "softmax": of(net="paddle.nn.Linear(8, 2)", given="F.softmax(net(x))[:, :1]"),
}
KNOWN = of(net=PLAIN, given="paddle.full([64, 1], 1.5)")


@pytest.fixture(scope="module")
def traced(run_child):
    return run_child("trace", {**LIKELY, **FINE, "known": KNOWN})


@pytest.mark.parametrize("name", LIKELY)
def test_outputs_without_bounds_are_told_beside_the_figure(traced, name):
    row = traced[name]
    assert (row["status"], row["notes"]) == ("ok", ["refused_likely"])


@pytest.mark.parametrize("name", FINE)
def test_what_has_bounds_is_taken(traced, name):
    row = traced[name]
    assert (row["status"], row["notes"]) == ("ok", [])


def test_known_numbers_are_looked_at(traced):
    assert traced["known"]["status"] == "would_stop"
