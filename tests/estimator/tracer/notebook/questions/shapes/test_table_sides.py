"""`rows, columns = table.shape` of a table that is not here: asked with the file and with what it is of."""

from __future__ import annotations

import pytest

from jupyter_paddle_gpu.estimator.questions import OF_FILE_FOR, stated

pytestmark = pytest.mark.paddle

TABLE = """
import numpy as np, paddle
from paddle import nn
table = np.load("features.npy")
n, d = table.shape
net = nn.Sequential(nn.Linear(d, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
for epoch in range(3):
    for i in range(0, n, 32):
        x = paddle.to_tensor(table[i:i + 32].astype("float32"))
        loss = net(x).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
"""
SERIES = """
import numpy as np, paddle
from paddle import nn
data = np.load("eeg.npz")["x"]
trials, channels, times = data.shape
net = nn.Sequential(nn.Conv1D(channels, 16, 7), nn.ReLU(), nn.AdaptiveAvgPool1D(1), nn.Flatten(), nn.Linear(16, 2))
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
labels = paddle.to_tensor(np.load("eeg.npz")["y"])
for epoch in range(3):
    for i in range(0, trials, 16):
        x = paddle.to_tensor(data[i:i + 16], dtype="float32")
        loss = nn.functional.cross_entropy(net(x), labels[i:i + 16])
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
"""
WEIGHTS = """
import pandas as pd, paddle
X = pd.read_csv("data/house.csv").values.astype("float32")
n, d = X.shape
w = paddle.create_parameter([d, 1], "float32")
optimizer = paddle.optimizer.SGD(0.01, parameters=[w])
x = paddle.to_tensor(X)
for epoch in range(5):
    loss = (paddle.matmul(x, w) ** 2).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
SOURCES = {"table": TABLE, "series": SERIES, "weights": WEIGHTS}


@pytest.fixture(scope="module")
def asked(run_child):
    return run_child("trace", SOURCES)


@pytest.mark.parametrize(
    ("name", "number", "part", "file"),
    [
        ("table", "d", "table.shape[1]", "features.npy"),
        ("series", "channels", "data.shape[1]", "eeg.npz"),
        ("weights", "d", "X.shape[1]", "data/house.csv"),
    ],
)
def test_a_side_is_asked_for_with_its_file_and_what_it_is_of(asked, name, number, part, file):
    (question,) = [one for one in asked[name]["questions"] if one["name"] == number]
    assert question["suggestion"] == 256, asked[name]["questions"]
    assert (question["params"]["part"], question["params"]["file"]) == (part, file)
    assert all(one["suggestion"] is not None for one in asked[name]["questions"])


def test_the_sentence_names_the_file_and_what_takes_it(asked):
    (question,) = [one for one in asked["table"]["questions"] if one["name"] == "d"]
    sentence, called = stated(question["why"], "d", question["params"])
    assert (sentence, called, question["params"]["sizes"]) == (OF_FILE_FOR, "d (table.shape[1])", "in_features")
    assert stated(question["why"], "d", {**question["params"], "file": "h5py"}) is None, "that is no file"


@pytest.mark.parametrize("name", ["table", "series"])
def test_with_what_is_suggested_the_figure_is_that_of_real_steps(asked, run_child, name):
    """A tensor of all rows, of which each batch is a part, has more of them than one batch."""
    answers = {one["name"]: one["suggestion"] for one in asked[name]["questions"]}
    found = run_child("trace", {name: SOURCES[name]}, {name: {"answers": answers}})[name]
    data = {
        "table": 'table = np.zeros((640, 256), "float64")',
        "series": 'data = np.zeros((128, 256, 128), "float32")',
    }[name]
    loaded = {"table": 'table = np.load("features.npy")', "series": 'data = np.load("eeg.npz")["x"]'}[name]
    source = SOURCES[name].replace(loaded, data).replace('np.load("eeg.npz")["y"]', 'np.zeros(128, "int64")')
    real = run_child("real", {name: source})[name]
    assert found["peak"] == max(real["peaks"][1:]), (real["failure"], answers)
