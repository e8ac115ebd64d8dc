"""Errors that no data mends and no batch avoids are stops, whatever is not here; what a batch may avoid is none."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

ROWS = """import numpy as np, paddle, paddle.nn.functional as F
from paddle import nn
class Rows(paddle.io.Dataset):
    def __init__(self):
        table = np.loadtxt("absent.txt")
        self.x, self.y = table[:, 1:].astype("float32"), table[:, 0].astype("int64")
    def __len__(self):
        return len(self.x)
    def __getitem__(self, i):
        return self.x[i], self.y[i]
loader = paddle.io.DataLoader(Rows(), batch_size=16)
{before}
net = nn.Sequential(nn.Linear(13, 64), {between}nn.ReLU(), nn.Linear({wide}, 10))
opt = paddle.optimizer.Adam(parameters=net.parameters())
for x, y in loader:
    loss = F.cross_entropy({given}, y{more})
    loss.backward()
    opt.step()
    opt.clear_grad()
"""
NETWORK = """class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(26, 10)
    def forward(self, x):
        {checks}
        return self.linear(paddle.concat([x, x], axis=-1))
net = Net()
"""
BATCHES = """import pickle, paddle, paddle.nn.functional as F
from paddle import nn
with open("absent.pkl", "rb") as file:
    loader = pickle.load(file)
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.words, self.out = nn.Embedding(100, 32), nn.Linear({wide}, 4)
    def forward(self, ids, mask):
        return self.out((self.words(ids) * mask.unsqueeze(-1)).sum(axis=1))
net = Net()
opt = paddle.optimizer.Adam(parameters=net.parameters())
for batch in loader:
    loss = F.cross_entropy(net({ids}, {mask}), {label})
    loss.backward()
    opt.step()
    opt.clear_grad()
"""
KEYS = {"ids": "batch['tokens']", "mask": "batch['mask']", "label": "batch['label']"}
PARTS = {"ids": "batch.tokens", "mask": "batch.mask", "label": "batch.label"}


def rows(before="", between="", wide=64, given="net(x)", more=""):
    return ROWS.format(before=before, between=between, wide=wide, given=given, more=more)


def network(checks):
    head, _, tail = rows().partition("net = nn.Sequential")
    return head + NETWORK.format(checks=checks) + tail.split("\n", 1)[1]


STOPS = {
    "layers that do not go together": (rows(wide=60), "Y) is [60]", "loss ="),
    "a norm of another width": (rows(between="nn.LayerNorm(32), "), "normalized_shape is [32]", "loss ="),
    "an axis that there is not": (
        rows(given="F.softmax(net(x).flatten(), axis=3)"), "Attr(axis)", "loss =",
    ),
    "a probability above one": (rows(between="nn.Dropout(1.5), "), "p argument", "loss ="),
    "a reduction of another name": (rows(more=", reduction='avg'"), "'reduction'", "loss ="),
    "an interpolation of another name": (
        rows(given="F.interpolate(net(x).reshape([-1, 1, 2, 5]), scale_factor=2, mode='cubik').flatten(1)"),
        "can only be", "loss =",
    ),
    "slopes for another number of channels": (
        rows(given="F.prelu(net(x).reshape([-1, 2, 5]), paddle.create_parameter([4], 'float32')).flatten(1)"),
        "weight size", "loss =",
    ),
    "a constant of another type": (
        rows(given="paddle.matmul(net(x), paddle.eye(10, dtype='float64'))"), "type of data", "loss =",
    ),
    "a name of nothing": (rows(more=", weight=weights"), "'weights' is not defined", "loss ="),
    "an attribute that a network has not": (rows(given="net.head(x)"), "'head'", "loss ="),
    "a key that a dictionary has not": (
        rows("config = {'rate': 0.1}\nprint(config['rates'])"), "KeyError: 'rates'", "print",
    ),
    "a condition of constants": (
        rows("mode = 'fast'\nif mode not in ('slow', 'plain'):\n    raise ValueError('no ' + mode)"),
        "no fast", "raise",
    ),
    "a check of constants in a function": (
        rows("SIZES = [1, 2]\ndef third():\n    return SIZES[2]\nthird()"), "IndexError", "    return SIZES",
    ),
    "layers behind things with names": (BATCHES.format(wide=16, **KEYS), "Y) is [16]", "        return self.out"),
    "layers behind attributes": (BATCHES.format(wide=16, **PARTS), "Y) is [16]", "        return self.out"),
}  # fmt: skip
"""What it says, and how the line begins at which it is told, or that raises it."""
OPEN = {
    "a dictionary that a function fills": rows(
        "config = {}\ndef fill(config, lines):\n    for line in lines:\n        config['rates'] = line\n"
        "fill(config, open('absent.ini'))\nprint(config['rates'])"
    ),
    "a dictionary that is changed": rows("config = {}\nfor line in open('absent.ini'):\n    config['rates'] = line\n"
                                         "print(config['rates'])"),
    "a count of lines": rows("count = 0\nfor line in open('absent.ini'):\n    count += 1\nprint(1 / count)"),
    "a condition that data decides before": rows(
        "def check(rows):\n    if len(rows) > 3:\n        return\n    raise ValueError('few')\n"
        "check(open('absent.ini').read())"
    ),
    "a check of the batch's width": network("assert x.shape[-1] == 13, 'thirteen columns'"),
    "an error of another width": network("if x.shape[-1] != 13:\n            raise ValueError('thirteen')"),
    "slopes for the channels of a batch of more axes": rows(between="nn.PReLU(4), "),
    "an axis that a batch of more axes has": rows(between="nn.Softmax(axis=3), "),
    "a norm along what may be another axis": rows(between="nn.BatchNorm1D(32), "),
    "layers that a longer batch goes around": network(
        "if x.shape[-1] != 13:\n            return paddle.matmul(paddle.ones([3, 4]), paddle.ones([5, 3]))"
    ),
    "things with names": BATCHES.format(wide=32, **KEYS),
    "attributes": BATCHES.format(wide=32, **PARTS),
}  # fmt: skip
NAMED = "tokens: int64[32,128] mask: float32[32,128] label: int64[32,1]"
UNCALLED = """import numpy as np, paddle
def load(path, mode):
    return [line.split() for line in open(path)] if mode == "train" else []
