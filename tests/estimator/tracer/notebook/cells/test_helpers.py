"""Packages of helpers that a notebook imports, whose data is not here: as if the cells defined what they do."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

CHILD = """
import json, sys
sys.path.insert(0, sys.argv[1])
import tracer
from tracer.notebook.cells.helpers import Helpers
from tracer.notebook.questions import hints

sent = json.load(sys.stdin)
sys.path.insert(0, sent["installed"])
imports = "from helping_course import paddle as course; import training_course.engine; import paddle, os"
print(json.dumps(["modules", list(Helpers.of([{"source": imports}]).modules)]))
print(json.dumps(["spoken of", hints._spoken_of("course.train(net)", tuple(sent["modules"]))]))
for name, cells in sent["notebooks"].items():
    cells = [{"index": index, "source": source} for index, source in enumerate(cells)]
    for way in ({}, {"answers": {"len_words": 50}}):
        found = tracer.trace_notebook({"cells": cells, "folder": sent["folder"], **way})
        if found["status"] == "ok":
            break
        row = [[one["name"], one.get("suggestion"), one["cell"]] for one in found["questions"]]
    row = {"asked": row, **{key: found.get(key) for key in ("status", "batch_size", "inputs", "parameters", "stop")}}
    print(json.dumps([name, {**row, "operations": [one[0] for one in found.get("operations") or ()]}]))
"""
HELPERS = """
import os
import paddle
class Meter:
    def __init__(self, size):
        self.data = [0.0] * size
    def add(self, *values):
        self.data = [held + float(value) for held, value in zip(self.data, values)]
class Words:
    def __init__(self, lines):
        self.all = ['<pad>']
        for line in lines:
            for word in line:
                if word not in self.all:
                    self.all.append(word)
    def __len__(self):
        return len(self.all)
    def __getitem__(self, words):
        return [self[word] for word in words] if isinstance(words, list) else self.all.index(words)
def read(path):
    with open(os.path.join('absent', path)) as file:
        return [line.split() for line in file.readlines()]
def padded(line, size):
    return line[:size] if len(line) > size else line + [0] * (size - len(line))
def load(size, steps):
    lines = read('lines.txt')
    words = Words(lines)
    rows = paddle.to_tensor([padded(words[line], steps) for line in lines])
    labels = paddle.to_tensor([len(line) for line in lines])
    return paddle.io.DataLoader(paddle.io.TensorDataset([rows, labels]), batch_size=size), words
def train(net, batches, rounds):
    trainer = paddle.optimizer.SGD(parameters=net.parameters())
    for _ in range(rounds):
        meter = Meter(2)
        for X, y in batches:
            l = paddle.nn.functional.cross_entropy(net(X), y % 2)
            l.backward()
            trainer.step()
            trainer.clear_grad()
            meter.add(l, X.shape[0])
"""
COUNTED = """
def widths():
    sizes = [0, 0]
    for row in read('rows.csv'):
        for at, value in enumerate(row):
            sizes[at] = max(sizes[at], int(value))
    return sizes
def trained(net, batches):
    weight = net.weight
    for X, y in batches:
        (X @ weight).sum().backward()
        weight = weight - 0.1 * weight.grad
"""
CHAPTERS = """
LEAST = 1
def squared(a, b):
    return (a - b) ** 2
def train(net):
    return squared(net, LEAST)
def classify(net):
    return nn.CrossEntropyLoss()(net)
"""
IMPORT = "import paddle\nfrom paddle import nn\nfrom helping_course import paddle as course\n"
TRAINING = """
batches, words = {of}load(4, 6)
net = nn.Sequential(nn.Embedding(len(words), 8), nn.Flatten(), nn.Linear(48, 2))
{of}train(net, batches, 3)
"""
SIZED = """
sizes = course.widths()
net = nn.Embedding(sum(sizes), 8)
course.train(net, [(paddle.zeros([4], 'int64'), paddle.zeros([4], 'int64'))], 1)
"""
REPLACED = """
batches, words = course.load(4, 6)
course.trained(nn.Linear(6, 2), [(paddle.ones([4, 6]), None)] * 3)
"""


@pytest.fixture(scope="module")
def traced(run_code, tmp_path_factory):
    folder = tmp_path_factory.mktemp("installed") / "site-packages"
    folder.mkdir()
    for package in ("helping_course", "training_course"):
        (folder / package).mkdir()
        (folder / package / "__init__.py").write_text("")
    (folder / "helping_course" / "paddle.py").write_text(HELPERS + COUNTED)
    (folder / "training_course" / "engine.py").write_text("import paddle\nfrom training_course.data import load\n")
    (folder / "training_course" / "data.py").write_text(HELPERS)
    notebooks = {
        "helpers": [IMPORT, TRAINING.format(of="course.")],
        "cells": ["from paddle import nn\n" + HELPERS, TRAINING.format(of="")],
        "sized by data": [IMPORT, SIZED],
        "replaced": [IMPORT, REPLACED],
    }
    lesson = tmp_path_factory.mktemp("lesson")
    sent = {"notebooks": notebooks, "installed": str(folder), "folder": str(lesson), "modules": [CHAPTERS]}
    return run_code(CHILD, sent)


def test_a_module_that_needs_others_of_its_package_is_no_helper(traced):
    assert traced["modules"] == ["helping_course.paddle"]


def test_helpers_are_followed_without_their_data_as_cells_are(traced):
    helpers, cells = traced["helpers"], traced["cells"]
    assert helpers["asked"] == [["len_words", 10000, 1]]  # at the line of the notebook that makes the layer
    assert helpers["status"] == "ok"
    assert helpers["inputs"] == ["int64[4, 6]", "int64[4]"]
    assert helpers == cells


def test_where_helpers_pass_data_by_only_what_hangs_on_types_stops(traced):
    """The sizes of the table come from a file that is not here; what is no parameter any more has no gradient."""
    assert traced["sized by data"]["status"] == "needs_input"
    assert traced["replaced"]["status"] == "would_stop"
    assert "NoneType" in str(traced["replaced"]["stop"])


def test_of_a_book_the_code_counts_that_a_chapter_comes_to(traced):
    """Another chapter's loss says nothing of the labels that are asked for."""
    text = "\n".join(traced["spoken of"])
    assert "LEAST = 1" in text
    assert "def squared" in text
    assert "CrossEntropyLoss" not in text
