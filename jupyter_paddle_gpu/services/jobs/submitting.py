"""From a submission to the specification of a job: every default is settled here, once for all faces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec

from ...domain.bounds import check_request, check_resources
from ...domain.changes import Changes
from ...domain.decisions import Decision, Placed
from ...domain.errors import PaddleGpuError
from ...domain.estimates import Estimate
from ...domain.jobs.job import JobSpec
from ...domain.notebooks import CELL_NOT_PYTHON, LAUNCHED, Fact, NotebookFacts
from ...domain.what_ifs import EstimateRequest, for_job, in_copy
from ...engines.capabilities import limits_follow_estimate, options_of
from ...notices.settings import NoticePolicy
from ..estimates.estimating import Estimating, Where
from ..requests import Submission
from .imaging import with_release
from .placing import as_asked_in, check_changes, check_precision, together
from .taking import Desk, Place
from .unanswered import unanswered

if TYPE_CHECKING:
    from ...domain.notebooks import NotebookSource

RUNS_FOLDER = "paddle-gpu-runs"
"""Beside the notebook: where executed notebooks are published."""


class Settled(NamedTuple):
    """A job before it is accepted: what it is, the notebook that it runs, and what becomes of it now."""

    spec: JobSpec
    content: dict[str, Any]
    decision: Decision


def specify(desk: Desk, source: NotebookSource, submission: Submission, *, runs: bool = True) -> JobSpec:
    """The job's specification (`settle` gives its copy of the notebook as well)."""
    return settle(desk, source, submission, runs=runs).spec


def settle(desk: Desk, source: NotebookSource, submission: Submission, *, runs: bool = True) -> Settled:
    """The job's specification, and the notebook that it runs: the person's with what the request changes in it.

    Args:
        runs: whether the notebook's model cells may run for an estimate though they never did.

    Raises:
        RefusedError: it can never start on what is here, and nobody insists (409), or the notebook cannot be changed
            as asked (422).
        PaddleGpuError: what `domain.bounds` refuses, `unknown_engine`, `option_unknown` (400), `nothing_to_run` (422),
            and what keeps a device that was named from being used.
    """
    from ...notebook.answers import for_job as answers_for_job
    from ...notebook.changes.table import without
    from ...notebook.inspection import inspect_notebook
    from ...notebook.variables import read_settings

    submission = submission.whole()
    facts = _facts(source, submission)
    _check_runs(source, facts)
    place = Place(desk, submission, facts, runs=runs)
    check_precision(submission.request, desk.policies)

    # What the notebook asks for itself stands in its copy for the engine, and in the estimate for the job.
    asked, image = as_asked_in(source.content, place.engine, submission.request, submission.image)
    request, where = _placed(place, asked, facts)
    if place.on_gpu:
        request = with_release(
            request,
            place.engine,
            place.inventory,
            where.choice,
            policies=desk.policies,
            kernel_name=source.kernel_name,
            image=image,
        )
    copy, changed = desk.estimates.copy(source, request, where, facts=facts if runs else None)
    check_changes(changed)
    answers = answers_for_job(facts, without(submission.request, (), changed.written).answers)
    found = None
    if submission.estimate is not False:
        wanted = submission.estimate or place.on_gpu or limits_follow_estimate(place.engine)
        # Where nothing is seen to train, what is known already does; what is no Python is not seen.
        wanted = wanted and (facts.loop != "none" or any(one.code == CELL_NOT_PYTHON for one in facts.problems))
        found = _estimate(
            desk.estimates, source, copy, request, where, written=changed.written, may_run=wanted and runs
        )
    estimate = found if found is not None and found.status == "ok" else None
    taken = place.taken(estimate)

    copied = _launched(inspect_notebook(copy), request)
    spec = JobSpec(
        name=submission.name or source.path.stem,
        notebook=str(source.path),
        output=str(source.folder / RUNS_FOLDER / (source.path.stem + "-{id}.ipynb")),
        folder=str(source.folder),
        engine=place.name,
        kernel_name=source.kernel_name,
        python=_python(source.kernel_name),
        image=submission.image,
        resources=taken.resources,
        processes=_processes(copied, request, taken.resources.gpus),
        device_names=place.names(taken.resources.device_ids),
        sets=answers.sets,
        changes=changed.says,
        environment={**answers.environment, **submission.environment},
        token=submission.token,
        need=taken.need,
        insisted=taken.insisted,
        on_cpu=taken.decision.reason if taken.decision.outcome == "cpu" else None,
        placed=Placed(outcome=taken.decision.outcome, reason=taken.decision.reason.code),
        would_stop=found.stop.says(behind=estimate is not None) if found and found.stop else None,
        unanswered=unanswered(found, taken.decision.limits),
        limits=taken.decision.limits,
        plan=submission.plan,
        trial=submission.trial,
        priority=submission.priority,
        settings=read_settings(copy, copied, answers.sets),
        notify=_notify(desk.policies.notices, submission.notify),
        options={**options_of(place.engine, copied), **submission.options},
        trainer=copied.trainer,
        **_foretold(estimate),
    )
    return Settled(spec, copy.content, taken.decision)


def changes(desk: Desk, source: NotebookSource, submission: Submission, *, runs: bool) -> Changes:
    """What the job's copy of the notebook has otherwise, and what it cannot have; what others have is not asked.

    Args:
        runs: whether the notebook's model cells may run where only a trace can tell what sizes the batch.

    Raises:
        PaddleGpuError: as `settle`, but for what is decided about the job.
    """
    submission = submission.whole()
    facts = _facts(source, submission)
    place = Place(desk, submission, facts, runs=True)
    asked, _ = as_asked_in(source.content, place.engine, submission.request, "")
    request, where = _placed(place, asked, facts)
    return desk.estimates.copy(source, request, where, facts=facts if runs else None)[1]


