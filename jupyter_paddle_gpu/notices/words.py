"""What a notice says: a title and a few lines, in the receiver's language; and the same for programs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from ..domain.jobs.job import Job
from ..domain.jobs.state_words import PROGRAM_FAILED, state_words
from ..domain.messages import Message, Translate
from ..domain.plans.sweeps import SweepReport, TrialRow
from ..domain.variables import Difference

MOST_METRICS = 4
MOST_CHARACTERS = 400
"""Of the sentence why it ended: an error's message can be a page."""


def title(end: Job | SweepReport, translate: Translate) -> str:
    """`tagger · batch 256: done`."""
    name = end.name if isinstance(end, SweepReport) else _name(end)
    if isinstance(end, Job) and state_words(end) == PROGRAM_FAILED:
        return Message(code="notice", text="{job}: done, its program failed", params={"job": name}).render(translate)
    ends = {
        "succeeded": Message(code="notice", text="{job}: done", params={"job": name}),
        "failed": Message(code="notice", text="{job}: failed", params={"job": name}),
    }
    stopped = Message(code="notice", text="{job}: stopped", params={"job": name})
    return ends.get(end.state, stopped).render(translate)


def lines(end: Job | SweepReport, translate: Translate) -> list[str]:
    """Why it ended, how long it took, what came out, where the executed notebook is."""
    told = _sweep_lines(end, translate) if isinstance(end, SweepReport) else _job_lines(end, translate)
    return [line for line in told if line]


def data(end: Job | SweepReport, translate: Translate) -> dict[str, Any]:
    """The same for a program. No environment variable and no path but the notebooks' own is in it."""
    about = _sweep_data(end) if isinstance(end, SweepReport) else _job_data(end, translate)
    return {**about, "title": title(end, translate)}


def _job_lines(job: Job, translate: Translate) -> Iterator[str]:
    if job.reason is not None and job.state != "succeeded":
        yield job.reason.render(translate)[:MOST_CHARACTERS]
        yield job.reason.render_hint(translate)
    if job.started is not None and job.ended is not None:
        yield _took(job.ended - job.started, translate)
    if job.progress.warning is not None:
        yield job.progress.warning.render(translate)
    yield " · ".join(f"{name} {value:.4g}" for name, value in list(job.progress.metrics.items())[:MOST_METRICS])
    if job.started is not None:
        file = PurePath(job.spec.output).name
        yield Message(code="notice", text="Executed notebook: {file}", params={"file": file}).render(translate)
    yield Message(code="notice", text="Job {id}", params={"id": job.id}).render(translate)


def _sweep_lines(sweep: SweepReport, translate: Translate) -> Iterator[str]:
    done = {"done": sweep.counts.get("succeeded", 0), "all": len(sweep.trials)}
    yield Message(code="notice", text="{done} of {all} trials succeeded", params=done).render(translate)
    best = _best(sweep)
    if best is not None:
        values = " · ".join(f"{name} {value}" for name, value in best.values.items())
        found = {"metric": sweep.metric, "value": f"{best.value:.4g}", "values": values}
        yield Message(code="notice", text="Best {metric} {value}: {values}", params=found).render(translate)
    yield _took((sweep.ended or sweep.created) - sweep.created, translate)
    yield Message(code="notice", text="Sweep {id}", params={"id": sweep.id}).render(translate)


def _job_data(job: Job, translate: Translate) -> dict[str, Any]:
    return {
        "event": "job_ended",
        "id": job.id,
        "name": job.spec.name,
        "state": job.state,
        "reason": None
        if job.reason is None
        else {
            "code": job.reason.code,
            "message": job.reason.render(translate),
            "hint": job.reason.render_hint(translate),
        },
        "program_status": None if job.result is None else job.result.program_status,
        "owner": job.owner,
        "notebook": job.spec.notebook,
        "output": job.spec.output,
        "created": job.created,
        "started": job.started,
        "ended": job.ended,
        "metrics": job.progress.metrics,
    }


def _sweep_data(sweep: SweepReport) -> dict[str, Any]:
    best = _best(sweep)
    return {
        "event": "sweep_ended",
        "id": sweep.id,
        "name": sweep.name,
        "state": sweep.state,
        "owner": sweep.owner,
        "notebook": sweep.notebook,
        "created": sweep.created,
        "ended": sweep.ended,
        "trials": sweep.counts,
        "metric": sweep.metric,
        "best": None
        if best is None
        else {"trial": best.number, "job": best.job_id, "value": best.value, "values": best.values},
    }


def _best(sweep: SweepReport) -> TrialRow | None:
    return next((one for one in sweep.trials if one.number == sweep.best), None)


def _name(job: Job) -> str:
    return " · ".join([job.spec.name, *filter(None, map(_changed, job.spec.differs[:2]))])


def _took(seconds: float, translate: Translate) -> str:
    time = _duration(max(0.0, seconds))
    return Message(code="notice", text="Run time: {time}", params={"time": time}).render(translate)


def _changed(one: Difference) -> str:
    return "" if one.after is None or one.kind == "code" else f"{one.role or one.name or one.kind} {one.after}"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}"
