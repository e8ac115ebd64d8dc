"""A Paddle that was never checked shows itself on a small training first."""

import shutil
from pathlib import Path

import pytest

from jupyter_paddle_gpu.estimator.sources import selftest
from jupyter_paddle_gpu.estimator.workers.interpreters import find_interpreter
from jupyter_paddle_gpu.estimator.workers.settings import TRACER, WorkerSettings
from jupyter_paddle_gpu.estimator.workers.worker import Worker

HERE = Path(__file__).parents[1]


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

    assert (
        trust.traces
        and [note.code for note in trust.notes] == ["unchecked_paddle"]
        and "{" not in trust.notes[0].render()
    )


@pytest.mark.paddle
@pytest.mark.parametrize("tracer", ["bare_tracer", "failing_tracer"])
def test_it_is_not_trusted_when_they_do_not(make_worker, tmp_path, monkeypatch, tracer):
    monkeypatch.setattr(selftest, "CHECKED", ("0.0",))
    trust = selftest.examine(make_worker(HERE / tracer), tmp_path)

    assert not trust.traces and [note.code for note in trust.notes] == ["disagreeing_paddle"]
    assert trust.notes[0].render_hint()


@pytest.mark.paddle
def test_a_tracer_that_does_not_load_leaves_real_steps(make_worker, tmp_path, monkeypatch):
    monkeypatch.setattr(selftest, "CHECKED", ("0.0",))
    assert not selftest.examine(make_worker(tmp_path), tmp_path).traces


@pytest.mark.paddle
@pytest.mark.parametrize("checked", [True, False])
def test_what_this_paddle_has_no_place_for_is_told(make_worker, tmp_path, monkeypatch, checked):
    worker = make_worker(lacking(tmp_path))
    version = worker.start().paddle_version
    monkeypatch.setattr(selftest, "CHECKED", (version,) if checked else ("0.0",))
    note = selftest.examine(worker, tmp_path).notes[-1]

    assert note.code == "unpatched_paddle"
    assert f"Paddle {version} no longer has what a trace replaces: paddle.nn.gone, paddle.Tensor.gone." in note.render()


def lacking(tmp_path):
    """A tracer like ours, whose table has two rows more than this Paddle."""
    folder = tmp_path / "tracer"
    shutil.copytree(TRACER, folder, ignore=shutil.ignore_patterns("__pycache__"))
    table = folder / "patches" / "table.py"
    rows = "    import paddle\n    yield from (Patch(owner, 'gone', print) for owner in (paddle.nn, paddle.Tensor))\n"
    head, _, tail = table.read_text().partition("    yield from devices.kinds()\n")
    table.write_text(head + rows + "    yield from devices.kinds()\n" + tail)
    return folder
