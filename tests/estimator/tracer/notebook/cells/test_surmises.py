"""Arrays that cells make of data that is not here: the code says what a row of them looks like, and nobody is asked."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

HEAD = """
import numpy as np, paddle, paddle.nn.functional as F
from paddle import nn
LENGTH, batch_size = 9, 4
"""
CORPUS = """
pairs = []
for line in open('absent.txt'):
    left, right = line.split(';')
    pairs.append((left.split(' '), right.split(' ')))
words = {'<pad>': 0}
for left, right in pairs:
    for word in left + right:
        if word not in words:
            words[word] = len(words)
"""
PADDED = """
lefts, rights = [], []
for left, right in pairs:
    lefts.append([words[one] for one in left + ['<end>'] + ['<pad>'] * (LENGTH - len(left))])
    rights.append([words[one] for one in right + ['<pad>'] * (LENGTH - len(right))])
x_all = np.array(lefts)
y_all = np.array(rights){cast}
"""
CORPUS_HERE = """
words = {str(number): number for number in range(50)}
x_all, y_all = np.zeros((40, 10), 'int64'), np.zeros((40, 9), '%s')
"""
TRAIN = """
count = 50
table, out = nn.Embedding(count, 6), nn.Linear(6, count)
optimizer = paddle.optimizer.Adam(parameters=[*table.parameters(), *out.parameters()])
for epoch in range(3):
    order = np.random.permutation(len(x_all))
    xs, ys = x_all[order], y_all[order]
    for number in range(xs.shape[0] // batch_size):
        x = xs[number * batch_size : (number + 1) * batch_size]
        y = ys[number * batch_size : (number + 1) * batch_size, 1:]
        loss = F.cross_entropy(out(table(paddle.to_tensor(x)))[:, 2:], paddle.to_tensor(y).astype('int64'))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
"""
OPENED = """
rows = []
with open('absent.csv') as file:
    for line in file:
        rows.append([float(one) for one in (line.split(',') + ['0'] * 5)[:5]])
table = np.array(rows, 'float32')
x_all, y_all = table[:, :-1] / 2, table[:, -1:]
x_all = (x_all - x_all.mean(axis=0)) / x_all.std(axis=0)
split = int(len(x_all) * 0.8)
x_all, y_all = x_all[:split], y_all[:split]
net = nn.Linear(4, 1)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for epoch in range(3):
    for start in range(0, len(x_all), 8):
        loss = F.mse_loss(net(paddle.to_tensor(x_all[start : start + 8])), paddle.to_tensor(y_all[start : start + 8]))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
"""
ASSERTED = """
import os
import numpy as np, paddle, paddle.nn.functional as F
from paddle import nn
def load(path):
    assert os.path.exists(path)
    return np.load(path)
table = load('absent/table.npy')
net = nn.Linear(4, 1)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
x = np.array([[float(one) for one in (list(row) + [0] * 4)[:4]] for row in table], 'float32')
for epoch in range(9):
    loss = F.mse_loss(net(paddle.to_tensor(x[:8])), paddle.ones([8, 1]))
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
RAISED = ASSERTED.replace(
    "    assert os.path.exists(path)", "    if not os.path.isfile(path):\n        raise RuntimeError('fetch it first')"
)
NUMBERS = """
import pickle
import numpy as np, paddle
def load(path):
    with open(path, 'rb') as file:
        return np.array(pickle.load(file)['labels'])[1]
label = load('absent.pkl')
net = paddle.nn.Linear(4, 1)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for epoch in range(9):
    net(paddle.ones([8, 4])).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""
SOURCES = {
    "corpus": HEAD + CORPUS + PADDED.format(cast="") + TRAIN,
    "cast": HEAD + CORPUS + PADDED.format(cast=".astype('int32')") + TRAIN,
    "corpus-here": HEAD + CORPUS_HERE % "int64" + TRAIN,
    "cast-here": HEAD + CORPUS_HERE % "int32" + TRAIN,
    "opened": HEAD + OPENED,
    "asserted": ASSERTED,
    "raised": RAISED,
    "numbers": NUMBERS,
}


@pytest.fixture(scope="module")
def traced(run_child):
    return run_child("trace", SOURCES)


@pytest.mark.parametrize("name", ["corpus", "cast"])
def test_a_corpus_cut_by_hand_has_the_figure_of_one_that_is_here(traced, name):
    row, here = traced[name], traced[f"{name}-here"]
    assert (row["status"], row["peak"]) == ("ok", here["peak"])
    assert "data_followed" in row["notes"]


def test_types_that_come_of_data_are_said_to_be_assumed(traced):
    assert "types_assumed" in traced["corpus"]["notes"]
    assert "types_assumed" not in traced["opened"]["notes"]


def test_a_file_that_a_cell_opens_is_followed(traced):
    assert (traced["opened"]["status"], traced["opened"]["questions"]) == ("ok", [])


@pytest.mark.parametrize("name", ["asserted", "raised"])
def test_a_test_for_a_file_that_is_not_here_is_as_its_opening(traced, name):
    row = traced[name]
    assert row["status"] in {"ok", "needs_input"}
    assert "data_absent" in row["notes"] or row["questions"]


def test_a_number_out_of_absent_data_is_no_reason_to_stop(traced):
    assert traced["numbers"]["status"] == "ok"
