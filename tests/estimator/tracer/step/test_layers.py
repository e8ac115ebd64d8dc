"""What notebooks call besides the model that they train: blocks to see their shape, one image, other chapters."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

CHILD = """
import json, sys
sys.path.insert(0, sys.argv[1])
import tracer
from tracer.patience import Patience
from tracer.step import steps

steps.IDLE = Patience(0, 0.0)  # what an idle optimizer costs is told by updates alone
for name, cells in json.load(sys.stdin).items():
    steps.ASKED = Patience(5_000 if name == "endless" else 10**9, 600.0)
    found = tracer.trace_notebook({"cells": [{"index": i, "source": cell} for i, cell in enumerate(cells)]})
    keep = ("status", "model", "batch_size", "parameters", "trainable_parameters", "optimizer", "layers", "inputs")
    row = {key: found.get(key) for key in keep}
    row["paths"] = sorted({o[2] for o in found.get("operations", []) if o[1] != "update"})
    row["notes"] = [note["code"] for note in found["notes"]]
    row["questions"] = [question["why"] for question in found["questions"]]
    row["standing"] = sum(s[0] for s in found.get("storages", []) if s[3] == "parameters")
    print(json.dumps([name, row]))
"""
NETS = """
import paddle
from paddle import nn
class Block(nn.Layer):
    def __init__(self, i, o):
        super().__init__()
        self.conv = nn.Conv2D(i, o, 3, padding=1)
    def forward(self, x):
        return nn.functional.relu(self.conv(x))
def make():
    return nn.Sequential(Block(3, 16), nn.AdaptiveAvgPool2D(1), nn.Flatten(), nn.Linear(16, 10))
