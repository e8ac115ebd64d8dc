"""Data that several processes divide at random: each draws its own parts, unless the program sets a seed."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

SOURCE = """
import paddle
data = paddle.io.TensorDataset([paddle.rand([64, 8])])
train, valid = paddle.io.random_split(data, [48, 16])
paddle.distributed.init_parallel_env()
model = paddle.DataParallel(paddle.nn.Linear(8, 2))
optimizer = paddle.optimizer.SGD(parameters=model.parameters())
sampler = paddle.io.DistributedBatchSampler(train, batch_size=8)
for (x,) in paddle.io.DataLoader(train, batch_sampler=sampler):
    model(x).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""
SOURCES = {
    "own": SOURCE,
    "seeded": SOURCE.replace("train, valid", "paddle.seed(0)\ntrain, valid"),
    "seeded late": SOURCE.replace("paddle.distributed.init", "paddle.seed(0)\npaddle.distributed.init"),
    "alone": SOURCE,
}


def test_parts_that_differ_are_told_of(run_child):
    found = run_child("trace", SOURCES, {name: {"devices": 1 if name == "alone" else 2} for name in SOURCES})
    told = {
        name: dict(zip(row["notes"], row["params"], strict=True)).get("splits_differ") for name, row in found.items()
    }
    place = {"cell": 1, "line": 4}
    assert told == {"own": place, "seeded": None, "seeded late": place, "alone": None}
