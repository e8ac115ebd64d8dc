"""Programs of several files without their data: modules of their own, parsers in them, documents beside them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytestmark = pytest.mark.paddle

CHILD = """
import json, os, sys
sys.path.insert(0, sys.argv[1])
import tracer
for name, (folder, source, answers) in json.load(sys.stdin).items():
    os.chdir(folder)
    own = {"reader", "kit", "options", "engine", "broken"}
    for known in [module for module in sys.modules if module.split(".")[0] in own]:
        del sys.modules[known]
    asked = {"cells": [{"index": 0, "source": source}], "folder": folder, "answers": answers, "target": "cpu"}
    before = sys.argv, sys.path[:]
    sys.argv, sys.path[:0] = ["train.py"], [folder]
    found = tracer.trace_notebook(asked)
    sys.argv, sys.path[:] = before
    row = {key: found.get(key) for key in ("status", "inputs", "stop")}
    row["asked"] = [[one["name"], one.get("suggestion"), one["params"].get("source")] for one in found["questions"]]
    row["lacks"] = [one["params"].get("module") for one in found["questions"] if one["why"] == "module_missing"]
    print(json.dumps([name, row]))
"""
READER = """
import glob, os
import numpy as np
def rows(folder):
    found = []
    for path in glob.glob(os.path.join(folder, '*.txt')):
        for line in open(path):
            found.append([float(part) for part in line.split()])
    return np.reshape(found, (len(found), 5, 1))
"""
KIT = {
    "kit/__init__.py": "from .engine import fit\n",
    "kit/models.py": "from paddle import nn\ndef net():\n    return nn.Linear(6, 2)\n",
    "kit/data.py": """
import numpy as np
from paddle.io import Dataset
class Rows(Dataset):
    def __init__(self, path):
        self.lines = open(path).read().splitlines()
    def __len__(self):
        return len(self.lines)
    def __getitem__(self, i):
        parts = self.lines[i].split(',')
        return np.array(parts[:6], 'float32'), np.array(parts[6], 'int64')
""",
    "kit/engine.py": """
import paddle
from kit.models import net
from .data import Rows
def fit(size):
    model = net()
    optimizer = paddle.optimizer.SGD(parameters=model.parameters())
    loader = paddle.io.DataLoader(Rows('rows.csv'), batch_size=size)
    for epoch in range(2):
        model.train()
        for x, y in loader:
            paddle.nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
            optimizer.clear_grad()
""",
}
STEP = """
net = paddle.nn.Linear(width, 2)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for i in range(4):
    net(paddle.rand([8, width])).mean().backward(); optimizer.step(); optimizer.clear_grad()
"""
PARSED = """
import argparse, json, paddle
parser = argparse.ArgumentParser()
parser.add_argument('-c', '--config', required=True)
args = parser.parse_args()
config = json.load(open(args.config))
width = config['width']
"""
DEFAULTED = PARSED.replace("required=True", "default='small.json'")
SHAPED = """
import os, paddle
from no_such_library.colours import to_lab
class Pictures(paddle.io.Dataset):
    def __init__(self, folder):
        self.names = os.listdir(folder)
    def __len__(self):
        return len(self.names)
    def __getitem__(self, i):
        lab = to_lab(self.names[i])
        return lab[:, :, 0], lab[:, :, 1:]
loader = paddle.io.DataLoader(Pictures('absent'), batch_size=4)
net = paddle.nn.Conv2D(1, 2, 3, padding=1)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for light, colours in loader:
    seen = net(light.unsqueeze(1).astype('float32'))
    chosen = paddle.nn.functional.one_hot(paddle.floor(colours.sum(axis=-2)).astype('int64') % 3, 5)
    loss = (seen.reshape([4, 2, -1]) @ chosen.reshape([4, -1, 7]).astype('float32')).mean()
    loss.backward(); optimizer.step(); optimizer.clear_grad()
"""
CHOICE = """
import argparse, paddle
parser = argparse.ArgumentParser()
parser.add_argument('city', choices=['6', '7'])
width = int(parser.parse_args().city)
"""
GLOBBED = """
import numpy as np, paddle
from reader import rows
BATCH_SIZE = 4
def batches():
    data = np.array(rows('absent'))
    order = list(range(len(data)))
    def give():
        gathered = []
        for i in order:
            gathered.append(data[i].astype('float32'))
            if len(gathered) == BATCH_SIZE:
                yield np.array(gathered)
                gathered = []
    return give
