"""Series of numbers that are not here, cut into windows: the code says how long these are."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

HEAD = """
import numpy as np
import pandas as pd
import paddle
from paddle import nn
import paddle.nn.functional as F
"""
NET = """
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.rnn, self.out = nn.LSTM({columns}, 64), nn.Linear(64, {outputs})
    def forward(self, x):
        return self.out(self.rnn(x)[0][:, {steps}])
net = Net()
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
for x, y in loader:
    F.mse_loss(net(x), y).backward()
    optimizer.step()
    optimizer.clear_grad()
"""
WINDOWS = """
values = pd.read_csv("absent.csv").drop(columns=["date"]).values.astype("float32")
values = (values - values.mean(0)) / values.std(0)
W, H = 96, 24
class Windows(paddle.io.Dataset):
    def __len__(self):
        return len(values) - W - H
    def __getitem__(self, i):
        return {given}, {foretold}
loader = paddle.io.DataLoader(Windows(), batch_size=64, shuffle=True, drop_last=True)
"""
BY_ATTRIBUTES = """
data = np.load("absent.npy")
class Windows(paddle.io.Dataset):
    def __init__(self, data, n, k):
        self.data, self.n, self.k = data, n, k
    def __len__(self):
        return len(self.data) - self.n - self.k
    def __getitem__(self, i):
        return self.data[i:i + self.n], self.data[i + self.n:i + self.n + self.k]
loader = paddle.io.DataLoader(Windows(data, 12, 3), batch_size=32)
"""
# No window: the loop goes on by it.
SLICES = """
rows = np.load("absent.npy")
def batches(size=48):
    for i in range(0, len(rows), size):
        yield paddle.to_tensor(rows[i:i + size]), paddle.to_tensor(rows[i:i + size, -1, :1])
loader = batches()
"""
NEXT, LAST = "values[i + W:i + W + H]", "values[i + W:i + W + H, -1]"
CASES = {
    "one column foretold": (
        HEAD + WINDOWS.format(given="values[i:i + W, :3]", foretold=LAST)
        + NET.format(columns=3, outputs="H", steps=-1),
        {"loader": "float32[64,96,3] float32[64,24]"},
    ),
    "columns that are asked for": (
        HEAD + WINDOWS.format(given="values[i:i + W]", foretold=LAST)
        + NET.format(columns="values.shape[1]", outputs="H", steps=-1),
        {"values_shape_1": 256, "loader": "float32[64,96,256] float32[64,24]"},
    ),
    "all columns foretold": (
        HEAD + WINDOWS.format(given="values[i:i + W]", foretold=NEXT) + NET.format(columns=7, outputs=7, steps="-H:"),
        {"loader": "float32[64,96,7] float32[64,24,7]"},
    ),
    "lengths that a call gives in order": (
        HEAD + BY_ATTRIBUTES + NET.format(columns=20, outputs=20, steps="-3:"),
        {"loader": "float32[32,12,20] float32[32,3,20]"},
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def asked(run_child) -> dict:
    programs = {name: source for name, (source, _) in CASES.items()}
    return run_child("trace", {**programs, "slices": HEAD + SLICES + NET.format(columns=4, outputs=1, steps=-1)}, {})


@pytest.mark.parametrize("name", CASES)
def test_windows_are_as_long_as_the_code_says(name: str, asked: dict) -> None:
    assert {one["name"]: one["suggestion"] for one in asked[name]["questions"]} == CASES[name][1]


def test_what_a_loop_goes_on_by_is_no_length(asked: dict) -> None:
    assert not any(",48," in str(one["suggestion"]) for one in asked["slices"]["questions"])
    assert asked["slices"]["status"] == "needs_input"
