"""ResNet-50 at batch 512 and cards of 24 GB: every answer says the same, and each way out leads to a job."""

from __future__ import annotations

import msgspec
import pytest

from jupyter_paddle_gpu.devices.reader import Reading
from jupyter_paddle_gpu.devices.service import DeviceService
from jupyter_paddle_gpu.domain.devices import Device
from jupyter_paddle_gpu.server.context import SETTING

GIB = 1 << 30
TRAINING = """
import os, sys
if "PADDLE_GPU_CHECKPOINTS" in os.environ:
    sys.exit()  # a job that really starts before it is cancelled must not take what no test machine has
import paddle
from paddle.vision.models import resnet50

BATCH_SIZE = 512
class Data(paddle.io.Dataset):
    def __getitem__(self, i):
        return paddle.zeros([3, 224, 224]), 0
    def __len__(self):
        return 2048
model = paddle.Model(resnet50(num_classes=100))
model.prepare(paddle.optimizer.Momentum(parameters=model.parameters()), paddle.nn.CrossEntropyLoss())
model.fit(Data(), batch_size=BATCH_SIZE, epochs=1)
"""


class Cards:
    """A driver with two cards, one of them in use."""

    def read(self):
        def card(index, used):
            sizes = {"memory_total": 24 * GIB, "memory_used": used, "memory_free": 24 * GIB - used}
            return Device(id=f"GPU-{index}", index=index, vendor="nvidia", name="NVIDIA GeForce RTX 4090", **sizes)

        return Reading(devices=(card(0, 0), card(1, 20 * GIB)))

    def close(self):
        pass


@pytest.fixture
def ask(api, jp_serverapp, tmp_path, monkeypatch):
    """`await ask(route, batch_size=8, anyway=True, ...)` -> (status, JSON) of the notebook with cards of 24 GB."""
    services = jp_serverapp.web_app.settings[SETTING].services
    services._built["devices"] = DeviceService(tmp_path, simulate="", readers=[Cards()])
    # The largest batch, however long that takes here; the other remedies are not what this is about.
    monkeypatch.setattr("jupyter_paddle_gpu.estimator.advice.remedies.OFFERS", {})
    services.estimator.settings = msgspec.structs.replace(services.estimator.settings, details_seconds=3600.0)
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "id": "a", "source": TRAINING}
    content = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]}

    async def post(route, request=None, **more):
        return await api("POST", route, body={"path": "a.ipynb", "content": content, "request": request or {}, **more})

    return post


@pytest.mark.paddle
async def test_what_fits_no_card_is_told_alike_with_the_ways_out(ask, api):
    status, matched = await ask("placements")
    decision = matched["placement"]["decision"]
    assert (status, decision["outcome"], decision["searched"], decision["ways"]) == (200, "refuse", False, [])
    sentence = decision["reason"]["message"]
    assert sentence.startswith("Needs ") and sentence.endswith("; the largest card here offers at most 20.4 GiB.")
    assert [verdict["fit"] for verdict in matched["placement"]["verdicts"]] == ["never", "never"]

    _, told = await ask("preflights")
    assert told["decision"] == decision and [problem["message"] for problem in told["problems"]] == [sentence]
    status, refused = await ask("jobs")
    assert (status, refused["code"], refused["message"]) == (409, "fits_nowhere", sentence)

    # Once somebody asks what would fit, the submit says it as well.
    _, matched = await ask("placements", {"details": True})
    decision = matched["placement"]["decision"]
    first = decision["ways"][0]
    assert decision["searched"] and first["change"] == "batch_size"
    assert decision["reason"]["hint"].startswith(f"Fits {first['message']['message']}")
    _, told = await ask("preflights")
    assert told["decision"] == decision
    _, refused = await ask("jobs")
    assert refused["hint"] == decision["reason"]["hint"]

    # The way out is one, to the sample, and leads to a job that the queue does not call hopeless.
    _, matched = await ask("placements", first["request"])
    assert (matched["placement"]["decision"]["outcome"], matched["placement"]["device_ids"]) == ("run", ["GPU-0"])
    assert matched["placement"]["verdicts"][0]["fit"] == "fits"
    more = {"batch_size": first["request"]["batch_size"] + 1}
    _, matched = await ask("placements", more)
    assert matched["placement"]["verdicts"][0]["fit"] != "fits"
    _, told = await ask("preflights", first["request"])
    assert (told["problems"], told["decision"]["outcome"]) == ([], "run")
    status, job = await ask("jobs", first["request"])
    assert (status, job["spec"]["insisted"]) == (201, None)
    assert job["spec"]["estimated_batch_size"] == first["request"]["batch_size"]
    await api("POST", "jobs", job["id"], "cancel", body={"force": True})

    # Whoever insists gets a job whose row says so.
    status, job = await ask("jobs", anyway=True)
    assert (status, job["spec"]["insisted"]["message"]) == (201, sentence)
    await api("POST", "jobs", job["id"], "cancel", body={"force": True})
