"""A job once more, with other values: the notebook as that job had it, settled as a submission is."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ...domain.errors import PaddleGpuError
from ...domain.jobs.job import Job, Resources, WantedResources
from ...domain.notebooks import FactValue
from ...domain.what_ifs import EstimateRequest
from ...matching.sentences import ON_REQUEST
from ..requests import Rerun, Submission

if TYPE_CHECKING:
    from ...domain.notebooks import NotebookSource
    from ...jobs.service import JobService


def source_of(jobs: JobService, job: Job) -> NotebookSource:
    """The notebook as the job has it, as if it lay where its source does."""
    from ...notebook.files.reading import parse_notebook

    return parse_notebook(jobs.source(job.id), Path(job.spec.notebook))


def submission_of(job: Job, wanted: Rerun) -> Submission:
    """What a re-run asks for: what the job had, with what is wanted otherwise.

    Raises:
        PaddleGpuError: `rerun_unknown` (400): the notebook has no such variable.
    """
    spec = job.spec
    known = {one.name for one in spec.settings.variables if one.name} | set(spec.sets) | set(_open(job))
    for name in wanted.values:
        if name not in known:
            raise PaddleGpuError(
                "rerun_unknown",
                "The notebook of job {id} has no variable “{name}”.",
                hint="Write `{name} = …` in a cell of its own, or in the cell tagged `parameters`, and submit it anew.",
                id=job.id,
                name=name[:100],
            )
    answers = {**spec.sets, **_changed(job, wanted.values)}
    request = msgspec.structs.replace(wanted.request, answers={**wanted.request.answers, **answers})
    is_there = wanted.resources is None and wanted.engine in ("", spec.engine)
    if is_there and spec.processes > 1 and request.devices is None:
        request = msgspec.structs.replace(request, devices=spec.processes)  # of which nothing in the cells tells
    return Submission(
        engine=wanted.engine or spec.engine,
        request=request,
        resources=wanted.resources or _same_resources(job, wanted),
        image=spec.image if wanted.engine in ("", spec.engine) else "",
        name=wanted.name or spec.name,
        token=wanted.token,
        environment=_environment(job) if wanted.environment is None else wanted.environment,
        anyway=wanted.anyway,
        notify=spec.notify,
        priority=spec.priority,
    )


def _open(job: Job) -> list[str]:
    """The names of questions that nobody had answered when the job was submitted."""
    return [name for one in job.spec.unanswered for name in str(one.params.get("names", "")).split(", ")]


def _changed(job: Job, values: Mapping[str, FactValue]) -> dict[str, FactValue]:
    """Values that are not as the notebook has them already: what is not bound stays as typed."""
    as_typed = {one.name: one.value for one in job.spec.settings.variables if one.name not in job.spec.sets}
    return {
        name: value
        for name, value in values.items()
        if name not in as_typed or value != as_typed[name] or type(value) is not type(as_typed[name])
    }


def _same_resources(job: Job, wanted: Rerun) -> Resources | None:
    """The limits that the job had. Which cards is left to the match where it was then, where the engine is new, or
    where it ran on the CPU and nobody had asked for that."""
    had = job.spec.resources
    if wanted.engine not in ("", job.spec.engine):
        return None
    if job.spec.on_cpu is None or job.spec.on_cpu.code == ON_REQUEST.code:
        return had
    limits = {name: getattr(had, name) for name in Resources.__struct_fields__ if name != "gpus"}
    return WantedResources(**limits)


def _environment(job: Job) -> dict[str, str]:
    """What the person asked for: what follows from answers follows again."""
    return {name: value for name, value in job.spec.environment.items() if name not in job.spec.sets}


def is_the_same(wanted: Rerun) -> bool:
    """Whether nothing is asked to be otherwise."""
    return msgspec.structs.replace(wanted, token="") == Rerun() and wanted.request == EstimateRequest()
