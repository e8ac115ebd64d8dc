"""What a notice says: a title and a few lines, in the receiver's language; and the same for programs."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

from ..domain.jobs.job import Job
from ..domain.messages import Message, Translate
from ..domain.variables import Difference

MOST_METRICS = 4
MOST_CHARACTERS = 400
"""Of the sentence why it ended: an error's message can be a page."""


def title(job: Job, translate: Translate) -> str:
    """`tagger · batch 256: done`."""
    parts = [job.spec.name, *filter(None, map(_changed, job.spec.differs[:2]))]
    ends = {
        "succeeded": Message(code="notice", text="{job}: done", params={"job": " · ".join(parts)}),
        "failed": Message(code="notice", text="{job}: failed", params={"job": " · ".join(parts)}),
    }
    stopped = Message(code="notice", text="{job}: stopped", params={"job": " · ".join(parts)})
    return ends.get(job.state, stopped).render(translate)


def lines(job: Job, translate: Translate) -> list[str]:
    """Why it ended, how long it took, what came out, where the executed notebook is."""
    told = []
    if job.reason is not None and job.state != "succeeded":
        told += [job.reason.render(translate)[:MOST_CHARACTERS], job.reason.render_hint(translate)]
    if job.started is not None and job.ended is not None:
        time = _duration(max(0.0, job.ended - job.started))
        told.append(Message(code="notice", text="Run time: {time}", params={"time": time}).render(translate))
    metrics = list(job.progress.metrics.items())[:MOST_METRICS]
    told.append(" · ".join(f"{name} {value:.4g}" for name, value in metrics))
    if job.started is not None:
        file = PurePath(job.spec.output).name
        told.append(Message(code="notice", text="Executed notebook: {file}", params={"file": file}).render(translate))
    told.append(Message(code="notice", text="Job {id}", params={"id": job.id}).render(translate))
    return [line for line in told if line]


def data(job: Job, translate: Translate) -> dict[str, Any]:
    """The same for a program. No environment variable and no path but the notebooks' own is in it."""
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
        "owner": job.owner,
        "notebook": job.spec.notebook,
        "output": job.spec.output,
        "created": job.created,
        "started": job.started,
        "ended": job.ended,
        "metrics": job.progress.metrics,
        "title": title(job, translate),
    }


def _changed(one: Difference) -> str:
    return "" if one.after is None or one.kind == "code" else f"{one.role or one.name or one.kind} {one.after}"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}"
