"""A job's copy of a notebook really run: its peak is the trace's, and what it learns is what the notebook learns."""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyter_paddle_gpu.domain.what_ifs import EstimateRequest
from jupyter_paddle_gpu.notebook.changes.table import changes
from jupyter_paddle_gpu.notebook.files.reading import parse_notebook

LOOP = """
import numpy as np
import paddle
from paddle import nn

paddle.seed(0)


class Block(nn.Layer):
    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(64, 64), nn.ReLU())

    def forward(self, x):
        return x + self.inner(x)


class Data(paddle.io.Dataset):
    def __len__(self):
        return 640

    def __getitem__(self, i):
        return np.full([64], i / 640, "float32"), np.array([i % 10])


net = nn.Sequential(nn.Linear(64, 64), Block(), Block(), nn.Linear(64, 10))
opt = paddle.optimizer.Momentum(0.01, parameters=net.parameters())
for x, y in paddle.io.DataLoader(Data(), batch_size=64):
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
    opt.clear_grad()
"""
FIT = LOOP[: LOOP.index("net = ")] + (
    "model = paddle.Model(nn.Sequential(nn.Linear(64, 64), Block(), Block(), nn.Linear(64, 10)))\n"
    "model.prepare(paddle.optimizer.Momentum(0.01, parameters=model.parameters()), nn.CrossEntropyLoss())\n"
    "model.fit(Data(), batch_size=64, epochs=1, shuffle=False, verbose=0)\n"
)
LEARNED = "raise ValueError(float(sum((one.astype('float64') ** 2).sum() for one in {model}.parameters())))\n"
"""Told in the place of a failure: what the program ends with."""
REMEDIES = {
    "as it is": {},
    "batch_size": {"batch_size": 16},
    "accumulation": {"accumulation": 4},
    "recompute": {"recompute": True},
    "set_to_zero": {"set_to_zero": False},
    "all": {"accumulation": 2, "recompute": True, "set_to_zero": False},
}
PROMISED_EQUAL = ("accumulation", "recompute", "set_to_zero", "all")


def copy_of(source: str, request: dict) -> str:
    cell = {"cell_type": "code", "metadata": {}, "source": source, "outputs": [], "execution_count": None}
    content = {"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": [cell]}
    copy, found = changes(parse_notebook(content, Path("/home/a.ipynb")), EstimateRequest(**request))
    assert found.refused == ()
    return copy.content["cells"][0]["source"]


@pytest.fixture(scope="module")
def ran(run_child):
    kinds = {"loop": (LOOP, "net"), "fit": (FIT, "model")}
    copies = {
        f"{kind}, {remedy}": copy_of(source, request) + LEARNED.format(model=model)
        for kind, (source, model) in kinds.items()
        for remedy, request in REMEDIES.items()
    }
    asked = {name: {"steps": 1000} for name in copies}
    return run_child("real", copies, asked), run_child("trace", copies)


@pytest.mark.paddle
@pytest.mark.parametrize("kind", ["loop", "fit"])
@pytest.mark.parametrize("remedy", list(REMEDIES))
def test_the_peak_is_what_was_promised(ran, kind, remedy):
    real, traced = ran
    name = f"{kind}, {remedy}"
    assert traced[name]["peak"] == max(real[name]["peaks"][1:]), real[name]


@pytest.mark.paddle
@pytest.mark.parametrize("kind", ["loop", "fit"])
@pytest.mark.parametrize("remedy", PROMISED_EQUAL)
def test_what_is_learned_is_the_same(ran, kind, remedy):
    learned = [float(ran[0][f"{kind}, {one}"]["failure"].removeprefix("ValueError: ")) for one in ("as it is", remedy)]
    assert learned[1] == pytest.approx(learned[0], rel=1e-5)


@pytest.mark.paddle
def test_another_batch_learns_otherwise(ran):
    one, other = (ran[0][f"loop, {name}"]["failure"] for name in ("as it is", "batch_size"))
    assert one.startswith("ValueError: ") and one != other


@pytest.mark.paddle
def test_a_batch_norm_sees_each_batch_once_where_its_block_is_computed_again(run_child):
    normed = LOOP.replace("nn.Linear(64, 64), nn.ReLU()", "nn.Linear(64, 64), nn.BatchNorm1D(64), nn.ReLU()")
    copies = {"as it is": normed, "again": copy_of(normed, {"recompute": True})}
    copies["by hooks"] = copies["again"].replace("recompute(once, *args", "recompute(once, *args, use_reentrant=False")
    assert copies["by hooks"] != copies["again"]
    copies = {name: copy + LEARNED.format(model="net") for name, copy in copies.items()}
    real = run_child("real", copies, {name: {"steps": 1000} for name in copies})
    traced = run_child("trace", copies)
    held = {name: traced[name]["peak"] for name in copies}
    assert held == {name: max(real[name]["peaks"][1:]) for name in copies} and held["again"] < held["as it is"]
    learned = [float(real[name]["failure"].removeprefix("ValueError: ")) for name in copies]
    assert learned == pytest.approx([learned[0]] * 3, rel=1e-6), "running statistics are among the parameters"


CLIPPED = "paddle.nn.utils.clip_grad_norm_(net.parameters(), 0.01)\n    opt.step()"
SCALED = "scaler.scale(loss).backward()\n    scaler.unscale_(opt)\n    "


@pytest.mark.paddle
def test_what_is_done_to_gradients_before_an_update_is_done_to_their_sum(run_child):
    clipped = LOOP.replace("opt.step()", CLIPPED)
    scaled = clipped.replace("loss.backward()\n    ", SCALED).replace(
        "opt.step()", "scaler.step(opt)\n    scaler.update()"
    )
    scaled = scaled.replace("for x, y", "scaler = paddle.amp.GradScaler(init_loss_scaling=64.0)\nfor x, y")
    copies = {"clipped": clipped, "scaled": scaled}
    copies |= {f"{name}, summed": copy_of(code, {"accumulation": 4}) for name, code in copies.items()}
    copies = {name: code + LEARNED.format(model="net") for name, code in copies.items()}
    real, traced = run_child("real", copies, {name: {"steps": 1000} for name in copies}), run_child("trace", copies)
    learned = [float(real[name]["failure"].removeprefix("ValueError: ")) for name in copies]
    assert learned == pytest.approx([learned[0]] * 4, rel=1e-6)
    assert all(traced[name]["peak"] == max(real[name]["peaks"][1:]) for name in copies if name.endswith("summed"))
