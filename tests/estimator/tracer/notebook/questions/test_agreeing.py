"""A size that is suggested goes with what the program's own code says in a later training: nothing else is refused than
what would be with the data."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

READ = """
import numpy as np
import paddle
def loaded(batch_size):
    table = np.genfromtxt("airfoil.dat", dtype="float32", delimiter="\\t")
    table = paddle.to_tensor((table - table.mean(axis=0)) / table.std(axis=0))
    data = paddle.io.TensorDataset([table[:1500, :-1], table[:1500, -1:]])
    return paddle.io.DataLoader(data, batch_size=batch_size), table.shape[1] - 1
"""
BY_HAND = """
loader, width = loaded(100)
w = paddle.normal(0, 0.01, [width, 1])
w.stop_gradient = False
for x, y in loader:
    ((x @ w - y) ** 2).mean().backward()
    w = (w - 0.1 * w.grad).detach()
    w.stop_gradient = False
"""
CONCISE = """
loader, _ = loaded(10)
net = paddle.nn.Linear(5, {outputs})
optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for x, y in loader:
    paddle.nn.functional.{loss}(net(x), y).backward()
    optimizer.step()
    optimizer.clear_grad()
"""
PROGRAMS = {
    "agrees": READ + BY_HAND + CONCISE.format(outputs=1, loss="mse_loss"),
    "alone": READ + BY_HAND,
    # With the five columns it stops further on, for its own fault.
    "wrong": READ + BY_HAND + CONCISE.format(outputs=1, loss="mse_loss") + "paddle.nn.Linear(width + 1, 1)(x)",
}


@pytest.fixture(scope="module")
def asked(run_child) -> dict:
    return run_child("trace", PROGRAMS, {})


@pytest.mark.parametrize("name", ["agrees", "wrong"])
def test_a_layer_of_a_later_training_says_how_many_columns_there_are(name: str, asked: dict) -> None:
    found = {one["name"]: one["suggestion"] for one in asked[name]["questions"]}
    assert found == {"width": 5, "loader": "float32[100,5] float32[100,1]"}


def test_where_nothing_says_so_the_size_stays_assumed(asked: dict) -> None:
    assert {one["name"]: one["suggestion"] for one in asked["alone"]["questions"]}["width"] == 256
    assert {one["params"]["source"] for one in asked["alone"]["questions"]} <= {"assumed", "layer"}