def train(net, rows):
    opt = paddle.optimizer.SGD(parameters=net.parameters())
    for row in rows:
        loss = net(paddle.to_tensor(row)).mean()
        loss.backward()
        opt.step()
        opt.clear_grad()
rows = load("absent.txt", mode="train")
net = paddle.nn.Linear(len(rows), 2)
print(net(paddle.to_tensor(rows[0])))
"""


@pytest.fixture(scope="module")
def traced(run_child):
    stops = {name: source for name, (source, *_) in STOPS.items()}
    return run_child("trace", {**stops, **OPEN, "uncalled": UNCALLED, "called": f"{UNCALLED}train(net, rows)\n"})


@pytest.mark.parametrize("name", STOPS)
def test_what_no_data_mends_is_a_stop_at_its_line(traced, name):
    source, said, begins = STOPS[name]
    found = traced[name]
    assert found["status"] == "would_stop"
    assert said in found["stop"]["error"]
    line = source.split("\n")[found["stop"]["line"] - 1]
    assert line.strip().startswith(begins.strip())


@pytest.mark.parametrize("name", OPEN)
def test_what_data_may_mend_stays_a_question(traced, name):
    assert traced[name]["status"] in {"needs_input", "ok"}


@pytest.mark.parametrize("name", ["things with names", "attributes"])
def test_a_batch_of_things_with_names_is_suggested_by_their_names_and_types(traced, name):
    (asked,) = [one for one in traced[name]["questions"] if one["why"] == "batch_unseen"]
    assert asked["suggestion"] == NAMED


def test_a_training_that_only_a_text_speaks_of_asks_for_nothing(traced):
    assert (traced["uncalled"]["status"], traced["uncalled"]["questions"]) == ("no_model", [])
    assert traced["called"]["status"] == "needs_input"


LOOKS = """import json, sys
sys.path.insert(0, sys.argv[1])
from tracer.notebook.questions.trying.ends import Tried
from tracer.notebook.questions.trying.looks import unavoidable
from tracer.undecided.descriptions import parts_of
BATCHES = json.load(sys.stdin)

def traced(text, tied):
    things = dict(enumerate(parts_of(text)))
    shape, label = things[0][2], things[1][2]
    end = {"cell": 0, "line": 1, "raised": None, "error": text, "kind": "compared"}
    if len(shape) != 2 or shape[1] != 13:
        return {"status": "would_stop", "reached": 3, "end": {**end, "compared": ("13", str(shape[-1]))}}
    figures = ("64", str(label[-1]) if tied else "60")
    return {"status": "would_stop", "reached": 5, "end": {**end, "line": 2, "compared": figures}}

for name, (text, tied) in BATCHES.items():
    looked = []
    def look(other):
        looked.append(other)
        return traced(other, tied)
    sure, better = unavoidable([Tried(text, "layer", traced(text, tied))], look, lambda: True)
    print(json.dumps([name, [sure is not None, len(looked), len(set(looked))]]))
"""


def test_few_looks_tell_that_no_batch_avoids_an_error_and_none_is_taken_twice(run_code):
    batches = {
        "free": ("float32[16,13] int64[16]", False),
        "tied": ("float32[16,13] int64[16,10]", True),
        "three": ("float32[16,13] int64[16] float32[16,8]", False),
    }
    found = run_code(LOOKS, batches)
    assert found["free"] == [True, 6, 6]
    assert found["three"] == [True, 6, 6]
    is_sure, looks, different = found["tied"]
    assert not is_sure
    assert looks == different <= 12
