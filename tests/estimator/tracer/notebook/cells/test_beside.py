"""Modules that lie beside a notebook whose data is not here."""

from __future__ import annotations

import pytest

from jupyter_paddle_gpu.domain.decoding import convert
from jupyter_paddle_gpu.domain.mistakes.stops import Stop

pytestmark = pytest.mark.paddle

CHILD = """
import json, sys
sys.path.insert(0, sys.argv[1])
import tracer

for name, (folder, source) in json.load(sys.stdin).items():
    sys.path[:] = [folder, *(one for one in sys.path if one != folder)]  # as the worker has it
    found = tracer.trace_notebook({"cells": [{"index": 0, "source": source}], "folder": folder})
    row = {key: found.get(key) for key in ("status", "stop")}
    row["notes"] = {one["code"]: one["params"] for one in found["notes"]}
    row["suggestions"] = [one.get("suggestion") for one in found["questions"]]
    print(json.dumps([name, {**row, "questions": [one["why"] for one in found["questions"]]}]))
"""
STEP = """
model = paddle.nn.Linear(4, 1)
optimizer = paddle.optimizer.SGD(parameters=model.parameters())
for step in range(4):
    model(paddle.rand([8, 4])).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""
TABLE = "import paddle\ntable = open('absent.csv').read()\n"


LEAVING = """
import sys
def main(what):
    try:
        what(None)
    except Exception:
        sys.exit(1)
"""
MISCALLED = f"""{TABLE}
def load_vocabulary(path):
    return open(path).read()
words = load_vocabulary()
{STEP}"""
SAMPLES = """
import paddle
class Digits(paddle.io.Dataset):
    def __init__(self, rows):
        self.rows = rows
    def __getitem__(self, index):
        digits, label = self.rows[index]
        return paddle.to_tensor(digits, dtype='int64'), paddle.to_tensor(label, dtype='int64')
    def __len__(self):
        return len(self.rows)
class Embedding(paddle.nn.Layer):
    def __init__(self, count, width):
        super().__init__()
        self.W = paddle.create_parameter([count, width], 'float32')
    def forward(self, ids):
        return self.W[ids]
class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.recurrent = paddle.nn.GRU(6, 8)
        self.embedding = Embedding(10, 6)
        self.out = paddle.nn.Linear(8, 19)
    def forward(self, ids):
        return self.out(self.recurrent(self.embedding(ids))[1][0])
rows = [(line.split(' '), int(line[-1])) for line in open('absent/train.txt')]
loader = paddle.io.DataLoader(Digits(rows), batch_size=8)
net = Net()
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for ids, labels in loader:
    paddle.nn.functional.cross_entropy(net(ids), labels).backward()
    optimizer.step()
    optimizer.clear_grad()
"""

PICTURES = """
import glob
import paddle
class Pictures(paddle.io.Dataset):
    def __init__(self, transform):
        self.files = glob.glob("absent/*.png")
        self.pictures = [paddle.vision.image_load(one) for one in open(self.files[0]).readlines()]
        self.transform = transform
    def __getitem__(self, index):
        return self.transform(self.pictures[index].copy())
    def __len__(self):
        return len(self.files)
class Again(paddle.io.Dataset):
    def __init__(self, other):
        self.other, self.count = other, len(other)
    def __getitem__(self, index):
        return self.other[index % self.count]
    def __len__(self):
        return 300
def three(picture):
    one = paddle.vision.transforms.functional.to_tensor(picture.resize((16, 16)))
    return one, one + 1, one + 2
def collate(batch):
    columns = list(zip(*batch))
    return [paddle.stack(column) for column in columns]
"""
THREE = """
import paddle
from pictures_beside import Again, Pictures, collate, three
loader = paddle.io.DataLoader(Again(Pictures(three)), batch_size=4, collate_fn=collate)
def forever():
    while True:
        for one in enumerate(loader):
            yield one
model = paddle.nn.Conv2D(3, 2, 3)
optimizer = paddle.optimizer.SGD(parameters=model.parameters())
batches = forever()
for step in range(4):
    _, data = next(batches)
    model(paddle.concat([one for one in data])).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""


@pytest.fixture(scope="module")
def traced(run_code, tmp_path_factory):
    folder = tmp_path_factory.mktemp("beside")
    (folder / "helpers_beside.py").write_text("class Runner:\n    def train(self, solve, data):\n        solve(data)\n")
    (folder / "tables_beside.py").write_text(
        "import os\nfrom absent_at_all.tables import read\ndef width(path):\n    return 4\n"
    )
    (folder / "own_way_beside.py").write_text("try:\n    import absent_at_all\nexcept ImportError:\n    width = 4\n")
    (folder / "needing_beside.py").write_text("import absent_at_all\ndef width():\n    return absent_at_all.width()\n")
    (folder / "leaving_beside.py").write_text(LEAVING)
    (folder / "pictures_beside.py").write_text(PICTURES)
    model = STEP.replace("Linear(4, 1)", "Linear({width}, 1)")
    cases = {
        "miscalled": MISCALLED,
        "samples": SAMPLES,
        "three pictures": THREE,
        "not needed": f"import paddle\nfrom tables_beside import width\n{model.format(width='width(0)')}",
        "its own way": f"import paddle\nfrom own_way_beside import width\n{model.format(width='width')}",
        "needed": f"import paddle\nfrom needing_beside import width\n{model.format(width='width()')}",
        "leaves with an error": "import paddle\nfrom leaving_beside import main\nmain(int)\n" + STEP,
        "a name that it lacks": f"{TABLE}from helpers_beside import Accuracy\n{STEP}",
        "its function trains nothing": f"{TABLE}from helpers_beside import Runner\nRunner().train(sorted, table)",
    }
    return run_code(CHILD, {name: [str(folder), source] for name, source in cases.items()})


