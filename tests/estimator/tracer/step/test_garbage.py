"""What the turns of a loop over settings leave to Python's collector, against real turns."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

TURNS = 16
SCRIPT = """
import paddle
from paddle import nn
x, y = paddle.rand([16, 12, 32]), paddle.randint(0, 10, [16])
{net}
def train(hidden, rate):
    net = Net(hidden)
    optimizer = paddle.optimizer.{optimizer}(rate, parameters=net.parameters())
    for step in range(4):
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
    return float(loss)
results = dict()
for turn in range({turns}):
    results[turn] = train(96, 0.1 ** (1 + turn % 3))
"""
RECURRENT = """
class Net(nn.Layer):
    def __init__(self, hidden):
        super().__init__()
        self.rnn, self.out = nn.LSTM(32, hidden), nn.Linear(hidden, 10)
    def forward(self, x):
        return self.out(self.rnn(x)[0][:, -1])
"""
PLAIN = """
def Net(hidden):
    return nn.Sequential(nn.Flatten(), nn.Linear(384, hidden), nn.ReLU(), nn.Linear(hidden, 10))
"""
SOURCES = {
    "recurrent": SCRIPT.format(net=RECURRENT, optimizer="Adam", turns=TURNS),
    "plain": SCRIPT.format(net=PLAIN, optimizer="Momentum", turns=2 * TURNS),
    "one net": SCRIPT.format(net=PLAIN + "net = Net(96)\n", optimizer="Adam", turns=4).replace(
        "    net = Net(hidden)\n", ""
    ),
    "few": SCRIPT.format(net=PLAIN, optimizer="Adam", turns=4),
}
ASKED = {name: {"steps": 4 * 2 * TURNS} for name in SOURCES}


@pytest.fixture(scope="module")
def found(run_child):
    return run_child("real", SOURCES, ASKED), run_child("trace", SOURCES, {})


@pytest.mark.parametrize("name", SOURCES)
def test_what_waits_is_marked_as_assumed(found, name):
    """A real round leaves as much; without it the figure is that of the first one."""
    real, traced = found[0][name], found[1][name]
    turn = real["peaks"][4 + 3] - real["peaks"][3]
    assert "waits_for_collector" in traced["notes"]
    assert traced["waiting"] % turn == 0, (traced["waiting"], turn)
    assert traced["peak"] - traced["waiting"] == max(real["peaks"][:4])


@pytest.mark.parametrize("name", SOURCES)
def test_as_many_turns_wait_as_python_lets_wait(found, name):
    """When the first ones go hangs on how many objects there were before: one turn more or less."""
    real, traced = found[0][name], found[1][name]
    assert real["failure"] is None, real["failure"]
    largest, turn = max(real["peaks"]), real["peaks"][4 + 3] - real["peaks"][3]
    assert turn > 0, "nothing waits"
    assert abs(traced["peak"] - largest) <= turn, (traced["peak"], largest, turn)
