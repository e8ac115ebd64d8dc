"""Beginners' faults behind a training: told beside the figure where they come whatever the model's numbers are.

Each of the sentences was Python's, numpy's or Paddle's when the program was run for real, and each program that runs
ran to its end.
"""

from __future__ import annotations

import pytest

from tests.estimator.tracer.notebook.cells.behind_programs import CELL, EPOCHS, FITTED, HEAD
from tests.estimator.tracer.notebook.cells.test_behind import CHILD

pytestmark = pytest.mark.paddle

MARK = "  # here"
"""Of a program whose last line is not the one that fails."""
LOSSES = "losses = []\n" + EPOCHS + "    losses.append(F.cross_entropy(net(x), y).item())\n" + CELL
COUNTED = (
    LOSSES
    + "right, seen = 0, 0\nwith paddle.no_grad():\n    for x, y in test:\n"
    + "        right += int((net(x).argmax(1, keepdim=True) == y).sum())\n        seen += len(y)\nrate = right / seen\n"
)
BATCH = LOSSES + "x, y = next(iter(test))\n"
FAULTS = {
    "a whole number's format behind a count": (
        COUNTED + "print(f'{rate:d}')\n",
        "ValueError: Unknown format code 'd' for object of type 'float'",
    ),
    "three names for two values": (
        LOSSES + "for x, y, at in test:  # here\n    print(net(x).shape)\n",
        "ValueError: not enough values to unpack (expected 3, got 2)",
    ),
    "three names for what an evaluation gives": (
        FITTED + CELL + "loss, rate, more = model.evaluate(test, verbose=0)\n",
        "ValueError: not enough values to unpack (expected 3, got 2)",
    ),
    "two names for one tensor": (
        BATCH + "_, label = paddle.max(net(x), 1)\n",
        "ValueError: too many values to unpack (expected 2)",
    ),
    "a number of a label with a dimension": (
        BATCH + "guessed = net(x).argmax(1).numpy()\nprint(guessed[0], int(y[0]))\n",
        "TypeError: only 0-dimensional arrays can be converted to Python scalars",
    ),
    "a format of many losses": (
        BATCH + "print(f\"{F.cross_entropy(net(x), y, reduction='none'):.4f}\")\n",
        "TypeError: unsupported format string passed to Tensor.__format__",
    ),
    "a method that is called as a function of Python's": (
        BATCH + "rate = paddle.metric.Accuracy()\nrate.update(rate.compute(net(x), y))\nprint(rate.eval())\n",
        "AttributeError: 'Accuracy' object has no attribute 'eval'",
    ),
}
RUNS = {
    "formats of numbers": COUNTED + "print(f'{rate:.4f} {rate:.1%} {right:d}/{seen}', f'{losses[-1]:.3f}')\n",
    "names for what there is": BATCH
    + "top, at = paddle.topk(net(x), 2)\nguessed = net(x).argmax(1).numpy()\n"
    + "names = ['a', 'b', 'c']\nprint(names[guessed[0]], int(y[0, 0]), f'{top[0, 0]:.3f}')\n",
    "what a choice of numbers leaves": BATCH
    + "sure = net(x).max(1).numpy()\nkept = sure[sure > 0.5]\nprint(kept.shape, (kept - kept.mean()).std())\n"
    + "wrong = np.where(net(x).argmax(1).numpy() != y.numpy()[:, 0])[0]\nfor at in wrong[:3]:\n    print(at, y[at])\n",
    "what needs no wrong answers": BATCH
    + "guessed = net(x).argmax(1).numpy()\nwrong = x.numpy()[guessed != y.numpy()[:, 0]]\n"
    + "if len(wrong) > 3:\n    first, second, *_ = wrong\n",
}


@pytest.fixture(scope="module")
def traced(run_code):
    """Each program."""
    faults = [(name, HEAD + source) for name, (source, _) in FAULTS.items()]
    return run_code(CHILD, [*faults, *((f"runs: {name}", HEAD + source) for name, source in RUNS.items())])


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_told_at_its_line(traced, name):
    source, sentence = FAULTS[name]
    found = traced[name]
    assert found["status"] == "ok"
    assert found["stop"]["error"].startswith(sentence)
    lines = source.split(CELL)[-1].splitlines()
    line = next((number for number, text in enumerate(lines, 1) if text.endswith(MARK)), len(lines))
    assert (found["stop"]["cell"], found["stop"]["line"]) == (1, line)


@pytest.mark.parametrize("name", RUNS)
def test_what_runs_is_no_fault(traced, name):
    assert (traced[f"runs: {name}"]["status"], traced[f"runs: {name}"]["stop"]) == ("ok", None)
