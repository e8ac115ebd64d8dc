"""What a notebook's metadata ask for its job is in the estimate, in preflight's answer and in the job alike."""

import json
from pathlib import Path

import msgspec
import pytest

from jupyter_paddle_gpu.domain.changes import Changes
from jupyter_paddle_gpu.domain.devices import Device, Driver, Inventory
from jupyter_paddle_gpu.domain.estimates import Estimate
from jupyter_paddle_gpu.domain.what_ifs import EstimateRequest
from jupyter_paddle_gpu.engines.capabilities import JobDefaults, defaults_of
from jupyter_paddle_gpu.engines.docker.engine import DockerEngine
from jupyter_paddle_gpu.engines.docker.settings import DockerSettings
from jupyter_paddle_gpu.engines.local.engine import LocalEngine
from jupyter_paddle_gpu.jobs.scheduling.queue import Standing
from jupyter_paddle_gpu.notebook.files.reading import parse_notebook
from jupyter_paddle_gpu.notebook.inspection import inspect_notebook
from jupyter_paddle_gpu.services import Services, Settings, Submission
from jupyter_paddle_gpu.services.estimates.estimating import Estimating
from jupyter_paddle_gpu.services.jobs.matching import match
from jupyter_paddle_gpu.services.jobs.placing import Site
from jupyter_paddle_gpu.services.policies.files import Policies
from tests.matching.situations import HOST

CELL = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
TRAINING = """
import os
import paddle
net = paddle.nn.Linear(8, 2)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for _ in range(5):
    loss = net(paddle.zeros([int(os.environ["BATCH"]), 8])).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
IMAGE = "paddlepaddle/paddle:2.6.2-gpu-cuda11.7-cudnn8.4-trt8.4"
CARD = Device(
    id="GPU-0", index=0, vendor="nvidia", name="T4", memory_total=16 << 30, memory_free=16 << 30,
    compute_capability=(7, 5),
)  # fmt: skip


def content(own):
    cells = [{**CELL, "id": "a", "source": TRAINING}]
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {"paddle_gpu": own}, "cells": cells}


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        ({"image": IMAGE, "environment": {"A": "1"}}, JobDefaults(IMAGE, {"A": "1"})),
        ({"environment": {"A": "1"}, "job": "j1", "files": {"/a.yaml": "b: 1"}}, JobDefaults("", {"A": "1"})),
        ({"image": "somebodys/own:1", "environment": {"A": "1"}}, JobDefaults("", {"A": "1"})),
        ({"image": IMAGE, "environment": {"LD_PRELOAD": "/x.so"}}, JobDefaults()),
        ({"image": 3}, JobDefaults()),
        ({"privileged": True, "environment": {"A": "1"}}, JobDefaults()),
        ([], JobDefaults()),
    ],
)
def test_an_engine_says_what_a_notebook_asks_for(own, expected):
    assert defaults_of(DockerEngine(DockerSettings()), content(own)) == expected


def test_one_that_reads_nothing_of_it_says_nothing(tmp_path):
    assert defaults_of(LocalEngine(), content({"environment": {"A": "1"}})) == JobDefaults()


@pytest.mark.paddle
def test_its_variables_are_in_the_estimate_and_what_is_said_of_the_job(tmp_path):
    """Docker is not there: what a job would be told of that concerns no estimate."""
    policy = tmp_path / "policy.json"
    policy.write_text(json.dumps({"docker": {"host": f"unix://{tmp_path}/absent.sock"}}))
    services = Services(Settings(data_folder=tmp_path / "data", root=tmp_path, policy_file=policy))
    source = services.open("train.ipynb", content({"environment": {"BATCH": "24"}}))
    try:
        found = services.match(source, engine="docker").estimate
        assert (found.status, found.batch_size, found.questions) == ("ok", 24, ())
        said = services.match(source, EstimateRequest(environment={"BATCH": "8"}), engine="docker").estimate
        assert said.batch_size == 8, "what a person says counts first"
        assert services.match(source, engine="local").estimate.status == "needs_input", "this one reads nothing of it"
        assert services.preflight(source, Submission(engine="docker")).notes == ()
    finally:
        services.close()


class Containers(LocalEngine):
    """One whose jobs run in containers, and that reads a notebook's metadata as Docker does."""

    def supported_features(self):
        return msgspec.structs.replace(super().supported_features(), containers=True)

    def local_images(self):
        return ()

    def defaults_of(self, metadata):
        return DockerEngine(DockerSettings()).defaults_of(metadata)


def site_of(source):
    inventory = Inventory(time=1.0, devices=(CARD,), host=HOST, drivers={"nvidia": Driver(version="570.00")})
    engines, standing = {"there": Containers()}, lambda *_: Standing()
    return Site(engines, lambda: inventory, Policies(), standing, content=source.content)


@pytest.mark.parametrize(
    ("own", "image", "release"),
    [
        ({}, "", ""),
        ({"image": IMAGE}, "", "2.6.2"),
        ({}, IMAGE, "2.6.2"),
        ({"image": IMAGE}, "paddlepaddle/paddle:3.0.0-gpu-cuda12.6-cudnn9.5-trt10.5", "3.0.0"),
        ({}, "no name at all!", ""),
    ],
)
def test_the_image_that_the_panel_or_the_notebook_names_says_the_release(monkeypatch, own, image, release):
    """What is asked for the match, and what a submit asks for its job."""
    monkeypatch.setattr("jupyter_paddle_gpu.services.jobs.imaging.kernel_paddle", lambda name: "3.3.1")
    source = parse_notebook(content(own), Path("/nowhere/n.ipynb"))
    facts, asked = inspect_notebook(source), []

    def estimated(request, where):
        asked.append(request.release)
        return Estimate(status="needs_input", evidence="scan")

    given = {"whole": estimated, "meant": lambda request, where: request, "changed": lambda request, where: Changes()}
    found = match(site_of(source), facts, estimated, EstimateRequest(target="gpu"), image=image, **given)
    assert set(asked) == {release}
    if release:
        assert found.placement.image.reference == (image or IMAGE)


def test_the_largest_batch_is_sought_as_the_notebooks_own_image_takes_it(monkeypatch, tmp_path):
    monkeypatch.setattr("jupyter_paddle_gpu.services.jobs.imaging.kernel_paddle", lambda name: "3.3.1")
    monkeypatch.setattr(Services, "_site", lambda self, source: site_of(source))
    asked = []
    monkeypatch.setattr(Estimating, "fits", lambda self, source, facts, request, devices: asked.append(request))
    services = Services(Settings(data_folder=tmp_path))
    try:
        services.fits(parse_notebook(content({"image": IMAGE, "environment": {"A": "1"}}), Path("/nowhere/n.ipynb")))
    finally:
        services.close()
    assert [(request.release, request.environment) for request in asked] == [("2.6.2", {"A": "1"})]
