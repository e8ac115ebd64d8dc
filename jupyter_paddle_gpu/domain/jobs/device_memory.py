"""A device that ran out of memory: what was expected beside what was seen, and the next step that follows from both."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import msgspec

from ..messages import Message, Param
from ..sizes import human

if TYPE_CHECKING:
    from .job import JobResult, JobSpec


def with_figures(reason: Message, spec: JobSpec, result: JobResult | None) -> Message:
    """The reason `out_of_memory_device` with the job's estimate, its peak and the batch that would fit, as far as they
    are known; any other reason as it is."""
    if reason.code != "out_of_memory_device":
        return reason
    figures: dict[str, Param] = {}
    if spec.estimated_peak_bytes:
        figures["estimated"] = human(spec.estimated_peak_bytes)
    if peak := peak_bytes(result):
        figures["peak"] = human(peak)
    told, step = _sentence(figures), _next_step(spec)
    return msgspec.structs.replace(
        reason, text=told.text, hint=step.hint, params={**reason.params, **figures, **step.params}
    )


def peak_bytes(result: JobResult | None) -> int | None:
    """The most that was seen in use: by the driver, else what Paddle's allocator held; None where neither told."""
    if result is None:
        return None
    devices = result.statistics.devices if result.statistics else ()
    return max((device.memory_peak_bytes or 0 for device in devices), default=0) or result.device_reserved_bytes


def _sentence(figures: dict[str, Param]) -> Message:
    code = "out_of_memory_device"
    if "estimated" in figures and "peak" in figures:
        return Message(
            code=code,
            text="The device ran out of memory (the estimate was {estimated}, the most seen in use {peak}): {value}",
        )
    if "estimated" in figures:
        return Message(code=code, text="The device ran out of memory (the estimate was {estimated}): {value}")
    if "peak" in figures:
        return Message(code=code, text="The device ran out of memory (the most seen in use was {peak}): {value}")
    return Message(code=code, text="The device ran out of memory: {value}")


def _next_step(spec: JobSpec) -> Message:
    code, largest, used = "out_of_memory_device", spec.estimated_largest_batch, spec.estimated_batch_size
    if spec.estimated_device and largest and used and largest >= used:
        return Message(
            code=code,
            text="",
            hint="By the estimate the batch of {batch} fits {device} with nothing else on it: look with "
            "`jupyter paddle-gpu gpus` who uses it, or submit with a smaller `--batch-size`.",
            params={"batch": used, "device": spec.estimated_device},
        )
    if spec.estimated_device and largest:
        return Message(
            code=code,
            text="",
            hint="By the estimate a batch of {batch} fits {device}: submit with `--batch-size {batch}`, use mixed "
            "precision, or take a device with more memory.",
            params={"batch": largest, "device": spec.estimated_device},
        )
    return Message(
        code=code,
        text="",
        hint="`jupyter paddle-gpu estimate --details {notebook}` names the largest batch that fits and what else would "
        "help; or submit to a device with more free memory.",
        params={"notebook": shlex.quote(spec.notebook)},
    )
