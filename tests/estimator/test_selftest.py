"""A Paddle that was never checked shows itself on a small training first."""

from pathlib import Path

import pytest

from jupyter_paddle_gpu.estimator import selftest
from jupyter_paddle_gpu.estimator.interpreters import find_interpreter
from jupyter_paddle_gpu.estimator.worker import TRACER, Worker, WorkerSettings

HERE = Path(__file__).parent


@pytest.fixture
def make_worker():
    made = []

    def make(tracer):
        made.append(Worker(find_interpreter("python3"), WorkerSettings(tracer=tracer)))
        return made[-1]

    yield make
    for worker in made:
        worker.close()


@pytest.mark.paddle
def test_a_checked_version_is_trusted_without_a_trial(make_worker, tmp_path, monkeypatch):
    worker = make_worker(HERE / "bare_tracer")
    monkeypatch.setattr(selftest, "CHECKED", (worker.start().paddle_version,))

    assert selftest.examine(worker, tmp_path) == selftest.Trust(True)


@pytest.mark.paddle
def test_another_version_is_trusted_when_trace_and_real_step_agree(make_worker, tmp_path, monkeypatch):
    monkeypatch.setattr(selftest, "CHECKED", ("0.0",))
    trust = selftest.examine(make_worker(TRACER), tmp_path)

    assert trust.traces and trust.note.code == "unchecked_paddle" and "{" not in trust.note.render()


@pytest.mark.paddle
@pytest.mark.parametrize("tracer", ["bare_tracer", "failing_tracer"])
def test_it_is_not_trusted_when_they_do_not(make_worker, tmp_path, monkeypatch, tracer):
    monkeypatch.setattr(selftest, "CHECKED", ("0.0",))
    trust = selftest.examine(make_worker(HERE / tracer), tmp_path)

    assert not trust.traces and trust.note.code == "disagreeing_paddle" and trust.note.render_hint()


@pytest.mark.paddle
def test_a_tracer_that_does_not_load_leaves_real_steps(make_worker, tmp_path, monkeypatch):
    monkeypatch.setattr(selftest, "CHECKED", ("0.0",))
    assert not selftest.examine(make_worker(tmp_path), tmp_path).traces
