"""Several processes that train together: each keeps its own log and result, and all of them end with the job."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from typing import Any

import psutil
import pytest

from jupyter_paddle_gpu.domain.jobs.job import Job, JobSpec
from jupyter_paddle_gpu.engines.base import JobFolder, Observation
from jupyter_paddle_gpu.jobs.folder import ranks
from jupyter_paddle_gpu.jobs.monitoring.endings import Ending, ending_of
from tests.notebook.changes.test_table import made

from .conftest import Run, lines_of
from .test_endings import carriers

TWO = ("--ranks", json.dumps([{"MY_DEVICE": "a"}, {"MY_DEVICE": "b"}]))
RANK = "import os, time\nrank = os.environ['PADDLE_TRAINER_ID']\n"
WAIT = RANK + "print('up', flush=True)\nwhile True:\n    time.sleep(0.02)"


@pytest.fixture
def two(prepare: Callable[..., Run]) -> Callable[..., Run]:
    def make(*cells: str, **spec: Any) -> Run:
        run = prepare(*cells, shell="plain", stop_seconds=60, **spec)
        run.options = TWO
        return run.start()

    return make


def ended(run: Run) -> Ending:
    spec = JobSpec(name="n", notebook="/n.ipynb", output="/o.ipynb", folder="/", engine="local")
    job = Job(id="job0", spec=spec, state="running", created=0, updated=0)
    return ending_of(job, JobFolder(run.folder), Observation(state="ended"))


def up(run: Run) -> None:
    run.until_logged("up")
    other = run.folder / "rank-1" / "log.jsonl"
    run.until(lambda: other.exists() and "up" in other.read_text())


def other(run: Run, name: str) -> Any:
    file = run.folder / "rank-1" / name
    return json.loads(file.read_text()) if name.endswith("json") else [line["x"] for line in lines_of(file)]


def test_each_has_its_rank_its_device_and_its_log_and_the_first_one_writes_the_notebook(two):
    names = ("TRAINER_ID", "TRAINERS_NUM", "CURRENT_ENDPOINT", "TRAINER_ENDPOINTS", "MASTER")
    told = ", ".join(f"os.environ['PADDLE_{name}']" for name in names)
    run = two(RANK + f"print(os.environ['MY_DEVICE'], {told})")
    assert run.wait() == 0
    (first,), second = run.texts(), other(run, "log.jsonl")
    device, rank, count, own, all_of_them, master = first.split()
    assert (device, rank, count, own) == ("a", "0", "2", master)
    assert any(line.startswith("b 1 2 ") and line.endswith(f"{all_of_them} {master}") for line in second)
    assert run.stream(0).strip() == first
    assert not any("b 1 2" in line for line in run.texts())
    assert (run.result["reason"], other(run, "result.json")["reason"]) == ("succeeded", "succeeded")
    assert ended(run).state == "succeeded"
    assert carriers("job0", run.folder) == []


def test_an_answer_for_one_process_gives_way_to_what_each_of_several_is_told(two):
    """`--set PADDLE_TRAINERS_NUM=1` of an estimate on one device."""
    answered = {"PADDLE_TRAINER_ID": "0", "PADDLE_TRAINERS_NUM": "1", "BATCH": "8"}
    run = two(RANK + "print(rank, os.environ['PADDLE_TRAINERS_NUM'], os.environ['BATCH'])", environment=answered)
    assert run.wait() == 0
    assert ("0 2 8" in run.texts(), "1 2 8" in other(run, "log.jsonl")) == (True, True)


def test_a_stop_ends_all_of_them_and_each_saves(two):
    run = two(WAIT)
    up(run)
    run.process.send_signal(signal.SIGTERM)
    assert run.wait() == 143
    assert (run.result["reason"], other(run, "result.json")["reason"]) == ("cancelled", "cancelled")
    assert carriers("job0", run.folder) == []


def test_none_of_them_outlives_the_first_one_that_is_killed(two):
    run = two(WAIT)
    up(run)
    run.process.kill()
    run.process.wait()
    assert psutil.wait_procs(carriers("job0", run.folder), 180)[1] == []


def test_where_one_fails_the_others_are_stopped_and_the_job_says_which_error_it_was(two):
    run = two(RANK + "if rank == '1': raise ValueError('bad shard')\nwhile True: time.sleep(0.02)")
    assert run.wait() != 0
    assert (run.result["reason"], run.result["lost"]) == ("cancelled", 1)
    ending = ended(run)
    assert (ending.state, ending.reason.code) == ("failed", "cell_error")
    assert "bad shard" in ending.reason.render() and "--rank 1" in ending.reason.render_hint()
    assert ending.result is not None and ending.result.rank == 1


@pytest.mark.parametrize(
    ("value", "at", "told", "rank"),
    [
        ("no data", 1.0, "no data", False),  # the same error in all of them is the first one's own
        ("bad shard", 1.0, "bad shard", True),
        ("connection closed by peer", 3.0, "no data", False),
    ],
)
def test_the_cause_is_what_was_raised_first(tmp_path, value, at, told, rank):
    for folder, error, moment in ((tmp_path, "no data", 2.0), (tmp_path / "rank-1", value, at)):
        folder.mkdir(exist_ok=True)
        failure = {"name": "ValueError", "value": error, "cell": 0, "line": 1, "at": moment}
        result = {"reason": "cell_error", "failure": failure, "ended": 4.0}
        (folder / "result.json").write_text(json.dumps(result))
    reason = ended(Run(tmp_path)).reason
    assert told in reason.render()
    assert ("--rank 1" in reason.render_hint()) is rank


def test_an_error_that_follows_from_anothers_is_not_taken_for_the_cause(two, tmp_path):
    gone = tmp_path / "gone"
    cell = RANK + (
        f"import pathlib\ngone = pathlib.Path({str(gone)!r})\n"
        "if rank == '1':\n    raise ValueError('bad shard')\n"
        "while not gone.exists(): time.sleep(0.01)\nraise RuntimeError('connection closed by peer')"
    )
    run = two(cell, limits={"leftover_seconds": 0.1})
    failed = run.folder / "rank-1" / "result.json"
    run.until(failed.exists)
    gone.touch()
    assert run.wait() != 0
    assert "bad shard" in ended(run).reason.render()


def test_one_that_is_killed_from_outside_is_named(two):
    run = two(WAIT)
    up(run)
    psutil.Process(json.loads((run.folder / "rank-1" / "runner.json").read_text())["pid"]).kill()
    assert run.wait() != 0
    assert ranks.results(JobFolder(run.folder)) == {}
    reason = ended(run).reason
    assert (reason.code, reason.params["rank"]) == ("process_lost", 1)


@pytest.mark.paddle
def test_two_processes_train_one_model_on_the_cpu_and_each_ones_peak_is_measured(prepare):
    run = prepare(
        RANK + "import paddle\npaddle.distributed.init_parallel_env()\n"
        "net = paddle.DataParallel(paddle.nn.Linear(64, 64))\n"
        "sgd = paddle.optimizer.SGD(0.1, parameters=net.parameters())\n"
        "for _ in range(6):\n"
        "    net(paddle.full([4 + 4 * int(rank), 64], float(rank) + 1)).mean().backward()\n"
        "    sgd.step(); sgd.clear_grad()\n"
        "print('learned', float(net.parameters()[0].abs().sum()))",
        shell="plain",
    )
    run.options = ("--ranks", json.dumps([{"PADDLE_DISTRI_BACKEND": "gloo"}] * 2))
    run.start()
    assert run.wait() == 0, (run.log, other(run, "log.jsonl"))
    learned = [
        next(line for line in lines if line.startswith("learned")) for lines in (run.texts(), other(run, "log.jsonl"))
    ]
    assert learned[0] == learned[1], "gradients of both, in both"
    result = ended(run).result
    peaks = (run.result["step_allocated_bytes"], other(run, "result.json")["step_allocated_bytes"])
    assert peaks[1] > peaks[0] > 2 * 4 * 64 * 64
    assert (result.rank_allocated_bytes, result.step_allocated_bytes) == (peaks, peaks[1])


OF_MODEL = """\
import paddle
class Rows(paddle.io.Dataset):
    def __len__(self):
        return 11
    def __getitem__(self, row):
        return paddle.full([4], row / 11.0), paddle.to_tensor([row % 2])
