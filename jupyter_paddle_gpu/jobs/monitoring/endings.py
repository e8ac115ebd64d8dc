"""How a job ended: from `result.json`, or from what the engine saw where there is none."""

from __future__ import annotations

import os
from typing import Any

import msgspec

from ...domain.jobs import reasons
from ...domain.jobs.device_memory import with_figures
from ...domain.jobs.job import Job, JobResult, JobState
from ...domain.jobs.limits import out_of_memory
from ...domain.jobs.statistics import StatisticsSummary
from ...domain.messages import Message
from ...domain.sizes import human
from ...engines import own_files
from ...engines.base import JobFolder, Observation
from ..folder import ranks, untrusted

DIFFERS = 0.01
"""From this difference between an estimated and a measured step on it is said: below it lies what Python allocates."""
RESULT_BYTES = 16 << 20
"""Largest `result.json` that is read: a job could write anything there."""

KILL = 9
"""SIGKILL's number, which Windows has no name for."""


class Ending(msgspec.Struct, frozen=True):
    """The final state with its reason and what was measured."""

    state: JobState
    reason: Message
    result: JobResult | None = None
    ended: float | None = None


def ending_of(job: Job, folder: JobFolder, observation: Observation) -> Ending:
    """The end of a job whose runner is gone. The runner's own word comes first, then the engine's.

    Where one process of a distributed training fails the launcher stops all: the one that failed has the word then.
    """
    raw, rank = _read(folder), 0
    if job.state != "stopping" and (raw is None or raw.get("reason") in ("cancelled", "killed")):
        failed = ranks.failure(folder)
        rank, raw = failed or (0, raw)
    if raw is not None:
        result = untrusted.result(raw)
        reason = reasons.of_rank(_reason(job, raw, result), job.id, rank)
        state: JobState = "failed"
        if result.reason in ("succeeded", "cancelled"):
            state = "succeeded" if result.reason == "succeeded" else "cancelled"
        # The engine may know better why the process was killed: the limit of a container's memory, say.
        if result.reason == "killed" and observation.reason is not None and job.state != "stopping":
            reason = observation.reason
        elif result.reason == "killed" and job.state == "stopping":
            state, reason = "cancelled", reasons.cancelled()
        elif result.reason == "cancelled" and job.state != "stopping" and observation.reason is not None:
            # A SIGTERM that no person sent (the daemon or the machine was restarted): the engine says so.
            state, reason = "failed", observation.reason
        elif result.reason in ("out_of_memory_host", "cell_error") and _ran_out_of_memory(observation):
            # The engine knows the limit that held. A worker that the kernel ended for it shows as an error of its cell.
            reason = observation.reason or reason
        return Ending(state, reason, result, untrusted.moment(raw.get("ended")))
    if job.state == "stopping":
        return Ending("cancelled", reasons.cancelled(), None, observation.ended)
    result = JobResult(reason="runner_vanished", exit_code=observation.exit_code)
    return Ending("failed", observation.reason or reasons.runner_vanished(), result, observation.ended)


def _ran_out_of_memory(observation: Observation) -> bool:
    return observation.reason is not None and observation.reason.code == "out_of_memory_host"


def with_measurements(ending: Ending, job: Job, seen: StatisticsSummary | None) -> Ending:
    """The same with what was seen of the job from outside, and with what its figures say of the estimate."""
    result = ending.result
    if result is not None:
        notes = (*result.notes, *_against_estimate(job, result))
        result = msgspec.structs.replace(result, statistics=seen, notes=notes)
    return msgspec.structs.replace(ending, result=result, reason=with_figures(ending.reason, job.spec, result))


def _against_estimate(job: Job, result: JobResult) -> tuple[Message, ...]:
    """On the CPU the estimate is exact or wrong: a difference is said, whichever way it goes."""
    estimated, measured = job.spec.estimated_allocated_bytes, result.step_allocated_bytes
    if job.spec.resources.gpus or not estimated or not measured or abs(measured - estimated) <= DIFFERS * measured:
        return ()
    return (
        Message(
            code="estimate_was_off",
            text="A training step took {measured} of Paddle's CPU memory; the estimate said {estimated} ({percent} %).",
            hint="Steps of different sizes do that, or an operation that the estimate does not know well.",
            params={
                "measured": human(measured),
                "estimated": human(estimated),
                "percent": f"{100 * (estimated - measured) / measured:+.1f}",
            },
        ),
    )


def _read(folder: JobFolder) -> dict[str, Any] | None:
    try:
        raw = msgspec.json.decode(own_files.read(folder.result, RESULT_BYTES))
    except (OSError, msgspec.DecodeError):
        return None
    return raw if isinstance(raw, dict) else None


def _reason(job: Job, raw: dict[str, Any], result: JobResult) -> Message:  # noqa: PLR0911  # a table in the form of a match
    failure, said = result.failure, str(raw.get("message") or "")[:1000]
    match result.reason:
        case "succeeded":
            return reasons.succeeded()
        case "cancelled":
            return reasons.cancelled()
        case "cell_error" if failure:
            return reasons.cell_error(failure.cell, failure.line, failure.name, failure.value)
        case "out_of_memory_device":
            return reasons.out_of_memory_device(failure.cell if failure else None, failure.value if failure else said)
        case "out_of_memory_host":
            return out_of_memory(job.spec.resources.memory_bytes, job.spec.limits)
        case "time_limit":
            return reasons.time_limit(job.spec.resources.seconds or result.seconds or 0.0)
        case "disk_full":
            return reasons.disk_full(said or job.spec.folder)
        case "shared_memory_full":
            return reasons.shared_memory_full()
        case "temporary_full":
            return reasons.temporary_full(said)
        case "killed":
            return reasons.killed(result.signal or KILL, said)
        case "exited":
            return reasons.exited(untrusted.whole(raw.get("status")))
        case _:
            return reasons.runner_error(said or os.fspath(job.spec.notebook))
