"""Several tensors that one statement makes of data which is not here are each asked for by their own name."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

HEAD = """
import numpy as np, paddle, os
import paddle.nn.functional as F
from PIL import Image
"""
ENDS = """
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
TABLE = """
rows = np.loadtxt('train.csv', delimiter=',', dtype='float32')
{made}
net = paddle.nn.Linear(13, 1)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for epoch in range(8):
    {loss}
    optimizer.step()
    optimizer.clear_grad()
"""
PLAIN = "loss = F.mse_loss(net(x), y)\n    loss.backward()"
TABLES = {
    "a line each": ("x = paddle.to_tensor(rows[:, :-1])\ny = paddle.to_tensor(rows[:, -1:])", PLAIN),
    "one line": ("x = paddle.to_tensor(rows[:, :-1]); y = paddle.to_tensor(rows[:, -1:])", PLAIN),
    "a pair": ("x, y = paddle.to_tensor(rows[:, :-1]), paddle.to_tensor(rows[:, -1:])", PLAIN),
    "a chain": (
        "x = paddle.to_tensor(rows[:, :-1])\ny = paddle.to_tensor(rows[:, -1:])",
        "F.mse_loss(net(x), y).backward()",
    ),
}
NESTED = f"""
rows = np.loadtxt('ml-100k/u.data', dtype='int64')
users, items, ratings = rows[:, 0] - 1, rows[:, 1] - 1, rows[:, 2].astype('float32')
class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.user, self.item = paddle.nn.Embedding(943, 8), paddle.nn.Embedding(1682, 8)
    def forward(self, user, item):
        return (self.user(user) * self.item(item)).sum(-1)
net = Net()
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
order = np.random.permutation(len(users))
for k in range(0, len(order), 512):
    b = order[k : k + 512]
    loss = F.mse_loss(net(paddle.to_tensor(users[b]), paddle.to_tensor(items[b])), paddle.to_tensor(ratings[b]))
{ENDS}"""
COLUMNS = f"""
import pandas as pd
table = pd.read_csv('ratings.csv')
names = ['user', 'item', 'city']
sizes = [table[c].nunique() for c in names]
parts = paddle.nn.LayerList([paddle.nn.Embedding(s, 8) for s in sizes])
optimizer = paddle.optimizer.SGD(parameters=parts.parameters())
for step in range(8):
    ids = paddle.zeros([16, 3], 'int64')
    loss = paddle.concat([part(ids[:, i]) for i, part in enumerate(parts)], 1).mean()
{ENDS}"""
MASKS = f"""
class Masks(paddle.io.Dataset):
    def __init__(self, root, size=(96, 64)):
        self.root, self.size = root, size
        self.names = [line.strip() for line in open(os.path.join(root, 'train.txt'))]
    def __len__(self):
        return len(self.names)
    def __getitem__(self, i):
        picture = Image.open(os.path.join(self.root, 'images', self.names[i] + '.jpg')).convert('RGB').resize(self.size)
        mask = Image.open(os.path.join(self.root, 'masks', self.names[i] + '.png')).resize(self.size, Image.NEAREST)
        return np.array(picture).astype('float32').transpose(2, 0, 1), np.array(mask).astype('int64')
net = paddle.nn.Conv2D(3, 21, 3, padding=1)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for x, y in paddle.io.DataLoader(Masks('VOC'), batch_size=4):
    loss = F.cross_entropy(net(x), y, axis=1)
{ENDS}"""


@pytest.fixture(scope="module")
def traced(run_child):
    tables = {name: HEAD + TABLE.format(made=made, loss=loss) for name, (made, loss) in TABLES.items()}
    answers = {"x": "float32[1000,13]", "y": "float32[1000,1]"}
    sources = {**tables, **{f"{name} answered": source for name, source in tables.items()}}
    sources |= {"nested": HEAD + NESTED, "columns": HEAD + COLUMNS, "answered": HEAD + COLUMNS, "masks": HEAD + MASKS}
    sources["columns here"] = HEAD + COLUMNS.replace("table = pd.read_csv('ratings.csv')", "").replace(
        "table[c].nunique()", "10_000"
    )
    asked = {f"{name} answered": {"answers": answers} for name in TABLES} | {"answered": {"answers": {"s": 10_000}}}
    return run_child("trace", sources, asked)


def _asked(row):
    return {one["name"]: one["suggestion"] for one in row["questions"]}


@pytest.mark.parametrize("name", TABLES)
def test_each_tensor_is_asked_for_however_it_is_made(traced, name):
    """What was answered for one of them was taken for the other that stands in its line, whatever that is."""
    assert _asked(traced[name]) == {"x": "float32[1000,13]", "y": "float32[1000,1]"}
    answered = traced[f"{name} answered"]
    assert (answered["status"], answered["questions"]) == ("ok", [])
    assert abs(answered["peak"] - traced["a line each answered"]["peak"]) < 100


def test_what_is_handed_on_at_once_has_the_name_of_what_it_is_made_of(traced):
    assert _asked(traced["nested"]) == {"users": "int64[512]", "items": "int64[512]", "ratings": "float32[512]"}


def test_sizes_of_columns_are_those_of_embeddings(traced):
    """Also where their name is a letter; the answer reaches the layers that a comprehension makes."""
    assert _asked(traced["columns"]) == {"s": 10_000}
    assert (traced["answered"]["status"], traced["answered"]["peak"]) == ("ok", traced["columns here"]["peak"])


def test_a_mask_has_no_colors(traced):
    row = traced["masks"]
    assert (row["status"], row["questions"], row["inputs"]) == ("ok", [], ["float32[4, 3, 64, 96]", "int64[4, 64, 96]"])
