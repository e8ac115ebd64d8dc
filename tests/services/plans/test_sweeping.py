"""Sweeps on real processes: what is tried, what is refused, which is the best, cancel, once more."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.domain.plans.sweeps import SweepReport
from jupyter_paddle_gpu.domain.variables import differences
from jupyter_paddle_gpu.services import Submission
from jupyter_paddle_gpu.services.plans.table import csv_of
from jupyter_paddle_gpu.services.plans.wanted import SweepRequest
from jupyter_paddle_gpu.services.requests import Rerun

VALUES = "lr = 0.1\nbatch_size = 32\nname = 'a'"
LOSS = "print(f'epoch 1/1 loss {lr * 10} acc {1 - lr / 2}')"


@pytest.fixture
def ended(person, until):
    def wait(sweep: SweepReport) -> SweepReport:
        return until(lambda: (now := person.plans.sweeps.get(sweep.id)).state != "running" and now)

    return wait


@pytest.fixture
def begin(person, notebook):
    def make(space, *sources, **wanted) -> SweepReport:
        source = person.open(notebook(VALUES, *(sources or (LOSS,))))
        return person.plans.sweeps.create(source, SweepRequest(space=space, **wanted))

    return make


def test_the_best_is_the_one_whose_final_is_and_of_another_metric_its_own(begin, person, ended):
    person.start_jobs()
    # The loss is that of a last batch: by it another trial would be the best.
    said = "print(f'epoch 1/1 loss {1 - lr} acc {1 - lr / 2}')"
    done = ended(begin({"lr": "0.5,0.1,0.3"}, said, at_once=3))
    assert (done.metric, done.direction, done.best, done.metrics) == ("acc", "max", 2, ("acc", "loss"))
    finals = [person.jobs.get(row.job_id).progress.final for row in done.trials]
    assert [(one.name, one.value, one.better) for one in finals] == [
        ("acc", row.value, "max") for row in done.trials
    ], "as the page of jobs calls it"
    assert {row.curve_of for row in done.trials} == {"loss"}
    sweeps = person.plans.sweeps
    other = sweeps.get(done.id, metric="loss")
    assert (other.metric, other.direction, other.best) == ("loss", "min", 1)
    assert sweeps.get(done.id, metric="acc", direction="min").best == 1
    kept = sweeps.set(done.id, metric=" Loss", direction=None, at_once=None)
    assert (kept.metric, kept.direction) == ("loss", "min")
    assert sweeps.get(done.id).metric == "loss"
    by_loss = begin({"lr": "0.5,0.1,0.3"}, said, at_once=3, metric="loss")
    assert ended(by_loss).best == 1


def test_a_name_is_the_notebooks_own_or_what_it_is_to_the_training(begin, person):
    sweep = begin({"learning_rate": "0.1,0.2", "batch": "8:16:x2"})
    assert [one.name for one in sweep.dimensions] == ["lr", "batch_size"]
    with pytest.raises(PaddleGpuError, match="momentum") as refusal:
        begin({"momentum": "0.9,0.99"})
    assert "lr, batch_size, name" in refusal.value.message.render_hint()
    with pytest.raises(PaddleGpuError, match="same variable"):
        begin({"lr": "0.1,0.2", "learning_rate": "0.3"})


def test_a_trial_has_its_values_and_the_notebook_stays(begin, person, ended, notebook):
    person.start_jobs()
    done = ended(begin({"lr": "0.5", "name": "b,c"}, "print(name, lr, batch_size)"))
    assert done.counts == {"succeeded": 2}
    said = [person.jobs.log(row.job_id).lines for row in done.trials]
    assert [[line.text for line in lines if line.stream == "stdout"] for lines in said] == [["b 0.5 32"], ["c 0.5 32"]]
    jobs = [person.jobs.get(row.job_id) for row in done.trials]
    assert [(job.spec.plan, job.spec.trial) for job in jobs] == [(done.id, 1), (done.id, 2)]
    assert "lr = 0.1" in (notebook(VALUES, "1")).read_text()


def test_a_learning_rate_that_stands_in_a_call_is_tried_and_stands_in_the_executed_notebook(person, ended, notebook):
    person.start_jobs()
    path = notebook(
        "import paddle\nnet = paddle.nn.Linear(1, 1)",
        "opt = paddle.optimizer.SGD(learning_rate=0.1, parameters=net.parameters())\nprint('rate', opt.get_lr())",
    )
    request = SweepRequest(space={"lr": "0.5, 0.25"})
    done = ended(person.plans.sweeps.create(person.open(path), request))
    assert done.counts == {"succeeded": 2}
    assert [one.values for one in done.trials] == [{"learning_rate": 0.5}, {"learning_rate": 0.25}]
    jobs = [person.jobs.get(row.job_id) for row in done.trials]
    said = [[line.text for line in person.jobs.log(job.id).lines if line.stream == "stdout"] for job in jobs]
    assert said == [["rate 0.5"], ["rate 0.25"]]
    for job, rate in zip(jobs, ("0.5", "0.25"), strict=True):
        executed = Path(job.spec.output.replace("{id}", job.id)).read_text()
        assert f"SGD(learning_rate={rate}, " in executed
        assert [one.render() for one in job.spec.changes] == [f"with learning_rate {rate}"]
        assert (job.spec.sets, job.spec.environment.get("learning_rate")) == ({}, None)
    assert "SGD(learning_rate=0.1, " in path.read_text(), "the notebook stays"
    again = person.rerun(jobs[0].id, Rerun(values={"learning_rate": 0.125}))
    assert [one.value for one in again.spec.settings.variables if one.role == "learning_rate"] == [0.125]
    assert [(one.name, one.before, one.after) for one in differences(jobs[0].spec.settings, again.spec.settings)] == [
        ("learning_rate", 0.5, 0.125)
    ]


def test_no_more_than_at_once(begin, person, until):
    sweep = begin({"lr": "0.1,0.2,0.3,0.4"}, "import time\ntime.sleep(600)", at_once=2)
    tender = person.plans._sweep_tender
    for _ in range(3):
        tender.look()
        assert len(person.jobs.list()) == 2
    person.jobs.cancel(person.jobs.list()[-1].id)
    tender.look()
    assert len(person.jobs.list()) == 3
    done = person.plans.sweeps.cancel(sweep.id)
    assert done.counts == {"cancelled": 4}, "those that waited ended at once"
    tender.look()
    now = person.plans.sweeps.get(sweep.id)
    assert (now.state, len(person.jobs.list())) == ("cancelled", 3)


def test_failed_trials_run_once_more_and_no_others(begin, person, ended, tmp_path):
    person.start_jobs()
    fails = "import pathlib\nassert lr < 0.25 or pathlib.Path('mended').exists()\nprint('loss', lr)"
    sweep = ended(begin({"lr": "0.1,0.2,0.3"}, fails, at_once=3))
    assert (sweep.state, sweep.counts) == ("failed", {"succeeded": 2, "failed": 1})
    (tmp_path / "work" / "mended").touch()
    person.plans.sweeps.retry(sweep.id)
    again = ended(sweep)
    assert (again.state, again.counts) == ("succeeded", {"succeeded": 3})
    assert [a.job_id == b.job_id for a, b in zip(sweep.trials, again.trials, strict=True)] == [True, True, False]


def test_a_random_search_takes_so_many(begin):
    sweep = begin({"lr": "0.001:0.1:log", "batch_size": "8:64:x2"}, search="random", trials=5, seed=3)
    assert len(sweep.trials) == sweep.wanted == 5
    assert sweep.trials[0].values != sweep.trials[1].values


def test_optuna_asks_by_what_came_out(begin, person, ended):
    pytest.importorskip("optuna")
    person.start_jobs()
    done = ended(begin({"lr": "0.0001:1:log"}, "print('loss', (lr - 0.01) ** 2)", search="optuna", trials=6, at_once=2))
    assert done.counts == {"succeeded": 6}
    assert len({row.values["lr"] for row in done.trials}) == 6
    assert all(0.0001 <= row.values["lr"] <= 1 for row in done.trials)


def test_optuna_tries_nothing_twice_while_there_is_something_else(begin, person, ended):
    pytest.importorskip("optuna")
    person.start_jobs()
    done = ended(begin({"lr": "0.1,0.03,0.01", "batch_size": "8,16"}, search="optuna", trials=50, at_once=2))
    assert done.wanted == len({tuple(row.values.values()) for row in done.trials}) == 6


def test_without_optuna_the_next_step_is_said(begin, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(PaddleGpuError) as refusal:
        begin({"lr": "0.1,0.2"}, search="optuna")
    assert refusal.value.code == "optuna_missing"


@pytest.mark.parametrize(
    ("wanted", "code"),
    [
        ({"space": {}}, "sweep_values"),
        ({"space": {"lr": "0.1:0.2"}}, "sweep_open"),
        ({"space": {"lr": "1:1000", "batch_size": "1:10"}}, "sweep_size"),
        ({"space": {"lr": "0.1,0.2"}, "at_once": 1000}, "sweep_size"),
    ],
)
def test_what_cannot_be_tried_is_refused_before_anything_is_made(begin, person, wanted, code):
    with pytest.raises(PaddleGpuError) as refusal:
        begin(**wanted)
    assert refusal.value.code == code
    assert not person.plans.sweeps.list()


def test_trials_that_fit_nowhere_are_told_before(begin, person):
    wrong = {"space": {"lr": "0.1,0.2"}, "submission": Submission(engine="local", image="some/image:1")}
    with pytest.raises(PaddleGpuError, match="2 of 2 trials fit nothing") as refusal:
        begin(**wrong)
    assert refusal.value.code == "trials_refused"
    assert not person.jobs.list()


def test_the_table_has_a_row_for_each_trial(begin, person, ended):
    person.start_jobs()
    done = ended(begin({"lr": "0.2,0.1", "name": "=1+1"}))
    rows = list(csv.DictReader(io.StringIO(csv_of(done))))
    assert [
        (row["trial"], row["lr"], row["name"], row["state"], row["best"], row["loss"], row["acc"]) for row in rows
    ] == [
        ("1", "0.2", "'=1+1", "succeeded", "", "2.0", "0.9"),
        ("2", "0.1", "'=1+1", "succeeded", "yes", "1.0", "0.95"),
    ]


def test_a_sweep_of_a_job_has_what_the_job_had(begin, person, notebook, until):
    person.start_jobs()
    source = person.open(notebook(VALUES, LOSS))
    job = person.submit(source, Submission(environment={"A": "b"}))
    notebook("changed = 1")
    found, request = person.plans.sweeps.of_job(job.id, SweepRequest(space={"lr": "0.1,0.2"}))
    sweep = person.plans.sweeps.create(found, request)
    rows = until(lambda: (now := person.plans.sweeps.get(sweep.id)).trials[0].job_id and now.trials)
    assert person.jobs.get(rows[0].job_id).spec.environment["A"] == "b"


def test_a_sweep_that_goes_on_is_not_deleted_and_one_that_ended_goes_with_its_jobs(begin, person, ended):
    sweep = begin({"lr": "0.1,0.2"})
    with pytest.raises(PaddleGpuError) as refusal:
        person.plans.sweeps.delete(sweep.id)
    assert refusal.value.code == "not_ended"
    person.start_jobs()
    ended(sweep)
    folder = person.plans.sweeps.folder(sweep.id)
    assert folder.exists()
    person.plans.sweeps.delete(sweep.id)
    assert (person.plans.sweeps.list(), person.jobs.list(), folder.exists()) == ((), (), False)


def test_a_trial_whose_job_was_deleted_is_not_run_again(begin, person, ended):
    person.start_jobs()
    done = ended(begin({"lr": "0.1,0.2"}))
    person.jobs.delete(done.trials[0].job_id)
    person.plans.sweeps.retry(done.id)
    person.plans._sweep_tender.look()
    now = person.plans.sweeps.get(done.id)
    assert (now.counts, now.best) == ({"deleted": 1, "succeeded": 1}, 2)


def test_a_whole_number_takes_no_fractions(begin, person, notebook):
    tried = begin({"batch_size": "16:64:log2"})
    assert [(one["batch_size"], type(one["batch_size"])) for one in (row.values for row in tried.trials)] == [
        (16, int),
        (64, int),
    ]
    for typed in ("32, 640.1", "0.5:2.5", "32:128:log"):
        with pytest.raises(PaddleGpuError, match=r"“batch_size” is a whole number \(32\)") as refusal:
            begin({"batch": typed}, search="random")
        assert "2.0" not in refusal.value.message.render_hint()
    with pytest.raises(PaddleGpuError, match=r"“batch_size” is a number \(32\) in the notebook, and “16, a” is none"):
        begin({"batch": "16, a"})
    source = person.open(notebook("gamma = 2\ndecay = 0", "print(f'loss {gamma + decay}')"))
    with pytest.raises(PaddleGpuError, match="gamma") as refusal:
        person.plans.sweeps.check(source, SweepRequest(space={"gamma": "1.5,2"}))
    assert "`gamma = 2.0`" in refusal.value.message.render_hint()
    told = person.plans.sweeps.check(source, SweepRequest(space={"decay": "0,0.1"}))
    assert [one.values for one in told.trials] == [{"decay": 0}, {"decay": 0.1}], "0 is how a rate is off"
    told = person.plans.sweeps.check(source, SweepRequest(space={"gamma": "2,same"}))
    assert [one.values for one in told.trials] == [{"gamma": 2}, {"gamma": "same"}], "some arguments take either"
