"""Whether a job trained where it was sent."""

from __future__ import annotations

import pytest

from jupyter_paddle_gpu.domain.jobs.job import Job, JobResult
from jupyter_paddle_gpu.domain.messages import Message
from jupyter_paddle_gpu.jobs.monitoring.device_use import unused_device

from .. import conftest as jobs_conftest

spec, work = jobs_conftest.spec, jobs_conftest.work  # fixtures
TRAINED = {"paddle_version": "3.3.1", "host_allocated_bytes": 4096}


@pytest.mark.parametrize(
    ("devices", "result", "said"),
    [
        (("GPU-0",), TRAINED, True),
        (("GPU-0",), {**TRAINED, "cuda_version": "12.6"}, False),
        (("GPU-0",), {**TRAINED, "host_allocated_bytes": 0}, False),
        (("GPU-0",), {}, False),
        ((), TRAINED, False),
        (("ascend-0000:81:00.0",), TRAINED, False),
        (("amd-0000:81:00.0",), TRAINED, False),
    ],
)
def test_a_paddle_without_cuda_that_was_given_a_card_is_told(spec, devices, result, said) -> None:
    names = {"GPU-0": Message(code="gpu", text="GPU {index}", params={"index": 0})}
    job = Job(id="a", spec=spec(), state="running", created=0, updated=0, device_ids=devices, device_names=names)
    told = unused_device(job, JobResult(reason="succeeded", **result))
    assert (told is not None) == said
    assert told is None or (told.params["version"], told.render_hint()[:24]) == ("3.3.1", "Held for nothing: GPU 0.")
