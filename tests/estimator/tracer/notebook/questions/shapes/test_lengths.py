"""How long sequences are, and how large pictures, that only a layer behind them tells, and constants in the cells."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

PAIRS = """
import pickle, numpy as np, paddle
from paddle import nn
import paddle.nn.functional as F
{said}
loader = paddle.io.DataLoader(pickle.load(open("davis.pkl", "rb")), batch_size=16)
class Branch(nn.Layer):
    def __init__(self, signs, filters, kernel):
        super().__init__()
        self.table, self.conv = nn.Embedding(signs, 32), nn.Conv1D(32, filters, kernel)
    def forward(self, x):
        x = F.relu(self.conv(self.table(x).transpose([0, 2, 1])))
        return {pooled}
class Affinity(nn.Layer):
    def __init__(self):
        super().__init__()
        self.a, self.b = Branch(64, 8, 4), Branch(26, 8, 8)
        {made}
    def forward(self, x, y):
        x, y = self.a(x), self.b(y)
        return {joined}
net = Affinity()
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
for epoch in range(3):
    for x, y, target in loader:
        loss = F.mse_loss(net(x, y), target)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
"""
POOLED = {"pooled": "x.max(-1)", "made": "self.out = nn.Linear(16, 1)", "joined": "self.out(paddle.concat([x, y], 1))"}
APART = {
    "pooled": "x.flatten(1)",
    "made": "self.fa, self.fb, self.out = nn.Linear(8 * 97, 4), nn.Linear(8 * 493, 4), nn.Linear(8, 1)",
    "joined": "self.out(paddle.concat([self.fa(x), self.fb(y)], 1))",
}
JOINED = {
    "pooled": "x.flatten(1)",
    "made": "self.out = nn.Linear(8 * (82 + 1193), 1)",
    "joined": "self.out(paddle.concat([x, y], 1))",
}
CHANNELS = """
import pickle, paddle
from paddle import nn
loader = paddle.io.DataLoader(pickle.load(open("kiba.pkl", "rb")), batch_size=16)
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.e1, self.e2 = nn.Embedding(65, 32), nn.Embedding(26, 32)
        self.c1, self.c2 = nn.Conv1D(90, 8, 8), nn.Conv1D(700, 8, 8)
        self.f1, self.f2, self.out = nn.Linear(200, 16), nn.Linear(200, 16), nn.Linear(32, 1)
    def forward(self, x, y):
        x, y = self.c1(self.e1(x)).flatten(1), self.c2(self.e2(y)).flatten(1)
        return self.out(paddle.concat([self.f1(x), self.f2(y)], 1))
net = Net()
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
for epoch in range(3):
    for x, y, target in loader:
        loss = nn.functional.mse_loss(net(x, y), target)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
"""
PICTURES = """
import pickle, paddle
from paddle import nn
loader = paddle.io.DataLoader(pickle.load(open("cats.pkl", "rb")), batch_size=8)
net = nn.Sequential(
    nn.Conv2D(3, 8, 3), nn.ReLU(), nn.MaxPool2D(2, 2), nn.Conv2D(8, 16, 3), nn.ReLU(), nn.MaxPool2D(2, 2),
    nn.Conv2D(16, 16, 3), nn.ReLU(), nn.MaxPool2D(2, 2), nn.Flatten(), nn.Linear(16 * 17 * 17, 2))
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
for epoch in range(3):
    for x, y in loader:
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
"""
SIZES = {
    "named": (PAIRS.format(said="MAX_SEQ_DRUG, MAX_SEQ_PROTEIN = 90, 700", **POOLED), (90, 700), "cells"),
    "ordered": (PAIRS.format(said="max_len_a = 85\nmax_len_b = 600", **POOLED), (85, 600), "cells"),
    "unsaid": (PAIRS.format(said="", **POOLED), (128, 128), "assumed"),
    "chemical": (PAIRS.format(said="# SMILES and protein", **POOLED), (100, 1000), "assumed"),
    "apart": (PAIRS.format(said="", **APART), (100, 500), "layer"),
    "channels": (CHANNELS, (90, 700), "layer"),
}
SOURCES = {name: source for name, (source, _, _) in SIZES.items()}
SOURCES |= {"joined": PAIRS.format(said="# SMILES and protein", **JOINED), "pictures": PICTURES}


@pytest.fixture(scope="module")
def asked(run_child):
    return run_child("trace", SOURCES)


@pytest.fixture(scope="module")
def answered(run_child, asked):
    answers = {name: {one["name"]: one["suggestion"] for one in row["questions"]} for name, row in asked.items()}
    return run_child("trace", SOURCES, {name: {"answers": given} for name, given in answers.items()})


def with_data(source: str, *arrays: str) -> str:
    """A program with its data, made up: samples of such arrays."""
    loaded = source[source.index("pickle.load") : source.index(", batch_size")]
    return source.replace(loaded, f"[({', '.join(arrays)}) for _ in range(640)]")


@pytest.fixture(scope="module")
def real(run_child):
    sources = {}
    for name, (source, (short, long), _) in {**SIZES, "joined": (SOURCES["joined"], (85, 1200), "")}.items():
        arrays = (f"np.zeros({side}, 'int64')" for side in (short, long))
        made = with_data(source, *arrays, "np.zeros(1, 'float32')")
        sources[name] = "import numpy as np\n" + made
    pictures = with_data(PICTURES, "np.zeros((3, 150, 150), 'float32')", "np.zeros(1, 'int64')")
    sources["pictures"] = "import numpy as np\n" + pictures
    return run_child("real", sources)


@pytest.mark.parametrize("name", SIZES)
def test_two_sequences_are_as_long_as_constants_say_and_layers_want(name, asked, answered, real):
    _, (short, long), source = SIZES[name]
    (question,) = asked[name]["questions"]
    assert question["suggestion"] == f"int64[16,{short}] int64[16,{long}] float32[16,1]"
    assert question["params"]["source"] == source
    assert answered[name]["peak"] == max(real[name]["peaks"][1:]), real[name]["failure"]


def test_where_only_their_sum_is_known_the_longer_one_is_found_and_assumed(asked, answered, real):
    (question,) = asked["joined"]["questions"]
    assert question["params"]["source"] == "assumed"
    assert answered["joined"]["peak"] == pytest.approx(max(real["joined"]["peaks"][1:]), rel=0.05)


def test_a_picture_is_as_large_as_a_layer_behind_it_wants(asked, answered, real):
    """Sides from 150 to 157 fit, so that the round one is an assumption."""
    (question,) = asked["pictures"]["questions"]
    assert (question["suggestion"], question["params"]["source"]) == ("float32[8,3,150,150] int64[8,1]", "assumed")
    assert answered["pictures"]["peak"] == max(real["pictures"]["peaks"][1:]), real["pictures"]["failure"]
