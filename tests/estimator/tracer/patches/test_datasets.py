"""Paddle's own data sets where their files are not there: stand-ins of their shapes and classes."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

PAIRS = """
import random
from collections import defaultdict
import paddle
data, of_class = paddle.vision.datasets.{name}(mode="test"), defaultdict(list)
for index in range(len(data)):
    of_class[int(data[index][1].item())].append(index)
model = paddle.nn.Linear({pixels}, 8)
optimizer = paddle.optimizer.Adam(parameters=model.parameters())
for step in range(3):
    pairs = [random.sample(of_class[label], 2) for label in range({classes})]
    images = paddle.to_tensor([[data[one][0] for one in pair] for pair in pairs], dtype="float32")
    model(images.reshape([2 * {classes}, {pixels}])).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""
CLASSES = {"Cifar10": (3072, 10), "Cifar100": (3072, 100), "FashionMNIST": (784, 10)}
SOURCES = {name: PAIRS.format(name=name, pixels=pixels, classes=n) for name, (pixels, n) in CLASSES.items()}


@pytest.mark.parametrize("name", SOURCES)
def test_every_class_is_there_under_the_data_sets_own_name(run_child, name):
    row = run_child("trace", {name: SOURCES[name]})[name]
    assert row["status"] == "ok", row["questions"]
    assert (row["notes"], row["params"]) == (["dataset_stand_in"], [{"name": name}])
    assert row["batch_size"] == 2 * CLASSES[name][1]
