"""Tensors that hold data which is not here: they are in the figure where their size is known, else they are told of."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

_HEAD = """
import numpy as np
import pandas as pd
import paddle
import paddle.nn.functional as F
from paddle import nn
"""
_STEPS = """
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
for epoch in range(3):
    for {batch} in loader:
        F.mse_loss(net(x), {wanted}).backward()
        optimizer.step()
        optimizer.clear_grad()
"""
RATED = f"""{_HEAD}
data = pd.read_csv('ml-100k/u.data', sep='\\t')
num_users, num_items = data.user.unique().shape[0], data.item.unique().shape[0]
ratings = np.zeros((num_items, num_users), 'float32')
for line in data.itertuples():
    ratings[line[2] - 1, line[1] - 1] = line[3]
loader = paddle.io.DataLoader(paddle.io.TensorDataset([paddle.to_tensor(ratings)]), batch_size=256)
net = nn.Linear(num_users, num_users)
{_STEPS.format(batch="x,", wanted="x")}"""
COUNTED = f"""{_HEAD}
lines = open('absent.txt').read().split('\\n')
def build(lines):
    rows, wanted = [], []
    for line in lines:
        numbers = [float(one) for one in line.split()][:4]
        rows.append(numbers + [0.0] * (4 - len(numbers)))
        wanted.append([float(len(numbers))])
    return paddle.to_tensor(rows, dtype='float32'), paddle.to_tensor(wanted, dtype='float32')
features, labels = build(lines)
loader = paddle.io.DataLoader(paddle.io.TensorDataset([features, labels]), batch_size=8)
net = nn.Linear(4, 1)
{_STEPS.format(batch="x, y", wanted="y")}"""
ANSWERED = {"num_users": 943, "num_items": 1682}
BATCH = {"num_users": 943, "loader": "float32[256,943]"}


@pytest.fixture(scope="module")
def asked(run_child):
    return run_child("trace", {"rated": RATED, "counted": COUNTED})


@pytest.fixture(scope="module")
def answered(run_child):
    sources = {"numbers": RATED, "batch": RATED.replace("ml-100k/u.data", "absent.csv")}
    return run_child("trace", sources, {"numbers": {"answers": ANSWERED}, "batch": {"answers": BATCH}})


def test_a_published_size_of_a_tensor_that_stays_is_asked(asked):
    suggested = {one["name"]: one["suggestion"] for one in asked["rated"]["questions"]}
    assert {name: suggested.get(name) for name in ANSWERED} == ANSWERED


def test_with_it_the_tensor_is_in_the_figure(answered):
    found = answered["numbers"]
    assert (found["status"], found["inputs"]) == ("ok", ["float32[256, 943]"])
    assert "tensors_uncounted" not in found["notes"]
    assert found["peak"] - answered["batch"]["peak"] == 1682 * 943 * 4


def test_a_batch_says_nothing_of_the_tensor_that_its_rows_are_of(answered):
    found = answered["batch"]
    assert found["params"][found["notes"].index("tensors_uncounted")] == {"names": "ratings"}


def test_what_functions_make_of_data_of_unknown_length_is_told(asked):
    found = asked["counted"]
    assert found["status"] == "ok", found["questions"]
    assert found["params"][found["notes"].index("tensors_uncounted")] == {"names": "features, labels"}
