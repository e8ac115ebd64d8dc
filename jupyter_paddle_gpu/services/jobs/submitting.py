"""From a submission to the specification of a job: every default is settled here, once for all faces."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from ...domain.bounds import check_request, check_resources
from ...domain.decisions import Choice, Decision, Need, Placed, RefusedError, need_of
from ...domain.devices import Inventory
from ...domain.errors import PaddleGpuError
from ...domain.estimates import Estimate
from ...domain.jobs.job import JobSpec, Resources
from ...domain.notebooks import LAUNCHED, Fact, NotebookFacts
from ...domain.what_ifs import EstimateRequest, for_job
from ...engines.base import Engine
from ...engines.capabilities import (
    accelerators,
    host_bytes_of,
    inventory_of,
    limits_follow_estimate,
    limits_of,
    options_of,
    takes_options,
)
from ...matching.decision import decide
from ...matching.offer import Offer
from ...matching.policy import Policy
from ...matching.shares import wanted_share
from ...matching.ways import ways_now, ways_out
from ...notices.settings import NoticePolicy
from ..estimates.estimating import Estimating, Where
from ..policies.files import Policies
from ..requests import Submission
from .placing import Standings, check_share, choice_of, engine_name, granted, limited, offer_of, whole_devices
from .unanswered import unanswered

if TYPE_CHECKING:
    from ...claims.claims import Claims
    from ...domain.notebooks import NotebookSource

RUNS_FOLDER = "paddle-gpu-runs"
"""Beside the notebook: where executed notebooks are published."""


@dataclass(frozen=True)
class Desk:
    """What a submission is settled with.

    Attributes:
        engines: by name, the default first.
        inventory: this machine's devices now.
        estimates: those that were shown, and new ones.
        standing: what a job for an engine with these devices finds behind this store's own.
    """

    engines: Mapping[str, Engine]
    inventory: Callable[[], Inventory]
    policies: Policies
    estimates: Estimating
    standing: Standings
    claims: Claims | None = None


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
        RefusedError: it can never start on what is here, and nobody insists.
        PaddleGpuError: what `domain.bounds` refuses, `unknown_engine`, `option_unknown` (400), why the notebook cannot
            be changed as asked (422), `nothing_to_run` (422), and what keeps a device that was named from being used.
    """
    from ...notebook.answers import for_job as answers_for_job
    from ...notebook.inspection import inspect_notebook
    from ...notebook.variables import read_settings

    check_request(submission.request)
    if submission.resources is not None:
        check_resources(submission.resources)
    facts = inspect_notebook(source)
    if not any(cell.source.strip() for cell in facts.cells):
        raise PaddleGpuError(
            "nothing_to_run",
            "{name} has no code to run.",
            hint="Write a cell, save the notebook and submit it again.",
            status=422,
            name=source.path.name,
        )
    name = engine_name(desk.engines, submission.engine)
    engine = desk.engines[name]
    inventory = inventory_of(engine, desk.inventory)
    _check_unused(engine, submission)
    answers = answers_for_job(facts, submission.request.answers)
    policy, asked = desk.policies.matching, submission.resources
    _check_precision(submission, desk.policies)

    # What others have now is for who only asks: a job that is made takes its place in the queue, which knows.
    def offered(share: float | None) -> Offer:
        standing = None if runs or not accelerators(inventory) else desk.standing(name, inventory, share)
        others, claims = ((), None) if runs else (desk.engines.values(), desk.claims)
        return offer_of(engine, inventory, others, claims, standing)

    choice, share = _chosen(engine, inventory, submission, policy)
    offer = offered(choice.share)
    on_gpu = decide(None, offer, policy, choice).outcome != "cpu"
    where = Where(lambda: inventory, choice, host_bytes=partial(host_bytes_of, engine, asked or Resources(), inventory))
    request = _request(submission.request, on_gpu=on_gpu)
    copy, changed = desk.estimates.copy(source, request, where, facts=facts if runs else None)
    for refusal in changed.refused:
        raise PaddleGpuError.of(refusal.why, status=422)
    wanted = submission.estimate or on_gpu or limits_follow_estimate(engine)
    shown = submission.estimate is not False and facts.loop != "none"
    found = _estimate(desk.estimates, source, copy, request, where, may_run=wanted and runs) if shown else None
    estimate = found if found is not None and found.status == "ok" else None
    need, insisted = _need(submission, estimate), None
    if on_gpu and engine.supported_features().shares:
        usual = wanted_share(share, need, inventory.devices, policy)
        if usual != share:
            share, choice, offer = usual, msgspec.structs.replace(choice, share=usual), offered(usual)
    resources = _resources(asked, (choice.gpus or 1) if on_gpu else 0, choice.device_ids, share if on_gpu else None)
    limits = limits_of(engine, resources, estimate, whole_devices(inventory))
    offer, host = limited(offer, limits, estimate, resources), estimate.allocated_peak_bytes if estimate else None

    def decided(choice: Choice) -> Decision:
        return decide(
            need,
            offer,
            policy,
            choice,
            lambda limit: ways_out(estimate, limit),
            smaller=lambda room: ways_now(estimate, room),
            host=host,
        )

    decision = decided(choice)
    if decision.outcome == "refuse":
        if not submission.anyway:
            raise RefusedError(decision)
        insisted = decision.reason
        decision = decided(msgspec.structs.replace(choice, anyway=True))
    decision = granted(engine, decision, limits, estimate, resources)
    resources = msgspec.structs.replace(resources, shm_bytes=decision.shared_memory_bytes)
    copied = _launched(inspect_notebook(copy), request)
    spec = JobSpec(
        name=submission.name or source.path.stem,
        notebook=str(source.path),
        output=str(source.folder / RUNS_FOLDER / (source.path.stem + "-{id}.ipynb")),
        folder=str(source.folder),
        engine=name,
        kernel_name=source.kernel_name,
        python=_python(source.kernel_name),
        image=submission.image,
        resources=resources,
        processes=_processes(copied, request, resources.gpus),
        sets=answers.sets,
        changes=changed.says,
        environment={**answers.environment, **submission.environment},
        token=submission.token,
        estimated_peak_bytes=estimate.peak_bytes if estimate else None,
        estimated_allocated_bytes=estimate.allocated_peak_bytes if estimate else None,
        estimated_device=(estimate.device or "") if estimate else "",
        estimated_paddle_version=(estimate.paddle_version or "") if estimate else "",
        estimated_terms=estimate.terms if estimate and estimate.evidence == "trace" else None,
        estimated_batch_size=estimate.batch_size if estimate else None,
        estimated_largest_batch=estimate.fits[0].largest_batch if estimate and estimate.fits else None,
        need=need,
        insisted=insisted,
        on_cpu=decision.reason if decision.outcome == "cpu" else None,
        placed=Placed(outcome=decision.outcome, reason=decision.reason.code),
        would_stop=found.stop.says(behind=estimate is not None) if found and found.stop else None,
        unanswered=unanswered(found),
        limits=decision.limits,
        plan=submission.plan,
        trial=submission.trial,
        priority=submission.priority,
        settings=read_settings(copy, copied, answers.sets),
        notify=_notify(desk.policies.notices, submission.notify),
        options={**options_of(engine, copied), **submission.options},
    )
    return Settled(spec, copy.content, decision)


