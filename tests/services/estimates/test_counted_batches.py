"""What counts a batch's samples (labels of a contrast within it) follows it, found by one trace more."""

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
