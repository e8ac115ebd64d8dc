"""Which answers a job takes as environment variables: the same as an estimate does."""

from __future__ import annotations

import os

import pytest

from jupyter_paddle_gpu.estimator.tracer.notebook.outside.answers import environment
from jupyter_paddle_gpu.notebook.answers import for_job
from tests.notebook.facts import Inspect

BOUND = "TRAIN_BATCH = rate = 1\n"
PROGRAMS = {
    "read by its name": ('import os\nTRAIN_BATCH = os.environ["TRAIN_BATCH"]\nrate = 0.1', ["TRAIN_BATCH"]),
    "with a default": ('import os\nTRAIN_BATCH = os.getenv("TRAIN_BATCH", "8")\nrate = 0.1', ["TRAIN_BATCH"]),
    "a library's": ('TRAIN_BATCH = env.int("TRAIN_BATCH")\nrate = config("rate")', ["TRAIN_BATCH", "rate"]),
    "a field of settings": (BOUND + "class Train(BaseSettings):\n    rate: float = 0.1", ["rate"]),
    "a field behind a prefix": (BOUND + "class Train(BaseSettings):\n    batch: int", ["TRAIN_BATCH"]),
    "a field of another class": (BOUND + "class Train(BaseModel):\n    batch: int", []),
    "bound in a cell": (BOUND, []),
    "declared alone": ("TRAIN_BATCH: int\nrate = 0.1", ["TRAIN_BATCH"]),
    "bound by nobody": ("import train\ntrain.main()", ["TRAIN_BATCH", "rate"]),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_job_takes_as_variables_what_the_estimate_did(name: str, inspect: Inspect) -> None:
    source, variables = PROGRAMS[name]
    answers = {"TRAIN_BATCH": 4, "rate": 0.2}
    before = set(os.environ)
    with environment(answers, [source]):
        estimated = sorted(set(os.environ) - before)
    assert estimated == variables
    assert sorted(for_job(inspect(source), answers).environment) == variables
