"""A finished job as it is kept for learning: what its step was, on which cards, how long it took and how it ended."""

from __future__ import annotations

import time

from ...devices.catalogue import find
from ...domain.devices import Device, Inventory
from ...domain.jobs.job import Job, JobResult
from ...domain.learned import LearnedRun
from ...jobs.monitoring.device_use import unused_device
from ...jobs.scheduling.queue import need_of
from ...matching.candidates import allowed_bytes
from ...matching.policy import Policy

LEAST_STEPS = 10
"""Updates from which the seconds of one are told: the mean over fewer hangs on single ones."""


def remembered(job: Job, result: JobResult, inventory: Inventory, policy: Policy) -> LearnedRun | None:
    """The line of a job; None of one that ran on no device that is known here (or held one and trained on the CPU), or
    whose step is not known."""
    need, cards = need_of(job), [one for one in inventory.devices if one.id in job.device_ids]
    if need is None or not need.flops or not cards or len(cards) != len(job.device_ids):
        return None
    if unused_device(job, result) is not None:  # its seconds are the processor's
        return None
    if any(card.simulated or card.parent is not None for card in cards) or len({card.name for card in cards}) > 1:
        return None
    statistics = result.statistics
    seen = [] if statistics is None else [one for one in statistics.devices if one.id in job.device_ids]
    watts = [one.power_mean_watts for one in seen if one.power_mean_watts is not None]
    ran = result.seconds or (statistics.seconds if statistics is not None else None)
    enough = result.steps_seen >= LEAST_STEPS
    possible = {_name(one) for one in inventory.devices if _holds(one, need.high, policy)} | {_name(cards[0])}
    return LearnedRun(
        job=job.id,
        time=time.time(),
        card=_name(cards[0]),
        need=need,
        devices=len(cards),
        step_seconds=result.step_seconds if enough else None,
        steps=result.steps_seen,
        seconds=ran,
        peak_bytes=max((one.memory_peak_bytes for one in seen if one.memory_peak_bytes is not None), default=None),
        energy_joules=sum(watts) * ran if ran and len(watts) == len(cards) else None,
        outcome="program_failed" if result.program_status else result.reason or "succeeded",
        alone=not job.shares,
        cards=tuple(sorted(possible)),
    )


def _name(device: Device) -> str:
    row = find(device.name)
    return device.name if row is None else row.name


def _holds(device: Device, needed: int, policy: Policy) -> bool:
    allowed = allowed_bytes(device, policy)
    return not device.simulated and device.parent is None and allowed is not None and needed <= allowed
