"""Numbers that come out of data that is not here: asked for once, by what the cells call them, and computed with."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

HEAD = """
import numpy as np, pandas as pd, paddle, paddle.nn.functional as F
from paddle import nn
paddle.seed(0)
"""
TABLE = (
    HEAD
    + """
X = pd.read_csv('absent.csv').drop(columns=['y']).values
class Net(nn.Layer):
    def __init__(self, width):
        super().__init__()
        self.first = nn.Linear(width, width * 2)
        self.last = nn.Linear(2 * width if width > 4 else 8, 1)
    def forward(self, x):
        return self.last(self.first(x))
net = Net(X.shape[AXIS])
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for i in range(6):
    x, y = paddle.rand([8, X.shape[AXIS]]), paddle.rand([8, 1])
    loss = F.mse_loss(net(x), y)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
)
HERE = TABLE.replace("pd.read_csv('absent.csv').drop(columns=['y']).values", "np.zeros([100, 13])")
TEXT = (
    HEAD
    + """
text = open('absent.txt').read()
chars = sorted(set(text))
index = {c: i for i, c in enumerate(chars)}
data = paddle.to_tensor([index[c] for c in text], dtype='int64')
block, batch = 24, 4
def get_batch():
    starts = paddle.randint(0, len(data) - block, [batch])
    x = paddle.stack([data[i:i + block] for i in starts.tolist()])
    y = paddle.stack([data[i + 1:i + block + 1] for i in starts.tolist()])
    return x, y
class Net(nn.Layer):
    def __init__(self, size):
        super().__init__()
        self.words, self.head = nn.Embedding(size, 16), nn.Linear(16, size)
    def forward(self, x):
        return self.head(self.words(x))
model = Net(len(chars))
optimizer = paddle.optimizer.AdamW(parameters=model.parameters())
for i in range(100_000):
    x, y = get_batch()
    logits = model(x)
    loss = F.cross_entropy(logits.reshape([-1, logits.shape[-1]]), y.reshape([-1]))
    optimizer.clear_grad()
    loss.backward()
    optimizer.step()
"""
)
WORDS = TEXT.replace("open('absent.txt').read()", "''.join(map(chr, range(65, 130))) * 20")
SOURCES = {
    "table": TABLE.replace("AXIS", "1"),
    "last": TABLE.replace("AXIS", "-1"),
    "here": HERE.replace("AXIS", "1"),
    "text": TEXT,
    "text-here": WORDS,
}
ANSWERS = {
    "table": {"X_shape_1": 13},
    "last": {"X_shape_last": 13},
    "text": {"len_chars": 65, "x": "int64[4,24]", "y": "int64[4,24]"},
}


@pytest.fixture(scope="module")
def asked(run_child):
    return run_child("trace", SOURCES)


@pytest.fixture(scope="module")
def answered(run_child):
    known = {name: SOURCES[name] for name in ANSWERS}
    return run_child("trace", known, {name: {"answers": answers} for name, answers in ANSWERS.items()})


@pytest.mark.parametrize("name", ANSWERS)
def test_each_is_asked_for_once_with_a_suggestion(asked, name):
    assert {one["name"] for one in asked[name]["questions"]} == set(ANSWERS[name])
    assert all(one["suggestion"] is not None for one in asked[name]["questions"])


@pytest.mark.parametrize(("name", "here"), [("table", "here"), ("last", "here"), ("text", "text-here")])
def test_the_answers_give_the_figure_of_such_data(asked, answered, name, here):
    assert (asked[here]["status"], answered[name]["status"]) == ("ok", "ok")
    assert answered[name]["questions"] == []
    kept = 65 * 20 * 8 if name == "text" else 0  # a tensor of all the text, how long it is nobody knows
    assert answered[name]["peak"] == asked[here]["peak"] - kept
    assert ("tensors_uncounted" in answered[name]["notes"]) == bool(kept)
