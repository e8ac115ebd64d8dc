"""Variables that a launcher of several processes sets are known of a program that runs as one."""

from __future__ import annotations

import os

import pytest

from jupyter_paddle_gpu.engines.docker.policy import check_environment
from jupyter_paddle_gpu.estimator.tracer.patches.processes.alone import VARIABLES
from jupyter_paddle_gpu.runner.ranks import ALONE

pytestmark = pytest.mark.paddle

STEPS = """
net = paddle.nn.Linear(64, 10)
optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for step in range(9):
    x = paddle.rand([batch, 64])
    loss = net(x).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
READS = {
    "number": 'batch = 64 // int(os.environ["PADDLE_TRAINERS_NUM"]) + int(os.environ["PADDLE_TRAINER_ID"])',
    "none": 'batch = 64 // int(os.getenv("PADDLE_TRAINERS_NUM"))',
    "ends": 'ends = os.environ["PADDLE_TRAINER_ENDPOINTS"].split(",")\n'
    'batch = 64 // len(ends) + ends.index(os.environ["PADDLE_CURRENT_ENDPOINT"])',
    "role": 'assert os.environ["TRAINING_ROLE"] == "TRAINER"\nbatch = 64',
    "torch": 'batch = 64 // int(os.environ["WORLD_SIZE"]) + int(os.environ["RANK"])',
}
SOURCES = {name: f"import os, paddle\n{source}\n{STEPS}" for name, source in READS.items()}


@pytest.fixture(scope="module")
def asked(run_child):
    return run_child("trace", SOURCES)


@pytest.fixture(scope="module")
def answered(run_child, asked):
    """With what was suggested, which is typed nowhere else."""
    answers = {name: {one["name"]: one["suggestion"] for one in row["questions"]} for name, row in asked.items()}
    return run_child("trace", SOURCES, {name: {"answers": given} for name, given in answers.items()})


@pytest.fixture(scope="module")
def real(run_child):
    """As one process that a launcher has started."""
    launched = f"import os\nos.environ.update({VARIABLES!r})\n"
    return run_child("real", {name: launched + source for name, source in SOURCES.items()})


@pytest.mark.parametrize("name", READS)
def test_what_a_launcher_says_to_one_process_is_suggested(name, asked, answered, real):
    assert asked[name]["questions"], "a real run would end there"
    assert {one["params"]["source"] for one in asked[name]["questions"]} == {"alone"}
    assert (answered[name]["status"], answered[name]["batch_size"]) == ("ok", 64)
    assert answered[name]["peak"] == max(real[name]["peaks"][1:]), real[name]["failure"]


def test_such_an_answer_reaches_a_job_in_a_container():
    given = {name: VARIABLES[name] for name in VARIABLES if name.startswith("PADDLE_")}
    assert check_environment(given) == given


def test_paddle_takes_the_same_where_they_are_not_set(monkeypatch):
    """So that an answer changes nothing but what the program itself reads."""
    from paddle.distributed import ParallelEnv

    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    before = ParallelEnv()
    for name, value in ALONE.items():
        monkeypatch.setenv(name, value)
    after = ParallelEnv()
    assert (before.rank, before.world_size, before.local_rank) == (after.rank, after.world_size, after.local_rank)
    assert os.environ["PADDLE_TRAINERS_NUM"] == str(before.world_size)
    assert ALONE.items() <= VARIABLES.items()
