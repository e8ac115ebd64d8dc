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


FOLDS = """
import pandas as pd, paddle
from paddle import nn
from sklearn.model_selection import KFold
frame = pd.read_csv("housing.csv")
X, y = frame.iloc[:, :-1].values.astype("float32"), frame.iloc[:, -1:].values.astype("float32")
class Rows(paddle.io.Dataset):
    def __init__(self, x, y):
        self.x, self.y = x, y
    def __getitem__(self, i):
        return self.x[i], self.y[i]
    def __len__(self):
        return len(self.x)
for train, test in KFold(5).split(X):
    net = nn.Sequential(nn.Linear(13, 32), nn.ReLU(), nn.Linear(32, 1))
    loader = paddle.io.DataLoader(Rows(X[train], y[train]), batch_size=16, shuffle=True)
    optimizer = paddle.optimizer.Adam(parameters=net.parameters())
    for epoch in range(3):
        for x, target in loader:
            loss = nn.functional.mse_loss(net(x), target)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
"""
TAGS = """
import json, numpy as np, paddle
from paddle import nn
lines = [json.loads(line) for line in open("ner.jsonl")]
words = {word: n for n, word in enumerate(sorted({word for line in lines for word in line["words"]}))}
t2i = {tag: n for n, tag in enumerate(sorted({tag for line in lines for tag in line["tags"]}))}
MAX = 24
def encoded(known, line):
    ids = [known[one] for one in line][:MAX]
    return ids + [0] * (MAX - len(ids))
x = np.array([encoded(words, line["words"]) for line in lines], "int64")
y = np.array([encoded(t2i, line["tags"]) for line in lines], "int64")
loader = paddle.io.DataLoader(paddle.io.TensorDataset([x, y]), batch_size=16)
net = nn.Sequential(nn.Embedding(len(words), 8), nn.Linear(8, len(t2i)))
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
for x, y in loader:
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""


def test_folds_of_a_table_that_is_not_here_are_gone_through(run_child):
    """`KFold(5).split(X)` was asked what it gives, which nobody can answer."""
    (question,) = run_child("trace", {"folds": FOLDS})["folds"]["questions"]
    assert question["suggestion"] == "float32[16,13] float32[16,1]"
    answers = {"answers": {question["name"]: question["suggestion"]}}
    found = run_child("trace", {"folds": FOLDS}, {"folds": answers})["folds"]
    source = FOLDS.replace('pd.read_csv("housing.csv")', "pd.DataFrame([[1.0] * 14] * 800)")
    present = run_child("trace", {"folds": source})["folds"]  # whose later folds find what earlier ones have left
    assert (found["peak"], found["batch_size"]) == (present["peak"], 16)
    real = run_child("real", {"folds": source.replace("KFold(5)", "KFold(2)")})["folds"]
    assert max(real["peaks"][1:]) <= found["peak"], real["failure"]


def test_what_no_embedding_has_is_a_number_of_classes_and_padded_lists_are_as_long_as_they_are_made(run_child):
    found = run_child("trace", {"tags": TAGS})["tags"]
    suggested = {one["name"]: one["suggestion"] for one in found["questions"]}
    assert (suggested.get("len_words"), suggested.get("len_t2i")) == (10_000, 10), suggested
    assert all(one.startswith("int64[16,24]") for name, one in suggested.items() if "load" in name), suggested
