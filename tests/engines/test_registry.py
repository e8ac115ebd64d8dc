"""Engines are registered by one line, or by another package's entry point; nobody else knows them by name."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from jupyter_paddle_gpu.devices.service import DeviceService
from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.domain.jobs.job import Resources
from jupyter_paddle_gpu.engines import registry
from jupyter_paddle_gpu.services import Services, Settings, Submission
from jupyter_paddle_gpu.services.policies.files import load_policies
from tests import processes

sys.path.insert(0, str(Path(__file__).parent))
from elsewhere import ENGINE

OURS = [row.name for row in registry.BUILT_IN]
CELL = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "id": "a"}
SAY = "import os\nprint('cards', os.environ['CUDA_VISIBLE_DEVICES'], flush=True)"
WAIT = "import os, time\nprint('cards', os.environ['CUDA_VISIBLE_DEVICES'], flush=True)\ntime.sleep(60)"


@pytest.fixture
def services(tmp_path):
    """A machine without any device, with one engine more than ours."""
    made: list[Services] = []

    def make(policy=None):
        (tmp_path / "data").mkdir(exist_ok=True)
        if policy is not None:
            (tmp_path / "data" / "policy.json").write_text(json.dumps(policy))
        made.append(Services(Settings(data_folder=tmp_path / "data"), engine_types=(*registry.BUILT_IN, ENGINE)))
        made[-1]._built["devices"] = DeviceService(tmp_path, simulate="", readers=[])
        return made[-1]

    yield make
    for one in made:
        for job in one.jobs.list():
            one.jobs.cancel(job.id, force=True)
            one.jobs.wait(job.id, 30)
        one.close()


def source(services, folder, code=SAY):
    content = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{**CELL, "source": code}]}
    return services.open(folder / "train.ipynb", content)


def said(services, job):
    return [line.text for line in services.jobs.log(job.id).lines if line.stream == "stdout"]


def test_ours_are_there_and_the_first_is_the_default():
    assert list(registry.load(others=()).types) == OURS
    assert OURS[0] == "local", "it is there without a daemon"


def test_two_of_a_name_are_an_error():
    with pytest.raises(ValueError, match="local"):
        registry.load((*registry.BUILT_IN, registry.BUILT_IN[0]), others=())


def test_a_job_runs_on_the_devices_of_its_engine(services, tmp_path):
    """Though this machine has none: there, too, the same job is hopeless."""
    ours = services()
    ours.start_jobs()
    notebook = source(ours, tmp_path)
    wish = Submission(engine="elsewhere", resources=Resources(gpus=1))
    job = ours.jobs.wait(ours.submit(notebook, wish).id, 120)
    assert (job.state, job.device_ids) == ("succeeded", ("elsewhere/0",)), job.reason
    assert said(ours, job) == ["cards elsewhere/0"]
    with pytest.raises(PaddleGpuError) as refused:
        ours.submit(notebook, Submission(resources=Resources(gpus=1)))
    assert refused.value.code == "too_few_devices"


def test_a_submission_without_wishes_gets_a_device_where_the_engine_has_one(services, tmp_path):
    ours = services({"engine": "elsewhere"})
    assert list(ours.engines) == ["elsewhere", *OURS]
    job = ours.submit(source(ours, tmp_path))
    assert (job.spec.engine, job.spec.resources.gpus) == ("elsewhere", 1)
    placement = ours.match(source(ours, tmp_path)).placement
    assert placement.device_ids == ("elsewhere/1",), "the job before it comes to the first"
    assert placement.verdicts[0].reason.params["job"] == f"“{job.spec.name}”"
    assert [verdict.device_name for verdict in placement.verdicts] == ["H100 80GB"] * 2
    assert ours.match(source(ours, tmp_path), engine="local").placement.device_ids == ()
    features = {features.name: features for features in ours.features()}
    assert features["elsewhere"].title.render() == "Elsewhere"
    assert [features[name].own_devices for name in ("elsewhere", "local")] == [True, False]
    assert [device.id for device in ours.inventory("elsewhere").devices] == ["elsewhere/0", "elsewhere/1"]
    assert ours.inventory("local").devices == ours.inventory().devices == ()


def test_its_devices_are_claimed_one_to_a_job(services, tmp_path):
    ours = services()
    wish = Submission(engine="elsewhere", resources=Resources(gpus=1))
    ours.start_jobs()  # before another process is called to it, which has none but our own engines
    jobs = [ours.submit(source(ours, tmp_path, WAIT), wish) for _ in range(3)]
    running = [job for job in jobs if ours.jobs.wait(job.id, 0) and _is_running(ours, job)]
    assert {ours.jobs.get(job.id).device_ids for job in running} == {("elsewhere/0",), ("elsewhere/1",)}
    last = ours.jobs.get(jobs[2].id)
    assert last.state == "queued" and last.reason is not None and last.reason.code == "waits_free_device"


def _is_running(services, job, patience=60):
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        now = services.jobs.get(job.id)
        if now.state == "running":
            return True
        if now.reason is not None and now.reason.code == "waits_free_device":
            return False
        time.sleep(0.05)
    raise AssertionError(now)


def test_an_engine_that_gives_out_its_devices_itself_is_handed_every_job(services, tmp_path):
    ours = services({"elsewhere": {"assigns": True, "cards": 1}})
    wish = Submission(engine="elsewhere", resources=Resources(gpus=1))
    jobs = [ours.submit(source(ours, tmp_path, WAIT), wish) for _ in range(2)]
    ours.start_jobs()
    assert all(_is_running(ours, job) for job in jobs), "it has a queue of its own"
    assert [ours.jobs.get(job.id).device_ids for job in jobs] == [(), ()]
    with pytest.raises(PaddleGpuError) as refused:
        ours.submit(source(ours, tmp_path), Submission(engine="elsewhere", resources=Resources(gpus=2)))
    assert refused.value.code == "too_few_devices", "what it can never give is said at once"


def test_the_policy_has_a_section_for_it(services, tmp_path):
    assert services({"elsewhere": {"cards": 5}}).engines["elsewhere"].inventory().devices[4].id == "elsewhere/4"
    (tmp_path / "policy.json").write_text(json.dumps({"elsewhere": {"cards": "many"}}))
    for types, field in (((ENGINE,), "elsewhere.cards"), (registry.BUILT_IN, "elsewhere")):
        with pytest.raises(PaddleGpuError) as caught:
            load_policies(None, tmp_path, registry.load(types, others=()).types)
        assert caught.value.message.params["field"] == field


def test_its_options_are_its_own(services, tmp_path):
    ours = services()
    notebook = source(ours, tmp_path, "!pip install einops\n")
    job = ours.submit(notebook, Submission(engine="elsewhere", options={"queue": "short"}))
    assert job.spec.options == {"packages": ["einops"], "queue": "short"}
    with pytest.raises(PaddleGpuError) as caught:
        ours.submit(notebook, Submission(options={"queue": "short"}))
    assert caught.value.code == "option_unknown", "the local engine takes none"


def test_a_package_that_cannot_be_loaded_keeps_no_other_engine_away(tmp_path):
    broken = [
        EntryPoint(name="absent", value="no_such_module:ENGINE", group=registry.GROUP),
        EntryPoint(name="other", value="json:dumps", group=registry.GROUP),
        EntryPoint(name="again", value="jupyter_paddle_gpu.engines.local:ENGINE", group=registry.GROUP),
    ]
    loaded = registry.load(others=broken)
    assert list(loaded.types) == OURS
    assert [problem.params["name"] for problem in loaded.problems] == ["absent", "again", "other"]
    services = Services(Settings(data_folder=tmp_path))
    services._built["registry"] = loaded
    told = [check.finding.params.get("name") for check in services.doctor() if check.name == "plugins"]
    assert told == ["absent", "again", "other"]
    services.close()


def test_another_packages_entry_point_is_enough(tmp_path):
    """From a terminal: the command, and the process that looks after the queue after it, find the engine."""
    installed = tmp_path / "site"
    metadata = installed / "elsewhere-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: elsewhere\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[{registry.GROUP}]\nelsewhere = elsewhere:ENGINE\n")
    (installed / "elsewhere.py").write_text(Path(__file__).with_name("elsewhere.py").read_text())
    cells = [{**CELL, "source": SAY}]
    (tmp_path / "train.ipynb").write_text(
        json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells})
    )
    paths = [str(installed), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PADDLE_GPU_DATA": str(tmp_path / "data"), "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, "-m", "jupyter_paddle_gpu", "submit", "train.ipynb", "--engine", "elsewhere"]
    done = subprocess.run(
        [*command, "--gpus", "1", "--follow", "--json"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    processes.end("PADDLE_GPU_DATA", environment["PADDLE_GPU_DATA"])
    assert done.returncode == 0, done.stderr
    assert "cards elsewhere/0" in done.stdout
