# ruff: noqa: E501 - one script a line reads as a table
"""Accumulation that is asked for gives the step of a notebook that accumulates so, however short its loop is."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

HEAD = """
import numpy as np, paddle, paddle.nn.functional as F
from paddle import nn
paddle.seed(0)
class Data(paddle.io.Dataset):
    def __init__(self, count):
        self.count = count
    def __getitem__(self, i):
        return np.zeros(50, 'float32'), np.int64(i % 3)
    def __len__(self):
        return self.count
model = nn.Sequential(nn.Linear(50, 300), nn.ReLU(), nn.Linear(300, 3))
optimizer = paddle.optimizer.Adam(1e-5, parameters=model.parameters())
"""
UPDATE = """
    optimizer.step()
    optimizer.clear_grad()
"""
EVERY = """
    if (i + 1) % {every} == 0:
        optimizer.step()
        optimizer.clear_grad()
"""
RAW = (
    HEAD
    + """
batch_size = {batch}
for i in range({steps}):
    loss = F.cross_entropy(model(paddle.randn([batch_size, 50])), paddle.randint(0, 3, [batch_size]))
    loss.backward()"""
)
FIRST_CLEARED = RAW.replace("    loss = ", "    optimizer.clear_grad()\n    loss = ") + "\n    optimizer.step()\n"
LOADER = (
    HEAD
    + """
for i, (x, y) in enumerate(paddle.io.DataLoader(Data({count}), batch_size={batch})):
    loss = F.cross_entropy(model(x), y)
    loss.backward()"""
)
FUNCTION = (
    HEAD
    + """
def epoch(data):
    for i, (x, y) in enumerate(data):
        loss = F.cross_entropy(model(x), y)
        loss.backward()"""
)
IN_FUNCTION = UPDATE.replace("\n    ", "\n        ") + "\nepoch(paddle.io.DataLoader(Data(64), batch_size=32))\n"
BY_HAND = (
    EVERY.format(every=4).replace("\n    ", "\n        ") + "\nepoch(paddle.io.DataLoader(Data(1600), batch_size=8))\n"
)
FIT = (
    HEAD
    + """
hapi = paddle.Model(model)
hapi.prepare(optimizer, nn.CrossEntropyLoss())
hapi.fit(Data({count}), epochs=1, batch_size={batch}, verbose=0{more})
"""
)
GAN = """
import paddle
from paddle import nn
paddle.seed(0)
one, other = nn.Linear(20, 400), nn.Linear(400, 1)
first = paddle.optimizer.Adam(1e-5, parameters=one.parameters())
second = paddle.optimizer.Adam(1e-5, parameters=other.parameters())
z = paddle.randn([{batch}, 20])
for i in range({steps}):
    other(one(z).detach()).mean().backward()
"""
GAN_UPDATES = """
    second.step()
    second.clear_grad()
    other(one(z)).mean().backward()
    first.step()
    first.clear_grad()
    second.clear_grad()
"""
GAN_BY_HAND = """
    if i % 2:
        second.step()
        second.clear_grad()
    other(one(z)).mean().backward()
    if i % 2:
        first.step()
        first.clear_grad()
        second.clear_grad()
