"""Data that is not here: what a batch looks like is asked for, and an answer gives the figure of such data."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

HEAD = """
import os, json
import numpy as np, pandas as pd, paddle, paddle.nn.functional as F
from paddle import nn
paddle.seed(0)
"""
NET = """
model = nn.Sequential(nn.Linear(13, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = paddle.optimizer.Adam(1e-5, parameters=model.parameters())
"""
LOOP = """
for epoch in range(4):
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
"""
TABLE = (
    HEAD
    + """
class Data(paddle.io.Dataset):
    def __init__(self, path):
        self.table = pd.read_csv(path)
        self.x = self.table.iloc[:, :-1].to_numpy()
    def __getitem__(self, i):
        return self.x[i].astype('float32'), self.table.y[i]
    def __len__(self):
        return len(self.x)
loader = paddle.io.DataLoader(Data('absent.csv'), batch_size=16, shuffle=True)
"""
)
HERE = (
    HEAD
    + """
class Data(paddle.io.Dataset):
    def __getitem__(self, i):
        return np.zeros(13, 'float32'), np.zeros(1, 'float32')
    def __len__(self):
        return 1600
loader = paddle.io.DataLoader(Data(), batch_size=16, shuffle=True)
"""
)
FOLDER = (
    HEAD
    + """
class Data(paddle.io.Dataset):
    def __getitem__(self, i):
        return np.load(f'absent/{i}.npy'), np.zeros(1, 'float32')
    def __len__(self):
        return 1600
train_set = Data()
"""
    + NET
    + """
trained = paddle.Model(model)
trained.prepare(optimizer, nn.MSELoss())
trained.fit(train_set, batch_size=16, verbose=0)
"""
)
WORDS = (
    HEAD
    + """
words = open('absent.txt').read().split()
count = len(words)
#---
model = nn.Sequential(nn.Embedding(count, 8), nn.Flatten(), nn.Linear(80, 1))
optimizer = paddle.optimizer.SGD(parameters=model.parameters())
for step in range(5):
    loss = model(paddle.zeros([5, 10], 'int64')).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
)
VARIABLE = (
    HEAD
    + "batch = int({read})\nloader = [(paddle.rand([batch, 13]), paddle.rand([batch, 1])) for _ in range(5)]\n"
    + NET
    + LOOP
)
ARGUMENTS = "(lambda p: (p.add_argument('--rows', type=int, required=True), p.parse_args([]))[1])"
ARGUMENTS = f"{ARGUMENTS}(__import__('argparse').ArgumentParser()).rows"
PICTURES = (
    TABLE.replace("batch_size=16", "batch_size=10")
    + """
resized = paddle.vision.transforms.Resize((96, 64))
model = nn.Sequential(nn.Conv2D(3, 8, 3), nn.AdaptiveAvgPool2D(1), nn.Flatten(), nn.Linear(8, 5))
optimizer = paddle.optimizer.Adam(1e-5, parameters=model.parameters())
"""
    + LOOP.replace("mse_loss(model(x), y)", "cross_entropy(model(x), y)")
)
READS = {
    "environment": "os.environ['BATCH']",
    "getenv": "os.getenv('BATCH')",
    "input": "input('how many?')",
    "argparse": ARGUMENTS,
}
BATCH = "float32[16,13] float32[16,1]"
SOURCES = {
    "table": TABLE + NET + LOOP,
    "table-here": HERE + NET + LOOP,
    "folder": FOLDER,
    "words": WORDS,
    "pictures": PICTURES,
    **{name: VARIABLE.format(read=read) for name, read in READS.items()},
    "four": VARIABLE.format(read="4"),
}
ANSWERED = {
    "table": {"answers": {"loader": BATCH}},
    "folder": {"answers": {"train_set": BATCH}},
    "words": {"answers": {"count": 100}},
    "environment": {"answers": {"BATCH": 4}},
    "getenv": {"answers": {"BATCH": "4"}},
    "input": {"answers": {"batch": 4}},
    "argparse": {"answers": {"rows": 4}},
}


@pytest.fixture(scope="module")
def asked(run_child):
    return run_child("trace", SOURCES)


@pytest.fixture(scope="module")
def answered(run_child):
    half = {"table-at-4": {"answers": {"loader": BATCH}, "batch_size": 4}, "table-here-at-4": {"batch_size": 4}}
    sources = {**SOURCES, "table-at-4": SOURCES["table"], "table-here-at-4": SOURCES["table-here"]}
    return run_child("trace", sources, {**ANSWERED, **half})


@pytest.mark.parametrize(
    ("name", "kind", "answer"),
    [
        ("table", "batch", "loader"),
        ("folder", "batch", "train_set"),
        ("words", "value", "count"),
        ("environment", "environment", "BATCH"),
        ("getenv", "environment", "BATCH"),
        ("input", "value", "batch"),
        ("argparse", "value", "rows"),
    ],
)
def test_what_is_not_known_is_one_question_by_its_name(asked, answered, name, kind, answer):
    (question,) = asked[name]["questions"]
    assert asked[name]["status"] == "needs_input"
    assert (question.get("kind", "value"), question["name"]) == (kind, answer)
    assert answered[name]["status"] == "ok" and answered[name]["questions"] == []


@pytest.mark.parametrize(
    ("name", "suggestion", "source"),
    [
        ("table", BATCH, "layer"),
        ("pictures", "float32[10,3,96,64] int64[10]", "cells"),
        ("words", 10000, "assumed"),
    ],
)
def test_what_is_suggested_was_tried(asked, name, suggestion, source):
    (question,) = asked[name]["questions"]
    assert (question["suggestion"], question["params"]["source"]) == (suggestion, source)


def test_described_data_takes_what_data_of_that_shape_takes(answered):
    assert answered["table"]["peak"] == answered["table-here"]["peak"]
    assert answered["table-at-4"]["peak"] == answered["table-here-at-4"]["peak"] < answered["table"]["peak"]
    assert "data_described" in answered["table"]["notes"]


def test_an_answer_takes_the_place_of_what_the_program_reads(answered):
    assert {answered[name]["peak"] for name in (*READS, "four")} == {answered["four"]["peak"]}


LOOKED_FOR = """
import json
import paddle
from paddle import nn
config = {"Backbone": 4}
found = json.load(open("classes.json"))
if hasattr(found, "character"):
    head = nn.Linear(8, config["Head"])
else:
    head = nn.Linear(8, config["Backbone"])
optimizer = paddle.optimizer.Adam(parameters=head.parameters())
for i in range(9):
    head(paddle.rand([4, 8])).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""


def test_nobody_knows_whether_what_is_not_here_has_an_attribute(run_child):
    """PaddleOCR asks so of what it makes of an absent list of classes, and went on as if it had characters."""
    found = run_child(
        "trace", {"other way": LOOKED_FOR, "here": LOOKED_FOR.replace('json.load(open("classes.json"))', "1")}
    )
    assert [found[name]["status"] for name in found] == ["ok", "ok"]
    assert found["other way"]["peak"] == found["here"]["peak"]


_KEPT = """
import pickle, paddle
from paddle import nn
net = nn.Linear(16, 4)
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
{criterion}
for _ in range(4):
    out = net(paddle.rand([32, 16]))
    loss = criterion(out, paddle.zeros([32, 4]))
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""


def test_a_loss_that_an_absent_file_holds_stops_no_gradients(run_child):
    """It was passed by, and the figure had an optimizer that learns nothing."""
    said = {
        "absent": "criterion = pickle.load(open('tools.pkl', 'rb'))['loss']",
        "mean": "criterion = lambda x, y: x.mean()",
    }
    found = run_child("trace", {name: _KEPT.format(criterion=text) for name, text in said.items()})
    assert (found["absent"]["status"], found["absent"]["peak"]) == ("ok", found["mean"]["peak"])
    assert "loss_unseen" in found["absent"]["notes"]
    assert "no_backward" not in found["absent"]["notes"]
