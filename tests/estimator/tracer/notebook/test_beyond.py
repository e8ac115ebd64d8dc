"""What a run takes beside its steady step, against the most that the whole of it takes when it is run."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

HEAD = """
import time
import numpy as np, paddle, paddle.nn.functional as F
from paddle import nn
class Data(paddle.io.Dataset):
    def __init__(self, count):
        self.x, self.y = np.random.rand(count, 64).astype("float32"), np.random.randint(0, 10, [count])
    def __getitem__(self, i):
        return self.x[i], self.y[i]
    def __len__(self):
        return len(self.x)
net = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
def seen(x):
    time.sleep(0.05)  # what reads ahead has time to
    return net(x).argmax(1)
def step(x, y):
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    return loss
"""
LOADERS = """
training = paddle.io.DataLoader(Data(128), batch_size=32, shuffle=True)
checking = paddle.io.DataLoader(Data(450), batch_size=200)
"""
EPOCHS = """
for epoch in range(4):
    for x, y in training:
        step(x, y)
"""
RAW = """
X, Y = paddle.rand([128, 64]), paddle.randint(0, 10, [128])
for epoch in range(4):
    for i in range(0, 128, 32):
        step(X[i:i + 32], Y[i:i + 32])
"""
CELL = "#---\n"
COUNTED = "for i in range(12):\n    step(paddle.rand([32, 64]), paddle.randint(0, 10, [32]))\n"
SOURCES = {
    "all that is checked at once": "checked = paddle.rand([600, 64])\n"
    + RAW
    + "    with paddle.no_grad():\n        print((net(checked).argmax(1) == 0).astype('float32').mean().item())\n",
    "a loader of larger batches": LOADERS
    + EPOCHS
    + "    with paddle.no_grad():\n        print(sum(int((seen(x) == y).sum()) for x, y in checking))\n",
    "a function that checks every so many steps": LOADERS
    + """
def check():
    net.eval()
    with paddle.no_grad():
        found = [seen(x).numpy() for x, y in checking]
    net.train()
number = 0
"""
    + EPOCHS
    + "        number += 1\n        if number % 5 == 0:\n            check()\n",
    "what a class does every so many steps": """
class Slow:
    def __init__(self):
        self.turns, self.slow = 0, [one.clone().detach() for one in net.parameters()]
    def step(self):
        optimizer.step()
        self.turns += 1
        if self.turns % 6 == 0:
            for slow, fast in zip(self.slow, net.parameters()):
                slow.set_value(slow + 0.5 * (fast.detach() - slow))
                fast.set_value(slow)
outer = Slow()
for turn in range(12):
    F.cross_entropy(net(paddle.rand([4, 64])), paddle.randint(0, 10, [4])).backward()
    outer.step()
    optimizer.clear_grad()
""",
    "averaged parameters": "averaged, seen = None, 0\n"
    + RAW
    + """
    if averaged is None:
        averaged = {name: value.detach().clone() for name, value in net.state_dict().items()}
    else:
        for name, value in net.state_dict().items():
            averaged[name] = (averaged[name] * seen + value) / (seen + 1)
    seen += 1
""",
    "pseudo-labels": """
X, Y, pool = paddle.rand([64, 64]), paddle.randint(0, 10, [64]), paddle.rand([400, 64])
for turn in range(3):
    for _ in range(4):
        chosen = paddle.randperm(X.shape[0])[:32]
        step(X[chosen], Y[chosen])
    with paddle.no_grad():
        found = F.softmax(net(pool))
    surest = found.max(axis=1).argsort(descending=True)[:50]
    X, Y = paddle.concat([X, pool[surest]]), paddle.concat([Y, found[surest].argmax(1)])
""",
    "other data in each round": """
sets = {"a": [(paddle.rand([32, 64]), paddle.randint(0, 10, [32])) for _ in range(4)],
        "b": [(paddle.rand([96, 64]), paddle.randint(0, 10, [96])) for _ in range(4)]}
for epoch in range(3):
    for name, batches in sets.items():
        for x, y in batches:
            step(x, y)
""",
    "sizes by the round": """
for epoch in range(3):
    size = 32 + 32 * epoch
    for _ in range(4):
        step(paddle.rand([size, 64]), paddle.randint(0, 10, [size]))
""",
    "sizes of a table": """
sizes = {0: 32, 1: 64, 2: 96}
for epoch in range(3):
    size = sizes[epoch]
    for _ in range(4):
        step(paddle.rand([size, 64]), paddle.randint(0, 10, [size]))
