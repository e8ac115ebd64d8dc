"""Events become progress; results become endings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from jupyter_paddle_gpu.domain.decisions import Limits
from jupyter_paddle_gpu.domain.jobs import reasons
from jupyter_paddle_gpu.domain.jobs.job import Job, JobSpec, Resources
from jupyter_paddle_gpu.domain.messages import Message
from jupyter_paddle_gpu.domain.variables import Variable
from jupyter_paddle_gpu.engines.base import JobFolder, Observation
from jupyter_paddle_gpu.jobs.folder.progress import ProgressReader
from jupyter_paddle_gpu.jobs.monitoring.endings import ending_of
from jupyter_paddle_gpu.jobs.settings import JobSettings


def add(path: Path, *events: dict[str, Any]) -> None:
    with path.open("a") as file:
        file.writelines(json.dumps(event) + "\n" for event in events)


def test_cells_epochs_and_time_left(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    reader = ProgressReader(path)
    assert reader.read(0.0).cells_total == 0
    add(path, {"t": 10, "type": "cell", "cell": 3, "state": "started", "done": 1, "total": 4})
    add(path, {"t": 10, "type": "metric", "epoch": 1, "epochs": 10, "step": 1, "steps": 10, "metrics": {"loss": 2}})
    add(path, {"t": 20, "type": "metric", "epoch": 2, "epochs": 10, "step": 1, "steps": 10, "metrics": {"acc": 0.5}})
    progress = reader.read(20.0)
    assert (progress.cell, progress.cells_done, progress.cells_total) == (3, 1, 4)
    assert (progress.epoch, progress.epochs, progress.step, progress.steps) == (2, 10, 1, 10)
    assert progress.metrics == {"loss": 2.0, "acc": 0.5}
    assert progress.seconds_left == pytest.approx(89.0, abs=0.2)  # a tenth took 10 s, 89 hundredths are left
    assert reader.read(30.0).seconds_left == pytest.approx(79.0, abs=0.2)
    add(path, {"t": 30, "type": "cell", "cell": 3, "state": "finished", "done": 2, "total": 4})
    done = reader.read(30.0)
    assert (done.cell, done.cells_done, done.epoch, done.seconds_left) == (None, 2, 2, None)


@pytest.mark.parametrize("older", [False, True], ids=["", "cells without the clock that is never set"])
def test_the_share_is_of_time(tmp_path: Path, older: bool) -> None:
    """Cells are alike until one trains, which takes as long as its epochs say."""
    path = tmp_path / "events.jsonl"
    reader = ProgressReader(path)
    assert reader.read(5.0).share == 0.0

    def say(at: float, kind: str, **more: Any) -> None:
        clock = {} if older and kind == "cell" else {"m": at + 5000}
        add(path, {"t": at, "type": kind, **clock, **more})

    def cell(at: float, number: int, state: str = "started") -> None:
        say(at, "cell", cell=number, state=state, done=number + (state != "started"), total=4)

    cell(0, 0)
    cell(2, 0, "finished")
    cell(2, 1)
    assert reader.read(2.0).share == pytest.approx(0.25 / 2, abs=0.01)  # one of four, and a training may come
    for epoch, at in ((1, 4.0), (2, 24.0)):
        say(at, "metric", epoch=epoch, epochs=4, step=1, steps=2)
    # 24 s are over; of the training 50 s are to come, and 2 s of each of two more cells.
    assert reader.read(24.0).share == pytest.approx(24 / (24 + 50 + 4), abs=0.01)
    assert reader.read(49.0).share == pytest.approx(49 / (24 + 50 + 4), abs=0.01)
    assert reader.read(90.0).share == pytest.approx(90 / 94, abs=0.01)  # slower than thought: not over before its end
    cell(100, 1, "finished")
    assert reader.read(100.0).share == pytest.approx(100 / 104, abs=0.01)
    cell(100, 2)
    if not older:  # a clock that was set back by an hour changes nothing
        add(path, {"t": 101.0 - 3600, "m": 5101.0, "type": "metric", "metrics": {"accuracy": 0.9}})
        assert reader.read(101.0 - 3600).share == pytest.approx(101 / 105, abs=0.01)


def test_the_share_never_falls(tmp_path: Path) -> None:
    """Five quick cells before a training of 1,000 s seem to be most of a run of seven cells until its first lines."""
    path = tmp_path / "events.jsonl"
    reader = ProgressReader(path, trains=True)
    shares = []
    for number in range(5):
        add(path, {"t": number, "type": "cell", "cell": number, "state": "started", "done": number, "total": 7})
        add(
            path, {"t": number + 1, "type": "cell", "cell": number, "state": "finished", "done": number + 1, "total": 7}
        )
        shares.append(reader.read(number + 1.0).share)
    add(path, {"t": 5, "type": "cell", "cell": 5, "state": "started", "done": 5, "total": 7})
    shares += [reader.read(float(at)).share for at in (6, 60)]
    for epoch in range(1, 11):
        add(path, {"t": 100 * epoch, "type": "metric", "epoch": epoch, "epochs": 10})
        shares.append(reader.read(100.0 * epoch).share)
    assert shares == sorted(shares)
    assert max(shares[:7]) <= 0.1 < shares[-2]
    assert shares[-1] == pytest.approx(0.91, abs=0.02)  # and is true as soon as the training tells
    # Another server goes on where the row is.
    assert ProgressReader(path, trains=True, told=0.95).read(1000.0).share == 0.95


def test_a_training_that_nobody_knew_of_does_not_hold_the_bar_for_long(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    reader = ProgressReader(path)
    add(path, {"t": 0, "type": "cell", "cell": 0, "state": "started", "done": 0, "total": 3})
    add(path, {"t": 0.1, "type": "cell", "cell": 0, "state": "finished", "done": 1, "total": 3})
    add(path, {"t": 0.1, "type": "cell", "cell": 1, "state": "started", "done": 1, "total": 3})
    assert reader.read(2.0).share <= 0.25
    for epoch in range(1, 5):
        add(path, {"t": 2.0 * epoch, "type": "metric", "epoch": epoch, "epochs": 12})
    assert reader.read(8.0).share == pytest.approx(0.3, abs=0.05)


def test_of_a_training_that_says_nothing_the_rest_counts(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    reader = ProgressReader(path, trains=True)
    add(path, {"t": 0, "type": "cell", "cell": 0, "state": "started", "done": 0, "total": 3})
    add(path, {"t": 1, "type": "cell", "cell": 0, "state": "finished", "done": 1, "total": 3})
    add(path, {"t": 1, "type": "cell", "cell": 1, "state": "started", "done": 1, "total": 3})
    add(path, {"t": 50, "type": "metric", "metrics": {"loss": 1.0}})
    assert reader.read(50.0).share <= 0.1
    add(path, {"t": 90, "type": "cell", "cell": 1, "state": "finished", "done": 2, "total": 3})
    assert reader.read(90.0).share > 0.9


def test_epochs_that_only_the_notebook_counts(tmp_path: Path) -> None:
    """`for epoch in range(5): print("epoch", epoch)` says 3, not of how many."""
    path = tmp_path / "events.jsonl"
    own = Variable(name="epochs", value=5, role="epochs", cell=1, call="for epoch in range(…)")
    reader = ProgressReader(path, counted=own)
    seen = []
    for cell, epoch in ((0, 1), (1, 3), (1, 5), (1, 6)):
        add(path, {"t": 1, "type": "cell", "cell": cell, "state": "started", "done": cell, "total": 2})
        add(path, {"t": 1, "type": "metric", "epoch": epoch})
        seen.append(reader.read(1.0).epochs)
    assert seen == [None, 5, 5, None]  # another cell's loop is another one; one that goes beyond it, too
    named = Variable(name="EPOCHS", value=5, role="epochs", cell=0)
    assert ProgressReader(path, counted=named).read(1.0).epochs is None
    add(path, {"t": 2, "type": "metric", "epoch": 2})
    assert ProgressReader(path, counted=named).read(2.0).epochs == 5


@pytest.mark.parametrize(
    ("events", "left"),
    [
        # A line at each epoch's beginning: three of four are to come after the first.
        ([{"epoch": 1, "epochs": 4}, {"epoch": 2, "epochs": 4}], 30),
        # A line at each epoch's end: two of four are to come after the second.
        ([{"epoch": n, "epochs": 4, "metrics": {"loss": 1}} for n in (1, 2)], 20),
        ([{"epoch": n, "epochs": 4, "metrics": {"loss": 1}} for n in (1, 2, 3, 4)], None),
        # Counted from 0. What should be over is not told as 0 s: it may go on with something else.
        ([{"epoch": n, "epochs": 4, "metrics": {"loss": 1}} for n in (0, 1, 2, 3)], None),
        ([{"epoch": 0, "epochs": 4}, {"epoch": 1, "epochs": 4}], 30),
        ([{"step": 10, "steps": 100}, {"step": 30, "steps": 100}], 35),
        ([{"step": 10, "steps": 100, "epoch": 1, "epochs": 2}, {"step": 60, "steps": 100}], 28),
        # Of how many epochs, nobody says.
        ([{"step": 10, "steps": 100, "epoch": 1}, {"step": 60, "steps": 100, "epoch": 1}], None),
        ([{"epoch": 1}, {"epoch": 2}], None),
        ([{"metrics": {"loss": 1}}, {"metrics": {"loss": 0.5}}], None),
    ],
)
def test_time_left_from_lines_of_every_kind(tmp_path: Path, events: list[dict[str, Any]], left: float | None) -> None:
    path = tmp_path / "events.jsonl"
    add(path, {"t": 0, "type": "cell", "cell": 0, "state": "started", "done": 0, "total": 1})
    add(path, *({"t": 10 * number, "type": "metric", **event} for number, event in enumerate(events)))
    found = ProgressReader(path).read(10.0 * (len(events) - 1)).seconds_left
    assert found is None if left is None else found == pytest.approx(left, abs=0.1)


LINES = {
    "epochs": "print(f'epoch {n}/600')",
    "steps": "print(f'step {n}/600 - loss: {1 / (n + 1):.3f}')",
    "bar": "print(f'\\r{n // 6:3d}%|###  | {n}/600 [00:01<00:02, 31it/s]', end='', file=sys.stderr, flush=True)",
}
LOOPED = "import sys, time\nfor n in range(600):\n    {line}\n    time.sleep(0.1)"
"""A minute, of which a test sees the beginning."""
HOURS = 2 * 3600.0
"""What is left of it is never said to be so long, on whatever machine."""


@pytest.mark.parametrize("kind", LINES)
def test_time_left_of_a_running_job(service: Any, spec: Any, make_notebook: Any, until: Any, kind: str) -> None:
    job = service.submit(spec(), make_notebook("1", LOOPED.replace("{line}", LINES[kind])))
    progress = until(lambda: (row := service.get(job.id).progress).seconds_left is not None and row)
    assert 0 < progress.seconds_left < HOURS
    assert (progress.cells_done, progress.cells_total) == (1, 2)
    service.cancel(job.id, force=True)
    assert service.wait(job.id, 180).progress.seconds_left is None


FIT = """
import time
import paddle

