"""Of a sweep its end is told, once, whatever becomes of the process that looks after it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.services import Services, Settings, Submission
from jupyter_paddle_gpu.services.plans.wanted import SweepRequest

from ..services.plans import conftest as plans_conftest
from .conftest import Robot

notebook = plans_conftest.notebook  # a fixture
RUN = "lr = 0.1", "print(f'epoch 1/1 loss {lr * 10}')\nassert lr < 1"


@pytest.fixture
def person(tmp_path: Path, robot: Robot) -> Iterator[Services]:
    policy = tmp_path / "paddle-gpu.yaml"
    policy.write_text(f"notices:\n  receivers:\n    lab: {{url: '{robot.url}', language: en}}\n")
    services = Services(Settings(data_folder=tmp_path / "data", policy_file=policy))
    yield services
    services.close()


def test_a_sweep_is_told_once_and_its_trials_are_not(person: Services, robot: Robot, notebook, until) -> None:
    sweeps = person.plans.sweeps
    source = person.open(notebook(*RUN))
    with pytest.raises(PaddleGpuError, match="nobody"):
        sweeps.create(source, SweepRequest(space={"lr": "0.1,0.2"}, submission=Submission(notify=("nobody",))))
    wanted = SweepRequest(space={"lr": "0.3,0.1,2"}, at_once=3, submission=Submission(notify=("lab",)))
    sweep = sweeps.create(source, wanted)
    person.start_jobs()
    until(lambda: sweeps.get(sweep.id).state != "running" and not person.jobs.store.with_open_notices())
    said = [json.loads(body) for _, _, body in robot.came]
    assert [(one["event"], one["id"], one["state"]) for one in said] == [("sweep_ended", sweep.id, "failed")]
    assert said[0]["trials"] == {"succeeded": 2, "failed": 1}
    assert (said[0]["metric"], said[0]["best"]["value"], said[0]["best"]["values"]) == ("loss", 1.0, {"lr": 0.1})
    # Killed after who is told was written down and before the sweep was closed: nobody is told again.
    person.plans._sweep_tender._tell(sweeps.store.get(sweep.id), sweeps.jobs_of(sweeps.store.get(sweep.id)))
    assert not person.jobs.store.with_open_notices()
    # What is run once more is told once more.
    sweeps.retry(sweep.id)
    # Until it is noted as told: a dispatcher would go on telling a robot that is gone.
    until(lambda: len(robot.came) == 2 and not person.jobs.store.with_open_notices())
