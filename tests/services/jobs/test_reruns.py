"""A job run again with other values goes where it went, unless it went to the CPU for want of a device."""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.domain.jobs.job import Job, JobSpec, Resources, WantedResources
from jupyter_paddle_gpu.domain.messages import Message
from jupyter_paddle_gpu.domain.what_ifs import EstimateRequest, in_copy
from jupyter_paddle_gpu.matching import sentences
from jupyter_paddle_gpu.services.jobs.reruns import submission_of
from jupyter_paddle_gpu.services.requests import Rerun


def job(**fields: object) -> Job:
    """One that has ended."""
    spec = JobSpec(name="a", notebook="/n", output="/o", folder=str(Path("/")), engine="local", **fields)  # type: ignore[arg-type]
    return Job(id="a", spec=spec, state="succeeded", created=1.0, updated=1.0)


@pytest.mark.parametrize(
    ("reason", "gpus"),
    [
        (sentences.ON_REQUEST, 0),
        (sentences.NO_DEVICE, None),
        (sentences.NONE_USABLE, None),
        (sentences.NOT_GIVEN, None),
    ],
)
def test_the_cpu_is_taken_again_where_somebody_asked_for_it(reason: Message, gpus: int | None) -> None:
    asked = submission_of(job(resources=Resources(gpus=0, seconds=60.0), on_cpu=reason), Rerun(name="b")).resources
    assert asked is not None
    assert (asked.gpus, asked.seconds) == (gpus, 60.0)


def test_as_many_processes_train_together_as_before() -> None:
    two = job(resources=Resources(gpus=0), processes=2, on_cpu=sentences.ON_REQUEST)
    assert submission_of(two, Rerun(name="b")).request.devices == 2
    assert submission_of(two, Rerun(request=EstimateRequest(devices=3))).request.devices == 3
    assert submission_of(two, Rerun(resources=WantedResources(gpus=1))).request.devices is None, "asked for otherwise"


def test_what_the_job_asked_for_can_be_answered() -> None:
    asked = Message(code="open_environment", text="Open question: {names}.", params={"names": "BATCH, WIDTH"})
    again = submission_of(job(unanswered=(asked,)), Rerun(values={"WIDTH": 8}))
    assert again.request.answers == {"WIDTH": 8}
    with pytest.raises(PaddleGpuError, match="HEIGHT"):
        submission_of(job(unanswered=(asked,)), Rerun(values={"HEIGHT": 8}))


def test_how_many_processes_there_are_is_told_beside_a_copy_with_all_changes() -> None:
    left = in_copy(EstimateRequest(training="1", batch_size=8, devices=2, amp="O1"))
    assert left == EstimateRequest(devices=2)
