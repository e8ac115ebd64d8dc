"""What public notebooks of a third draw do without their data, each as small as it shows it."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

HEAD = "import enum, json, os, numpy as np, pandas as pd, paddle\nfrom paddle import nn\n"
TRAINS = """
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
for x, y in loader:
    nn.functional.cross_entropy(net(x), y).backward()
    optimizer.step()
    optimizer.clear_grad()
"""
GLOBAL = (
    HEAD
    + """
def load():
    global rows
    rows = pd.read_json('train_data.json')
load()
class Rows(paddle.io.Dataset):
    def __init__(self, table):
        self.table = table
    def __getitem__(self, i):
        path = self.table.iloc[i]['path']
        return np.zeros((3, 8, 8), 'float32'), np.array([self.table.iloc[i]['label']], dtype='int64')
    def __len__(self):
        return len(self.table)
loader = paddle.io.DataLoader(Rows(rows), batch_size=6)
net = nn.Sequential(nn.Flatten(), nn.Linear(192, 5))
"""
    + TRAINS
)
TOKEN = (
    HEAD
    + """
words = json.load(open('words.json'))
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 8, padding_idx=words['[PAD]'])
        self.head = nn.Linear(8, 2)
    def forward(self, x):
        return self.head(self.embed(x).mean(1))
net = Net()
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for step in range(4):
    net(paddle.ones([4, 6], 'int64')).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""
)
NUMBERED = (
    HEAD
    + """
class Side(enum.IntEnum):
    LEFT = 1
net = nn.Linear(4, 3)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for step in range(4):
    found = net(paddle.ones([4, 4]))
    loss = found[Side.LEFT].mean() + found[:, Side.LEFT].mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
)
TAGGED = [
    HEAD
    + """
words = open('absent.txt').read().split()
class Tagger(nn.Layer):
    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(50, 8), nn.Linear(8, 3)
    def forward(self, x):
        return self.head(self.embed(x))
net = Tagger()
loader = paddle.io.DataLoader(words, batch_size=8)
"""
    + TRAINS,
    "print(behind)",
]
MEASURES = [
    HEAD
    + """
rows = open('rows.txt').read().split()
loader = paddle.io.DataLoader(rows, batch_size=8)
net = paddle.vision.models.LeNet()
def evaluate(model, loader):
    model.eval()
    losses = [nn.functional.cross_entropy(model(x), y).item() for x, y in loader]
    model.train()
    return sum(losses)
""",
    "evaluate(net, loader)",
]
LEARNS = [
    HEAD + "import somewhere\nsolver = somewhere.Solver(open('rows.txt').read())",
    "solver.train()\nsolver.eval()",
]
GRAPH = [
    """
import glob, numpy as np, paddle
paddle.enable_static()
x = paddle.static.data('x', [None, 6], 'float32')
y = paddle.static.data('y', [None, 1], 'int64')
loss = paddle.nn.functional.cross_entropy(paddle.nn.Linear(6, 3)(x), y).mean()
paddle.optimizer.SGD(0.1).minimize(loss)
executor = paddle.static.Executor(paddle.CPUPlace())
executor.run(paddle.static.default_startup_program())
class Rows(paddle.io.Dataset):
    def __init__(self, folder):
        self.files = glob.glob(folder + '/*.npy')
    def __getitem__(self, i):
        row = np.load(self.files[i])
        return row[:6], row[6:]
    def __len__(self):
        return len(self.files)
loader = paddle.io.DataLoader(Rows('rows'), feed_list=[x, y], batch_size=8, return_list=False)
for epoch in range(2):
    for batch in loader():
        executor.run(feed=batch, fetch_list=[loss])
"""
]
BROKEN = [
    HEAD + "import module_that_nobody_has\nrows = open('rows.txt').read()",
    "net = nn.Linear(your size, 3)",
]


@pytest.fixture(scope="module")
def traced(run_child):
    sources = {"global": GLOBAL, "token": TOKEN, "numbered": NUMBERED}
    return run_child("trace", sources)


@pytest.mark.parametrize("name", ["global", "token", "numbered"])
def test_a_figure_needs_no_answer(traced, name):
    """A function binds names of the notebook's; a token is an index, and so is a member of an enumeration."""
    assert (traced[name]["status"], traced[name]["questions"]) == ("ok", [])


TRACED = """
import json, sys
sys.path.insert(0, sys.argv[1])
from tracer.notebook.requests import trace_notebook
for name, (cells, answers) in json.load(sys.stdin).items():
    cells = [{"index": number, "source": source} for number, source in enumerate(cells)]
    row = trace_notebook({"cells": cells, "answers": answers, "target": "cpu"})
    asked = {one["name"]: one["suggestion"] for one in row["questions"]}
    print(json.dumps([name, [row["status"], row.get("stop"), row.get("failed"), asked]]))
"""


@pytest.fixture(scope="module")
def of_cells(run_code):
    described = {"loader": "int64[8,20] int64[8]"}
    cases = {"broken": (BROKEN, {}), "tagged": (TAGGED, {}), "described": (TAGGED, described)}
    fed = {"loader": "float32[8,6] int64[8,1]"}
    cases |= {"measures": (MEASURES, {}), "learns": (LEARNS, {}), "graph": (GRAPH, {}), "fed": (GRAPH, fed)}
    return run_code(TRACED, cases)


def test_a_cell_that_is_no_python_stops_the_notebook_whatever_is_missing(of_cells):
    status, stop, _, _ = of_cells["broken"]
    assert (status, stop["cell"], stop["line"]) == ("would_stop", 1, 1)
    assert stop["error"].startswith("SyntaxError: invalid syntax")


def test_what_a_loss_says_of_labels_decides_which_are_tried(of_cells):
    """A label for each token: those for each text were refused, and nothing behind the training was looked at."""
    status, _, _, asked = of_cells["tagged"]
    label = asked["loader"].split(" ")[-1]
    assert (status, label.count(",")) == ("needs_input", 1)
    assert "label_dims1" in of_cells["described"][2]


def test_a_model_that_is_only_evaluated_is_no_training(of_cells):
    """What sets it back to its mode of training trains nothing; an object that is not known may."""
    assert of_cells["measures"][0] == "no_model"
    assert of_cells["learns"][0] == "needs_input"


def test_a_graph_whose_files_nobody_finds_asks_for_its_batch(of_cells):
    status, _, _, asked = of_cells["graph"]
    assert (status, asked) == ("needs_input", {"loader": "float32[8,6] int64[8,1]"})
    assert of_cells["fed"][0] == "ok"
