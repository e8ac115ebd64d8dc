"""An answer that nothing takes is told of, with the name that was meant; one that is taken, by whatever way, is not."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

HEAD = "import os, sys, json, argparse, paddle\nimport numpy as np\n"
STEPS = """
net = paddle.nn.Linear(8, HIDDEN)
opt = paddle.optimizer.SGD(parameters=net.parameters())
for i in range(3):
    net(paddle.rand([BATCH, 8])).mean().backward(); opt.step(); opt.clear_grad()
"""
LOADER = """
class Rows(paddle.io.Dataset):
    def __init__(self): self.x = np.load('/absent/x.npy')
    def __len__(self): return len(self.x)
    def __getitem__(self, i): return self.x[i]
train_loader = paddle.io.DataLoader(Rows(), batch_size=2)
net = paddle.nn.Linear(8, 4)
opt = paddle.optimizer.SGD(parameters=net.parameters())
for x in train_loader:
    net(x).mean().backward(); opt.step(); opt.clear_grad()
"""
NAMED = "HIDDEN = 4\nBATCH = 2"
PARSER = """
p = argparse.ArgumentParser()
p.add_argument('-b', '--batch-size', type=int, required=True)
p.add_argument('--hid', dest='width', type=int, default=3)
a = p.parse_args([])
HIDDEN, BATCH = a.width, a.batch_size
"""
OPTIONS = """
import argparse
def given():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--hidden", type=int, required=True)
    parser.add_argument("--batch", type=int, default=64)
    given = parser.parse_args([])
    assert given.data == "x" and given.batch == 4
    return given
"""
CORPUS = "words = open('/absent/corpus.txt').read().split()\nHIDDEN, BATCH = len(words), 2"
CONFIG = "cfg = json.load(open('/absent/c.json'))\nHIDDEN, BATCH = cfg['hidden'], cfg['batch']"
TAKEN = {
    "names": (NAMED + STEPS, {"HIDDEN": 3, "BATCH": 4}),
    "environment": ("HIDDEN, BATCH = int(os.environ['H']), int(os.getenv('B', 2))" + STEPS, {"H": 3, "B": 4}),
    "text of the environment": (
        "HIDDEN = int(os.environ['HIDDEN'])\nBATCH, more = int(os.getenv('BATCH', 2)), 1" + STEPS,
        {"HIDDEN": "3", "BATCH": "4"},
    ),
    "of a module": (
        "sys.path.insert(0, FOLDER)\nimport reads\nHIDDEN, BATCH = int(reads.V), reads.late()" + STEPS,
        {"AT_IMPORT": 3, "LATE_ONE": 4},
    ),
    "a module's parser": (
        "sys.path.insert(0, FOLDER)\nimport options\na = options.given()\nHIDDEN, BATCH = a.hidden, a.batch" + STEPS,
        {"hidden": 3, "batch": 4, "data": "x"},
    ),
    "parser": (PARSER + STEPS, {"batch_size": 3, "width": 4}),
    "input": ("BATCH = 2\nHIDDEN = int(input('h'))" + STEPS, {"input": 3}),
    "input by its name": ("BATCH = 2\nHIDDEN = int(input('h'))" + STEPS, {"HIDDEN": 3}),
    "fields": (
        "class C:\n    hidden = 3\n    batch: int = 4\nHIDDEN, BATCH = C.hidden, C.batch" + STEPS,
        {"hidden": 3, "batch": 4},
    ),
    "in a function": ("def f():\n    width = 3\n    return width\nHIDDEN, BATCH = f(), 2" + STEPS, {"width": 3}),
    "bound nowhere": ("HIDDEN, BATCH = WIDTH * 2, 2" + STEPS, {"WIDTH": 5}),
    "length of data": (CORPUS + STEPS, {"len_words": 5}),
    "path": (CORPUS + STEPS, {"corpus_txt": __file__}),
    "part of data": (CONFIG + STEPS, {"cfg_hidden": 5, "cfg_batch": 3}),
    "batch": (LOADER, {"train_loader": "float32[2,8]"}),
}
UNTAKEN = {
    "another name": (NAMED + STEPS, {"nothere": 3, "BATCH": 4}, ["answers_untaken", "nothere", "HIDDEN"]),
    "none of Python's own": (
        "__file__ = 'a.py'\n" + NAMED + STEPS, {"nothere": 3, "BATCH": 4}, ["answers_untaken", "nothere", "HIDDEN"],
    ),
    "misspelt": (NAMED + STEPS, {"hiden": 3}, ["answers_misspelt", "hiden", "HIDDEN"]),
    "argument": (
        PARSER.replace("required=True", "default=2") + STEPS, {"batchsize": 3},
        ["answers_misspelt", "batchsize", "batch_size"],
    ),
    "parameter": (
        "def f(width=3):\n    return width\nHIDDEN, BATCH = f(), 2" + STEPS, {"width": 5},
        ["answers_untaken_alone", "width"],
    ),
    "part of data": (
        CONFIG + STEPS, {"cfg_hidden": 5, "cfg_batch": 3, "cfg_other": 4}, ["answers_untaken_alone", "cfg_other"],
    ),
}  # fmt: skip
ASKS = """
import argparse
def main(width):
    config = json.load(open('/absent/c.json'))
    train(config['depth'], width)
