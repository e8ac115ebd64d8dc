"""A daemon that takes connections and answers nothing: a sentence soon, and nobody else waits for it."""

from __future__ import annotations

import contextlib
import json
import signal
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from conftest import IMAGE, LIMIT, Bench, notebook_of, until

from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.domain.jobs.job import JobSpec, Resources
from jupyter_paddle_gpu.engines.docker import DockerSettings, doctor
from jupyter_paddle_gpu.engines.docker.engine import DockerEngine
from jupyter_paddle_gpu.jobs.service import JobService
from jupyter_paddle_gpu.jobs.settings import JobSettings
from jupyter_paddle_gpu.services import Services, Settings, Submission

LONG = 3600.0
"""What work may take here: whoever waited for that would never come back."""
QUICK = {"answer_seconds": 0.5, "request_seconds": LONG, "silence_seconds": LONG}


class Mute:
    """Listens on a socket, takes every connection and says nothing, as a daemon that hangs."""

    def __init__(self, path):
        self.host, self.taken = f"unix://{path}", list[socket.socket]()
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(str(path))
        self._socket.listen(128)
        threading.Thread(target=self._take, daemon=True).start()

    def _take(self):
        with contextlib.suppress(OSError):  # closed
            while True:
                self.taken.append(self._socket.accept()[0])

    def close(self):
        self._socket.close()
        for taken in self.taken:
            taken.close()


@pytest.fixture
def mute(tmp_path):
    made = Mute(tmp_path / "mute.sock")
    yield made
    made.close()