"""
CASES = {
    "short": (RAW.format(batch=32, steps=3) + UPDATE, {"accumulation": 4, "batch_size": 32}, RAW.format(batch=8, steps=40) + EVERY.format(every=4)),
    "one-step": (RAW.format(batch=32, steps=1) + UPDATE, {"accumulation": 4, "batch_size": 32}, RAW.format(batch=8, steps=40) + EVERY.format(every=4)),
    "named": (RAW.format(batch=32, steps=3) + UPDATE, {"accumulation": 4}, RAW.format(batch=8, steps=40) + EVERY.format(every=4)),
    "cleared-first": (FIRST_CLEARED.format(batch=32, steps=2), {"accumulation": 4, "batch_size": 32}, RAW.format(batch=8, steps=40) + EVERY.format(every=4)),
    "loader": (LOADER.format(count=64, batch=32) + UPDATE, {"accumulation": 4}, LOADER.format(count=1600, batch=8) + EVERY.format(every=4)),
    "in-a-function": (FUNCTION + IN_FUNCTION, {"accumulation": 4}, FUNCTION + BY_HAND),
    "already": (LOADER.format(count=320, batch=16) + EVERY.format(every=2), {"accumulation": 4}, LOADER.format(count=1600, batch=8) + EVERY.format(every=4)),
    "already-short": (LOADER.format(count=48, batch=16) + EVERY.format(every=2), {"accumulation": 4}, LOADER.format(count=1600, batch=8) + EVERY.format(every=4)),
    "as-it-is": (LOADER.format(count=320, batch=16) + EVERY.format(every=2), {"accumulation": 2}, LOADER.format(count=1600, batch=16) + EVERY.format(every=2)),
    "fit": (FIT.format(count=64, batch=32, more=""), {"accumulation": 4}, FIT.format(count=1600, batch=8, more=", accumulate_grad_batches=4")),
    "two-optimizers": (GAN.format(batch=64, steps=3) + GAN_UPDATES, {"accumulation": 2}, GAN.format(batch=64, steps=20) + GAN_BY_HAND),
}  # fmt: skip
OTHERS = {
    "no-multiple": (LOADER.format(count=320, batch=16) + EVERY.format(every=2), {"accumulation": 3}),
    "no-multiple by itself": (LOADER.format(count=320, batch=16) + EVERY.format(every=2), {}),
    "no-loop": (RAW.format(batch=8, steps=1).replace("for i in range(1):", "if True:") + UPDATE, {"accumulation": 4}),
    "literal": (RAW.format(batch=32, steps=3).replace("batch_size", "rows") + UPDATE, {"accumulation": 4}),
    "nothing": ("import paddle", {"accumulation": 4}),
    "no-blocks": (RAW.format(batch=8, steps=3) + UPDATE, {"recompute": True}),
    "no-blocks by itself": (RAW.format(batch=8, steps=3) + UPDATE, {}),
}
REAL = ("short", "already", "fit", "two-optimizers")


@pytest.fixture(scope="module")
def traced(run_child):
    sent = {name: (source, asked) for name, (source, asked, _) in CASES.items()} | OTHERS
    sources = {name: source for name, (source, _) in sent.items()}
    sources |= {f"{name} by hand": by_hand for name, (_, _, by_hand) in CASES.items()}
    return run_child("trace", sources, {name: asked for name, (_, asked) in sent.items()})


@pytest.fixture(scope="module")
def real(run_child):
    return run_child("real", {name: CASES[name][2] for name in REAL})


@pytest.mark.parametrize("name", CASES)
def test_it_is_the_step_of_a_notebook_that_accumulates(traced, name):
    found, by_hand = traced[name], traced[f"{name} by hand"]
    assert found["status"] == by_hand["status"] == "ok", (found["notes"], found["questions"])
    assert found["peak"] == by_hand["peak"]
    assert found["inputs"] == by_hand["inputs"][: len(found["inputs"])]
    assert found["batch_size"] == by_hand["batch_size"]


@pytest.mark.parametrize("name", REAL)
def test_it_is_a_real_steps_peak(traced, real, name):
    assert real[name]["failure"] is None
    assert traced[name]["peak"] == pytest.approx(real[name]["peaks"][-1], abs=4)


def test_what_cannot_be_had_is_said(traced):
    found = traced["no-multiple"]
    assert found["peak"] == traced["no-multiple by itself"]["peak"]
    assert (found["notes"], found["params"]) == (["accumulation_kept"], [{"asked": 3, "found": 2}])
    assert traced["no-loop"]["status"] == "needs_input"
    assert (traced["no-loop"]["notes"], traced["no-loop"]["params"]) == (["too_few_steps"], [{"asked": 4}])
    assert traced["literal"]["batch_size"] == 32
    assert (traced["literal"]["notes"], traced["literal"]["params"]) == (["batch_undivided"], [{"asked": 4}])
    assert traced["nothing"]["status"] == "no_model"
    assert traced["no-blocks"]["notes"] == ["nothing_recomputed"]
    assert traced["no-blocks"]["peak"] == traced["no-blocks by itself"]["peak"]
