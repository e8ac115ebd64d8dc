"""What an answer tells of a step beside its bytes: models, batch, sequence; where time ran out; what can be typed."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

CHILD = """
import json, sys
sys.path.insert(0, sys.argv[1])
import tracer

for name, (cells, request) in json.load(sys.stdin).items():
    cells = [{"index": i, "source": cell} for i, cell in enumerate(cells)]
    found = tracer.trace_notebook({"cells": cells, **request})
    row = {key: found.get(key) for key in ("status", "model", "batch_size", "sequence_length")}
    row["questions"] = [[q["why"], q["name"], q["cell"], q["line"]] for q in found["questions"]]
    row["standing"] = sum(s[0] for s in found.get("storages", []) if s[3] == "parameters")
    print(json.dumps([name, row]))
"""
STEP = """
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
ACTOR_CRITIC = (
    """
import paddle
from paddle import nn
class Actor(nn.Sequential): pass
class Critic(nn.Sequential): pass
actor, critic = Actor(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), Critic(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
target = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = paddle.optimizer.Adam(parameters=actor.parameters() + critic.parameters())
for episode in range(6):
    loss = 0
    for turn in range(3):
        state = paddle.rand([4])
        loss = loss + actor(state).mean() + (critic(state) - target(state).detach()).mean()
"""
    + STEP
)
REPLAY = (
    """
import numpy as np, paddle
from paddle import nn
policy = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))
optimizer = paddle.optimizer.Adam(parameters=policy.parameters())
memory = []
for turn in range(60):
    with paddle.no_grad():
        action = policy(paddle.rand([6])).argmax()
    memory.append((np.ones(6, "float32"), action.numpy()))
    if len(memory) < 40:
        continue
    states = paddle.to_tensor(np.stack([state for state, _ in memory[-32:]]))
    loss = policy(states).mean()
"""
    + STEP
)
LABELS = (
    """
import paddle
from paddle import nn
class Adding(nn.Layer):
    def __init__(self):
        super().__init__()
        self.embedding, self.out = nn.Embedding(12, 8), nn.Linear(8, 12)
    def forward(self, ids, labels=None):
        x = self.out(self.embedding(ids))[:, :3]
        return nn.functional.cross_entropy(x, labels)
model = Adding()
optimizer = paddle.optimizer.Adam(parameters=model.parameters())
for step in range(6):
    loss = model(paddle.randint(0, 12, [32, 7]), labels=paddle.randint(0, 12, [32, 3]))
"""
    + STEP
)
TRIED = """
import paddle
from paddle import nn
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.lstm, self.out = nn.LSTM(8, 16), nn.Linear(16, 1)
    def forward(self, x):
        return self.out(self.lstm(x)[0][:, -1])
"""
TRIED_LOOP = (
    """
model = Net()
optimizer = paddle.optimizer.Adam(parameters=model.parameters())
for step in range(6):
    loss = model(paddle.rand([4, 5, 8])).mean()
"""
    + STEP
)
TRAIN = (
    """
model = paddle.nn.Linear(10, 2)
optimizer = paddle.optimizer.Adam(parameters=model.parameters())
for step in range(6):
    loss = model(paddle.rand([4, 10])).mean()
"""
    + STEP
)
WARM_UP = [
    "import paddle\nWARM_UP = 5000\nmemory = []",
    "import time\nwhile len(memory) < WARM_UP:\n    memory.append(0)\n    time.sleep(0.01)",
    TRAIN,
]
SWALLOWED = [
    "import paddle, time",
    "def play():\n    try:\n        time.sleep(60)\n    finally:\n        return 0\nplay()",
    TRAIN,
]
OBJECT = "import paddle\nenvironment = paddle.vision.datasets.DatasetFolder('absent')\nsize = environment.size"
PARTS = ["import json, paddle\nsettings = json.load(open('absent.json'))", TRAIN.replace("10", "settings['width'] * 2")]
SOME = {"wall_seconds": 4.0}
CASES = {
    "actor-critic": ([ACTOR_CRITIC], {}),
    "replay": ([REPLAY], {"target": "cpu"}),
    "labels": ([LABELS], {}),
    "tried": ([TRIED, "model = Net()\nmodel(paddle.rand([2, 5, 8]))", TRIED_LOOP], {}),
    "never-tried": ([TRIED, TRIED_LOOP], {}),
    "warm-up": (WARM_UP, SOME),
    "less-warm-up": (WARM_UP, {**SOME, "answers": {"WARM_UP": 8}}),
    "swallowed": (SWALLOWED, SOME),
    "slow-steps": (["import paddle, time", TRAIN.replace("    loss.b", "    time.sleep(1.2)\n    loss.b")], SOME),
    "file-of-rows": (
        ["import paddle\nrows = list(open('absent.txt'))\nprint(rows[0])", TRAIN.replace("10", "len(rows)")],
        {},
    ),
    "file-of-a-number": (["import paddle\ncount = len(list(open('absent.txt')))", TRAIN.replace("10", "count")], {}),
    "instance": (
        [
            "import paddle\nclass Rows(list): pass\nrows = Rows(open('absent.txt'))",
            TRAIN.replace("10", "int(sum(rows))"),
        ],
        {},
    ),
    "part": (PARTS, {}),
    "part-answered": (PARTS, {"answers": {"settings_width": 5}}),
    "object": ([OBJECT, TRAIN], {}),
    "one-line": (["import paddle\nwidth = 10; text = open('absent.txt'); depth = 2", TRAIN.replace("10", "width")], {}),
}


