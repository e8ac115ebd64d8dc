"""Ends of real jobs are told once, also after failures and kills, and never in the way of a job."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.domain.jobs.job import Job
from jupyter_paddle_gpu.engines.local import LocalEngine
from jupyter_paddle_gpu.jobs.service import JobService
from jupyter_paddle_gpu.jobs.settings import JobSettings
from jupyter_paddle_gpu.notices.settings import NoticePolicy, Receiver
from jupyter_paddle_gpu.services import Services, Submission
from jupyter_paddle_gpu.services.jobs.notifications import Telling
from jupyter_paddle_gpu.services.settings import Settings
from tests.work import notebook

from ..jobs import conftest as jobs_conftest
from .conftest import Robot

spec, work = jobs_conftest.spec, jobs_conftest.work  # fixtures
FAST = JobSettings(active_seconds=0.05, idle_seconds=0.1, retry_seconds=0.1, retry_most_seconds=0.2, notice_attempts=3)
LOOKER = """
import sys, time
from pathlib import Path
from tests.notices.test_once import service
service(Path(sys.argv[1]), sys.argv[2]).start()
print("up", flush=True)
time.sleep(600)
"""


def service(folder: Path, url: str) -> JobService:
    policy = NoticePolicy(receivers={"lab": Receiver(url=url)})
    return JobService.open({"local": LocalEngine()}, data_folder=folder, settings=FAST, tell=Telling(lambda: policy))


@pytest.fixture
def looking(tmp_path: Path, robot: Robot) -> Iterator[JobService]:
    jobs = service(tmp_path / "data", robot.url)
    jobs.start()
    yield jobs
    jobs.stop()


def settled(jobs: JobService, job_id: str) -> Job:
    """The job when nothing is open any more."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        job = jobs.get(job_id)
        if job.notices and not jobs.store.with_open_notices():
            return job
        time.sleep(0.05)
    raise AssertionError(jobs.get(job_id))


def test_each_receiver_is_told_once(looking: JobService, robot: Robot, spec: Callable[..., Any]) -> None:
    job = looking.submit(spec(notify=("lab", "lab")), notebook("print('epoch 1 loss 0.5')"))
    done = settled(looking, job.id)
    assert [(one.receiver, one.state, one.attempts) for one in done.notices] == [("lab", "sent", 1)]
    silent = looking.submit(spec(), notebook("1"))
    assert looking.wait(silent.id, 120).notices == ()
    assert [json.loads(body)["id"] for _, _, body in robot.came] == [job.id]


def test_what_fails_is_tried_again_and_told_in_the_row(
    looking: JobService,
    robot: Robot,
    spec: Callable[..., Any],
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    robot.answers = [(503, b""), (200, b"{}")]
    first = settled(looking, looking.submit(spec(notify=("lab",)), notebook("1")).id)
    assert [(one.state, one.attempts) for one in first.notices] == [("sent", 2)]
    robot.answers = [(404, b"")]
    second = settled(looking, looking.submit(spec(notify=("lab", "gone")), notebook("1")).id)
    assert second.state == "succeeded"
    refused, unknown = second.notices
    assert (refused.state, refused.attempts) == ("failed", 1) and refused.problem.render() == (
        "“lab” refused the notice: HTTP 404."
    )
    assert unknown.state == "failed" and unknown.problem.code == "receiver_unknown"
    robot.answers = [(500, b"")]
    third = settled(looking, looking.submit(spec(notify=("lab",)), notebook("1 / 0")).id)
    assert (third.state, third.notices[0].state, third.notices[0].attempts) == ("failed", "failed", 3)
    # One of our own connection pool's lines names host and path; no key is in a handler's reach at its usual level.
    told = [record.getMessage() for record in caplog.records if record.levelno > logging.DEBUG]
    assert "THE-KEY" not in " ".join(told)
    assert b"THE-KEY" not in looking.store.path.read_bytes()


def looker(folder: Path, url: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", LOOKER, str(folder), url],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    assert process.stdout is not None and process.stdout.readline() == "up\n"
    return process


@pytest.mark.parametrize("moment", ["before", "while"])
def test_a_kill_of_who_looks_after_the_queue(
    tmp_path: Path,
    robot: Robot,
    spec: Callable[..., Any],
    moment: str,
) -> None:
    """`before`: the job ends while nobody looks. `while`: the notice has arrived, and nobody hears the answer."""
    folder, go = tmp_path / "data", tmp_path / "go"
    jobs = service(folder, robot.url)
    if moment == "while":
        robot.may_answer.clear()
    first = looker(folder, robot.url)
    try:
        wait = f"import os, time\nprint('on', flush=True)\nwhile not os.path.exists({str(go)!r}): time.sleep(0.05)"
        job = jobs.submit(spec(notify=("lab",)), notebook(wait))
        deadline = time.monotonic() + 120
        while jobs.get(job.id).state != "running" and time.monotonic() < deadline:
            time.sleep(0.05)
        if moment == "while":
            go.touch()
            assert robot.arrived.wait(120)
    finally:
        os.kill(first.pid, signal.SIGKILL)
        first.wait()
    go.touch()
    robot.may_answer.set()
    jobs.start()
    try:
        done = settled(jobs, job.id)
    finally:
        jobs.stop()
    assert len(robot.came) == 1
    assert done.notices[0].state == ("sent" if moment == "before" else "unsure")
    assert done.state == "succeeded"


def test_the_policy_says_who(tmp_path: Path, robot: Robot) -> None:
    """From the policy file through the use cases, as every face asks them."""
    data, folder = tmp_path / "data", tmp_path / "work"
    data.mkdir(), folder.mkdir()
    (data / "paddle-gpu.yaml").write_text(
        f"notices:\n  usual: [lab]\n  receivers:\n    lab: {{url: '{robot.url}', secret: hush, when: [failed]}}\n"
        "    quiet: {kind: feishu, url_file: /etc/feishu-url}\n"
    )
    path = folder / "lesson.ipynb"
    path.write_text(json.dumps(notebook("1 / 0")))
    services = Services(Settings(data_folder=data, system_policy_file=tmp_path / "none.yaml"))
    try:
        with pytest.raises(PaddleGpuError, match="Nobody is called “who”"):
            services.submit(services.open(path), Submission(engine="local", notify=("who",)))
        services.start_jobs()
        wrong = services.submit(services.open(path), Submission(engine="local"))
        path.write_text(json.dumps(notebook("1")))
        right = services.submit(services.open(path), Submission(engine="local"))
        nobody = services.submit(services.open(path), Submission(engine="local", notify=()))
        assert settled(services.jobs, wrong.id).notices[0].state == "sent"
        assert services.jobs.wait(right.id, 120).state == "succeeded"
        assert settled(services.jobs, right.id).notices[0].state == "unwanted"
        assert services.jobs.wait(nobody.id, 120).notices == ()
        assert len(robot.came) == 1
        rows = services.receivers()
        assert [(one.name, one.kind, one.usual) for one in rows] == [("lab", "json", True), ("quiet", "feishu", False)]
        shown = repr(services.policy_report().settled)
        assert "THE-KEY" not in shown and "hush" not in shown and "/etc/feishu-url" in shown
    finally:
        services.close()
