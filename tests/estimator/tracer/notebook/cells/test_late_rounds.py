"""What a loop that trains does in some later rounds alone: an error there ends the job and is told."""

from __future__ import annotations

import pytest

from .behind_programs import CELL, EPOCHS, HEAD, ONE, STEP
from .test_behind import CHILD

pytestmark = pytest.mark.paddle

ROUNDS = ONE.replace("    kept.append(loss.numpy())\n", "    kept.append(loss.item())\n")
BATCHES = "for epoch in range(3):\n    for i, (x, y) in enumerate(train):\n" + STEP
FAULTS = {
    "an index every ten steps": (
        ROUNDS + "    if (i + 1) % 10 == 0:\n        print(i, loss.numpy()[0])\n",
        "IndexError: too many indices for array",
    ),
    "an index of what every ten steps gather": (
        "told = []\n" + ROUNDS + "    if (i + 1) % 10 == 0:\n        told.append(loss.numpy()[0])\n",
        "IndexError: too many indices for array",
    ),
    "a call in all but the first": (
        ROUNDS + "    total = loss.item() if i == 0 else total + 1\n    if i > 0: print(float(loss, 3))\n",
        "TypeError: float expected at most 1 argument, got 2",
    ),
    "an expression of all but the first": (
        ROUNDS + "    total = loss.item() if i == 0 else total + float(loss, 3)\n",
        "TypeError: float expected at most 1 argument, got 2",
    ),
    "beside a step of its own": (
        "def take(x, y):\n    loss = F.cross_entropy(net(x), y)\n    loss.backward(); opt.step(); opt.clear_grad()\n"
        "    return loss\nfor i in range(30):\n    loss = take(paddle.rand([8, 6]), paddle.zeros([8, 1], 'int64'))\n"
        "    if (i + 1) % 10 == 0:\n        print(loss.numpy()[0])\n",
        "IndexError: too many indices for array",
    ),
    "a name in the last step": (
        ROUNDS + "    if i == 39: print(losss)\n",
        "NameError: name 'losss' is not defined. Did you mean: 'loss'?",
    ),
    "a shape in an epoch": (
        EPOCHS.replace("range(4)", "range(20)") + "    if epoch % 10 == 9: net(paddle.rand([4, 5]))\n",
        "ValueError: (InvalidArgument) In operator matmul",
    ),
    "an attribute with the last batch": (
        BATCHES + "        if i + 1 == len(train): print(opt.get_rate())\n",
        "AttributeError: 'Adam' object has no attribute 'get_rate'",
    ),
    "a batch of a fixed size, where the last one is smaller": (
        BATCHES + "        if i + 1 == len(train): print(net(x).reshape([16, 3]).shape)\n",
        "ValueError: (InvalidArgument) The 'shape' in ReshapeOp is invalid",
    ),
    "a count of its own": (
        "def fit(loader):\n    n = 0\n    for x, y in loader:\n"
        + STEP
        + "        n += 1\n        if n % 3 == 0:\n            print('loss ' + net(x).mean().item())\nfit(train)\n",
        'TypeError: can only concatenate str (not "float") to str',
    ),
    "batches counted from 1": (
        BATCHES.replace("enumerate(train)", "enumerate(train(), start=1)")
        + "        if i % 5 == 0:\n            print(y.numpy()[0, 0, 0])\n",
        "IndexError: too many indices for array",
    ),
}
RUNS = {
    "what rounds have gathered": ROUNDS
    + "    if (i + 1) % 10 == 0:\n        print(np.array(kept)[9], kept[i], sum(kept[-10:]) / 10)\n",
    "tensors that rounds have gathered": "held = []\n"
    + ROUNDS
    + "    held.append(paddle.rand([8, 6]))\n    if (i + 1) % 10 == 0:\n"
    "        net(paddle.concat(held).reshape([10, 8, 6]))\n        held.clear()\n",
    "what rounds gather from one on": "held = []\n"
    + ROUNDS
    + "    if i > 5: held.append(paddle.rand([8, 6]))\n"
    + "net(paddle.stack(held).reshape([34, 8, 6]))\nprint(np.array(held[-3:]).shape)\n",
    "what every tenth round gathers": "held = []\n"
    + ROUNDS
    + "    if i % 10 == 9: held.append(loss.item())\n    if i == 39: print(held[3], np.array(held)[3])\n"
    + "first, second, third, fourth = held\n",
    "means of what rounds gather": "means, held = [], []\n"
    + ROUNDS
    + "    held.append(paddle.rand([8, 6]))\n    if i % 10 == 9:\n"
    "        means.append(paddle.concat(held).reshape([i + 1, 8, 6]).mean())\n",
    "a part that no round comes to": ROUNDS + "    if i == 50: print(losss)\n    if i % 100 == 99: print(losss)\n",
    "a part before the first round": ROUNDS.replace("range(40)", "range(30, 40)") + "    if i == 3: print(losss)\n",
    "a part behind the end": ROUNDS + "    if i == 20: break\n    if i == 30: print(losss)\n",
    "what is looked up by the count": "names, rows = ['a', 'b', 'c', 'd'], np.zeros(40)\ntold = {}\n"
    + ROUNDS
    + "    told[i] = loss.item()\n    if (i + 1) % 10 == 0:\n"
    "        print(names[i // 10], rows[i - 9 : i + 1].reshape(10), told[i], told[i - 9])\n",
    "a name of earlier rounds": ROUNDS
    + "    if i > 10: print(last)\n    if i < 5: first = i\n    elif i < 9: last = i\n    else: rest = i\n",
    "a rate, and a part that is left as it is": "net = paddle.nn.Sequential(net, paddle.nn.Linear(3, 3))\n"
    "opt = paddle.optimizer.Adam(parameters=net.parameters())\n"
    + EPOCHS
    + "    if epoch == 2: opt.set_lr(0.01)\n    if epoch == 3: net[0].weight.stop_gradient = True\n",
    "the last batch": BATCHES + "        if i + 1 == len(train): print(x.shape, net(x).reshape([6, 3]).shape)\n",
    "steps that are counted on": "n = 0\n"
    + BATCHES
    + "        n += 1\n        if n % 7 == 0:\n            net.eval(); print(net(x).mean().item()); net.train()\n",
    "gradients that are added up": ROUNDS.replace(
        "    opt.step()\n    opt.clear_grad()\n",
        "    if (i + 1) % 4 == 0:\n        opt.step()\n        opt.clear_grad()\n",
    ),
    "what is handled": ROUNDS
    + "    try:\n        if i == 30: print(losss)\n    except NameError:\n        print('no loss')\n",
}
REAL = """
import contextlib, json, os, sys, tempfile

os.chdir(tempfile.mkdtemp())
for name, source in json.load(sys.stdin):
    try:
        with contextlib.redirect_stdout(sys.stderr):
            exec(compile(source, name, "exec"), {"__name__": "__main__"})
        print(json.dumps([name, ""]), flush=True)
    except Exception as problem:
        print(json.dumps([name, f"{type(problem).__name__}: {problem}"]), flush=True)
"""