@pytest.fixture(scope="module")
def traced(run_code):
    return run_code(CHILD, CASES)


def test_every_model_that_is_updated_is_named(traced):
    assert traced["actor-critic"]["model"] == "Actor + Critic"


def test_the_features_of_one_sample_are_a_batch_of_one(traced):
    assert traced["actor-critic"]["batch_size"] == 1


def test_the_batch_is_that_which_is_learned_from(traced):
    """A policy is asked for the next action before each update, without a gradient."""
    assert traced["replay"]["batch_size"] == 32


def test_the_sequence_is_the_inputs_and_not_the_labels(traced):
    assert (traced["labels"]["batch_size"], traced["labels"]["sequence_length"]) == (32, 7)


def test_a_recurrent_model_that_was_only_tried_out_is_gone_when_training_is_steady(traced):
    assert traced["tried"]["standing"] == traced["never-tried"]["standing"] > 0


def test_where_time_ran_out_is_told_with_the_number_that_was_waited_for(traced):
    assert traced["warm-up"]["questions"] == [["time_up", "WARM_UP", 1, 4]]


def test_an_answer_to_it_gives_an_estimate(traced):
    assert (traced["less-warm-up"]["status"], traced["less-warm-up"]["questions"]) == ("ok", [])


def test_where_time_ran_out_is_told_though_the_program_caught_it(traced):
    assert traced["swallowed"]["questions"] == [["time_up", "", 1, 6]]


def test_steps_that_were_seen_when_time_ran_out_are_an_answer(traced):
    assert (traced["slow-steps"]["status"], traced["slow-steps"]["questions"]) == ("ok", [])


@pytest.mark.parametrize(
    ("name", "offered"),
    [("file-of-rows", "len_rows"), ("file-of-a-number", "count"), ("instance", "rows"), ("part", "settings_width")],
)
def test_an_answer_is_offered_where_one_can_be_typed(traced, name, offered):
    asked = [question[1] for question in traced[name]["questions"] if question[0] != "path_missing"]
    assert asked == [offered]


def test_the_answer_for_a_part_is_the_part(traced):
    """Twice five features."""
    assert (traced["part-answered"]["status"], traced["part-answered"]["standing"]) == ("ok", (10 * 2 + 2) * 4)


@pytest.mark.parametrize("name", ["object", "one-line"])
def test_what_the_step_does_not_need_is_not_asked(traced, name):
    assert (traced[name]["status"], traced[name]["questions"]) == ("ok", [])