""",
    "sizes that follow in place": """
for stage in range(3):
    for _ in range(4):
        step(paddle.rand([32 * (stage + 1), 64]), paddle.randint(0, 10, [32 * (stage + 1)]))
""",
    "another training in each epoch": """
def epoch(size):
    for _ in range(4):
        step(paddle.rand([size, 64]), paddle.randint(0, 10, [size]))
for number in range(3):
    epoch(32)
    epoch(96)
""",
    "growing batches": """
size = 8
for stage in range(4):
    for _ in range(3):
        step(paddle.rand([size, 64]), paddle.randint(0, 10, [size]))
    size *= 2
""",
    "layers that are set free": """
for parameter in net[0].parameters():
    parameter.stop_gradient = True
for epoch in range(3):
    if epoch == 1:
        for parameter in net[0].parameters():
            parameter.stop_gradient = False
    for _ in range(4):
        step(paddle.rand([32, 64]), paddle.randint(0, 10, [32]))
""",
    "the best that is read again": """
best = 1e9
for epoch in range(6):
    for _ in range(4):
        loss = step(paddle.rand([32, 64]), paddle.randint(0, 10, [32]))
    if loss.item() < best - epoch % 2:
        best = loss.item()
        paddle.save(net.state_dict(), "best.pdparams")
        paddle.save(optimizer.state_dict(), "best.pdopt")
    else:
        net.set_state_dict(paddle.load("best.pdparams"))
        optimizer.set_state_dict(paddle.load("best.pdopt"))
""",
    "states that an earlier epoch has saved": """
import os, tempfile
folder = tempfile.mkdtemp()
path = os.path.join(folder, "last.pdparams")
for epoch in range(4):
    if epoch:
        net.set_state_dict(paddle.load(path))
        optimizer.set_state_dict(paddle.load(os.path.join(folder, "last.pdopt")))
    for _ in range(4):
        step(paddle.rand([32, 64]), paddle.randint(0, 10, [32]))
    paddle.save(net.state_dict(), path)
    paddle.save(optimizer.state_dict(), os.path.join(folder, "last.pdopt"))
""",
    "states of an epoch that was left out": """
for epoch in range(4):
    for _ in range(4):
        step(paddle.rand([32, 64]), paddle.randint(0, 10, [32]))
    paddle.save({"net": net.state_dict(), "best": epoch}, f"at_{epoch}.pdparams")
"""
    + CELL
    + "found = paddle.load('at_3.pdparams')\nnet.set_state_dict(found['net'])\nnet(paddle.rand([100, 64]))\n",
    "a checkpoint in a buffer": """
import io
for epoch in range(4):
    for _ in range(4):
        step(paddle.rand([32, 64]), paddle.randint(0, 10, [32]))
    held = io.BytesIO()
    paddle.save({"net": net.state_dict(), "seen": [epoch, net[0].weight]}, held)
    held.seek(0)
    found = paddle.load(held)
    net.set_state_dict(found["net"])
    del found
""",
    "an evaluation in the next cell": COUNTED
    + CELL
    + "net.eval()\nwith paddle.no_grad():\n    net(paddle.rand([900, 64]))\n",
    "a prediction two cells on": LOADERS
    + EPOCHS
    + CELL
    + "print(len(training))\n"
    + CELL
    + "net.eval()\nchecked = net(paddle.rand([900, 64]))\n",
    "an evaluation behind the loop of a function": """
def main():
    for i in range(12):
        step(paddle.rand([32, 64]), paddle.randint(0, 10, [32]))
    net.eval()
    net(paddle.rand([900, 64]))
main()
""",
    "an evaluation between two trainings": COUNTED
    + "net(paddle.rand([900, 64]))\n"
    + "other = nn.Linear(64, 10)\n"
    + "last = paddle.optimizer.Adam(parameters=other.parameters())\n"
    + "for i in range(9):\n    other(paddle.rand([8, 64])).mean().backward()\n    last.step()\n    last.clear_grad()\n",
    "an evaluation behind a loop on a condition": "turn = 0\nwhile turn < 40:\n    turn += 1\n"
    "    step(paddle.rand([32, 64]), paddle.randint(0, 10, [32]))\n" + CELL + "net(paddle.rand([900, 64]))\n",
    "a model's evaluation in larger batches": """
