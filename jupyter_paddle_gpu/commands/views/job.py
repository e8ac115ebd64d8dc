"""Jobs for people: one, or a list of them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from html import escape
from itertools import zip_longest
from typing import Any

import msgspec

from ...domain.engines import TITLES
from ...domain.jobs.job import Job
from ...domain.jobs.state_words import state_words
from ...domain.jobs.statistics import StatisticsSummary
from ...domain.messages import Message
from ...domain.plans.sweeps import SweepReport
from ...domain.scripts import is_script
from .. import markup
from ..face import View
from ..speech import Speech, duration, moment, run_time, size
from .machine import TableView
from .plans.sweeps import progress
from .states import FOLLOW_STATUS
from .usage import driver_peak, used


def state(say: Speech, job: Job) -> str:
    """The state in words, with how far it is."""
    words = say(state_words(job))
    progress = job.progress
    if job.state not in ("running", "stopping"):
        return words
    if progress.epoch is not None and progress.epochs:
        return f"{words} · {say('epoch {epoch}/{epochs}', epoch=progress.epoch, epochs=progress.epochs)}"
    if progress.cells_total > 1:
        if job.state == "running" and progress.is_open:
            return f"{words} · {say('last cell, length unknown')}"
        done, total = progress.cells_done, progress.cells_total
        return f"{words} · {say('{done} of {total} cells done', done=done, total=total)}"
    return words


def submitted(say: Speech, job: Job) -> str:
    """What is said before the log of a job that was just submitted."""
    stop = () if job.spec.would_stop is None else (job.spec.would_stop,)
    said = (one.render(say.translate) for one in (*stop, *job.spec.unanswered))
    return "\n".join((say("Job {id} was submitted.", id=job.id), *said))


def where(say: Speech, engine: str) -> str:
    """What people call the place where an engine runs jobs."""
    return TITLES[engine].render(say.translate) if engine in TITLES else engine[:1].upper() + engine[1:]


def silent(say: Speech, job: Job) -> str:
    """What is said in place of a log that has no lines."""
    return say("Job {id} has printed nothing so far: {state}.", id=job.id, state=state(say, job))


class JobsView(TableView):
    """A list of jobs, the newest first.

    Args:
        sweeps: each stands as one row in place of its trials. `--json` has the jobs, trials among them.
    """

    optional = (4, 3)
    folding = (1,)

    def __init__(self, jobs: Sequence[Job], sweeps: Sequence[SweepReport] = ()) -> None:
        self.data: Any = {"jobs": list(jobs)}
        known = {sweep.id for sweep in sweeps}
        own = [job for job in jobs if job.spec.trial is None or job.spec.plan not in known]
        self.listed: list[Job | SweepReport] = [*own, *sweeps]
        self.listed.sort(key=lambda one: one.created, reverse=True)

    def lead(self, say: Speech) -> str:
        """Said where there is nothing to list."""
        if self.listed:
            return ""
        return f"{say('There are no jobs yet.')}\n{say('`jupyter paddle-gpu submit train.ipynb` makes one.')}"

    def head(self, say: Speech) -> Sequence[str]:
        """Headings."""
        return say("Job"), say("Name"), say("State"), say("Where"), say("Submitted"), say("Time")

    def rows(self, say: Speech) -> list[Sequence[str]]:
        """One row a job or a sweep."""
        now = time.time()
        return [_sweep(say, one, now) if isinstance(one, SweepReport) else _job(say, one, now) for one in self.listed]

    def html_rows(self, say: Speech, rows: Sequence[Sequence[str]]) -> list[Sequence[str]]:
        """Each job's name leads to its page."""
        drawn = super().html_rows(say, rows)
        linked = zip(self.listed, drawn, strict=True)
        return [
            row if isinstance(one, SweepReport) else [row[0], markup.job_link(one.id, one.spec.name), *row[2:]]
            for one, row in linked
        ]


def _job(say: Speech, job: Job, now: float) -> Sequence[str]:
    return job.id, job.spec.name, state(say, job), where(say, job.spec.engine), moment(job.created), run_time(job, now)


def _sweep(say: Speech, sweep: SweepReport, now: float) -> Sequence[str]:
    lasted = duration((sweep.ended or now) - sweep.created)
    return sweep.id, sweep.name, progress(say, sweep), say("sweep"), moment(sweep.created), lasted


def measured_bytes(job: Job) -> int | None:
    """The measured peak that an estimate is compared with; None where there is none."""
    result = job.result
    if result is None:
        return None
    measured = result.device_allocated_bytes or result.step_allocated_bytes or result.host_allocated_bytes
    if job.spec.resources.gpus:  # the estimate is of what the driver shows
        measured = driver_peak(result.statistics) or measured
    return measured


