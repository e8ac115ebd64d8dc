"""What is suggested of texts whose characters are counted, of sequences that are joined, and of whole tables."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

HEAD = """
import numpy as np, paddle
import paddle.nn.functional as F
"""
DRAWS = """
net = paddle.nn.Sequential(paddle.nn.Embedding(N, 16), paddle.nn.Linear(16, N))
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for step in range(8):
    places = DRAWN
    x = paddle.to_tensor(np.stack([ids[one : one + 64] for one in places]))
    y = paddle.to_tensor(np.stack([ids[one + 1 : one + 65] for one in places]))
    loss = F.cross_entropy(net(x).reshape([-1, N]), y.reshape([-1]))
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
DRAWN = "np.random.randint(0, len(ids) - 65, [32])"
HERE = HEAD + "ids = np.zeros([4000], 'int64')\nN = {}\n#---\n" + DRAWS.replace("DRAWN", DRAWN)
TEXTS = {
    "a set of each line's": (
        "lines = open('names.txt').read().split('\\n')\nsigns = sorted({c for line in lines for c in line})\n"
        "known = {c: i for i, c in enumerate(signs)}\nids = np.array([known[c] for line in lines for c in line])\n",
        100,
    ),
    "a loop": (
        "known = {}\nwith open('book.txt') as file:\n    text = file.read()\nfor ch in text:\n    if ch not in known:\n"
        "        known[ch] = len(known)\nids = np.array([known[ch] for ch in text])\n",
        100,
    ),
    "a function": (
        "def load(path):\n    with open(path) as file:\n        return file.read()\ntext = load('book.txt')\n"
        "known = {c: i for i, c in enumerate(sorted(set(text)))}\nids = np.array([known[c] for c in text])\n",
        100,
    ),
    "poems": (
        "text = open('tang_poems.txt').read()\nknown = {c: i for i, c in enumerate(sorted(set(text)))}\n"
        "ids = np.array([known[c] for c in text])\n",
        5_000,
    ),
    "words": (
        "lines = [line.split() for line in open('book.txt')]\nknown = {w: i for i, w in enumerate({w for line in lines "
        "for w in line})}\nids = np.array([known[w] for line in lines for w in line])\n",
        10_000,
    ),
}
JOINED = """
data = np.load('pairs.npz')
LENGTH = 20
prompts, tokens, labels = data['prompts'], data['tokens'], data['labels']
class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.table, self.out = paddle.nn.Embedding(300, 16), paddle.nn.Linear(16, 2)
    def forward(self, first, second):
        return self.out(paddle.concat([self.table(first), self.table(second)], axis=1).mean(1))
net = Net()
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for i in range(0, len(tokens), 16):
    p = paddle.to_tensor(prompts[i : i + 16, :LENGTH])
    t = paddle.to_tensor(tokens[i : i + 16])
    y = paddle.to_tensor(labels[i : i + 16])
    F.cross_entropy(net(p, t), y).backward()
    optimizer.step()
    optimizer.clear_grad()
"""
TABLE = """
rows = np.loadtxt('train.csv', delimiter=',', dtype='float32')
x, y = paddle.to_tensor(rows[:, :-1]), paddle.to_tensor(rows[:, -1:])
net = paddle.nn.Linear(13, 1)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for epoch in range(8):
    F.mse_loss(net(x), y).backward()
    optimizer.step()
    optimizer.clear_grad()
"""


@pytest.fixture(scope="module")
def traced(run_child):
    sources = {name: f"{HEAD}{code}N = len(known)\n#---\n{DRAWS}" for name, (code, _) in TEXTS.items()}
    sources = {name: source.replace("DRAWN", DRAWN) for name, source in sources.items()}
    sources |= {f"{name} answered": sources[name] for name in TEXTS}
    sources |= {f"{name} here": HERE.format(count) for name, (_, count) in TEXTS.items()}
    answers = {f"{name} answered": {"answers": {"N": count}} for name, (_, count) in TEXTS.items()}
    return run_child("trace", {**sources, "joined": HEAD + JOINED, "table": HEAD + TABLE}, answers)


@pytest.mark.parametrize("name", TEXTS)
def test_characters_are_far_fewer_than_words(traced, name):
    """Also where the name of their number says nothing. What is drawn of the text needs no answer."""
    asked = [(one["name"], one["suggestion"]) for one in traced[name]["questions"]]
    assert asked == [("N", TEXTS[name][1])]
    answered, here = traced[f"{name} answered"], traced[f"{name} here"]
    assert (answered["status"], answered["questions"], answered["inputs"]) == ("ok", [], ["int64[32, 64]"] * 2)
    assert abs(answered["peak"] - here["peak"]) < 100_000


def test_a_sequence_that_is_joined_with_another_is_as_long(traced):
    """And one that is cut is as long as the cells cut it."""
    asked = {one["name"]: one["suggestion"] for one in traced["joined"]["questions"]}
    assert asked == {"p": "int64[16,20]", "t": "int64[16,20]", "y": "int64[16]"}


def test_a_whole_table_has_more_rows_than_a_batch(traced):
    assert {one["name"]: one["suggestion"] for one in traced["table"]["questions"]}["x"] == "float32[1000,13]"