def train():
    loader = batches()
    net = paddle.nn.LSTM(1, 8)
    paddle.summary(net, (8, 5, 1))
    optimizer = paddle.optimizer.SGD(parameters=net.parameters())
    for epoch in range(3):
        for number, data in enumerate(loader()):
            real = paddle.to_tensor(data)
            net(real)[0].mean().backward(); optimizer.step(); optimizer.clear_grad()
        print(real.shape)
train()
"""
INSTALLABLE = """
import paddle
from no_such_library.models import Sentences
from no_such_library.data import reads
table = open('absent.csv').read()
model = Sentences.from_pretrained('base')
loader = reads(table)
optimizer = paddle.optimizer.SGD(parameters=model.parameters())
for ids, labels in loader:
    paddle.nn.functional.cross_entropy(model(ids), labels).backward(); optimizer.step(); optimizer.clear_grad()
"""
WITHIN = """
import paddle
from no_such_library.models import Sentences
class Rows(paddle.io.Dataset):
    def __init__(self, path):
        self.rows = open(path).read().splitlines()
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, i):
        return Sentences.read(self.rows[i])
class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.inner = Sentences.from_pretrained('base')
    def forward(self, ids):
        return self.inner(ids)
loader = paddle.io.DataLoader(Rows('absent.txt'), batch_size=4)
net = Net()
for ids, labels in loader:
    paddle.nn.functional.cross_entropy(net(ids), labels).backward()
"""
BETWEEN = """
import paddle
net = paddle.nn.Linear(12, 2)
look = paddle.nn.Linear(2, 1)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
x = paddle.rand([8, 20])
place = paddle.zeros([2])
for i in range(4):
    start = (look(place).sum() * 3).astype('int32')
    net(x[:, start:start + 12]).mean().backward(); optimizer.step(); optimizer.clear_grad()
"""
CONFIGURED = """
import json, os, paddle
def configured():
    table = json.load(open('absent.json'))
    os.environ['CUDA_VISIBLE_DEVICES'] = ','.join(str(card) for card in table['cards'])
    return table
width = configured()['width']
"""
CLOUDS = """
import paddle
from options import parse
from reader import Clouds
args = parse()
class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.first, self.last = paddle.nn.Conv1D(3, 8, 1), paddle.nn.Linear(8, 4)
    def forward(self, x):
        size, width, count = x.shape
        return self.last(self.first(x).max(axis=2))
net = Net()
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
loader = paddle.io.DataLoader(Clouds('absent'), batch_size=args.batch_size)
for points, target in loader:
    loss = paddle.nn.functional.cross_entropy(net(points.transpose([0, 2, 1])), target)
    loss.backward(); optimizer.step(); optimizer.clear_grad()
"""
OPTIONS = """
import argparse
def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument('--batch_size', type=int, default=6)
    parser.add_argument('--num_point', type=int, default=96)
    return parser.parse_args()
"""
STORED = """
import pickle
import paddle
class Clouds(paddle.io.Dataset):
    def __init__(self, root):
        with open(root, 'rb') as file:
            self.points, self.labels = pickle.load(file)
    def __len__(self):
        return len(self.points)
    def __getitem__(self, i):
        return self.points[i], self.labels[i][0]
"""
DOCUMENT = "Train:\n```\npython train.py --config \\\n  settings/small.json\n```\n"
VARIED = """
import paddle
from settings import BATCH
net = paddle.nn.Linear(8, 2)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for step in range(4):
    net(paddle.rand([BATCH, 8])).mean().backward(); optimizer.step(); optimizer.clear_grad()
