"""Whether a job trained where it was sent: a Paddle for the CPU trains there all the same, and holds the card."""

from __future__ import annotations

from ...devices.makers.registry import makers
from ...domain.jobs import reasons
from ...domain.jobs.job import Job, JobResult
from ...domain.messages import Message


def unused_device(job: Job, result: JobResult | None) -> Message | None:
    """What to say of a job that was given a device and whose Paddle cannot use any; None where it could, or had no
    tensor. What the Paddle of makers says of itself whom nobody has checked on hardware is not known."""
    if result is None or not job.device_ids or not makers().of_device(job.device_ids[0]).checked:
        return None
    if not result.paddle_version or result.cuda_version or not result.host_allocated_bytes:
        return None
    told = Message(
        code="device_not_used",
        text="The Paddle there, {version}, is a build for the CPU: it used no GPU.",
        hint="Held for nothing: {device}. Install Paddle for GPUs where the job runs "
        "(https://www.paddlepaddle.org.cn/install/quick), or choose the CPU for the job.",
        params={"device": ",".join(job.device_ids), "version": result.paddle_version},
    )
    return reasons.called(told, job.device_names)
