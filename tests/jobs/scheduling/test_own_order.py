"""One's own order, how long a job is expected to run, and what a user has used."""

from __future__ import annotations

import msgspec
import pytest

from jupyter_paddle_gpu.domain.decisions import Need
from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.domain.jobs.job import Job, JobResult, Resources
from jupyter_paddle_gpu.jobs.scheduling.expected import expected_seconds
from jupyter_paddle_gpu.jobs.scheduling.own_order import moved, ordered

from .test_queue import job


def after(queued: list[Job], name: str, before: str | None) -> str:
    """The order when it was moved."""
    places = moved(queued, name, before)
    there = [msgspec.structs.replace(one, priority=places[one.id][0], position=places[one.id][1]) for one in queued]
    return " ".join(one.id for one in ordered(there))


def test_a_moved_job_stands_where_it_was_put_whatever_its_priority() -> None:
    queued = [job("a"), job("b"), job("c", priority=2), job("d", priority=-1)]
    assert " ".join(one.id for one in ordered(queued)) == "c a b d"
    assert after(queued, "d", "c") == "d c a b"
    assert after(queued, "c", None) == "a b d c"
    assert after(queued, "b", "a") == "c b a d"
    with pytest.raises(PaddleGpuError, match="does not wait"):
        moved(queued, "a", "gone")


def test_a_job_is_expected_to_take_what_the_last_one_like_it_took() -> None:
    runs = [
        msgspec.structs.replace(job(name, gpus), result=JobResult(reason="succeeded", seconds=seconds))
        for name, gpus, seconds in (("newest", 2, 70.0), ("alike", 1, 100.0))
    ]
    assert expected_seconds(job("x", 1), lambda notebook: runs) == 100.0
    assert expected_seconds(job("x", 4), lambda notebook: runs) == 70.0
    assert expected_seconds(job("x", 1), lambda notebook: []) is None
    assert expected_seconds(job("x", 1), lambda notebook: runs, lambda job: 50.0) == 100.0
    assert expected_seconds(job("x", 4), lambda notebook: runs, lambda job: 50.0) == 50.0, "what was measured of a step"
    counts = {"run": 1000, "same": 1000, "longer": 3000}

    def counted(name: str) -> Job:
        made = job(name, 1)
        return msgspec.structs.replace(
            made, spec=msgspec.structs.replace(made.spec, need=Need(low=1, high=1, steps=counts[name]))
        )

    runs = [msgspec.structs.replace(counted("run"), result=JobResult(reason="succeeded", seconds=100.0))]
    assert expected_seconds(counted("same"), lambda notebook: runs, lambda job: 50.0) == 100.0
    assert expected_seconds(counted("longer"), lambda notebook: runs, lambda job: 250.0) == 250.0
    assert expected_seconds(counted("longer"), lambda notebook: runs) == 300.0, "three times as many steps"
    limited = msgspec.structs.replace(job("x", 4).spec, resources=Resources(gpus=4, seconds=20.0))
    short = msgspec.structs.replace(job("x", 4), spec=limited)
    assert expected_seconds(short, lambda notebook: [], lambda job: 50.0) == 20.0