p = argparse.ArgumentParser()
p.add_argument('--hidden', type=int, required=True)
HIDDEN, BATCH = p.parse_args([]).hidden, 2
"""
OPEN = {
    "misspelt": ({"hiden": 3}, [["answers_misspelt", "hiden", "hidden"]]),
    "another name": ({"nothere": 3}, [["answers_untaken", "nothere", "hidden"]]),
    "of what comes behind": ({"width": 3, "config_depth": 2, "c_json": "c.json", "subcommand": "fit"}, []),
}
"""What is told beside an open question."""
CHILD = """
import json, sys
sys.path.insert(0, sys.argv[1])
import tracer

for name, source, answers in json.load(sys.stdin):
    asked = {"cells": [{"index": 0, "source": source}], "answers": answers, "target": "cpu"}
    found = tracer.trace_notebook(asked)
    notes = [[note["code"], *note["params"].values()] for note in found["notes"] if note["code"].startswith("answers_")]
    print(json.dumps([name, {"status": found["status"], "notes": notes}]))
"""


@pytest.fixture(scope="module")
def traced(run_code, tmp_path_factory):
    """Each notebook with its answers."""
    folder = tmp_path_factory.mktemp("beside")
    text = "import os\nV = os.environ.get('AT_' + 'IMPORT')\ndef late():\n    return int(os.getenv('LATE_' + 'ONE'))\n"
    (folder / "reads.py").write_text(text)
    (folder / "options.py").write_text(OPTIONS)
    cases = [*((f"taken {name}", *case) for name, case in TAKEN.items()), *((n, *c[:2]) for n, c in UNTAKEN.items())]
    cases += [(f"open {name}", ASKS + STEPS, answers) for name, (answers, _) in OPEN.items()]
    return run_code(CHILD, [(n, HEAD + s.replace("FOLDER", repr(str(folder))), answers) for n, s, answers in cases])


@pytest.mark.parametrize("name", TAKEN)
def test_what_is_taken_is_not_told_of(traced, name):
    assert traced[f"taken {name}"] == {"status": "ok", "notes": []}


@pytest.mark.parametrize("name", UNTAKEN)
def test_what_nothing_takes_is_told_of(traced, name):
    assert traced[name] == {"status": "ok", "notes": [UNTAKEN[name][2]]}


@pytest.mark.parametrize("name", OPEN)
def test_what_nothing_takes_is_told_of_beside_an_open_question(traced, name):
    assert traced[f"open {name}"] == {"status": "needs_input", "notes": OPEN[name][1]}
