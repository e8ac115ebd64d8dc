"""What a finished job says of its training on a GPU, in the form of the public collection: figures, no code, no names.

Of the job's specification and result only numbers, versions, the card's model, the precision and which public trainer
it is go into it; notebook, folder, values of variables, environment, owner, notes and error texts do not.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from pathlib import Path

from ...devices import catalogue
from ...domain.devices import Inventory
from ...domain.errors import PaddleGpuError
from ...domain.jobs.job import Job, JobResult
from ...domain.measurements.gpu_logs import Figure, Foretold, GpuLog, Kind
from ..estimates import targets

FULL = "out_of_memory_device"


def facts_of(job: Job, inventory: Callable[[], Inventory], kind: Kind = "") -> GpuLog:
    """The record of a job.

    Args:
        kind: what was trained, as its person says.

    Raises:
        PaddleGpuError: `nothing_to_contribute` and what begins with it (409): it ran on the CPU, has not ended or not
            by itself, or nothing was measured.
    """
    result, ended = _told(job)
    seen = result.statistics.devices if result.statistics else ()
    watched = next((one for one in seen if one.id == job.device_ids[0]), None)
    alone = watched is not None and watched.processes_peak == 1
    device = watched.memory_peak_bytes if watched is not None and alone else None
    if result.device_allocated_bytes is None and device is None:
        raise PaddleGpuError(
            "nothing_to_contribute_measured",
            "Nothing was measured on the device of job {id}.",
            hint="Paddle tells its allocator's peaks where the notebook's process ends in order.",
            status=409,
            id=job.id,
        )
    spec, full = job.spec, result.reason == FULL
    return GpuLog(
        kind=kind,
        grade="complete" if spec.estimated_batch_size and spec.estimated_precision else "partial",
        date=datetime.datetime.fromtimestamp(ended, datetime.timezone.utc).date().isoformat(),
        card=_card(job, inventory),
        paddle=_version(result.paddle_version),
        cuda=_version(result.cuda_version),
        trainer=spec.trainer,
        batch=spec.estimated_batch_size,
        size=spec.estimated_size,
        precision=spec.estimated_precision,
        cards=len(job.device_ids),
        allocated=None if full else _figure(result.device_allocated_bytes),
        reserved=None if full else _figure(result.device_reserved_bytes),
        device=_figure(device),
        exhausted=_figure(result.device_allocated_bytes) if full else None,
        foretold=_foretold(job),
    )


def _told(job: Job) -> tuple[JobResult, float]:
    """The result of a job that ended by itself on a GPU, and when it did."""
    if job.ended is None:
        raise PaddleGpuError(
            "nothing_to_contribute_yet",
            "Job {id} has not ended: what it takes is told then.",
            hint="`jupyter paddle-gpu logs {id} --follow` waits for its end.",
            status=409,
            id=job.id,
        )
    if not job.device_ids:
        raise PaddleGpuError(
            "nothing_to_contribute",
            "Job {id} had no GPU: there is nothing to tell of one.",
            hint="Name a job that had: `jupyter paddle-gpu jobs` lists where each ran.",
            status=409,
            id=job.id,
        )
    if job.result is None or not (job.result.is_whole or job.result.reason == FULL):
        raise PaddleGpuError(
            "nothing_to_contribute_stopped",
            "Job {id} stopped before its end, so that what it took says nothing of the whole training.",
            hint="Name a job that ran to its end, or until its GPU's memory was full: `jupyter paddle-gpu jobs` lists "
            "how each ended.",
            status=409,
            id=job.id,
        )
    return job.result, job.ended


def write(log: GpuLog, file: Path) -> None:
    """Add the record's line to a file.

    Raises:
        PaddleGpuError: `cannot_write` (400).
    """
    try:
        with file.open("a", encoding="ascii") as opened:
            opened.write(log.line + "\n")
    except OSError as error:
        raise PaddleGpuError(
            "cannot_write",
            "{file} cannot be written: {error}",
            hint="Name another file with --write.",
            file=str(file),
            error=error.strerror or str(error),
        ) from error


def _figure(size: int | None) -> Figure | None:
    return Figure.of(size) if size else None


def _version(text: str | None) -> str:
    """`3.3.1` of `3.3.1+local`: what somebody wrote behind it may name a machine."""
    found = re.match(r"\d+(\.\d+)*", text or "")
    return found.group() if found else ""


def _card(job: Job, inventory: Callable[[], Inventory]) -> str:
    """The catalogue's name of the card's model, which no maker's serial number is part of."""
    card = next((one for one in inventory().devices if one.id == job.device_ids[0]), None)
    known = targets.of_device(card, catalogue.find) if card is not None else catalogue.find(job.spec.estimated_device)
    return known.name if known is not None else ""


def _foretold(job: Job) -> Foretold | None:
    """As it was shown: bare terms lack what logs and measured jobs say of the range. A step that was not traced is no
    figure to judge; jobs of before these fields tell what they have."""
    spec = job.spec
    if spec.estimated_terms is None:
        return None
    return Foretold(
        allocated=spec.estimated_allocated_bytes,
        reserved=spec.estimated_reserved_bytes,
        device=spec.estimated_peak_bytes,
        low=spec.estimated_low_bytes,
        high=spec.estimated_high_bytes,
    )