def _check_precision(submission: Submission, policies: Policies) -> None:
    """Refuse (403) a precision that the policy does not allow."""
    if submission.request.amp in ("O1", "O2") and not policies.matching.allow_mixed_precision:
        raise PaddleGpuError(
            "precision_not_allowed",
            "The policy allows no mixed precision, and {level} is asked for.",
            hint="Submit it without, or change `allow_mixed_precision` in {file}.",
            status=403,
            level=submission.request.amp,
            file=policies.beside_file or policies.policy_file,
        )


def _chosen(
    engine: Engine, inventory: Inventory, submission: Submission, policy: Policy
) -> tuple[Choice, float | None]:
    """The person's choice of devices, and the share of them as it was asked for."""
    asked = submission.resources
    gpus, ids, share = (None, (), None) if asked is None else (asked.gpus, asked.device_ids, asked.share)
    if ids and gpus is None:
        gpus = len(ids)
    check_share(engine, share, policy)
    return choice_of(engine, inventory, submission.request, gpus, ids, share=share), share


def _notify(policy: NoticePolicy, asked: tuple[str, ...] | None) -> tuple[str, ...]:
    """Who is told. Raises `PaddleGpuError` (400) where nobody can be."""
    names = policy.usual if asked is None else asked
    policy.check(names)
    return names


def _check_unused(engine: Engine, submission: Submission) -> None:
    """Refuse what an engine would leave aside without a word: an image without containers, options without any."""
    unused = sorted(submission.options) if not takes_options(engine) else []
    if submission.image and not engine.supported_features().containers:
        unused.insert(0, "image")
    if unused:
        raise PaddleGpuError(
            "option_unknown",
            "The engine {engine} knows no “{option}”.",
            hint="Leave it out, or choose an engine that knows it.",
            engine=engine.name,
            option=unused[0][:100],
        )


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


def _need(submission: Submission, estimate: Estimate | None) -> Need | None:
    """What the job needs of each of its devices: what the person asks for, else the estimate."""
    asked = submission.resources.gpu_memory_bytes if submission.resources is not None else None
    return Need(low=asked, high=asked) if asked else need_of(estimate)


def _resources(asked: Resources | None, gpus: int, device_ids: tuple[str, ...], share: float | None) -> Resources:
    """The limits that were asked for, with the devices that were settled."""
    limits = {name: getattr(asked, name) for name in Resources.__struct_fields__} if asked is not None else {}
    return Resources(**{**limits, "gpus": gpus, "device_ids": device_ids, "share": share})


def _estimate(
    estimates: Estimating,
    source: NotebookSource,
    copy: NotebookSource,
    request: EstimateRequest,
    where: Where,
    *,
    may_run: bool,
) -> Estimate | None:
    """The number to stand beside the measured one, for the allocator the job will really use, or why there is none.

    Where one of several trainings is changed, it is that of the copy as a whole: the job needs the most of all.

    Args:
        may_run: whether the notebook's model cells may run for it though they never did.
    """
    from ...notebook.inspection import inspect_notebook

    may_run = may_run or estimates.was_estimated(source)
    if request.training is not None:
        source = copy
        request = EstimateRequest(answers=request.answers, device=request.device, target=request.target)
    kept = estimates.known(source, request, where)
    if kept is None and may_run:
        try:
            kept = estimates.fresh(source, inspect_notebook(source), request, where)
        except PaddleGpuError:  # no Paddle, no worker: no reason to refuse the job
            return None
    return kept