"""
LOOP = """
for step in range(40):
    x, y = paddle.rand([64, 3, 32, 32]), paddle.randint(0, 10, [64])
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
TRAIN = "optimizer = paddle.optimizer.Adam(parameters=model.parameters())" + LOOP
CHAPTER = "model = make(); optimizer = paddle.optimizer.Adam(parameters=model.parameters()); open('absent.txt')"
UNFED = """
def train(model):
    optimizer = paddle.optimizer.SGD(parameters=model.parameters())
    for x in data:
        pass
"""
NAMED = """
import paddle
from paddle import nn
from paddle.distributed.fleet.utils import recompute
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.words, self.block = nn.Embedding(50, 8), nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 50))
    def forward(self, input_ids=None, labels=None):
        states = self.words(input_ids).transpose([1, 0, 2])  # the sequence first
        logits = recompute(self.block, states).transpose([1, 0, 2])
        return nn.functional.cross_entropy(logits, labels)
model = Net()
optimizer = paddle.optimizer.AdamW(parameters=model.parameters())
for step in range(6):
    ids = paddle.randint(0, 50, [4, 30])
    model(input_ids=ids, labels=ids).backward()
    optimizer.step()
    optimizer.clear_grad()
"""
GAN = """
G, D = nn.Sequential(nn.Linear(8, 30), nn.Linear(30, 20)), nn.Sequential(nn.Linear(20, 30), nn.Linear(30, 1))
g = paddle.optimizer.Adam(parameters=G.parameters())
d = paddle.optimizer.Adam(parameters=D.parameters())
for step in range(60):
    d_loss = D(paddle.rand([32, 20])).mean() - D(G(paddle.rand([32, 8])).detach()).mean()
    d_loss.backward(); d.step(); d.clear_grad()
    if step % 12 == 11:
        g_loss = D(G(paddle.rand([32, 8]))).mean()
        g_loss.backward(); g.step(); g.clear_grad(); d.clear_grad()
"""
ACTS = """
policy = nn.Sequential(nn.Linear(8, 16), nn.Linear(16, 2))
optimizer = paddle.optimizer.SGD(0.1, parameters=policy.parameters())
for step in range(5):
    action = policy(paddle.rand([1, 8])).argmax()
    loss = policy(paddle.rand([24, 8])).mean()
    loss.backward(); optimizer.step(); optimizer.clear_grad()
"""
NOTEBOOKS = {
    "named": [NAMED],
    "acts": ["import paddle\nfrom paddle import nn", ACTS],
    "tried": [NETS, "Block(3, 3)(paddle.rand([4, 3, 6, 6])).shape", "model = make(); model(paddle.rand([1, 3, 9, 9]))",
              TRAIN],
    "part": [NETS, "model = make(); model[0](paddle.rand([2, 3, 8, 8])); model(paddle.rand([1, 3, 32, 32]))", TRAIN],
    "teacher": [NETS, "model, teacher = make(), nn.Sequential(*[Block(3, 64) for _ in range(2)][:1]); teacher.eval()",
                TRAIN.replace("loss =", "with paddle.no_grad(): teacher(x)\n    loss =")],
    "chapters": [NETS, "other = paddle.optimizer.Adam(parameters=make().parameters())", "model = make()", TRAIN],
    "failed": [NETS, CHAPTER, CHAPTER, CHAPTER, "model = make()", TRAIN],
    "endless": [NETS, CHAPTER, "x = paddle.zeros([3])\nwhile True:\n    x = x + 1", TRAIN],
    "gan": ["import paddle\nfrom paddle import nn", GAN],
    "consequence": [NETS, "data = open('absent.txt')", UNFED, "train(make())", "model = make()", TRAIN],
    "made-twice": [NETS, "model = make(); first = paddle.optimizer.SGD(parameters=model.parameters())", TRAIN],
    "never-updates": [NETS, "model, other = make(), make(); never = paddle.optimizer.SGD(0.1, other.parameters())",
                      TRAIN.replace("loss =", "other(x)\n    loss =").replace("range(40)", "range(5)")],
}  # fmt: skip
PARAMETERS = 3 * 16 * 9 + 16 + 16 * 10 + 10
SCRIPT = """
import paddle
from paddle import nn
paddle.seed(0)
{before}
model = nn.Sequential(nn.Linear(100, 60), nn.Linear(60, 1))
optimizer = paddle.optimizer.SGD(0.1, parameters=model.parameters())
for step in range(6):
    loss = {forward}.mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
BATCH = "paddle.rand([20, 100])"
SOURCES = {
    "replaced": SCRIPT.format(before=f"model = nn.Linear(100, 900)\nmodel({BATCH}).shape", forward=f"model({BATCH})"),
    "within-the-step": SCRIPT.format(before="", forward=f"(model({BATCH}) + nn.Linear(100, 300)({BATCH}).mean())"),
    "kept": SCRIPT.format(before=f"first = nn.Linear(100, 900)\nfirst({BATCH}).shape", forward=f"model({BATCH})"),
}


@pytest.fixture(scope="module")
def traced(run_code):
    return run_code(CHILD, NOTEBOOKS)


def tree(row):
    return {path: kind for path, kind, *_ in row["layers"]}


@pytest.mark.parametrize("name", ["tried", "part", "chapters", "failed"])
def test_the_step_is_told_of_the_model_that_it_trains(traced, name):
    row = traced[name]
    assert row["status"] == "ok"
    assert row["batch_size"] == 64
    assert row["model"] == "Sequential"
    assert row["parameters"] == row["trainable_parameters"] == PARAMETERS
    assert tree(row) == {
        "": "Sequential", "0": "Block", "0.conv": "Conv2D", "1": "AdaptiveAvgPool2D", "2": "Flatten", "3": "Linear",
    }  # fmt: skip
    assert set(row["paths"]) >= {"", "0", "0.conv", "1", "3"}
    assert set(row["paths"]) <= tree(row).keys()


def test_the_optimizer_of_another_chapter_is_not_waited_for_to_the_end(traced):
    assert "few_steps" not in traced["chapters"]["notes"]
    assert traced["chapters"]["optimizer"] == "Adam"


def test_a_chapter_that_found_no_data_leaves_its_model_as_long_as_a_name_does(traced):
    """Of three chapters without data the last one's model stands until its names are bound anew; its optimizer is a
    cycle of references, which the collector has not seen yet. The step needs none of the data: that is a note."""
    assert traced["failed"]["questions"] == []
    assert "data_absent" in traced["failed"]["notes"]
    assert traced["failed"]["standing"] == 2 * PARAMETERS * 4


def test_a_cell_that_fails_for_lack_of_what_another_one_reads_leaves_no_model(traced):
    assert traced["consequence"]["questions"] == []
    assert "data_absent" in traced["consequence"]["notes"]
    assert traced["consequence"]["standing"] == PARAMETERS * 4


@pytest.mark.parametrize("name", ["made-twice", "never-updates"])
def test_an_optimizer_that_never_updates_does_not_make_the_step_a_first_one(traced, name):
    assert "few_steps" not in traced[name]["notes"]
    assert traced[name]["optimizer"] == "Adam"


def test_what_is_missing_is_asked_before_time_runs_out(traced):
    assert traced["endless"]["status"] == "needs_input"
    assert traced["endless"]["questions"] == ["time_up", "path_missing"]  # where it was, and what it looked for


def test_a_teacher_is_no_model_that_trains(traced):
    row = traced["teacher"]
    assert row["model"] == "Sequential"
    assert row["parameters"] == PARAMETERS + 64 * (3 * 9 + 1)
    assert {"sequential_0", "sequential_1", "sequential_0.0.conv", "sequential_1.0.conv"} <= tree(row).keys()
    assert row["batch_size"] == 64


def test_an_optimizer_whose_model_is_called_is_waited_for(traced):
    row = traced["gan"]
    assert row["optimizer"] == "Adam + Adam"
    assert "few_steps" not in row["notes"]
    assert row["batch_size"] == 32


def test_the_batch_is_the_models_where_it_is_called_with_keywords(traced):
    """Of recomputed layers, which are called once more, another dimension comes first."""
    assert traced["named"]["batch_size"] == 4


def test_a_policy_acts_on_one_sample_and_learns_from_many(traced):
    assert traced["acts"]["batch_size"] == 24


@pytest.mark.parametrize("name", SOURCES)
def test_a_model_lives_as_long_as_the_program_holds_it(measured, name):
    peaks, found = measured.pair(name)
    assert found["peak"] == peaks[-1], found["questions"]
