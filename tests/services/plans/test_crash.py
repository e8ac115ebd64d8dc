"""The server is killed with SIGKILL in the middle of a sweep: every trial runs once, and the best one is right."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections import Counter

import pytest

from jupyter_paddle_gpu.services.plans.wanted import SweepRequest

VALUES = "lr = 0.1\nbatch = 32"
TRAIN = """
import os, pathlib, time
with open("runs", "a") as file:
    file.write(f"{lr} {batch} {os.environ.get('CUDA_VISIBLE_DEVICES')}\\n")
while not pathlib.Path("go").exists() and pathlib.Path("runs").read_text().count("\\n") >= 5:
    time.sleep(0.02)
for epoch in (1, 2):
    print(f"epoch {epoch}/2 loss {abs(lr - 0.01) * 10 + batch / 1000 + 1 / epoch:.4f}")
"""
"""From the fifth trial on each waits until `go` is there: whoever is to be killed in the middle is."""
BEGIN = """
import sys
from jupyter_paddle_gpu.domain.jobs.job import WantedResources
from jupyter_paddle_gpu.services import Services, Submission
from jupyter_paddle_gpu.services.plans.wanted import SweepRequest
services = Services()
services.jobs._dispatcher = None
space = {"lr": "0.1,0.03,0.01,0.003", "batch": "32:128:x2"}
gpu = Submission(resources=WantedResources(gpus=1), engine="local")
request = SweepRequest(space=space, search=sys.argv[2], trials=12, submission=gpu)
print(services.plans.sweeps.create(services.open(sys.argv[1]), request).id)
"""
"""Somebody on the machine with the cards."""


@pytest.mark.parametrize("search", ["grid", "optuna"])
def test_twelve_trials_on_two_cards_with_a_kill_in_the_middle(
    person, server, two_cards, notebook, until, tmp_path, search
):
    if search == "optuna":
        pytest.importorskip("optuna")
    command = [sys.executable, "-c", BEGIN, str(notebook(VALUES, TRAIN)), search]
    sweeps, first = person.plans.sweeps, server()
    made = subprocess.run(command, env=two_cards, check=True, capture_output=True, text=True)
    sweep = sweeps.get(made.stdout.strip())
    assert sweep.at_once == 2, "as many as there are devices"
    until(lambda: sweeps.get(sweep.id).counts.get("succeeded", 0) >= 4)
    until(lambda: sweeps.get(sweep.id).counts.get("running", 0) == 2)
    first.kill()
    (tmp_path / "work" / "go").touch()
    folder = person.jobs.folder
    until(lambda: len([*folder.glob("*/result.json")]) >= 6)  # jobs end without anybody
    server()
    done = until(lambda: (report := sweeps.get(sweep.id)).state != "running" and report)
    assert done.counts == {"succeeded": 12}
    runs = [line.rsplit(" ", 1) for line in (tmp_path / "work" / "runs").read_text().splitlines()]
    tried = Counter(values for values, _ in runs)
    assert tried == Counter(f"{row.values['lr']} {row.values['batch']}" for row in done.trials), "each once, no other"
    assert {device for _, device in runs} == {"GPU-0", "GPU-1"}, "both cards were used"
    assert len(person.jobs.list()) == 12
    best = next(row for row in done.trials if row.number == done.best)
    assert (done.metric, done.direction) == ("loss", "min")
    assert best.value == min(row.value for row in done.trials)
    if search == "grid":
        assert sum(tried.values()) == 12 == len(tried)
        assert (best.values, best.value) == ({"lr": 0.01, "batch": 32}, 0.532)


@pytest.mark.parametrize("place", ["before_submit", "after_submit", "after_written"])
def test_killed_between_any_two_steps_a_trial_has_one_job(person, notebook, tmp_path, until, place):
    """The process that submits dies at a place of its own; the next one goes on."""
    source = person.open(notebook(VALUES, "print('loss', lr)"))
    sweep = person.plans.sweeps.create(source, SweepRequest(space={"lr": "0.1,0.2,0.3"}, at_once=3))
    program = f"""
import os, signal, sys
from pathlib import Path
from jupyter_paddle_gpu.services import Services, Settings
from jupyter_paddle_gpu.services.plans.sweep_reconciler import SweepReconciler
written, place, count = SweepReconciler._written_down, {place!r}, 0
def die(): os.kill(os.getpid(), signal.SIGKILL)
class Dying(Services):
    def submit(self, *arguments, **options):
        global count
        count += 1
        if count == 2 and place == "before_submit": die()
        job = super().submit(*arguments, **options)
        if count == 2 and place == "after_submit": die()
        return job
def noted(self, *arguments):
    row = written(self, *arguments)
    if count == 2 and place == "after_written": die()
    return row
SweepReconciler._written_down = noted
services = Dying(Settings(data_folder=Path({str(tmp_path / "data")!r}), policy_file=None))
services.jobs._dispatcher = None
services.plans._sweep_tender.look()
"""
    done = subprocess.run([sys.executable, "-c", program], check=False)
    assert done.returncode == -signal.SIGKILL
    assert len(person.jobs.list()) in (1, 2), "it died in the middle"
    person.plans._sweep_tender.look()
    tokens = [job.spec.token for job in person.jobs.list()]
    assert sorted(tokens) == [f"{sweep.id}/{number}/1" for number in (1, 2, 3)]
    assert [one.job_id for one in person.plans.sweeps.find(sweep.id).trials] == [
        next(job.id for job in person.jobs.list() if job.spec.token == f"{sweep.id}/{number}/1") for number in (1, 2, 3)
    ]