"""
CASES: dict[str, tuple[dict[str, str], str, dict]] = {
    "a reader in a module": ({"reader.py": READER}, GLOBBED, {}),
    "a package of its own": (KIT, "import kit\nkit.fit(4)\n", {}),
    "documented": ({"README.md": DOCUMENT, "settings/small.json": '{"width": 6}'}, PARSED + STEP, {}),
    "a default that lies elsewhere": (
        {"README.md": "`python train.py -c conf/small.json`", "conf/small.json": "{}", "a/small.json": "{}"},
        DEFAULTED + STEP,
        {},
    ),
    "a default that lies below": ({"conf/small.json": '{"width": 6}', "a.json": "{}"}, DEFAULTED + STEP, {}),
    "a module that is no Python": (
        {"broken.py": "def width():\nreturn 6\n"},
        "import paddle, no_such_library\nfrom broken import width\n" + STEP,
        {},
    ),
    "a library within samples": ({}, SHAPED, {}),
    "the one configuration": ({"conf/only.json": '{"width": 6}'}, PARSED + STEP, {}),
    "a name like an argument's": ({"a.json": '{"width": 6}'}, PARSED + STEP, {"config": "a.json"}),
    "choices": ({}, CHOICE + STEP, {}),
    "a parser's default": ({"options.py": OPTIONS, "reader.py": STORED}, CLOUDS, {}),
    "a variable of what is not here": ({}, CONFIGURED + STEP, {}),
    "a variable in a module": ({"settings.py": "import os\nBATCH = int(os.environ['BATCH'])\n"}, VARIED, {}),
    "a variable behind others of its line, in a module": (
        {"settings.py": "import os; RATE = 0.1; BATCH = int(os.environ['BATCH'])\n"},
        VARIED,
        {},
    ),
    "a variable that may be left out, in a module": (
        {"settings.py": "import os\nBATCH = int(os.environ.get('BATCH'))\n"},
        VARIED,
        {},
    ),
    "a library": ({}, INSTALLABLE, {}),
    "a library within a model": ({}, WITHIN, {}),
    "between two unknown places": ({}, BETWEEN, {}),
}


@pytest.fixture(scope="module")
def traced(run_code, tmp_path_factory) -> dict:
    sent = {}
    for name, (files, source, answers) in CASES.items():
        folder: Path = tmp_path_factory.mktemp("program")
        for path, text in files.items():
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_text(text)
        sent[name] = str(folder), source, answers
    return run_code(CHILD, json.loads(json.dumps(sent)))


def test_what_a_module_finds_in_a_folder_that_is_not_here_is_data_that_is_not_here(traced):
    assert traced["a reader in a module"]["asked"] == [["loader", "float32[4,5,1]", "cells"]]


def test_modules_that_import_each_other_go_on_without_their_data(traced):
    row = traced["a package of its own"]
    assert (row["status"], row["inputs"]) == ("ok", ["float32[4, 6]", "int64[4]"])


def test_what_arguments_are_by_default_is_a_constant_of_the_program(traced):
    ((name, suggested, source),) = traced["a parser's default"]["asked"]
    assert (name, suggested.split()[0], source) == ("loader", "float32[6,96,3]", "cells")


def test_an_argument_is_what_documents_and_configurations_beside_the_program_say(traced):
    assert traced["documented"]["asked"] == [["config", "settings/small.json", "documented"]]
    assert traced["the one configuration"]["asked"] == [["config", "conf/only.json", "near"]]
    assert traced["choices"]["asked"] == [["city", "6", "code"]]


def test_a_default_that_is_no_file_here_is_one_that_documents_name_or_of_the_same_name(traced):
    """`default='small.json'` in a repository that keeps it in `conf`: what hangs on it is no stop."""
    assert traced["a default that lies elsewhere"]["asked"] == [["config", "conf/small.json", "documented"]]
    assert traced["a default that lies below"]["asked"] == [["config", "conf/small.json", "near"]]


def test_a_module_that_does_not_parse_ends_the_program_whatever_else_is_not_here(traced):
    """It is told with the module's own file and line: the cell has only the import."""
    row = traced["a module that is no Python"]
    assert row["status"] == "would_stop", row["asked"]
    said = "expected an indented block after function definition on line 1 (broken.py, line 2)"
    assert (row["stop"]["line"], row["stop"]["error"]) == (2, f"IndentationError: {said}")


def test_an_answer_for_an_argument_is_none_for_a_name_that_is_alike(traced):
    row = traced["a name like an argument's"]
    assert (row["status"], row["inputs"]) == ("ok", ["float32[8, 6]"])


def test_where_nothing_can_be_suggested_what_can_be_installed_is_told(traced):
    for name in ("a library", "a library within a model", "a library within samples"):
        assert (traced[name]["status"], traced[name]["lacks"]) == ("needs_input", ["no_such_library"])
        assert len(traced[name]["asked"]) == 1


def test_an_environment_variable_may_be_set_to_what_is_not_here(traced):
    assert traced["a variable of what is not here"]["asked"] == [["width", 256, "assumed"]]


def test_an_environment_variable_that_a_module_reads_is_asked_for_as_one_of_the_cells(traced):
    """The type of its suggestion is told by the module's statement; the cell has only the import."""
    assert traced["a variable in a module"]["asked"] == [["BATCH", "32", "any"]]
    assert traced["a variable behind others of its line, in a module"]["asked"] == [["BATCH", "32", "any"]]
    assert traced["a variable that may be left out, in a module"]["asked"] == [["BATCH", "32", "any"]]


def test_how_much_lies_between_two_unknown_places_stops_nothing_for_sure(traced):
    assert traced["between two unknown places"]["status"] != "would_stop"