def test_a_name_that_a_module_beside_the_notebook_lacks_is_no_question(traced):
    row = traced["a name that it lacks"]
    assert (row["status"], row["stop"]["line"]) == ("would_stop", 3)
    assert row["stop"]["error"].startswith("ImportError: cannot import name 'Accuracy'")


def test_a_function_of_the_notebooks_own_that_trains_nothing_is_no_training(traced):
    row = traced["its function trains nothing"]
    assert (row["status"], row["questions"]) == ("no_model", [])


@pytest.mark.parametrize("name", ["not needed", "its own way"])
def test_what_a_module_beside_the_notebook_imports_in_vain_is_passed_by(traced, name):
    assert traced[name]["status"] == "ok"


def test_what_the_model_needs_of_it_is_asked_for(traced):
    row = traced["needed"]
    assert (row["status"], row["questions"]) == ("needs_input", ["module_missing"])


def test_where_a_program_leaves_for_an_error_that_error_is_told(traced):
    row = traced["leaves with an error"]
    assert (row["status"], row["stop"]["line"]) == ("would_stop", 3)
    assert row["stop"]["error"].startswith("TypeError: int() argument must be")


def test_a_call_without_an_argument_is_the_notebooks_own_fault(traced):
    assert traced["miscalled"]["stop"]["error"].startswith("TypeError: load_vocabulary() missing 1 required")


def test_samples_of_unknown_content_are_one_question_for_their_batch(traced):
    """Nobody is asked how many samples there are, and words come to the embedding, whatever was made first."""
    row = traced["samples"]
    assert (row["status"], row["questions"]) == ("needs_input", ["batch_unseen"])
    assert row["suggestions"][0].startswith("int64[8,")


def test_what_a_loader_gives_follows_from_modules_that_go_on_without_data(traced):
    """Two were assumed, since nothing but a loop that stacks them tells how many pictures a sample has."""
    row = traced["three pictures"]
    assert (row["status"], row["questions"]) == ("ok", [])
    assert row["notes"]["data_followed"]["batches"] == "loader=" + " ".join(["float32[4,3,16,16]"] * 3)


IN_MODULES = {
    "a file": ("try:\n    text = open('absent.txt').read()\nexcept OSError:\n    raise SystemExit('no file')\n", 2),
    "a file of settings": (
        "import json, paddle\nconf = json.load(open('absent.json'))\ndef layer():\n"
        "    return paddle.nn.Linear(conf['width'], 2)\n", 2,
    ),
    "a number": (
        "import json, paddle\ndef layer():\n    conf = json.load(open('absent.json'))\n"
        "    return paddle.nn.Linear(conf['width'], 2)\n" + "def train():\n    model = layer()\n"
        + "".join(f"    {line}\n" for line in STEP.strip().splitlines()[1:]), 4,
    ),
    "a library": ("import ctypes\n\nown = ctypes.CDLL('./absent.so')\n", 3),
}  # fmt: skip
"""Sources of a module, and the line that wants what is not here."""


def test_a_module_that_wants_what_is_not_here_is_named_with_its_line(tmp_path, run_code):
    sent = {}
    for name, (module, _) in IN_MODULES.items():
        folder = tmp_path / name
        folder.mkdir()
        (folder / "own.py").write_text(module)
        layer = "own.layer()" if "def layer" in module else "paddle.nn.Linear(4, 1)"
        trains = "own.train()" if "def train" in module else STEP.replace("paddle.nn.Linear(4, 1)", layer)
        sent[name] = [str(folder), "import paddle, own\n" + trains]
    told = run_code(CHILD.replace("print(json", 'row["asked"] = found["questions"]\n    print(json', 1), sent)
    for name, (_, line) in IN_MODULES.items():
        (asked,) = [one for one in told[name]["asked"] if one["name"] or one["why"] == "cell_failed"]
        if asked["why"] == "cell_failed":
            assert asked["params"]["message"].endswith(f"(own.py, line {line})")
        else:
            assert (asked["params"]["beside"], asked["params"]["inner"]) == ("own.py", line)


STOPPING = """
import paddle

def train(model, batch):
    opt = paddle.optimizer.SGD(0.1, parameters=model.parameters())
    model(batch).mean().backward()
    opt.step()
"""
LAYER = "class Net(paddle.nn.Linear):\n    def forward(self, x):\n        return x @ paddle.ones([3])\n"


def test_a_stop_in_a_module_is_told_with_its_line(tmp_path, run_code):
    (tmp_path / "own.py").write_text(STOPPING)
    cells = {
        "in it": ("model = paddle.nn.Linear(4, 1)\nown.train(model, paddle.ones([2, 3]))", 3),
        "in a layer of the cell": (LAYER + "own.train(Net(4, 1), paddle.ones([2, 4]))", 4),
        "in the cell": ("own.train(paddle.nn.Linear(4, 1))", 2),
    }
    told = run_code(CHILD, {name: [str(tmp_path), f"import paddle, own\n{one}"] for name, (one, _) in cells.items()})
    stops = {name: row["stop"] for name, row in told.items()}
    assert {name: (row["cell"], row["line"]) for name, row in stops.items()} == {
        name: (0, line) for name, (_, line) in cells.items()
    }
    assert {name: (row.get("module"), row.get("module_line")) for name, row in stops.items()} == {
        "in it": ("own.py", 6),
        "in a layer of the cell": (None, None),
        "in the cell": (None, None),
    }
    said = convert(stops["in it"], Stop).says(behind=False).render()
    assert said.startswith("The notebook would stop in cell 1, line 3, by what it calls in own.py, line 6: ValueError")
