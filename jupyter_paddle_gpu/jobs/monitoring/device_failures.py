"""Whether a job ended because its device failed: what the driver says of the card is a better reason than an error."""

from __future__ import annotations

from collections.abc import Sequence

from ...devices.makers.registry import makers
from ...domain.devices import Device
from ...domain.jobs import reasons
from ...domain.jobs.job import Job
from ...domain.messages import Message

_BROKEN = "card_broken"
"""Code of the problem of a card that does not answer (NVIDIA: `devices.makers.nvidia.problems`)."""


def lost_device(job: Job, devices: Sequence[Device]) -> Message | None:
    """The reason for the end of a job that failed, where one of its devices does not answer or had an error of its own
    since the job began; None where all are well."""
    for device in devices:
        if device.id not in job.device_ids:
            continue
        if device.problem is not None and device.problem.code == _BROKEN:
            return _lost(device, str(device.problem.params.get("error", "")))
        if device.fault and (device.fault_time or 0.0) >= (job.started or job.created):
            return _lost(device, device.fault)
    return None


def _lost(device: Device, error: str) -> Message:
    maker = makers().named(device.vendor)
    return (reasons.device_lost if maker is None else maker.lost)(device.id, error)