def in_time(call):
    """What a call gives; none of them may take as long as work may."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(call).result(60)


def well(engine, ask):
    """What a daemon that works answers in the end: on a busy machine it may need longer than people wait for."""

    def again():
        engine.daemon._silence.heard()
        with contextlib.suppress(PaddleGpuError):
            return ask()

    return until(again)


def forget_facts(engine):
    """What the daemon said of itself a moment ago is not enough now."""
    engine.doctor._looked = -1e9


def is_the_sentence(message, host, seconds="0.5"):
    assert message.code == "engine_unreachable"
    assert message.render() == f"The Docker daemon at {host} does not answer ({seconds} s)."
    assert "`sudo systemctl restart docker`" in message.render_hint()
    return True


def test_a_daemon_that_hangs_is_said_in_time_and_remembered(mute):
    engine = DockerEngine(DockerSettings(host=mute.host, **QUICK))
    features = in_time(engine.supported_features)
    assert not features.available
    (problem,) = features.problems
    assert is_the_sentence(problem, mute.host)
    until(lambda: mute.taken)
    asked = len(mute.taken)
    for _ in range(20):  # a panel that polls
        assert is_the_sentence(engine.supported_features().problems[0], mute.host)
    with pytest.raises(PaddleGpuError):
        engine.local_images()
    assert len(mute.taken) == asked, "it is not asked again for a while"


def test_of_many_who_come_later_one_asks_again(mute):
    engine = DockerEngine(DockerSettings(host=mute.host, **QUICK))
    in_time(engine.supported_features)
    until(lambda: mute.taken)
    asked = len(mute.taken)
    engine.daemon._silence._until = 0.0  # it was long ago
    together = threading.Barrier(8)

    def poll(_):
        together.wait()
        return engine.supported_features().problems[0]

    with ThreadPoolExecutor(8) as pool:
        assert all(is_the_sentence(problem, mute.host) for problem in pool.map(poll, range(8)))
    until(lambda: len(mute.taken) > asked)
    assert len(mute.taken) == asked + 1


def test_engines_doctor_and_submit_with_a_daemon_that_hangs(mute, tmp_path):
    policy = tmp_path / "policy.json"
    policy.write_text(json.dumps({"docker": {"host": mute.host, **QUICK}}))
    services = Services(Settings(data_folder=tmp_path / "data", policy_file=policy))
    notebook = tmp_path / "a.ipynb"
    notebook.write_text(json.dumps(notebook_of("print(1)")))
    try:
        (docker,) = [row for row in in_time(services.features) if row.name == "docker"]
        assert is_the_sentence(docker.problems[0], mute.host)
        (check,) = [row for row in in_time(services.doctor) if row.name == "engine_docker"]
        assert not check.ok
        assert is_the_sentence(check.finding, mute.host)
        submission = Submission(engine="docker", image=IMAGE, resources=Resources())
        with pytest.raises(PaddleGpuError) as caught:
            in_time(lambda: services.submit(services.open(notebook), submission))
        assert is_the_sentence(caught.value.message, mute.host)
        assert services.jobs.list() == ()
    finally:
        services.close()


def test_a_daemon_that_begins_to_hang_in_the_middle_of_a_submit(own_daemon, tmp_path, monkeypatch):
    """It has answered every question; then the container by which folders and devices are tried out does not come."""
    monkeypatch.setattr(doctor, "FACTS_SECONDS", LONG)  # what it said a moment ago
    bench = Bench(tmp_path, own_daemon.host, trial_seconds=3.0, **QUICK)
    first, others = bench.job("1", device_ids=("GPU-fake-0",))[0], [bench.job("1", device_ids=("1",))[0] for _ in "abc"]
    assert well(bench.engine, lambda: bench.engine.check(bench.job("1")[0]) == ())
    own_daemon.process.send_signal(signal.SIGSTOP)
    try:
        (problem,) = in_time(lambda: bench.engine.check(first))
        assert is_the_sentence(problem, own_daemon.host, "3")
        with ThreadPoolExecutor(len(others)) as pool:
            for problems in in_time(lambda: list(pool.map(bench.engine.check, others))):
                assert is_the_sentence(problems[0], own_daemon.host, "3"), "they do not wait one after the other"
    finally:
        own_daemon.process.send_signal(signal.SIGCONT)
    assert well(bench.engine, lambda: bench.engine.check(first) == ()), "that it hung is no fault of the devices"


def test_it_is_found_again_when_it_answers(own_daemon):
    engine = DockerEngine(DockerSettings(host=own_daemon.host, **{**QUICK, "silence_seconds": 0.2}))
    assert well(engine, lambda: engine.supported_features().available)
    forget_facts(engine)
    own_daemon.process.send_signal(signal.SIGSTOP)
    try:
        assert is_the_sentence(in_time(engine.supported_features).problems[0], own_daemon.host)
    finally:
        own_daemon.process.send_signal(signal.SIGCONT)
    assert until(lambda: in_time(engine.supported_features).available), "by itself"
    assert well(engine, engine.local_images)


def test_a_job_that_is_being_prepared_has_time(own_daemon, tmp_path):
    """Its thread is its own: a daemon that hangs for longer than people wait for costs it no attempt."""
    docker = DockerSettings(host=own_daemon.host, store=str(tmp_path / "jobs"), networks=("none",),
                            allowed_images=("stand-in/*",), shm_bytes=64 << 20, answer_seconds=0.3)  # fmt: skip
    settings = JobSettings(active_seconds=0.1, wait_seconds=0.05)
    engine = DockerEngine(docker)
    service = JobService.open({"docker": engine}, data_folder=tmp_path, settings=settings)
    service._dispatcher = None
    (tmp_path / "notebooks").mkdir()
    spec = JobSpec(name="a", notebook=f"{tmp_path}/notebooks/a.ipynb", output=f"{tmp_path}/notebooks/out.ipynb",
                   folder=f"{tmp_path}/notebooks", engine="docker", image=IMAGE)  # fmt: skip
    job = well(engine, lambda: service.submit(spec, notebook_of("print(1)"))).id
    own_daemon.process.send_signal(signal.SIGSTOP)
    try:
        service.start()
        until(lambda: service.get(job).state == "preparing")
        time.sleep(1)  # longer than people wait for
        assert service.get(job).state == "preparing"
        forget_facts(engine)
        assert is_the_sentence(in_time(engine.supported_features).problems[0], own_daemon.host, "0.3")
    finally:
        own_daemon.process.send_signal(signal.SIGCONT)
    ended = service.wait(job, LIMIT)
    service.stop()
    assert (ended.state, ended.attempts) == ("succeeded", 1), ended.reason