@pytest.fixture(scope="module")
def programs():
    return [*((name, HEAD + source) for name, (source, _) in FAULTS.items()),
            *((name, HEAD + source) for name, source in RUNS.items()),
            ("nothing", HEAD + ROUNDS)]  # fmt: skip


@pytest.fixture(scope="module")
def traced(run_code, programs):
    return run_code(CHILD, programs)


@pytest.fixture(scope="module")
def really(run_code, programs):
    return run_code(REAL, [(name, source.replace(CELL, "")) for name, source in programs])


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_of_a_later_round_is_told_beside_the_figure(traced, really, name):
    _, sentence = FAULTS[name]
    found = traced[name]
    assert (found["status"], found["notes"]) == ("ok", [])
    assert found["stop"]["error"].startswith(sentence)
    assert really[name][:30] == found["stop"]["error"][:30]


@pytest.mark.parametrize("name", RUNS)
def test_what_runs_in_later_rounds_is_no_fault(traced, really, name):
    assert not really[name]
    assert (traced[name]["status"], traced[name]["stop"]) == ("ok", None)


def test_the_figure_stays_that_of_the_step(traced):
    for name in ("an index every ten steps", "a name in the last step", "a part that no round comes to"):
        assert traced[name]["rows"] == traced["nothing"]["rows"], name
