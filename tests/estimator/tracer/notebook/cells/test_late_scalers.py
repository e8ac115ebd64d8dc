"""What a scaler or a schedule is asked for in a later round, and refuses, is told beside the figure where counts alone
decide it."""

from __future__ import annotations

import re

import pytest

pytestmark = pytest.mark.paddle

LOOP = """
import paddle
net = paddle.nn.Linear(3, 2)
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
with paddle.amp.auto_cast():
    net(paddle.rand([4, 3]))
scaler = paddle.amp.GradScaler()
batches = [paddle.rand([4, 3]) for _ in range(4)]
for epoch in range(3):
    for step, x in enumerate(batches):
        scaler.scale(net(x).mean()).backward()
        scaler.step(opt)
        scaler.update()
        opt.clear_grad()
"""
UPDATE, STEP = "        scaler.update()\n", "        scaler.step(opt)\n"
TWICE = "RuntimeError: step() has already been called since the last update()."
LATE = {
    "no more updates": (LOOP.replace(UPDATE, "        if epoch < 1: scaler.update()\n"), 12, TWICE),
    "one epoch without": (LOOP.replace(UPDATE, "        if epoch != 1: scaler.update()\n"), 12, TWICE),
    "once more behind a loop": (LOOP + "    if epoch == 1: scaler.step(opt)\n", 12, TWICE),
    "unscaled behind a step": (
        LOOP.replace(STEP, "        scaler.unscale_(opt)\n" + STEP).replace(
            UPDATE, "        if epoch == 0: scaler.update()\n"
        ),
        12,
        "RuntimeError: unscale_() is being called after step().",
    ),
    "unscaled twice": (
        LOOP.replace(STEP, "        if epoch == 2: scaler.unscale_(opt); scaler.unscale_(opt)\n" + STEP),
        12,
        "RuntimeError: unscale_() has already been called on this optimizer since the last update().",
    ),
}  # fmt: skip
FINE = {
    "steps of some epochs": LOOP.replace(STEP + UPDATE, "        if epoch < 2:\n    " + STEP + "    " + UPDATE),
    "unscaled last": LOOP + "    if epoch == 2: scaler.unscale_(opt)\n",
    "left before": LOOP.replace(UPDATE, "        if epoch < 1: scaler.update()\n")
    + "    if epoch == 0:\n        break\n",
    "by what is not computed": LOOP.replace(UPDATE, "        if epoch < 1 or float(x.sum()) > 0: scaler.update()\n"),
    "handled": LOOP.replace(UPDATE, "        if epoch < 1: scaler.update()\n")
    .replace("for epoch in", "try:\n  for epoch in")
    .replace("\n    ", "\n      ")
    .replace("auto_cast():\n      net", "auto_cast():\n    net")
    + "except RuntimeError: pass\n",
    "another one's update": LOOP.replace(UPDATE, UPDATE + "        if epoch < 1: other.update()\n").replace(
        "batches =", "other = paddle.amp.GradScaler()\nbatches ="
    ),
}
RATES = """
import paddle
net = paddle.nn.Linear(3, 2)
EPOCHS = 30
loader = paddle.io.DataLoader(paddle.io.TensorDataset([paddle.rand([64, 3])]), batch_size=8)
schedule = paddle.optimizer.lr.OneCycleLR(max_learning_rate=0.1, total_steps={steps})
opt = paddle.optimizer.SGD(schedule, parameters=net.parameters())
for epoch in range(EPOCHS):
    for (x,) in loader:
        net(x).mean().backward()
        opt.step()
        opt.clear_grad()
        {each}
    {last}
"""
"""A schedule as long as the training's epochs, which is stepped with each batch."""
ENDED = "ValueError: Tried to step 31 times. However the number of total steps is 30"
LATE["a schedule that ends"] = (RATES.format(steps="EPOCHS", each="schedule.step()", last="pass"), 13, ENDED)
FINE["a schedule of all batches"] = RATES.format(steps="EPOCHS * len(loader)", each="schedule.step()", last="pass")
FINE["a schedule of epochs"] = RATES.format(steps="EPOCHS", each="pass", last="schedule.step()")
FINE["a schedule that is set"] = RATES.format(steps="EPOCHS", each="schedule.step(epoch)", last="pass")


@pytest.fixture(scope="module")
def traced(run_child):
    cases = {**{name: case[0] for name, case in LATE.items()}, **FINE}
    return run_child("trace", cases, {name: {"target": "gpu"} for name in cases})


@pytest.mark.parametrize("name", LATE)
def test_the_call_that_is_refused_is_told_with_the_figure(name, traced):
    source, line, error = LATE[name]
    row = traced[name]
    assert (row["status"], row["stop"]["error"], row["stop"]["line"]) == ("ok", error, line)
    assert re.search(r"(scaler|schedule)\.", source.split("\n")[line - 1])
    assert row["peak"]


@pytest.mark.parametrize("name", FINE)
def test_what_may_not_come_is_not_told(name, traced):
    assert (traced[name]["status"], traced[name]["stop"]) == ("ok", None)
