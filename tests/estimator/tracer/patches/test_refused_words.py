"""Words that Paddle refuses before any operator runs: the stop is told in its own sentence."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

STEPS = """
net = paddle.nn.Linear(4, 2)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for step in range(9):
    loss = net(paddle.rand([8, 4])).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
SEARCH = """
import paddle
net = paddle.nn.Linear(4, 2)
optimizer = paddle.optimizer.LBFGS(parameters=net.parameters(), line_search_fn={search!r})
x = paddle.rand([8, 4])
def closure():
    optimizer.clear_grad()
    loss = net(x).mean()
    loss.backward()
    return loss
for step in range(9):
    optimizer.step(closure)
"""
WORDS = {
    "text": 'paddle.set_flags("FLAGS_check_nan_inf")',
    "unknown": 'paddle.set_flags({"FLAGS_no_such_flag": 1})',
    "device": 'paddle.set_device("tpu")',
    "number": 'paddle.set_device("gpu:x")',
}
TAKEN = {
    "flag": 'paddle.set_flags({"FLAGS_check_nan_inf": False, "FLAGS_cudnn_deterministic": True})',
    "cpu": 'paddle.set_device("cpu")',
}
REFUSED = {name: f"import paddle\n{word}\n{STEPS}" for name, word in WORDS.items()}
REFUSED["search"] = SEARCH.format(search="wolfe")
GOES_ON = {name: f"import paddle\n{word}\n{STEPS}" for name, word in TAKEN.items()}
GOES_ON["search"] = SEARCH.format(search="strong_wolfe")


@pytest.fixture(scope="module")
def traced(run_child):
    return run_child("trace", {**REFUSED, **{f"{name}-taken": source for name, source in GOES_ON.items()}})


@pytest.fixture(scope="module")
def real(run_child):
    return run_child("real", REFUSED)


@pytest.mark.parametrize("name", REFUSED)
def test_it_stops_as_a_real_run_does(traced, real, name):
    assert (traced[name]["status"], traced[name]["questions"][1:]) == ("would_stop", []), traced[name]
    assert traced[name]["stop"]["error"] == real[name]["failure"]


@pytest.mark.parametrize("name", GOES_ON)
def test_what_some_build_knows_goes_on(traced, name):
    """`FLAGS_cudnn_deterministic` is none of a Paddle for CPUs."""
    assert traced[f"{name}-taken"]["status"] == "ok", traced[f"{name}-taken"]
