"""Data that the code cuts or samples by a constant is suggested as long as that."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

CLOUDS = """
import numpy as np, paddle
from paddle import nn
class ModelNet(paddle.io.Dataset):
    def __init__(self, path, npoints=1024):
        with open(path) as f:
            self.files = f.read().split()
        self.npoints = npoints
        self.data = {}
    def __getitem__(self, i):
        pc = np.loadtxt(self.files[i], delimiter=',').astype('float32')
        pc = pc[0:self.npoints, :]
        return pc[:, 0:3], int(self.files[i].split('_')[1])
    def __len__(self):
        return len(self.files)
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.c1, self.c2, self.fc = nn.Conv1D(3, 64, 1), nn.Conv1D(64, 256, 1), nn.Linear(256, 40)
    def forward(self, x):
        x = x.transpose([0, 2, 1])
        return self.fc(self.c2(nn.functional.relu(self.c1(x))).max(-1))
loader = paddle.io.DataLoader(ModelNet('modelnet40_train.txt'), batch_size=32, shuffle=True)
net = Net()
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
for x, y in loader:
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
CHOSEN = CLOUDS.replace("pc[0:self.npoints, :]", "pc[np.random.choice(len(pc), self.npoints, replace=False)]").replace(
    "npoints=1024", "npoints=2048"
)
CONSTANT = CLOUDS.replace("0:self.npoints", "0:1500").replace("npoints=1024", "kept=7")
SIZES = {"cut": (CLOUDS, 1024), "chosen": (CHOSEN, 2048), "constant": (CONSTANT.replace("= npoints", "= kept"), 1500)}


@pytest.fixture(scope="module")
def found(run_child):
    return run_child("trace", {name: source for name, (source, _) in SIZES.items()})


@pytest.mark.parametrize("name", SIZES)
def test_a_cloud_has_as_many_points_as_the_code_leaves_of_it(found, name):
    (asked,) = found[name]["questions"]
    assert asked["suggestion"] == f"float32[32,{SIZES[name][1]},3] int64[32]"
    assert asked["params"]["source"] == "cells"
