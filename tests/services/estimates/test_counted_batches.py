"""Where a batch stands in plain numbers, or behind a setting's default, a job's copy has all of them otherwise, and
what only looks alike as it is; what counts its samples (labels of a contrast within it) follows it."""

from __future__ import annotations

import pytest

from jupyter_paddle_gpu.domain.what_ifs import EstimateRequest
from jupyter_paddle_gpu.estimator.sources.traces import Traces
from jupyter_paddle_gpu.services import Services, Settings, Submission
from jupyter_paddle_gpu.services.jobs.submitting import settle

pytestmark = pytest.mark.paddle

CONTRAST = """
import paddle
net = paddle.nn.Linear(8, 2)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for _ in range(5):
    out = net(paddle.rand([512, 8]))
    loss = paddle.nn.functional.cross_entropy(out @ out.T, {labels})
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""


@pytest.fixture(scope="module")
def services(tmp_path_factory):
    root = tmp_path_factory.mktemp("counted")
    made = Services(Settings(data_folder=root / "data", root=root, system_policy_file=root / "none"))
    yield made
    made.close()


def opened(services, code: str):
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "id": "a", "source": code}
    return services.open("train.ipynb", {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]})


@pytest.mark.parametrize("labels", ["paddle.arange(512)", "paddle.arange(512).astype('int32').unsqueeze(-1)"])
def test_labels_follow_by_one_trace_more(services, monkeypatch, labels):
    code = CONTRAST.format(labels=labels)
    notebook = opened(services, code)
    request = EstimateRequest(target="cpu", batch_size=64)
    asked, ask = [], Traces._ask
    monkeypatch.setattr(Traces, "_ask", lambda *given: asked.append(0) or ask(*given))
    found = services.estimate(notebook, request)
    assert (found.status, found.batch_size, len(asked)) == ("ok", 64, 2)
    copy = settle(services.desk(), notebook, Submission(request=request)).content
    assert copy["cells"][0]["source"] == code.replace("512", "64")
    edited = services.estimate(opened(services, copy["cells"][0]["source"]), EstimateRequest(target="cpu"))
    assert found.allocated_peak_bytes == edited.allocated_peak_bytes


HEAD = """
import os
import paddle
net = paddle.nn.Sequential(paddle.nn.Linear(12, {wide}), paddle.nn.Linear({wide}, 1))
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
rows = paddle.rand([64, 12])
"""
STEP = """
    loss = net(x).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
SLICED = "for step, i in enumerate(range(0, 64, 16)):\n    x = rows[i : i + 16]" + STEP
LOADED = "for x, in paddle.io.DataLoader(paddle.io.TensorDataset([rows]), batch_size=batch_size):" + STEP
WRITTEN = {
    "slices, and not a line that is printed": (
        HEAD.format(wide=3) + SLICED + "    if step % 16 == 0:\n        print(step)\n",
        ["for step, i in enumerate(range(0, 64, 4)):", "    x = rows[i : i + 4]", "    if step % 16 == 0:"],
    ),
    "slices, and not a model's size": (
        HEAD.format(wide="64 // 16") + SLICED,
        ["for step, i in enumerate(range(0, 64, 4)):", "    x = rows[i : i + 4]", "paddle.nn.Linear(12, 64 // 16)"],
    ),
    "rounds": (
        HEAD.format(wide=3)
        + "rounds = 64 // 16\nfor step in range(rounds):\n    x = rows[step * 16 : (step + 1) * 16]"
        + STEP,
        ["rounds = 64 // 4", "    x = rows[step * 4 : (step + 1) * 4]"],
    ),
    "the rounds of a schedule, too": (
        HEAD.format(wide=3)
        + "optimizer.set_lr_scheduler(paddle.optimizer.lr.CosineAnnealingDecay(0.1, T_max=64 // 16))\n"
        + SLICED,
        ["T_max=64 // 4", "    x = rows[i : i + 4]"],
    ),
    "a setting's default": (
        HEAD.format(wide=3) + "batch_size = int(os.environ.get('BATCH', '16'))\n" + LOADED,
        ["batch_size = int(os.environ.get('BATCH', '4'))"],
    ),
    "one of two": (
        HEAD.format(wide=3) + "batch_size = 16 if not os.environ.get('SMALL') else 2\n" + LOADED,
        ["batch_size = 4 if not os.environ.get('SMALL') else 2"],
    ),
}


@pytest.mark.parametrize("how", WRITTEN)
def test_a_batch_is_changed_where_it_stands_by_one_trace_more(services, monkeypatch, how):
    code, lines = WRITTEN[how]
    notebook, request = opened(services, code), EstimateRequest(target="cpu", batch_size=4)
    asked, ask = [], Traces._ask
    monkeypatch.setattr(Traces, "_ask", lambda *given: asked.append(0) or ask(*given))
    found = services.estimate(notebook, request)
    assert (found.status, found.batch_size) == ("ok", 4)
    assert len(asked) == 2, "the step as asked for, and as it is changed"
    source = settle(services.desk(), notebook, Submission(request=request)).content["cells"][0]["source"]
    assert all(line in source for line in lines), source
    edited = services.estimate(opened(services, source), EstimateRequest(target="cpu"))
    assert (edited.batch_size, edited.allocated_peak_bytes) == (4, found.allocated_peak_bytes)


@pytest.mark.parametrize("how", WRITTEN)
def test_an_update_sums_parts_of_such_a_batch(services, how):
    code, lines = WRITTEN[how]
    notebook, request = opened(services, code), EstimateRequest(target="cpu", accumulation=4)
    found = services.estimate(notebook, request)
    assert (found.status, found.batch_size) == ("ok", 4)
    source = settle(services.desk(), notebook, Submission(request=request)).content["cells"][0]["source"]
    assert all(line in source for line in lines if not line.startswith("for ")), source
    assert "% 4 == 0" in source, source
    edited = services.estimate(opened(services, source), EstimateRequest(target="cpu"))
    assert (edited.batch_size, edited.allocated_peak_bytes) == (4, found.allocated_peak_bytes)