class JobView(TableView):
    """One job.

    Args:
        begun: it was submitted just now and nobody follows it: how it is followed is said as well.
    """

    def __init__(
        self, job: Job, *, status: int = 0, statistics: StatisticsSummary | None = None, begun: bool = False
    ) -> None:
        self.data: Job = job
        self.status = status
        self._begun = begun
        self.statistics = statistics or (job.result.statistics if job.result else None)

    def head(self, say: Speech) -> Sequence[str]:
        """The first row is the heading: a job is a list of properties."""
        return say("Job"), self.data.id

    def rows(self, say: Speech) -> list[Sequence[str]]:
        """One row a property that is known."""
        job, result = self.data, self.data.result
        rows: list[Sequence[str]] = [
            (say("Script") if is_script(job.spec.notebook) else say("Notebook"), job.spec.notebook),
            (say("State"), state(say, job)),
            (say("Where"), where(say, job.spec.engine)),
            (say("Time"), run_time(job, time.time())),
        ]
        if job.spec.changes:
            rows.append((say("Run"), " · ".join(one.render(say.translate) for one in job.spec.changes)))
        if job.progress.seconds_left is not None:
            rows.append((say("Time left"), duration(job.progress.seconds_left)))
        if job.device_ids:
            rows.append((say("Devices"), ", ".join(_devices(say, job))))
        if job.spec.insisted is not None:
            rows.append((say("Submitted anyway"), job.spec.insisted.render(say.translate)))
        if job.spec.would_stop is not None and job.state not in FOLLOW_STATUS:
            rows.append((say("Would stop"), job.spec.would_stop.render(say.translate)))
        if job.spec.unanswered and job.state not in FOLLOW_STATUS:
            rows.append((say("Answers"), " ".join(one.render(say.translate) for one in job.spec.unanswered)))
        if job.spec.limits is not None and job.spec.limits.why:
            rows.append((say("Limits"), " ".join(why.render(say.translate) for why in job.spec.limits.why)))
        if job.spec.estimated_peak_bytes is not None:
            rows.append((say("Estimated peak"), size(job.spec.estimated_peak_bytes)))
        if result is not None:
            rows.append((say("Measured peak"), size(measured_bytes(job))))
            if each := result.rank_allocated_bytes:
                rows.append((say("Of each process"), " · ".join(map(size, each))))
        if self.statistics is not None and (words := used(say, self.statistics, job.device_names)):
            rows.append((say("Used"), words))
        if job.state in FOLLOW_STATUS:
            rows.append((say("Executed notebook"), job.spec.output))
        return rows

    def html(self, say: Speech) -> str:
        """How far it is, and the way to its page, before what is known of it."""
        job = self.data
        progress, link = job.progress, markup.job_link(job.id, job.spec.name)
        is_told = job.state in ("running", "stopping") and not progress.is_open
        bar = markup.bar(progress.share) if is_told else ""
        said = " · ".join(f"{name} {value:.4g}" for name, value in list(progress.metrics.items())[:4])
        return f"<p><strong>{link}</strong> {escape(state(say, job))} {escape(said)}</p>{bar}" + super().html(say)

    def sentences(self, say: Speech) -> Sequence[Message]:
        """Why it is where it is, that it learns nothing any more, and what its measurement says of the estimate."""
        reason = tuple(said for said in (self.data.reason, self.data.progress.warning) if said)
        following = (msgspec.structs.replace(_FOLLOWING, params={"id": self.data.id}),) if self._begun else ()
        return (*reason, *(self.data.result.notes if self.data.result else ()), *following)


_FOLLOWING = Message(
    code="how_to_follow", text="`jupyter paddle-gpu logs {id} --follow` shows what it prints, until it ends."
)


class DoneView(View):
    """Something was done to a job that leaves nothing to draw but a sentence."""

    def __init__(self, sentence: str, data: Any) -> None:
        self._sentence = sentence
        self.data: Any = data

    def rich(self, say: Speech) -> Any:
        """The sentence."""
        from ..drawing import sentence

        return sentence(self._sentence)

    def html(self, say: Speech) -> str:
        """The sentence."""
        return f"<p>{escape(self._sentence)}</p>"


def device_names(say: Speech, job: Job) -> list[str]:
    """What a job's devices were called when they were given."""
    named = job.device_names
    return [named[one].render(say.translate) if one in named else one for one in job.device_ids]


def _devices(say: Speech, job: Job) -> Iterator[str]:
    """What the devices are called, each with the job's share of it."""
    for device, part in zip_longest(device_names(say, job), job.shares[: len(job.device_ids)]):
        share = None if part is None else say("{share} of {total}", share=size(part.bytes), total=size(part.total))
        yield device if share is None else f"{device} ({share})"