class Data(paddle.io.Dataset):
    def __getitem__(self, index):
        time.sleep(0.05)
        return paddle.ones([4]), paddle.zeros([1])

    def __len__(self):
        return 400

net = paddle.nn.Linear(4, 1)
model = paddle.Model(net)
model.prepare(paddle.optimizer.SGD(parameters=net.parameters()), paddle.nn.MSELoss())
model.fit(Data(), batch_size=2, epochs=2, verbose=1)
"""


@pytest.mark.paddle
def test_time_left_of_a_fit(service: Any, spec: Any, make_notebook: Any, until: Any) -> None:
    job = service.submit(spec(), make_notebook(FIT))
    progress = until(lambda: (row := service.get(job.id).progress).seconds_left is not None and row)
    assert (progress.epoch, progress.epochs, progress.steps) == (1, 2, 200)
    assert 0 < progress.seconds_left < HOURS
    service.cancel(job.id, force=True)
    service.wait(job.id, 180)


def test_half_an_event_and_nonsense(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text('nonsense\n\n[1]\n{"t": 1, "type": "cell", "cell": 0, "state": "started", "do')
    reader = ProgressReader(path)
    assert reader.read(0.0).cell is None
    with path.open("a") as file:
        file.write('ne": 0, "total": 1}\n')
    assert reader.read(0.0).cell == 0


def test_state_is_the_same_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    reader = ProgressReader(path)
    for epoch in range(1, 5):
        add(path, {"t": epoch * 10, "type": "metric", "epoch": epoch, "epochs": 8, "metrics": {"loss": 1 / epoch}})
        reader.read(50.0)
    assert reader.read(50.0) == ProgressReader(path).read(50.0)


def job(state: Any = "running") -> Job:
    resources = Resources(seconds=60, memory_bytes=2**30)
    spec = JobSpec(name="n", notebook="/n", output="/o", folder="/", engine="local", resources=resources)
    return Job(id="a", spec=spec, state=state, created=1.0, updated=1.0)


FAILURE = {"cell": 2, "line": 4, "name": "ValueError", "value": "bad", "traceback": "…"}


@pytest.mark.parametrize(
    ("raw", "state", "code"),
    [
        ({"reason": "succeeded"}, "succeeded", "succeeded"),
        ({"reason": "cancelled"}, "failed", "terminated"),  # a SIGTERM: nobody cancelled
        ({"reason": "cell_error", "failure": FAILURE}, "failed", "cell_error"),
        ({"reason": "out_of_memory_device", "failure": FAILURE}, "failed", "out_of_memory_device"),
        ({"reason": "out_of_memory_host"}, "failed", "out_of_memory_host"),
        ({"reason": "time_limit"}, "failed", "time_limit"),
        ({"reason": "disk_full", "message": "/data"}, "failed", "disk_full"),
        ({"reason": "killed", "signal": 9, "message": "SIGKILL"}, "failed", "killed"),
        ({"reason": "killed", "signal": 11, "message": "SIGSEGV"}, "failed", "crashed"),
        ({"reason": "exited", "status": 3}, "failed", "exited"),
        ({"reason": "runner_error", "message": "no notebook"}, "failed", "runner_error"),
        ({"reason": "from a newer runner"}, "failed", "runner_error"),
        ({"reason": "succeeded", "seconds": "not a number"}, "succeeded", "succeeded"),
    ],
)
def test_endings(tmp_path: Path, raw: dict[str, Any], state: str, code: str) -> None:
    folder = JobFolder(tmp_path)
    folder.result.write_text(json.dumps(raw))
    ending = ending_of(job(), folder, Observation(state="ended"))
    assert (ending.state, ending.reason.code) == (state, code)
    assert ending.reason.render() and "{" not in ending.reason.render()
    assert ending.reason.hint or code in ("succeeded", "cancelled")


@pytest.mark.parametrize(
    "raw",
    [
        {"reason": "succeeded"},
        {"reason": "cell_error", "failure": FAILURE},
        {"reason": "out_of_memory_host", "failure": FAILURE},
    ],
)
def test_of_a_script_no_cell_is_told(tmp_path: Path, raw: dict[str, Any]) -> None:
    folder = JobFolder(tmp_path)
    folder.result.write_text(json.dumps(raw))
    script = msgspec.structs.replace(job(), spec=msgspec.structs.replace(job().spec, notebook="/home/me/train.py"))
    said = ending_of(script, folder, Observation(state="ended")).reason.render()
    assert said and "cell" not in said.lower()


@pytest.mark.parametrize("raw", [{"reason": "cancelled"}, {"reason": "killed", "signal": 9}, None])
@pytest.mark.parametrize("observed", [None, reasons.terminated()])
def test_only_what_somebody_cancelled_is_cancelled(
    tmp_path: Path, raw: dict[str, Any] | None, observed: Message | None
) -> None:
    """Whatever runner and engine saw of the signal: the row knows who asked."""
    folder = JobFolder(tmp_path)
    if raw is not None:
        folder.result.write_text(json.dumps(raw))
    seen = Observation(state="ended", reason=observed)
    assert ending_of(job(), folder, seen).state == "failed"
    asked = ending_of(job("stopping"), folder, seen)
    assert (asked.state, asked.reason.code) == ("cancelled", "cancelled")
    late = msgspec.structs.replace(job("stopping"), reason=reasons.time_limit(60))
    ending = ending_of(late, folder, seen)
    assert (ending.state, ending.reason.code) == ("failed", "time_limit")


@pytest.mark.parametrize(
    "raw",
    [
        {"reason": "killed", "signal": 9},
        {"reason": "out_of_memory_host"},
        {"reason": "cell_error", "failure": FAILURE},
    ],
)
def test_engine_knows_better_why_it_was_killed(tmp_path: Path, raw: dict[str, Any]) -> None:
    folder = JobFolder(tmp_path)
    folder.result.write_text(json.dumps(raw))
    observation = Observation(state="ended", reason=reasons.out_of_memory_policy("5.00 GiB"))
    assert ending_of(job(), folder, observation).reason == observation.reason


@pytest.mark.parametrize(
    ("line", "value", "said"),
    [
        (4, "Unable to allocate 40.0 GiB", "Cell 3, line 4 got no memory for what it asked: MemoryError: Unable to "),
        (None, "", "Cell 3 got no memory for what it asked: MemoryError"),
    ],
)
def test_a_cell_that_got_no_memory_says_no_more_than_that(tmp_path, line, value, said) -> None:
    """Neither the machine nor a limit ended the job: one request was too large."""
    folder, failure = JobFolder(tmp_path), {**FAILURE, "name": "MemoryError", "value": value, "line": line}
    folder.result.write_text(json.dumps({"reason": "out_of_memory_host", "failure": failure}))
    ending = ending_of(job(), folder, Observation(state="ended"))
    assert (ending.state, ending.reason.code) == ("failed", "out_of_memory_host")
    assert ending.reason.render().startswith(said) and not ending.reason.render().endswith(": ")
    observation = Observation(state="ended", reason=reasons.out_of_memory_policy("5.00 GiB"))
    assert ending_of(job(), folder, observation).reason == observation.reason, "the engine saw the limit"


def test_a_memory_limit_that_the_runner_met_is_told_with_its_source(tmp_path: Path) -> None:
    folder = JobFolder(tmp_path)
    folder.result.write_text(json.dumps({"reason": "out_of_memory_host"}))
    assert "had asked for" in ending_of(job(), folder, Observation(state="ended")).reason.render()
    limits = Limits(memory_bytes=4 << 30, memory_from="estimate", most_memory_bytes=16 << 30)
    spec = msgspec.structs.replace(job().spec, resources=Resources(), limits=limits)
    ending = ending_of(msgspec.structs.replace(job(), spec=spec), folder, Observation(state="ended"))
    assert "followed from the estimate" in ending.reason.render()
    assert "8.00 GiB" in ending.reason.render_hint()


def test_without_a_result(tmp_path: Path) -> None:
    folder = JobFolder(tmp_path)
    assert ending_of(job(), folder, Observation(state="ended")).reason.code == "runner_vanished"
    assert ending_of(job("stopping"), folder, Observation(state="ended")).state == "cancelled"
    folder.result.write_text("{ torn")
    assert ending_of(job(), folder, Observation(state="ended")).state == "failed"


def test_retries_are_further_and_further_apart_and_for_passing_faults_only() -> None:
    settings = JobSettings(retry_seconds=5, retry_most_seconds=60)
    assert [settings.retry_after(n) for n in (1, 2, 3, 9)] == [5, 10, 20, 60]
    assert reasons.is_transient(reasons.engine_unreachable("docker"))
    assert not reasons.is_transient(reasons.cell_error(0, 1, "ValueError", "x"))
    assert not reasons.is_transient(None)
