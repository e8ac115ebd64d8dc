"""Both ways of a condition on an unknown value are real steps' peaks: the largest is shown, the range has the other."""

from __future__ import annotations

import pytest

from jupyter_paddle_gpu.estimator.memory.assemble import cpu_peak
from jupyter_paddle_gpu.estimator.trace import Operation, Storage, Trace
from tests.estimator.tracer.measuring import steady

pytestmark = pytest.mark.paddle

HEAD = """
import numpy as np, paddle
from paddle import nn
paddle.seed(0)
x = paddle.rand([64, 200])
model, wide, back = nn.Linear(200, 300), nn.Linear(300, 2000), nn.Linear(2000, 300)
optimizer = paddle.optimizer.Adam(1e-5, parameters=[*model.parameters(), *wide.parameters(), *back.parameters()])
"""
TAIL = """
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
IF = """
for step in range(9):
    h = model(x)
    if h.mean() {sign} 1000:
        h = back(wide(h))
    loss = h.mean()"""
CONDITIONAL = """
for step in range(9):
    h = model(x)
    h = paddle.static.nn.cond(h.mean() {sign} 1000, lambda: back(wide(h)), lambda: h * 2)
    loss = h.mean()"""
ELIF = """
for step in range(9):
    h = model(x)
    if h.mean() > 1000:
        h = h * 2
    elif h.sum() > 1e9:
        h = h * 3
    else:
        h = back(wide(h))
    loss = h.mean()"""
WHILE = """
kept = []
for step in range(9):
    h = model(x)
    turn = paddle.zeros([])
    while turn + 0 * h.mean() {condition}:
        h = back(wide(h))
        turn += 1
    loss = h.mean()"""
TRAINING = """
loss = model(x).mean()
while loss < 1000:
    loss = back(wide(model(x))).mean()"""
DIVERGED = """
for step in range(9):
    loss = back(wide(model(x))).mean()
    if paddle.isnan(loss):
        raise ValueError("diverged")"""
EARLY = """
for step in range(9):
    loss = back(wide(model(x))).mean()
    if loss > 1000:
        break"""
NUMBER = """
best, losses = float("inf"), []
for step in range(9):
    h = model(x)
    {before}
    if {condition}:
        h = back(wide(h))
    loss = h.mean()"""
NUMBER_WHILE = """
for step in range(9):
    h, turn = model(x), 0
    {loop}
    loss = h.mean()"""
BEST = """
import json
best, patience, losses = float("inf"), 0, []
for step in range(9):
    loss = back(wide(model(x))).mean()
    value = loss.item()
    losses.append(float(loss))
    if value < best:
        best, patience = value, 0
        paddle.save(model.state_dict(), "/dev/null")
    else:
        patience += 1
    best = min(best, value)
    print(f"{value:.3f} {loss:.4f} {best:>9.2e}", "%.2f" % value, round(best, 3), sorted(losses), json.dumps(losses))
    print({value: 1}, isinstance(value, float), loss.numpy().tolist(), int(value), bool(losses), max(losses))"""
SKIPS = """
for step in range(9):
    h = model(x)
    parts = [h]
    for part in range(2):
        if h.min() > 1000: continue
        parts.append(back(wide(h)))
    for part in range(2):
        if not h.max() < 1000: continue
        parts.append(back(wide(h)))
    for part in range(2):
        if (h > 9).all(): continue
        parts.append(back(wide(h)))
    loss = sum(part.mean() for part in parts)"""
NOTHING = """
for step in range(9):
    h = model(x)
    parts = [h]
{guards}    loss = sum(part.mean() for part in parts)""".format(
    guards="".join(
        f"    if (h > -{number}).astype('int64').sum() == 0:\n        parts.append(h * 0)\n"
        f"    else:\n        parts.append(back(wide(h)))\n"
        for number in range(9, 15)
    )
)
"""More guards than there are traces: what is counted is first not 0."""
REFUSED = """
for step in range(9):
    h = model(x)
    if h.mean() > 1000:
        model.weight.scale_(0.5)
    loss = back(wide(h)).mean()"""
BODIES = {
    "if-large": IF.format(sign="<"),
    "if-small": IF.format(sign=">"),
    "cond-large": CONDITIONAL.format(sign="<"),
    "cond-small": CONDITIONAL.format(sign=">"),
    "elif": ELIF,
    "while-four-turns": WHILE.format(condition="< 3.5"),
    "while-no-turn": WHILE.format(condition="< -1"),
    "training-while": TRAINING,
    "diverged": DIVERGED,
    "early-stop": EARLY,
    "item": NUMBER.format(before="", condition="h.mean().item() < 1000"),
    "item-small": NUMBER.format(before="", condition="h.mean().item() > 1000"),
    "float": NUMBER.format(before="", condition="float(h.mean()) < 1000"),
    "numpy": NUMBER.format(before="", condition="h.numpy().mean() * 2 < 1000"),
    "count": NUMBER.format(before="right = (h > -9).astype('int64').sum().item()", condition="right / 19200 > 0.5"),
    "yes": NUMBER.format(before="", condition="(h > -9).any().item()"),
    "mean-of-list": NUMBER.format(before="losses.append(h.mean().item())", condition="np.mean(losses) < 1000"),
    "best-so-far": NUMBER.format(before="best = min(best, float(h.mean()))", condition="best > 1000"),
    "while-float": NUMBER_WHILE.format(
        loop="err = 1.0\n    while err < 1000 and turn < 4:\n        h = back(wide(h))\n        "
        "err, turn = float(h.mean()), turn + 1"
    ),
    "while-break": NUMBER_WHILE.format(
        loop="while True:\n        h, turn = back(wide(h)), turn + 1\n        if h.mean().item() + turn > 3.5: break"
    ),
    "skips": SKIPS,
    "nothing": NOTHING,
    "best": BEST,
    "refused-one-way": REFUSED,
}
SOURCES = {name: HEAD + body + TAIL for name, body in BODIES.items()}
SMALLEST = ("if-small", "cond-small", "while-no-turn", "item-small", "best-so-far")
"""Scripts that really go the way that takes least."""


@pytest.mark.parametrize("name", SOURCES)
def test_the_range_ends_at_real_peaks(measured, name):
    peaks, traced = measured.pair(name)
    assert traced["peak"] is not None, traced["questions"]
    found = traced["branches"]["low"] if name in SMALLEST else traced["peak"]
    assert found == pytest.approx(steady(peaks), rel=0.001)


def test_ways_are_counted_and_noted(measured):
    traced = measured.traced
    assert {name: row["branches"]["ways"] for name, row in traced.items() if row["branches"]} == {
        "if-large": 2,
        "if-small": 2,
        "cond-large": 2,
        "cond-small": 2,
        "elif": 3,
        "while-four-turns": 2,
        "while-no-turn": 2,
        **dict.fromkeys(("item", "item-small", "float", "numpy", "count", "yes", "mean-of-list", "best-so-far"), 2),
        **dict.fromkeys(("while-float", "while-break"), 2),
        "skips": 5,
        "nothing": 5,
    }
    assert traced["elif"]["notes"] == ["branches_followed"]
    assert traced["best"]["notes"] == []  # what it decides takes no memory
    assert traced["diverged"]["notes"] == ["stand_in_branch"]  # the other way raises
    assert traced["refused-one-way"]["notes"] == ["stand_in_branch", "way_refused"]  # and Paddle says so


def test_the_low_end_is_the_smallest_way():
    step = Trace(
        status="ok",
        operations=(Operation("matmul", "forward"),),
        storages=(Storage(1000, 0, 0, "activations"),),
        extra={"branches": {"low": 700, "high": 1000, "ways": 2}},
    )
    found = cpu_peak(step)
    assert (found.low, found.likely, found.high) == (700, 1000, 1000)


ASTRAY = (
    HEAD
    + """
heads = {"head": nn.Linear(300, 4)}
for step in range(9):
    h = model(x)
    if h.mean() > 1000:
        h = heads["Head"](h)
    else:
        h = heads["head"](h)
    loss = nn.functional.mse_loss(h, paddle.rand([64, 3]))"""
    + TAIL
)


def test_where_each_way_ends_the_one_that_comes_furthest_is_told(run_child):
    """The first way stops sooner, by a key that the program mistakes; nobody would ever come to it."""
    (told,) = run_child("trace", {"astray": ASTRAY})["astray"]["questions"]
    assert (told["params"]["error"], told["line"]) == ("ValueError", 16)
