"""How a job ended: from `result.json`, or from what the engine saw where there is none."""

from __future__ import annotations

import os
from typing import Any

import msgspec

from ...domain.jobs import reasons
from ...domain.jobs.device_memory import with_figures
from ...domain.jobs.job import Job, JobResult, JobState
from ...domain.jobs.limits import out_of_memory, out_of_memory_raised
from ...domain.jobs.statistics import StatisticsSummary
from ...domain.messages import Message
from ...domain.scripts import said_of
from ...domain.sizes import human
from ...engines import own_files
from ...engines.base import JobFolder, Observation
from ..folder import ranks, untrusted

DIFFERS = 0.01
"""From this difference between an estimated and a measured step on it is said: below it lies what Python allocates."""
RESULT_BYTES = 16 << 20
"""Largest `result.json` that is read: a job could write anything there."""

_STATES: dict[str, JobState] = {"succeeded": "succeeded", "cancelled": "cancelled"}
_OF_A_STOP = ("cancelled", "killed")
"""How a runner ends by a signal, whoever sent it."""
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
    ending = _ending_of(job, folder, observation)
    return msgspec.structs.replace(ending, reason=said_of(job.spec.notebook, ending.reason))


def _out_of_memory(job: Job, result: JobResult) -> Message:
    if failure := result.failure:
        return out_of_memory_raised(failure.cell, failure.line, failure.name, failure.value)
    return out_of_memory(job.spec.resources.memory_bytes, job.spec.limits)


def _ending_of(job: Job, folder: JobFolder, observation: Observation) -> Ending:
    raw, rank = _read(folder), 0
    stopped = _stopped_for(job)
    failed = ranks.failure(folder) if stopped is None else None
    if failed is not None and (raw is None or raw.get("reason") in _OF_A_STOP or _is_cause(failed[1], raw)):
        rank, raw = failed
    if raw is not None:
        result = _together(msgspec.structs.replace(untrusted.result(raw), rank=rank), folder if not rank else None)
        reason = reasons.of_rank(_reason(job, raw, result), job.id, rank)
        if result.reason in _OF_A_STOP:
            # The engine may know better who ended it: the limit of a container's memory, a daemon that was restarted.
            reason = stopped or observation.reason or reason
        elif result.reason in ("out_of_memory_host", "cell_error") and _ran_out_of_memory(observation):
            # The engine knows the limit that held. A worker that the kernel ended for it shows as an error of its cell.
            reason = observation.reason or reason
        return Ending(_state_of(reason), reason, result, untrusted.moment(raw.get("ended")))
    if stopped is not None:
        return Ending(_state_of(stopped), stopped, None, observation.ended)
    result = JobResult(reason="runner_vanished", exit_code=observation.exit_code)
    return Ending("failed", observation.reason or reasons.runner_vanished(), result, observation.ended)


_PEAKS = ("device_allocated_bytes", "device_reserved_bytes", "step_allocated_bytes", "host_allocated_bytes")


def _together(result: JobResult, folder: JobFolder | None) -> JobResult:
    """The result with the peaks of the process that held most, for an estimate is of that one, and the peak of each."""
    others = [untrusted.result(one) for one in ranks.results(folder).values()] if folder is not None else []
    if not others:
        return msgspec.structs.replace(result, rank_allocated_bytes=())
    every = (result, *others)
    most = {name: max((getattr(one, name) or 0 for one in every), default=0) or None for name in _PEAKS}
    each = tuple(one.device_allocated_bytes or one.step_allocated_bytes for one in every)
    return msgspec.structs.replace(result, **most, rank_allocated_bytes=each)


def _is_cause(other: dict[str, Any], own: dict[str, Any]) -> bool:
    """Whether another process's error came before the first one's, which lost it then; the same error is its own."""
    one, two = own.get("failure"), other.get("failure")
    if not isinstance(one, dict) or not isinstance(two, dict):
        return False
    same = all(one.get(part) == two.get(part) for part in ("name", "value", "cell"))
    return not same and ranks.failed_at(other) < ranks.failed_at(own)


def _stopped_for(job: Job) -> Message | None:
    """Why the row says that the job is to end: it was cancelled, or its runner let its time limit pass. None: it does
    not say so, and whoever ended the job all the same cancelled nothing."""
    if job.state != "stopping":
        return None
    return job.reason if job.reason is not None and job.reason.code == "time_limit" else reasons.cancelled()


def _state_of(reason: Message) -> JobState:
    return _STATES.get(reason.code, "failed")


def _ran_out_of_memory(observation: Observation) -> bool:
    return observation.reason is not None and observation.reason.code == "out_of_memory_host"


def with_measurements(ending: Ending, job: Job, seen: StatisticsSummary | None) -> Ending:
    """The same with what was seen of the job from outside, and with what its figures say of the estimate."""
    result = ending.result
    if result is not None:
        notes = (*result.notes, *_against_estimate(job, result))
        result = msgspec.structs.replace(result, statistics=seen, notes=notes)
    return msgspec.structs.replace(ending, result=result, reason=with_figures(ending.reason, job.spec, result))


def warning_of(ending: Ending) -> Message | None:
    """What an end that seems well leaves unsaid: a program that a cell started has failed."""
    result = ending.result
    if ending.state != "succeeded" or result is None or not result.program_status or result.program_cell is None:
        return None
    return Message(
        code="program_failed",
        text="The program that cell {cell} starts ended with exit status {status}.",
        hint="A notebook goes on behind such a line; what the program said is in the log. Correct it and submit again.",
        params={"cell": result.program_cell + 1, "status": result.program_status},
    )


def _against_estimate(job: Job, result: JobResult) -> tuple[Message, ...]:
    """On the CPU the estimate is exact or wrong: a difference is said, whichever way it goes. A run that ended early
    may not have come to the training that takes most: it can only show more than was estimated."""
    estimated, measured = job.spec.estimated_allocated_bytes, result.step_allocated_bytes
    if estimated and measured and measured < estimated and not result.is_whole:
        return ()
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
        case "cancelled":  # the runner's word for a SIGTERM; only the row knows whether anybody cancelled
            lost = untrusted.whole(raw.get("lost"))
            return reasons.process_lost(job.id, lost) if lost else reasons.terminated()
        case "cell_error" if failure:
            return reasons.cell_error(failure.cell, failure.line, failure.name, failure.value)
        case "out_of_memory_device":
            return reasons.out_of_memory_device(failure.cell if failure else None, failure.value if failure else said)
        case "out_of_memory_host":
            return _out_of_memory(job, result)
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
