"""What public notebooks showed that nobody had looked at before: each program goes without its data."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

PAIRS = """
import numpy as np, paddle
from paddle import nn
def load(path):
    rows = []
    for line in open(path):
        first, second, label = line.split()
        rows.append((first.split(), second.split(), int(label)))
    return rows
def build(rows, batch_size=64, with_lengths=False):
    found = []
    for start in range(0, len(rows), batch_size):
        part = rows[start:start + batch_size]
        longest = max(len(row[0]) for row in part)
        ids = [np.array([[words[w] for w in row[n]] + [0] * (longest - len(row[n])) for row in part]) for n in (0, 1)]
        lengths = [np.array([len(row[n]) for row in part]) for n in (0, 1)] if with_lengths else []
        found.append([*ids, *lengths, np.array([row[2] for row in part])])
    return found
rows = load('absent.txt')
words = {w: n for n, w in enumerate(sorted({w for row in rows for w in row[0]}))}
loader = build(rows)
class Match(nn.Layer):
    def __init__(self, words):
        super().__init__()
        self.embedding, self.dense = nn.Embedding(words, 16), nn.Linear(32, 2)
    def forward(self, first, second):
        return self.dense(paddle.concat([self.embedding(one).sum(axis=1) for one in (first, second)], axis=-1))
class Measured(Match):
    def forward(self, first, second, first_len, second_len):
        return super().forward(first, second) / (first_len + second_len).astype('float32').unsqueeze(1)
def fit(net):
    model = paddle.Model(net)
    model.prepare(paddle.optimizer.Adam(parameters=model.parameters()), nn.CrossEntropyLoss())
    model.fit(loader, epochs=2)
"""
READER = """
import numpy as np, paddle, types
from paddle import nn
def read(path):
    for line in open(path):
        yield [float(one) for one in line.split()]
class Rows(paddle.io.Dataset):
    def __init__(self, rows):
        assert isinstance(rows, types.FunctionType), 'no function'
        self.rows = list(rows('absent.txt'))
    def __getitem__(self, i):
        return np.array(self.rows[i], 'float32'), np.array([1], 'int64')
    def __len__(self):
        return len(self.rows)
net = nn.Linear(6, 2)
model = paddle.Model(net)
model.prepare(paddle.optimizer.Adam(parameters=net.parameters()), nn.CrossEntropyLoss())
model.fit(Rows(read), batch_size=8)
"""
RATES = """
import os, paddle
from paddle import nn
from paddle.vision import transforms
names = os.listdir('absent/pictures')
print(len(names))
pictures = paddle.vision.datasets.DatasetFolder('absent', transform=transforms.ToTensor())
net = nn.Sequential(nn.Conv2D(3, 4, 3), nn.Flatten(), nn.Linear(3600, 2))
rates = paddle.optimizer.lr.PiecewiseDecay({given})
model = paddle.Model(net)
model.prepare(paddle.optimizer.Adam(rates, parameters=net.parameters()), nn.CrossEntropyLoss())
model.fit(pictures, batch_size=4)
"""
BOUNDARIES, VALUES = "boundaries=[100, 1000, 4000], ", "values=[0.1, 0.5]"
LEAVES = """
import os, paddle
from paddle import nn
if not os.path.exists('absent/labels.json'):
    sys.exit('there are no labels')
net = nn.Linear(6, 2)
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
for step in range(4):
    net(paddle.rand([8, 6])).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""
DESCRIBED = {"answers": {"len_words": 100, "loader": "int64[64,12] int64[64,12] int64[64,1]"}}


@pytest.fixture(scope="module")
def seen(run_child):
    programs = {
        "pairs": f"{PAIRS}fit(Match(len(words)))\n",
        "reader": READER,
        "rates": RATES.format(given=BOUNDARIES + VALUES),
        "both": f"{PAIRS}fit(Match(len(words)))\nloader = build(rows, with_lengths=True)\nfit(Measured(len(words)))\n",
        "leaves": LEAVES,
    }
    requests = {"pairs": {"answers": {"len_words": 100}}, "both": DESCRIBED}
    return run_child("trace", programs, requests)


def suggested(found):
    return {one["name"]: one["suggestion"] for one in found["questions"]}


def test_fit_hands_a_network_as_many_things_as_it_takes(seen):
    assert suggested(seen["pairs"])["loader"] == "int64[64,128] int64[64,128] int64[64,1]"


def test_the_size_that_fit_has_by_default_is_not_that_of_batches_it_is_given(seen):
    """The list of batches is not here: that `fit` would put one sample into each of a data set's says nothing of it."""
    assert seen["both"]["status"] == "ok"
    assert "batch_of_another_size" not in seen["both"]["notes"]


def test_what_was_said_of_one_training_is_no_stop_of_a_later_one(seen):
    """Its batches have lengths as well, under the same name."""
    assert seen["both"]["stop"] is None


def test_a_generator_function_is_a_function_to_whom_it_is_given(seen):
    assert seen["reader"]["stop"] is None
    assert seen["reader"]["status"] in {"ok", "needs_input"}


def test_paddle_refuses_constants_whatever_the_data_is(seen, run_child):
    """Real Paddle says the same, before any data is wanted."""
    made = f"import paddle\npaddle.optimizer.lr.PiecewiseDecay({BOUNDARIES + VALUES})\n"
    refused = run_child("real", {"rates": made})["rates"]["failure"]
    assert seen["rates"]["status"] == "would_stop"
    assert seen["rates"]["stop"]["error"] == refused


def test_who_leaves_for_want_of_a_file_does_so_for_want_of_data(seen):
    """`sys` was never imported, which nobody notices where the file is."""
    assert seen["leaves"]["status"] == "ok"
