"""Every training of a notebook is seen, with what earlier ones leave alive, to the byte of real steps."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.estimator.tracer.measuring import Measured

pytestmark = pytest.mark.paddle

HEAD = """
import numpy as np, paddle, paddle.nn.functional as F
from paddle import nn
paddle.seed(0)
class Data(paddle.io.Dataset):
    def __init__(self, count):
        self.count = count
    def __getitem__(self, i):
        return np.full(8, i, 'float32'), np.int64(i % 3)
    def __len__(self):
        return self.count
def net(width):
    return nn.Sequential(nn.Linear(8, width), nn.ReLU(), nn.Linear(width, 100))
optimizers = []
def adam(model):  # an optimizer without a name goes when Python's collector comes by, which no test can tell
    optimizers.append(paddle.optimizer.Adam(1e-5, parameters=model.parameters()))
    return optimizers[-1]
def train(model, optimizer, batch=16, steps=4):
    history = []
    for step in range(steps):
        loss = F.cross_entropy(model(paddle.rand([batch, 8])), paddle.zeros([batch, 1], 'int64'))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        history.append(step)
    return history
#---
"""
FIT = """
model = paddle.Model(net({width}))
model.prepare(adam(model), nn.CrossEntropyLoss())
model.fit(Data(256), batch_size={batch}, epochs=1, shuffle=False, verbose=0)
"""
SOURCES = {
    "two_fits": HEAD
    + FIT.format(width=16, batch=16)
    + "#---\nprint(model.evaluate(Data(32), batch_size=16, verbose=0))\n"
    + FIT.format(width=3000, batch=16).replace("model", "other"),
    "functions": HEAD
    + """
small = net(20)
first = train(small, adam(small))
print('after', len(first) + 1)
#---
large = net(2000)
second = train(large, adam(large), batch=40)
""",
    "own fit": HEAD
    + """
def fit(width):
    model = paddle.Model(net(width))
    model.prepare(adam(model), nn.CrossEntropyLoss())
    model.fit(Data(256), batch_size=16, epochs=1, shuffle=False, verbose=0)
    return model
first = fit(16)
#---
second = fit(3000)
""",
    "settings": HEAD
    + """
def run(width):
    model = net(width)
    return train(model, adam(model))
for width in (300, 900, 500):
    print(width, len(run(width)))
""",
    "comprehension": HEAD
    + """
def run(width):
    model = net(width)
    return len(train(model, adam(model)))
lengths = {width: run(width) for width in (300, 900)}
list(map(lambda width: run(width), [20, 2000]))
""",
    "awaited": HEAD
    + """
async def run(width):
    model = net(width)
    return len(train(model, adam(model)))
print(await run(300))
#---
assert await run(900) == 4
""",
    "objects": HEAD
    + """
class Experiment:
    def __init__(self, width):
        self.model = net(width)
    def __call__(self):
        return train(self.model, adam(self.model))
class Run:
    def __init__(self, width):
        self.steps = len(Experiment(width)())
experiments = [Experiment(300), Experiment(900)]
for one in experiments:
    one()
#---
for width in (20, 2000):
    Run(width)
""",
    "names": HEAD
    + """
from functools import partial
def run(width):
    model = net(width)
    return len(train(model, adam(model)))
small = partial(run, 100)
small()
again = lambda count: count and again(count - 1)
again(3)
runs = {'first': lambda: run(300), 'second': lambda: run(900)}
for name, one in runs.items():
    print(name, one())
""",
    "generator": HEAD
    + """
def steps(model, optimizer):
    for step in range(4):
        loss = F.cross_entropy(model(paddle.rand([16, 8])), paddle.zeros([16, 1], 'int64'))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        yield step
for width in (300, 900):
    model = net(width)
    for step in steps(model, adam(model)):
        print(step)
""",
    "folds": HEAD
    + """
kept = []
for fold in range(3):
    model = net(400)
    optimizer = adam(model)
    train(model, optimizer)
    kept.append((model, optimizer))
""",
    "tuned": HEAD
    + """
model = net(500)
train(model, adam(model), batch=50)
#---
model[0].weight.stop_gradient = True
optimizer = paddle.optimizer.Adam(1e-6, parameters=model[2].parameters())
train(model, optimizer, batch=50)
""",
    "while": HEAD
    + """
