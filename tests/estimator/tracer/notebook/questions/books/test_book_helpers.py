"""Chapters of a book whose helpers stand in a module beside them: what is suggested of data that is not here."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

CHILD = """
import json, sys
sys.path.insert(0, sys.argv[1])
import tracer

for name, (folder, source) in json.load(sys.stdin).items():
    sys.path.insert(0, folder)
    found = tracer.trace_notebook({"cells": [{"index": 0, "source": source}], "folder": folder})
    row = {key: found.get(key) for key in ("status", "stop")}
    row["notes"] = {one["code"]: one["params"] for one in found["notes"]}
    row["suggestions"] = {one["name"]: one.get("suggestion") for one in found["questions"]}
    print(json.dumps([name, row]))
"""
HELPERS = """
import numpy as np
import paddle

def tokenize(lines, token='word'):
    if token == 'word':
        return [line.split() for line in lines]
    if token == 'char':
        return [list(line) for line in lines]

class Vocab:
    def __init__(self, tokens):
        self.known = {}
        for line in tokens:
            for token in line:
                self.known.setdefault(token, len(self.known))
    def __len__(self):
        return len(self.known)
    def __getitem__(self, token):
        return self.known[token]

def load_novel(size, steps):
    tokens = tokenize(open('absent.txt').readlines(), 'char')
    vocab = Vocab(tokens)
    corpus = [vocab[token] for line in tokens for token in line]
    def batches():
        for start in range(0, len(corpus) - size * steps, size * steps):
            part = paddle.to_tensor(corpus[start:start + size * steps])
            yield part.reshape([size, steps])
    return batches, vocab

def load_reviews():
    return Vocab(tokenize(open('absent.txt').readlines()))

def load_table(size):
    rows = [list(map(float, line.split())) for line in open('absent.dat')]
    data = paddle.to_tensor(rows)
    loader = paddle.io.DataLoader(paddle.io.TensorDataset((data[:, :-1], data[:, -1])), batch_size=size)
    return loader, data.shape[1] - 1

def load_ratings(size):
    users, scores = [], []
    for line in open('absent.dat'):
        users.append(int(line.split()[0]) - 1)
        scores.append(float(line.split()[1]))
    kept = paddle.io.TensorDataset([paddle.to_tensor(np.array(users)), paddle.to_tensor(np.array(scores, 'float32'))])
    return paddle.io.DataLoader(kept, batch_size=size)

def train(update, loader, width):
    weight = paddle.create_parameter([width, 1], 'float32')
    for epoch in range(3):
        for x, y in loader:
            loss = ((paddle.matmul(x, weight) - y.reshape([-1, 1])) ** 2).mean()
            loss.backward()
            weight = update(weight)
"""
UPDATED = """
import paddle, helpers
def sgd(weight):
    with paddle.no_grad():
        weight.set_value(weight - 0.1 * weight.grad)
    weight.clear_gradient()
    return weight
loader, width = helpers.load_table(16)
helpers.train(sgd, loader, width)
"""
STEPS = """
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for step in range(6):
    optimizer.clear_grad()
    net(paddle.zeros([4, 7], 'int64')).mean().backward()
    optimizer.step()
"""
SOURCES = {
    "characters": f"""
import paddle, helpers
batches, vocab = helpers.load_novel(8, 12)
net = paddle.nn.Embedding(len(vocab), 16)
{STEPS}""",
    "words": f"""
import paddle, helpers
vocab = helpers.load_reviews()
net = paddle.nn.Embedding(len(vocab), 16)
{STEPS}""",
    "updated": UPDATED,
    "ratings": """
import paddle, helpers
loader = helpers.load_ratings(16)
net = paddle.nn.Embedding(900, 1)
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
for epoch in range(3):
    for users, scores in loader:
        loss = paddle.nn.functional.mse_loss(net(users).squeeze(-1), scores)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
""",
    "windows": """
import numpy as np, paddle
table = [list(map(float, line.split())) for line in open('absent.dat')]
windows = np.array([table[start:start + 24] for start in range(len(table))])
net = paddle.nn.LSTM(windows.shape[2], 8)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for step in range(6):
    optimizer.clear_grad()
    net(paddle.zeros([4, 24, net.input_size]))[0].mean().backward()
    optimizer.step()
""",
    "flat": """
import paddle
class Texts(paddle.io.Dataset):
    def __init__(self):
        self.rows = [line.split() for line in open('absent.txt')]
    def __getitem__(self, number):
        return self.rows[number]
    def __len__(self):
        return len(self.rows)
loader = paddle.io.DataLoader(Texts(), batch_size=8)
embedding, linear = paddle.nn.Embedding(500, 16), paddle.nn.Linear(16 * 150, 2)
net = paddle.nn.Sequential(embedding, paddle.nn.Flatten(), linear)
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
for epoch in range(3):
    for x, y in loader:
        paddle.nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()
        optimizer.clear_grad()
""",
}


@pytest.fixture(scope="module")
def traced(run_code, tmp_path_factory):
    folder = tmp_path_factory.mktemp("chapters")
    (folder / "helpers.py").write_text(HELPERS, encoding="utf-8")
    return run_code(CHILD, {name: [str(folder), source] for name, source in SOURCES.items()})


def test_a_vocabulary_of_characters_is_not_one_of_words(traced):
    """The helpers' function can do both; how the chapter's own way calls it tells."""
    assert traced["characters"]["suggestions"] == {"len_vocab": 100}
    assert traced["words"]["suggestions"] == {"len_vocab": 10_000}


def test_a_parameter_without_a_layer_says_what_comes_to_it(traced):
    suggested = traced["updated"]["suggestions"]
    assert suggested["width"] == 256
    assert suggested["loader"].startswith("float32[16,256] float32[16")


def test_a_linear_layer_behind_a_flattened_sequence_says_how_long_it_is(traced):
    """The cells name no length; 2,400 rows are 150 items of 16."""
    assert traced["flat"]["suggestions"]["loader"].startswith("int64[8,150] int64[8")


def test_the_last_side_of_windows_is_the_columns_of_a_table(traced):
    """Not the entries of a vocabulary."""
    assert traced["windows"]["suggestions"] == {"windows_shape_2": 256}


def test_tensors_that_a_data_set_is_made_of_are_told_of(traced):
    """Their length hangs on data: the figure is without them, and says so."""
    assert traced["ratings"]["status"] == "ok"
    assert "kept" in traced["ratings"]["notes"]["tensors_uncounted"]["names"]