model = paddle.Model(paddle.nn.Linear(4, 2))
sgd = paddle.optimizer.SGD(0.1, parameters=model.parameters())
model.prepare(sgd, paddle.nn.CrossEntropyLoss(), paddle.metric.Accuracy())
loader = paddle.io.DataLoader(Rows(), batch_size=2)
model.fit(loader, epochs=1, verbose=0)
found = model.predict(Rows(), batch_size=2, verbose=0, stack_outputs=True)[0]
right = [float(answer.argmax() == row % 2) for row, answer in enumerate(found)]
"""


def test_a_model_of_two_processes_trains_on_its_share_and_predicts_all_of_the_data(prepare):
    told = "print('said', len(found), sum(right) / 11, model.evaluate(Rows(), batch_size=2, verbose=0)['acc'])"
    copy, _ = made({"devices": 2}, OF_MODEL + told + "\nprint('steps', len(loader))")
    run = prepare(copy.content["cells"][0]["source"], shell="plain")
    run.options = ("--ranks", json.dumps([{"PADDLE_DISTRI_BACKEND": "gloo"}] * 2))
    run.start()
    assert run.wait() == 0, (run.log, other(run, "log.jsonl"))
    for lines in (run.texts(), other(run, "log.jsonl")):
        _, count, predicted, evaluated = next(line for line in lines if line.startswith("said")).split()
        assert (count, float(predicted)) == ("11", pytest.approx(float(evaluated)))
        assert any(line.startswith("steps 3") for line in lines), "of 6 batches"
