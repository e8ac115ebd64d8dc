"""The local engine by itself: detached, found again, stopped, never mistaken about a pid."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import psutil
import pytest

from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.domain.jobs import reasons
from jupyter_paddle_gpu.domain.jobs.job import Job, JobSpec, Resources
from jupyter_paddle_gpu.engines import processes
from jupyter_paddle_gpu.engines.base import Engine, JobFolder, write_spec
from jupyter_paddle_gpu.engines.local import LocalEngine

LOOP = "import time\nprint('started', flush=True)\nwhile True:\n    time.sleep(0.05)"


def until(condition: Callable[[], Any], timeout: float = 180) -> None:
    deadline = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < deadline, "did not come true"
        time.sleep(0.02)


@pytest.fixture
def engine() -> Engine:
    return LocalEngine()


@pytest.fixture
def prepared(tmp_path: Path) -> Iterator[Callable[..., tuple[Job, JobFolder]]]:
    made: list[Job] = []

    def make(source: str, **fields: Any) -> tuple[Job, JobFolder]:
        folder = JobFolder(tmp_path / "job")
        folder.path.mkdir()
        cell = {"cell_type": "code", "source": source, "metadata": {}, "outputs": [], "execution_count": None}
        folder.source.write_text(json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
        known = {"notebook": str(tmp_path / "n.ipynb"), "output": str(tmp_path / "o.ipynb"), "folder": str(tmp_path)}
        spec = JobSpec(**{**known, "name": "n", "engine": "local", "python": sys.executable, **fields})
        job = Job(id=f"job-{os.getpid()}-{tmp_path.name}", spec=spec, state="running", created=1.0, updated=1.0)
        write_spec(job, folder, stop_seconds=5.0)
        made.append(job)
        return job, folder

    yield make
    for job in made:
        processes.kill_all(None, job.id)


def test_workers_that_need_more_shared_memory_than_there_is_are_told_before(engine: Engine, prepared: Any) -> None:
    free = psutil.disk_usage("/dev/shm").free
    job, _ = prepared("1", resources=Resources(shm_bytes=free + (1 << 30)))
    assert [message.code for message in engine.check(job)] == ["shared_memory_short"]
    small = msgspec.structs.replace(job, spec=msgspec.structs.replace(job.spec, resources=Resources(shm_bytes=1 << 20)))
    assert engine.check(small) == ()


def test_a_card_whose_node_is_not_there_is_told_before(engine: Engine, prepared: Any) -> None:
    job, _ = prepared("pass")
    job = msgspec.structs.replace(job, device_ids=("kunlun-7",))
    (problem,) = engine.check(job)
    assert (problem.code, problem.params["node"]) == ("device_node_missing", "/dev/xpu7")


def test_start_observe_end(engine: Engine, prepared: Any) -> None:
    job, folder = prepared("print('hello')")
    assert engine.observe(job, folder).state == "absent"
    handle = engine.start(job, folder, {})
    assert handle["pid"] == processes.read_identity(folder.identity).pid  # type: ignore[union-attr]
    until(lambda: engine.observe(job, folder).state == "ended")
    assert json.loads(folder.result.read_text())["reason"] == "succeeded"
    engine.collect(job, folder)
    assert folder.engine_log.read_text() == ""


def test_no_zombie_and_no_child_of_ours(engine: Engine, prepared: Any) -> None:
    job, folder = prepared(LOOP)
    pid = engine.start(job, folder, {})["pid"]
    assert psutil.Process(pid).ppid() != os.getpid() and os.getsid(pid) != os.getsid(0)
    assert engine.observe(job, folder).state == "running"
    engine.stop(job, folder, force=True)
    until(lambda: engine.observe(job, folder).state == "ended")
    assert engine.observe(job, folder).reason.code == "runner_vanished"  # type: ignore[union-attr]
    until(lambda: processes.processes_of(job.id) == [])


def test_start_twice_starts_once(engine: Engine, prepared: Any) -> None:
    job, folder = prepared(LOOP)
    first, second = engine.start(job, folder, {}), engine.start(job, folder, {})
    assert first["pid"] == second["pid"]
    engine.stop(job, folder, force=False)
    until(folder.result.exists)
    engine.start(job, folder, {})
    assert json.loads(folder.result.read_text())["reason"] == "cancelled"


def test_found_again_by_its_environment(engine: Engine, prepared: Any) -> None:
    job, folder = prepared(LOOP)
    engine.start(job, folder, {})
    assert job.id in engine.adopt()
    engine.stop(job, folder, force=True)
    until(lambda: job.id not in engine.adopt())


def test_another_process_with_the_pid_is_not_the_runner(engine: Engine, prepared: Any) -> None:
    job, folder = prepared(LOOP)
    engine.start(job, folder, {})
    identity = json.loads(folder.identity.read_text())
    engine.stop(job, folder, force=True)
    folder.identity.write_text(json.dumps({**identity, "pid": os.getpid()}))
    assert engine.observe(job, folder).state == "ended"
    engine.stop(job, folder, force=True)  # and we are still here
    folder.identity.write_text(json.dumps({**identity, "boot_id": "another boot"}))
    assert engine.observe(job, folder).state == "ended"


def test_runner_of_another_machine_is_left_alone(engine: Engine, prepared: Any) -> None:
    job, folder = prepared("1")
    folder.identity.write_text(json.dumps({"pid": os.getpid(), "time": 1.0, "host": "elsewhere"}))
    observation = engine.observe(job, folder)
    assert observation.state == "running" and observation.reason and "elsewhere" in observation.reason.render()
    engine.stop(job, folder, force=False)


@pytest.mark.parametrize("driver", [True, False])
def test_environment_of_a_job(prepared: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, driver: bool) -> None:
    """On the CPU it sees no card. Where there is no driver nothing is hidden: Paddle's launcher counts an empty list of
    devices as one, and starts no two processes on a CPU then."""
    monkeypatch.setenv("JUPYTERHUB_API_TOKEN", "secret")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if driver:
        (tmp_path / "proc/driver/nvidia").mkdir(parents=True)
        (tmp_path / "proc/driver/nvidia/version").write_text("")
    engine = LocalEngine(root=tmp_path)
    job, folder = prepared(
        "import os, sys\n"
        "print(os.environ.get('JUPYTERHUB_API_TOKEN'), repr(os.environ.get('CUDA_VISIBLE_DEVICES')),"
        " os.path.dirname(sys.executable) == os.environ['PATH'].split(os.pathsep)[0])"
    )
    engine.start(job, folder, {})
    until(folder.result.exists)
    assert f"None {'' if driver else None!r} True" in folder.log.read_text()


def test_interpreter_that_is_not_there(engine: Engine, prepared: Any) -> None:
    job, folder = prepared("1", python="/not/there")
    assert [problem.code for problem in engine.check(job)] == ["interpreter_missing"]
    with pytest.raises(PaddleGpuError) as refused:
        engine.start(job, folder, {})
    assert refused.value.code == "interpreter_missing"


def test_interpreter_that_fails_says_why(engine: Engine, prepared: Any, tmp_path: Path) -> None:
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho 'cannot load libpython' >&2\nexit 1\n")
    broken.chmod(0o755)
    job, folder = prepared("1", python=str(broken))
    with pytest.raises(PaddleGpuError) as refused:
        engine.start(job, folder, {})
    assert "cannot load libpython" in refused.value.message.render()
    assert [line for _, line in engine.log(job, folder, "")] == ["cannot load libpython"]


def test_features_say_what_it_can(engine: Engine) -> None:
    features = engine.supported_features()
    assert features.available and features.gpus and not features.containers and features.problems == ()


def test_processes_that_train_together_end_together(engine: Engine, prepared: Any) -> None:
    wait = (
        "import os, time\nprint('up as', os.environ['PADDLE_DISTRI_BACKEND'], flush=True)\nwhile True: time.sleep(0.05)"
    )
    job, folder = prepared(wait, processes=2)
    engine.start(job, folder, {})
    logs = (folder.log, folder.path / "rank-1" / "log.jsonl")
    until(lambda: all(log.exists() and "up as gloo" in log.read_text() for log in logs))
    usage = engine.usage(job, folder)
    assert usage is not None and usage.processes >= 4, "two supervisors, two notebooks"
    engine.stop(job, folder, force=True)
    until(lambda: processes.processes_of(job.id) == [])
    assert engine.observe(job, folder).state == "ended"


def test_a_paddle_for_the_cpu_is_told_before_a_job_holds_a_device(engine: Engine, prepared: Any) -> None:
    """This environment's Paddle is one."""
    job, folder = prepared("1")
    on_a_card = msgspec.structs.replace(job, device_ids=("GPU-a",))
    spec = msgspec.structs.replace(job.spec, resources=Resources(gpus=1))
    assert not [found for found in engine.check(job) if found.code == "paddle_for_cpu"]
    for asked in (on_a_card, msgspec.structs.replace(job, spec=spec)):
        (found,) = [found for found in engine.check(asked) if found.code == "paddle_for_cpu"]
        assert reasons.is_note(found)
    engine.prepare(on_a_card, folder, lambda *_: None, lambda: False)  # and may do so all the same


def test_processes_of_a_paddle_for_the_cpu_find_each_other(engine: Engine, prepared: Any) -> None:
    job, folder = prepared("import os\nprint('by', os.environ.get('PADDLE_DISTRI_BACKEND'))", processes=2)
    engine.start(msgspec.structs.replace(job, device_ids=("GPU-a", "GPU-b")), folder, {})
    until(folder.result.exists)
    assert "by gloo" in folder.log.read_text()


def test_on_devices_each_process_sees_its_own(engine: Engine, prepared: Any) -> None:
    job, folder = prepared("import os\nprint('sees', os.environ['CUDA_VISIBLE_DEVICES'])", processes=2)
    job = msgspec.structs.replace(job, device_ids=("GPU-a", "GPU-b"))
    engine.start(job, folder, {})
    until(folder.result.exists)
    assert "sees GPU-a" in folder.log.read_text()
    assert "sees GPU-b" in (folder.path / "rank-1" / "log.jsonl").read_text()
