"""A sweep: one notebook run with several values, the trials it consists of, and which of them is the best."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import msgspec

from ..jobs.job import ENDED, Job
from ..jobs.metrics import Direction, direction_of, final_metric
from ..jobs.state_words import PROGRAM_FAILED, state_words
from ..messages import Message
from ..notebooks import FactValue
from .space import Dimension

Search = Literal["grid", "random", "optuna"]
TrialState = Literal[
    "planned", "refused", "queued", "preparing", "running", "stopping", "succeeded", "failed", "cancelled", "deleted"
]


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """One run of a sweep, as it is planned. Whether it runs and how it ended says its job.

    Attributes:
        number: from 1.
        values: by the names of the sweep's dimensions.
        attempt: how often it was planned; more than once where it was run again. Part of its job's token.
        job_id: empty until somebody has written down which job it is; the store finds it by its token before.
        closed: it shall have no job (any more): `cancelled`, or `refused` with `why`.
    """

    number: int
    values: dict[str, FactValue]
    attempt: int = 1
    job_id: str = ""
    closed: Literal["", "cancelled", "refused"] = ""
    why: Message | None = None


class Sweep(msgspec.Struct, frozen=True, kw_only=True):
    """A row of the store. Every decision stands in it before anything follows from it.

    Attributes:
        notebook: absolute path of the source; what is run is the copy in the sweep's folder.
        submission: what every trial is submitted with besides its values (`services.requests.Submission` as JSON).
        trials: a grid's and a random search's all at once; Optuna's as they are asked for.
        wanted: how many trials there shall be.
        at_once: how many of them may wait or run at the same time.
        metric, direction: by which the best is found; empty: what came out of the runs (`chosen_metric`).
        seed: of the random choices.
        stopped: no further trial is asked for.
        open: something is left to be done: only those are looked after.
    """

    id: str
    name: str
    notebook: str
    created: float
    dimensions: tuple[Dimension, ...]
    trials: tuple[Trial, ...]
    wanted: int
    search: Search = "grid"
    at_once: int = 1
    metric: str = ""
    direction: Literal["", "min", "max"] = ""
    seed: int = 0
    submission: dict[str, Any] = {}
    job: str = ""
    owner: str = ""
    stopped: bool = False
    open: bool = True
    ended: float | None = None


class TrialRow(msgspec.Struct, frozen=True, kw_only=True):
    """A trial as it is now.

    Attributes:
        value: of the sweep's metric, the newest; None: not told yet.
        curve: of the metric that stands for a training at a glance, `curve_of`.
        why: what keeps it from running, or made it fail; of one that succeeded, that a program of it has failed.
        placed: the estimate's peak in bytes, by which it was placed.
    """

    number: int
    values: dict[str, FactValue]
    state: TrialState
    job_id: str = ""
    why: Message | None = None
    value: float | None = None
    metrics: dict[str, float] = {}
    curve: tuple[float, ...] = ()
    curve_of: str = ""
    seconds: float | None = None
    placed: int | None = None
    device_ids: tuple[str, ...] = ()


class SweepReport(msgspec.Struct, frozen=True, kw_only=True):
    """A sweep as it is now, the same for every face.

    Attributes:
        state: `running` while trials are planned, wait or run; `succeeded` where every one that ran did.
        metric, direction: by which `best` was found; an empty metric: no run has told one.
        metrics: all that the runs tell, by which it could be found.
        best: number of the best trial that succeeded.
        counts: how many trials are in each state.
    """

    id: str
    name: str
    notebook: str
    created: float
    ended: float | None
    search: Search
    at_once: int
    wanted: int
    dimensions: tuple[Dimension, ...]
    state: Literal["running", "succeeded", "failed", "cancelled"]
    metric: str
    direction: Direction
    metrics: tuple[str, ...]
    best: int | None
    counts: dict[str, int]
    trials: tuple[TrialRow, ...]
    owner: str = ""


def token(sweep_id: str, trial: Trial) -> str:
    """By which a trial's job is found again, whoever made it: the store takes one job for each."""
    return f"{sweep_id}/{trial.number}/{trial.attempt}"