model, step = net(30), 0
optimizer = adam(model)
while step < 4:
    loss = model(paddle.rand([4, 8])).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    step += 1
#---
other = net(800)
train(other, adam(other))
""",
    "short": HEAD
    + """
model = net(30)
train(model, adam(model), steps=1)
#---
other = net(800)
train(other, adam(other))
""",
}
"""Notebooks whose last training, in the order of the code, is the one to compare."""
STEPS = {
    "two_fits": 22,
    "own fit": 22,
    "comprehension": 16,
    "objects": 16,
    "names": 12,
    "settings": 12,
    "folds": 12,
    "short": 5,
}
ALSO = {
    "adversaries": HEAD
    + """
maker, judge = net(40), net(50)
first, second = adam(maker), adam(judge)
for epoch in range(2):
    for step in range(4):
        judge(paddle.rand([4, 8])).mean().backward()
        second.step()
        second.clear_grad()
        maker(paddle.rand([4, 8])).mean().backward()
        first.step()
        first.clear_grad()
""",
    "again": HEAD + FIT.format(width=16, batch=16) + "#---\nmodel.fit(Data(64), batch_size=16, epochs=3, verbose=0)\n",
    "failing": HEAD
    + """
model = net(30)
train(model, adam(model))
#---
value = unknown_name_of_nobody
#---
other = net(value)
train(other, adam(other))
#---
last = net(70)
train(last, adam(last))
""",
    "asking": HEAD
    + """
model = net(30)
train(model, adam(model))
#---
rows = np.load('rows_that_are_not_here.npy')
other = net(len(rows))
train(other, adam(other))
""",
    "plotting": HEAD + "model = net(30)\ntrain(model, adam(model))\n#---\nvalues = open('results.txt').read()\n",
}


@pytest.fixture(scope="module")
def measured(run_child: Callable[..., dict]) -> Measured:
    return Measured(
        run_child("real", SOURCES, {name: {"steps": STEPS.get(name, 8)} for name in SOURCES}),
        run_child("trace", {**SOURCES, **ALSO, "first": SOURCES["two_fits"]}, {"first": {"training": "1"}}),
    )


@pytest.mark.parametrize("name", SOURCES)
def test_last_training_takes_what_it_takes(name: str, measured: Measured) -> None:
    peaks, found = measured.pair(name)
    last = max(found["trainings"], key=int)
    if name == "settings":
        assert [found["trainings"][one][2] for one in "123"] == [peaks[3], peaks[7], peaks[11]]
    assert found["trainings"][last][2] == peaks[-1]


def test_answer_is_of_the_one_that_takes_most(measured: Measured) -> None:
    for name in SOURCES:
        found = measured.traced[name]
        assert found["peak"] == max(size for _, _, size in found["trainings"].values()), name


def test_one_can_be_asked_for(measured: Measured) -> None:
    found = measured.traced["first"]
    assert found["peak"] == found["trainings"]["1"][2] < found["trainings"]["2"][2]


def test_rounds_of_one_training_are_one(measured: Measured) -> None:
    counts = {name: len(row["trainings"]) for name, row in measured.traced.items()}
    assert counts == {
        **{
            "two_fits": 2,
            "functions": 2,
            "own fit": 2,
            "comprehension": 4,
            "objects": 4,
            "names": 3,
            "generator": 2,
            "awaited": 2,
            "settings": 3,
            "folds": 1,
            "tuned": 2,
            "while": 2,
            "short": 2,
        },
        **{"adversaries": 1, "again": 1, "failing": 1, "asking": 1, "plotting": 1, "first": 2},
    }


def test_what_fails_behind_a_training_leaves_its_figure(measured: Measured) -> None:
    found = measured.traced["failing"]  # the job ends there as well, so that no training behind it runs
    assert (found["status"], found["questions"], len(found["unreached"])) == ("ok", [], 2)
    assert {one: where["cell"] for one, (_, where, _) in found["trainings"].items()} == {"1": 1}
    plain = measured.traced["plotting"]
    assert (plain["status"], plain["questions"], plain["unreached"]) == ("ok", [], None)


def test_what_is_missing_for_a_later_training_is_asked(measured: Measured) -> None:
    found = measured.traced["asking"]
    assert found["status"] == "ok"
    assert [question["why"] for question in found["questions"]] == ["number_unseen"]
    assert found["unreached"] == [{"cell": 2, "line": 3}]