def _facts(source: NotebookSource, submission: Submission) -> NotebookFacts:
    from ...notebook.inspection import inspect_notebook

    check_request(submission.request)
    if submission.resources is not None:
        check_resources(submission.resources)
    return inspect_notebook(source)


def _placed(place: Place, asked: EstimateRequest, facts: NotebookFacts) -> tuple[EstimateRequest, Where]:
    """What a job has of its request where it goes."""
    place.choose()
    where = place.where()
    return together(_request(asked, on_gpu=place.on_gpu), facts, where.choice), where


def _check_runs(source: NotebookSource, facts: NotebookFacts) -> None:
    """Refuse (422) a notebook without code."""
    if not any(cell.source.strip() for cell in facts.cells):
        raise PaddleGpuError(
            "nothing_to_run",
            "{name} has no code to run.",
            hint="Write a cell, save the notebook and submit it again.",
            status=422,
            name=source.path.name,
        )


def _foretold(estimate: Estimate | None) -> dict[str, Any]:
    """What stands beside the measured figures when the job has ended."""
    if estimate is None:
        return {}
    return {
        "estimated_peak_bytes": estimate.peak_bytes,
        "estimated_allocated_bytes": estimate.allocated_peak_bytes,
        "estimated_reserved_bytes": estimate.reserved_peak_bytes,
        "estimated_low_bytes": estimate.low,
        "estimated_high_bytes": estimate.high,
        "estimated_device": estimate.device or "",
        "estimated_paddle_version": estimate.paddle_version or "",
        "estimated_terms": estimate.terms if estimate.evidence == "trace" else None,
        "estimated_batch_size": estimate.batch_size,
        "estimated_largest_batch": estimate.fits[0].largest_batch if estimate.fits else None,
        "estimated_precision": _precision(estimate),
        "estimated_size": estimate.image_size or tuple(filter(None, (estimate.sequence_length,))),
    }


def _precision(estimate: Estimate) -> Literal["", "float32", "O1", "O2"]:
    """Without mixed precision `float32` where the parameters have four bytes each: a net may be in another type."""
    if estimate.amp in ("O1", "O2"):
        return estimate.amp
    count, size = estimate.parameters, estimate.breakdown.parameters if estimate.breakdown else 0
    return "float32" if estimate.amp == "off" and count and 4 <= size / count < 8 else ""


def _notify(policy: NoticePolicy, asked: tuple[str, ...] | None) -> tuple[str, ...]:
    """Who is told. Raises `PaddleGpuError` (400) where nobody can be."""
    names = policy.usual if asked is None else asked
    policy.check(names)
    return names


def uses_paddle(facts: NotebookFacts) -> bool:
    """Whether it concerns a notebook which Paddle there is: where its kernel has none, that is told instead."""
    from ...estimator.workers.interpreters import find_interpreter

    return facts.imports_paddle and find_interpreter(facts.kernel_name).paddle_version is not None


def _python(kernel_name: str) -> str:
    from ...estimator.workers.interpreters import find_interpreter

    return find_interpreter(kernel_name).python


def _request(asked: EstimateRequest, *, on_gpu: bool) -> EstimateRequest:
    """What of a request a job has, for the allocator that it will really use."""
    device = asked.device if on_gpu else None
    return msgspec.structs.replace(for_job(asked), device=device, target="gpu" if on_gpu else "cpu")


def _launched(facts: NotebookFacts, request: EstimateRequest) -> NotebookFacts:
    """The facts of a job's copy: one that several processes are asked for is launched as several (`launch` would be a
    notebook that starts its processes itself)."""
    alone = facts.distribution is None or facts.distribution.value == "none"
    if not alone or (request.devices or 1) == 1:
        return facts
    return msgspec.structs.replace(
        facts, distribution=Fact(value="data_parallel", source="", place=None, how="default")
    )


def _processes(facts: NotebookFacts, request: EstimateRequest, gpus: int) -> int:
    """How many processes each run the notebook: one a device, or as many as were asked for on the CPU."""
    if facts.distribution is None or facts.distribution.value not in LAUNCHED:
        return 1
    return gpus or request.devices or 1


def _estimate(
    estimates: Estimating,
    source: NotebookSource,
    copy: NotebookSource,
    request: EstimateRequest,
    where: Where,
    *,
    written: tuple[str, ...],
    may_run: bool,
) -> Estimate | None:
    """The number to stand beside the measured one, for the allocator the job will really use, or why there is none.

    Where one of several trainings is changed, it is that of the copy as a whole: the job needs the most of all.

    Args:
        written: answers that stand in the copy's cells.
        may_run: whether the notebook's model cells may run for it though they never did.

    Raises:
        PaddleGpuError: `no_such_training` (404).
    """
    from ...estimator.trainings import unknown
    from ...notebook.inspection import inspect_notebook

    asked = request.training
    may_run = may_run or estimates.was_estimated(source)
    if request.training is not None:
        source, request = copy, in_copy(request, written)
    kept = estimates.known(source, request, where)
    if kept is None and may_run:
        try:
            kept = estimates.fresh(source, inspect_notebook(source), request, where)
        except PaddleGpuError:  # no Paddle, no worker: no reason to refuse the job
            return None
    if kept is not None and asked is not None and kept.status == "ok":
        known = tuple(one.id for one in kept.trainings) or ("1",)
        if asked not in known:
            raise unknown(asked, known)
    return kept
