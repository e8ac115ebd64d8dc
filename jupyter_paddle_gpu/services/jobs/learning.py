"""A finished job teaches the next estimate, where its figures mean what the estimate meant."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ...devices import catalogue
from ...domain.devices import Inventory
from ...domain.estimates import DeviceTerms, Estimate
from ...domain.jobs.job import Job, JobResult
from ...domain.jobs.statistics import DeviceSummary
from ...domain.messages import Message
from ...domain.sizes import human
from ..estimates import targets

if TYPE_CHECKING:
    from ...estimator.service import EstimateService

LEAST_STEPS = 5
"""Measured training steps (the first two are not): fewer may not have come to the step that takes most."""
LEAST_SAMPLES = 5
"""Samples in which the driver told the job's memory."""
LEAST_AT_PEAK = 3
"""Of these, samples at the peak: the allocator keeps what it has, so that a real peak lasts."""
MARGIN = 0.1
"""How far the reserved bytes may lie outside the estimate's range and still be those of the estimated step."""
LEAST_MARGIN = 16 << 20
"""The same in bytes, for small models."""


def learn(
    estimator: Callable[[], EstimateService], inventory: Callable[[], Inventory], job: Job, result: JobResult
) -> tuple[Message, ...]:
    """Give the job's peak to the calibration where it can be compared; a sentence on what became of it.

    Neither room is asked for a job that was not estimated for a card.

    It counts once, however often a server finds the job ended, and only where all of this holds:

    * the job succeeded, with the programs that its cells start, and its estimate, made at submit for the very content
      that ran, rests on a traced step;
    * it ran on one whole card that the driver knows (a slice has another context than its card), with one process on
      it: each has a context of its own;
    * with the Paddle version that was estimated, for at least `LEAST_STEPS` steps beyond the first two;
    * the driver told the job's memory in `LEAST_SAMPLES` samples, and `LEAST_AT_PEAK` of them were at the peak;
    * what Paddle's allocator reserved, where it told, lies within `MARGIN` of the estimate's range: a validation with
      larger batches, or another model in the same notebook, is another step than the one estimated;
    * the peak is not smaller than the least that the estimated step maps, which no process on the card could be.
    """
    terms = job.spec.estimated_terms
    if not result.is_whole or terms is None or len(job.device_ids) != 1 or result.statistics is None:
        return ()
    seen = next((device for device in result.statistics.devices if device.id == job.device_ids[0]), None)
    now = inventory()
    card = next((device for device in now.devices if device.id == job.device_ids[0]), None)
    if seen is None or seen.memory_peak_bytes is None or card is None or card.parent is not None or card.simulated:
        return ()
    if why := _unlike(job, result, terms, seen):
        return (why,)
    accelerator = targets.of_device(card, catalogue.find)
    if accelerator is None:
        return ()
    version = job.spec.estimated_paddle_version  # under which the next estimate asks
    part = Estimate(status="ok", evidence="trace", device=accelerator.name, terms=terms, paddle_version=version)
    driver = now.drivers.get(card.vendor)
    cuda = result.cuda_version or (driver.runtime if driver else None) or ""
    estimator().observe(part, seen.memory_peak_bytes, cuda=cuda, job=job.id)
    return (
        Message(
            code="learnt",
            text="The driver counted at most {peak} for this job on {device}; later estimates for this card go by it.",
            params={"peak": human(seen.memory_peak_bytes), "device": accelerator.name},
        ),
    )


def _unlike(job: Job, result: JobResult, terms: DeviceTerms, seen: DeviceSummary) -> Message | None:
    """Why the figures cannot be compared; None where they can."""
    ran, estimated = (_release(version) for version in (result.paddle_version, job.spec.estimated_paddle_version))
    if ran != estimated:
        return Message(
            code="not_learnt_version",
            text="The measured peak does not narrow later estimates: the job ran Paddle {ran}, the estimate was made "
            "with {estimated}.",
            params={"ran": ran or "?", "estimated": estimated or "?"},
        )
    if seen.processes_peak > 1:
        return Message(
            code="not_learnt_processes",
            text="The measured peak does not narrow later estimates: {count} processes of the job were on the card, "
            "the estimate is for one.",
            params={"count": seen.processes_peak},
        )
    if result.steps_measured < LEAST_STEPS or seen.memory_samples < LEAST_SAMPLES or seen.peak_samples < LEAST_AT_PEAK:
        return Message(
            code="not_learnt_short",
            text="The measured peak does not narrow later estimates: the job was too short for it ({steps} steps "
            "measured, {samples} looks at the card, {peak} of them at the peak).",
            params={"steps": result.steps_measured, "samples": seen.memory_samples, "peak": seen.peak_samples},
        )
    low, high = terms.mapped_low - _margin(terms.mapped_low), terms.mapped_high + _margin(terms.mapped_high)
    reserved, peak = result.device_reserved_bytes, seen.memory_peak_bytes or 0
    if (reserved is not None and not low <= reserved <= high) or peak < low:
        return Message(
            code="not_learnt_unlike",
            text="The measured peak does not narrow later estimates: the job held {held} of the card for its tensors, "
            "the estimated step {low} to {high}; it did something else besides that step.",
            hint="A validation with larger batches or a second model in the notebook does that.",
            params={
                "held": human(peak if reserved is None else reserved),
                "low": human(terms.mapped_low),
                "high": human(terms.mapped_high),
            },
        )
    return None


def _margin(size: int) -> int:
    return max(round(MARGIN * size), LEAST_MARGIN)


def _release(version: str | None) -> str:
    """`3.3.1` of `3.3.1+local`."""
    return (version or "").partition("+")[0]