model = paddle.Model(net)
model.prepare(optimizer, nn.CrossEntropyLoss())
model.fit(Data(128), batch_size=32, epochs=40, verbose=0, num_iters=12)
"""
    + CELL
    + "model.evaluate(Data(900), batch_size=900, verbose=0)\n",
    "what fit evaluates with": """
model = paddle.Model(net)
model.prepare(optimizer, nn.CrossEntropyLoss())
model.fit(Data(128), paddle.io.DataLoader(Data(900), batch_size=900), batch_size=32, epochs=3, verbose=0)
""",
}
PLAIN = {
    "nothing else": RAW + "    print(epoch)\n",
    "a smaller one in the next cell": COUNTED + CELL + "net.eval()\nnet(paddle.rand([8, 64]))\n",
    "a smaller check": "checked = paddle.rand([8, 64])\n" + RAW + "    net.eval()\n    net(checked)\n    net.train()\n",
}
SOURCES |= PLAIN
ENDS = "step_ends()"
"""What is alive behind the last update counts as well."""


@pytest.fixture(scope="module")
def found(run_child, tmp_path_factory):
    scripts = {
        name: f"import os\nos.chdir({str(tmp_path_factory.mktemp('run'))!r})\n{HEAD}{source}"
        for name, source in SOURCES.items()
    }
    real = run_child(
        "real", {name: f"{one}\n{ENDS}" for name, one in scripts.items()}, {name: {"steps": 99} for name in scripts}
    )
    return real, run_child("trace", scripts)


@pytest.mark.parametrize("name", SOURCES)
def test_what_a_whole_run_takes_is_told(found, name):
    real, traced = found[0][name], found[1][name]
    assert real["failure"] is None, real["failure"]
    assert traced["peak"] + (traced["beyond"] or 0) == max(real["peaks"]), real["peaks"]


@pytest.mark.parametrize("name", SOURCES)
def test_it_is_said_where_there_is_more(found, name):
    traced = found[1][name]
    assert ("more_elsewhere" in traced["notes"]) is (name not in PLAIN)
    places = [one for code, one in zip(traced["notes"], traced["params"], strict=True) if code == "more_elsewhere"]
    assert all(one["cell"] and one["line"] for one in places)


LONG = {
    "an evaluation of many operations": COUNTED
    + CELL
    + "x = paddle.rand([8, 64])\nfor i in range(9000):\n    net(x)\n",
}
THROUGH = {
    "many turns on a condition": "turn = 0\nwhile turn < 50_000:\n    turn += 1\n"
    "    step(paddle.rand([32, 64]), paddle.randint(0, 10, [32]))\n",
    "many rounds": COUNTED.replace("12", "9000") + CELL + "net.eval()\nnet(paddle.rand([8, 64]))\n",
    "epochs with nothing behind them": RAW.replace("4", "4000", 1) + "    net(X[:16])\n",
    "epochs and something behind them": RAW.replace("4", "4000", 1) + "    net(X[:16])\nnet(X[:8])\n",
}


def test_it_is_said_where_it_was_not_followed_to_its_end(run_child):
    behind = CELL + "net(paddle.rand([8, 64]))\n"
    cut = {name: HEAD + source + behind for name, source in LONG.items()}
    found = run_child("trace", {**cut, **{name: HEAD + source for name, source in THROUGH.items()}})
    assert {name for name, row in found.items() if "elsewhere_cut" in row["notes"]} == set(LONG)


FILES = 'rows, labels = np.load("rows.npy"), np.load("labels.npy")\n'
DRAWN = 'rows, labels = np.random.rand(128, 64).astype("float32"), np.random.randint(0, 10, [128])\n'
OF_ROWS = """
class Rows(paddle.io.Dataset):
    def __getitem__(self, i):
        return rows[i], labels[i]
    def __len__(self):
        return len(rows)
training = paddle.io.DataLoader(Rows(), batch_size=32)
"""


def test_data_that_is_described_hides_nothing_behind_a_training(run_child):
    source = OF_ROWS + EPOCHS + CELL + "net(paddle.rand([900, 64]))\n"
    real = run_child("real", {"drawn": f"{HEAD}{DRAWN}{source}\n{ENDS}"}, {"drawn": {"steps": 99}})["drawn"]
    answers = {"training": "float32[32,64] int64[32]"}
    traced = run_child("trace", {"files": f"{HEAD}{FILES}{source}"}, {"files": {"answers": answers}})["files"]
    assert traced["peak"] + (traced["beyond"] or 0) == max(real["peaks"])
    assert "more_elsewhere" in traced["notes"]
