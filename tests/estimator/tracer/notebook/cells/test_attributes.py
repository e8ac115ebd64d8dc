"""Attributes that Paddle's own code refuses, beside data that stands in for what is not here and beside none at all."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

LOOP = """
opt = paddle.optimizer.SGD({options}parameters=net.parameters())
for x, y in paddle.io.DataLoader(data, batch_size=64):
    loss = F.cross_entropy(net(x), y{more})
    loss.backward()
    opt.step()
    opt.clear_grad()
"""
STANDS_IN = """import paddle
from paddle import nn
from paddle.nn import functional as F
data = paddle.vision.datasets.MNIST(transform=paddle.vision.transforms.ToTensor())
"""
ABSENT = """import paddle
import pandas as pd
from paddle import nn
from paddle.nn import functional as F
class Data(paddle.io.Dataset):
    def __init__(self):
        self.rows = pd.read_csv("not_here.csv")
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        row = self.rows.iloc[index].values
        return row[1:].astype("float32"), row[0].astype("int64")
data = Data()
"""
NET = "net = nn.Sequential(nn.Flatten(), nn.Linear(784, 10))\n"
QUOTED = {
    "the reduction": (NET, ", reduction='avg'", "received avg"),
}
"""Refused by its own word, whatever a batch looks like."""
BEFORE = {
    "groups": ("net = nn.Sequential(nn.Conv2D(1, 6, 3, groups=4), nn.Flatten())\n", "divisible by groups"),
    "padding mode": ("net = nn.Conv2D(1, 6, 3, padding_mode='zero')\n", "padding_mode must be one of"),
    "heads under a name": (NET + "HEADS = 3\nnn.MultiHeadAttention(100, HEADS)\n", "divisible by num_heads"),
    "mixed precision": (NET + "net = paddle.amp.decorate(net, level='O3')\n", "level should be O1 or O2"),
}
"""Refused before the first batch, whatever the data is."""
NEAR = {
    "the reduction": (NET, "", ", reduction='avg'", "'reduction'"),
    "no learning rate": (NET, "learning_rate=None, ", "", "learning_rate is not set"),
    "an axis": ("net = nn.Sequential(nn.Flatten(5), nn.Linear(784, 10))\n", "", "", "start_axis"),
    "Paddle's split": (NET + "paddle.io.random_split(data, [50000, 5000])\n", "", "", "Sum of input lengths"),
    "their own place": (NET + "print([1, 2][2])\n", "", "", "list index out of range"),
    "more names than a batch has": (NET, "", "", "not enough values to unpack"),
    "their own check": (NET + "assert len(data) % 7 == 0, 'no week'\n", "", "", "no week"),
}
"""Refused of data whose shapes and count are published."""
UNSURE = {
    "a sample's contents": NET
    + "first = data[0][0]\nif float(first.numpy().max()) == 0:\n    raise ValueError('dark')\n",
    "a share of a sample": NET + "1 / int(data[5][1].item() - 5)\n",
}
SIZES = (
    ABSENT + "sizes = {}\nfor row in open('not_here.txt'):\n    sizes[row] = 1\nnn.MultiHeadAttention(len(sizes), 3)\n"
)
"""What a file would have filled is no constant of the code."""


@pytest.fixture(scope="module")
def traced(run_child):
    loop = LOOP.format(options="", more="")
    programs = {f"{name}, absent": ABSENT + code + loop for name, (code, _) in BEFORE.items()}
    programs |= {name: STANDS_IN + code + loop for name, (code, _) in BEFORE.items()}
    programs |= {
        name: STANDS_IN + code + LOOP.format(options=options, more=more)
        for name, (code, options, more, _) in NEAR.items()
    }
    names = "more names than a batch has"
    programs[names] = programs[names].replace("for x, y in paddle", "for i, x, y in paddle")
    programs |= {name: STANDS_IN + code + loop for name, code in UNSURE.items()}
    programs |= {f"{name}, absent": ABSENT + code + LOOP.format(options="", more=more)
                 for name, (code, more, _) in QUOTED.items()}  # fmt: skip
    programs["filled"] = SIZES + NET + loop
    return run_child("trace", programs)


@pytest.mark.parametrize("data", ["", ", absent"])
@pytest.mark.parametrize("name", BEFORE)
def test_an_attribute_is_refused_whatever_the_data_is(traced, name, data):
    found = traced[name + data]
    assert found["status"] == "would_stop", found["questions"]
    assert BEFORE[name][1] in found["stop"]["error"]


@pytest.mark.parametrize("name", QUOTED)
def test_a_word_that_is_refused_is_a_stop_whatever_a_batch_looks_like(traced, name):
    assert traced[f"{name}, absent"]["status"] == "would_stop", traced[f"{name}, absent"]["questions"]
    assert QUOTED[name][2] in traced[f"{name}, absent"]["stop"]["error"]


@pytest.mark.parametrize("name", NEAR)
def test_data_that_stands_in_has_true_shapes(traced, name):
    assert traced[name]["status"] == "would_stop", traced[name]["questions"]
    assert NEAR[name][3] in traced[name]["stop"]["error"]


@pytest.mark.parametrize("name", UNSURE)
def test_its_contents_are_nobodys(traced, name):
    assert traced[name]["status"] != "would_stop"


def test_what_a_file_would_fill_is_no_constant(traced):
    assert traced["filled"]["status"] != "would_stop"