def chosen_metric(sweep: Sweep, jobs: Iterable[Job]) -> tuple[str, Direction]:
    """By what trials are compared: as a person said, else by what came out of each. Its direction follows from its
    name where nobody said one."""
    told = [name for job in jobs for name in job.progress.metrics]
    name = sweep.metric or final_metric(sorted(dict.fromkeys(told), key=lambda one: -told.count(one))) or ""
    return name, sweep.direction or (direction_of(name) if name else "min")


def report(sweep: Sweep, jobs: Mapping[str, Job], *, metric: str = "", direction: str = "") -> SweepReport:
    """How a sweep is.

    Args:
        jobs: those of its trials, by id.
        metric, direction: another one to look at than the sweep's own.
    """
    asked = msgspec.structs.replace(
        sweep,
        metric=metric or sweep.metric,
        direction=direction or ("" if metric and metric != sweep.metric else sweep.direction),
    )
    name, better = chosen_metric(asked, jobs.values())
    rows = tuple(_row(trial, jobs.get(trial.job_id), name) for trial in sweep.trials)
    counts: dict[str, int] = {}
    for row in rows:
        counts[row.state] = counts.get(row.state, 0) + 1
    if sweep.search == "optuna" and sweep.open and not sweep.stopped and sweep.wanted > len(rows):
        counts["planned"] = counts.get("planned", 0) + sweep.wanted - len(rows)
    known = [one for job in jobs.values() for one, value in job.progress.metrics.items() if math.isfinite(value)]
    return SweepReport(
        id=sweep.id,
        name=sweep.name,
        notebook=sweep.notebook,
        created=sweep.created,
        ended=sweep.ended,
        search=sweep.search,
        at_once=sweep.at_once,
        wanted=sweep.wanted,
        dimensions=sweep.dimensions,
        state=_state(sweep, counts),
        metric=name,
        direction=better,
        metrics=tuple(dict.fromkeys(sorted(known))),
        best=best_of(rows, better),
        counts=counts,
        trials=rows,
        owner=sweep.owner,
    )


def best_of(rows: Sequence[TrialRow], direction: Direction) -> int | None:
    """The number of the best trial that succeeded; the earlier one of two that are equal. One of which a program has
    failed is the best only where there is no other."""
    done = [row for row in rows if row.state == "succeeded" and row.value is not None]
    sign = 1 if direction == "min" else -1
    if not done:
        return None
    return min(done, key=lambda row: (row.why is not None, sign * (row.value or 0.0), row.number)).number


def _row(trial: Trial, job: Job | None, metric: str) -> TrialRow:
    if job is None:
        state: TrialState = trial.closed or ("deleted" if trial.job_id else "planned")
        return TrialRow(number=trial.number, values=trial.values, state=state, job_id=trial.job_id, why=trial.why)
    metrics = {name: value for name, value in job.progress.metrics.items() if math.isfinite(value)}
    line = job.progress.sparkline
    return TrialRow(
        number=trial.number,
        values=trial.values,
        state=job.state,
        job_id=job.id,
        why=job.reason if job.state in ("failed", "cancelled", "queued") else _failed_program(job),
        value=metrics.get(metric),
        metrics=metrics,
        curve=line.values if line else (),
        curve_of=line.name if line else "",
        seconds=None if job.started is None or job.ended is None else job.ended - job.started,
        placed=job.spec.estimated_peak_bytes,
        device_ids=job.device_ids,
    )


def _failed_program(job: Job) -> Message | None:
    return job.progress.warning if state_words(job) == PROGRAM_FAILED else None


def _state(sweep: Sweep, counts: Mapping[str, int]) -> Literal["running", "succeeded", "failed", "cancelled"]:
    going = {"planned", "queued", "preparing", "running", "stopping"}
    if sweep.open or any(counts.get(state) for state in going):
        return "running"
    if counts.get("failed"):
        return "failed"
    return "cancelled" if counts.get("cancelled") or sweep.stopped else "succeeded"


def is_over(sweep: Sweep, jobs: Mapping[str, Job]) -> bool:
    """Whether nothing is left to be done for it."""
    if not sweep.stopped and len(sweep.trials) < sweep.wanted:
        return False
    return all(
        trial.closed or (trial.job_id and (trial.job_id not in jobs or jobs[trial.job_id].state in ENDED))
        for trial in sweep.trials
    )
