"""What a program keeps behind an epoch, or makes larger from one to the next, against its real steps."""

from __future__ import annotations

import pytest

from tests.estimator.tracer.measuring import steady

pytestmark = pytest.mark.paddle

SCRIPT = """
import copy
import paddle
from paddle import nn
net = nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 10))
optimizer = paddle.optimizer.{kind}(0.01, parameters=net.parameters())
best, averaged, seen = None, None, 0
for {round} in {rounds}:
    for step in range(4):
        x, y = paddle.rand([{size}, 128]), paddle.randint(0, 10, [{size}])
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
{behind}
"""
PLAIN = {"kind": "Adam", "round": "epoch", "rounds": "range(6)", "size": "64"}
AVERAGED = """
    if epoch >= 1:
        if averaged is None:
            averaged = {name: value.detach().clone() for name, value in net.state_dict().items()}
        else:
            for name, value in net.state_dict().items():
                averaged[name] = (averaged[name] * seen + value) / (seen + 1)
        seen += 1
"""
SIZES = {**PLAIN, "round": "size", "size": "size", "behind": ""}
SOURCES = {
    "best parameters": SCRIPT.format(**PLAIN, behind="    best = copy.deepcopy(net.state_dict())"),
    "averaged parameters": SCRIPT.format(**{**PLAIN, "kind": "SGD"}, behind=AVERAGED),
    "growing batches": SCRIPT.format(**{**SIZES, "rounds": "(16, 32, 64, 128)"}),
    "two sizes of batches": SCRIPT.format(**{**SIZES, "rounds": "(16, 64)"}),
    "shrinking batches": SCRIPT.format(**{**SIZES, "rounds": "[128, 32, 64]"}),
}
ASKED = {name: {"steps": 16} for name in SOURCES}


@pytest.fixture(scope="module")
def found(run_child):
    return run_child("real", SOURCES, ASKED), run_child("trace", SOURCES)


@pytest.mark.parametrize("name", SOURCES)
def test_a_step_takes_what_a_later_epochs_does(found, name):
    real, traced = found[0][name], found[1][name]
    assert real["failure"] is None, real["failure"]
    expected = max(real["peaks"][1:]) if "batches" in name else steady(real["peaks"][8:])
    assert traced["peak"] == expected, real["peaks"]
