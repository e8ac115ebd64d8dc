"""A notebook estimated and matched against an engine's devices: what is shown before a submit."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import msgspec

from ...domain.bounds import check_request
from ...domain.changes import Changes
from ...domain.decisions import Choice, Decision, RefusedError
from ...domain.devices import Inventory
from ...domain.estimates import Estimate, Fit
from ...domain.jobs.job import Resources
from ...domain.notebooks import NotebookFacts, own_processes
from ...domain.placements import DeviceFigure, Placement
from ...domain.what_ifs import EstimateRequest, for_job, only_estimated
from ...engines.base import Engine
from ...engines.capabilities import host_bytes_of, inventory_of
from ...estimator.workers.beside import beside
from ...matching.policy import Policy
from ..estimates.estimating import Where
from ..requests import Matched
from .imaging import is_reference, with_release
from .placing import (
    Site,
    as_asked_in,
    as_shown,
    as_submitted,
    check_changes,
    check_precision,
    check_share,
    choice_of,
    engine_name,
    place,
    together,
    together_on,
)

Estimated = Callable[[EstimateRequest, Where], Estimate]
"""The notebook's estimate for a request and a place."""
Whole = Callable[[EstimateRequest, Where], Estimate]
"""The same of all trainings that a job with the request runs."""
Changed = Callable[[EstimateRequest, Where], Changes]
"""What a job with a request has otherwise than the notebook."""
Meant = Callable[[EstimateRequest, Where], EstimateRequest]
"""A request with its target: that on which a job would run, where none is asked for."""
Trace = dict[str, Any]
"""The JSON of `estimator.trace.Trace`."""
Traced = Callable[[int | None], Trace]
"""A step's trace at a batch size."""


def match(
    site: Site,
    facts: NotebookFacts,
    estimated: Estimated,
    request: EstimateRequest,
    *,
    whole: Whole,
    meant: Meant,
    changed: Changed,
    cells: Whole | None = None,
    engine: str = "",
    gpus: int | None = None,
    device_ids: tuple[str, ...] = (),
    share: float | None = None,
    image: str = "",
) -> Matched:
    """Estimate for the devices that may be chosen, judge each of them, and decide as a submit would.

    Args:
        meant: settles what the estimate is for.
        cells: of live objects the estimate of the notebook's cells, which a job runs and which tell what would fit.
        engine, gpus, device_ids, share, image: the person's choice; empty or None leaves it to us.
    """
    chosen, policy = site.engines[engine_name(site.engines, engine)], site.policies.matching
    request, image = as_asked_in(site.content, chosen, request, image if is_reference(image) else "")
    inventory = inventory_of(chosen, site.inventory)
    of_share = _refused(partial(check_share, chosen, share, policy))
    refused = _refused(partial(check_precision, request, site.policies)) or of_share
    share = share if of_share is None else None
    choice = choice_of(chosen, inventory, request, gpus, device_ids, share=share, own=own_processes(facts))
    request, where = together(request, facts, choice), _where(chosen, inventory, policy, choice)
    request = _with_release(site, request, chosen, choice, kernel_name=facts.kernel_name, image=image)
    asked = meant(request, where)
    on_cpu = meant(_alone(request), where).target == "cpu"
    figures = _Figures(lambda one: estimated(one, where), lambda one: whole(one, where))
    # The CPU allocator's number says nothing of a card: devices are judged by the GPU's. Nothing is advised for one
    # where there is none.
    details = request.details and not (on_cpu and asked.target == "cpu")
    judging = msgspec.structs.replace(asked, target="gpu", details=details)
    job = _of_job(request, on_cpu=on_cpu)

    if on_cpu:
        # A step for the CPU and one for a device are traced at once: neither is the other's.
        early = judging if asked.target == "cpu" else job
        with beside(lambda: figures.of_all(early)) as traced:
            estimate = figures.shown(request, asked)
            traced.result()
    else:
        estimate = figures.shown(request, asked)
    is_known = estimate.status == "ok"
    judged = figures.of_all(judging) if is_known else estimate
    settling = figures.of_all(job) if is_known or any(only_estimated(request)) else estimate
    known = judged if judged.status == "ok" else None
    placed = partial(
        place,
        site,
        known,
        engine=engine,
        choice=choice,
        share=share,
        image=image,
        paddle_version=estimate.paddle_version,
    )
    placement = placed(settling=settling)
    if on_cpu and request.details and placement.decision.outcome == "refuse":
        # What would make it fit the machine takes many traces: they are made for who needs them.
        placement = placed(settling=figures.of_all(msgspec.structs.replace(job, details=True)))
    decision = placement.decision
    if cells is not None and request.details and decision.outcome == "refuse" and not decision.searched:
        of_cells = cells(msgspec.structs.replace(job, details=True), where)
        ways = {"fits": of_cells.fits, "remedies": of_cells.remedies}
        placement = placed(settling=msgspec.structs.replace(settling, **ways))
    if estimate.target == "cpu":
        placement = with_figure(placement, judged)
    # Only now is all known that traces tell of what sizes the batch.
    made = msgspec.structs.replace(job, details=False)
    refused = refused or _refused(lambda: check_changes(changed(made, where)))
    if refused is not None:
        placement = msgspec.structs.replace(placement, decision=refused, device_ids=())
    return Matched(facts=facts, estimate=estimate, placement=_told(placement, request, estimate, judged))


def as_usual(
    site: Site, facts: NotebookFacts, request: EstimateRequest, engine: str = "", image: str = ""
) -> tuple[EstimateRequest, Where]:
    """What is estimated, and for where, if nobody chooses any device for the job."""
    chosen = site.engines[engine_name(site.engines, engine)]
    inventory = inventory_of(chosen, site.inventory)
    request, image = as_asked_in(site.content, chosen, request, image if is_reference(image) else "")
    choice = choice_of(chosen, inventory, request, own=own_processes(facts))
    request = together(request, facts, choice)
    request = _with_release(site, request, chosen, choice, kernel_name=facts.kernel_name, image=image)
    return request, _where(chosen, inventory, site.policies.matching, choice)


def _of_live(
    site: Site, trace: Trace, request: EstimateRequest, engine: str = "", image: str = ""
) -> tuple[EstimateRequest, Where]:
    """The same as `as_usual` for live objects, of which no notebook says more."""
    chosen = site.engines[engine_name(site.engines, engine)]
    inventory = inventory_of(chosen, site.inventory)
    choice = choice_of(chosen, inventory, request)
    named = image if is_reference(image) else ""
    version = str(trace.get("paddle_version") or "")
    request = _with_release(site, request, chosen, choice, paddle_version=version, image=named)
    return request, _where(chosen, inventory, site.policies.matching, choice)


def _with_release(site: Site, request: EstimateRequest, engine: Engine, choice: Choice, **of: str) -> EstimateRequest:
    return with_release(request, engine, inventory_of(engine, site.inventory), choice, policies=site.policies, **of)


def _where(engine: Engine, inventory: Inventory, policy: Policy, choice: Choice) -> Where:
    host = partial(host_bytes_of, engine, Resources(), inventory)
    return Where(lambda: inventory, choice, policy, together_on(engine, inventory, policy), host)


def _refused(check: Callable[[], None]) -> Decision | None:
    """Why a job is not accepted as it is asked for; None where it is."""
    try:
        check()
    except RefusedError as error:
        return error.decision
    return None


def fits_of_traces(
    site: Site,
    fits: Callable[[Traced, EstimateRequest, tuple[str, ...]], Estimate],
    traced: Traced,
    request: EstimateRequest,
    devices: tuple[str, ...],
    **job: str,
) -> Estimate:
    """The largest batch of a step that was traced elsewhere on each device; `job`: engine and image."""
    check_request(request)
    traced = cache(traced)
    request, _ = _of_live(site, traced(request.batch_size), request, **job)
    return fits(traced, request, devices)


def match_trace(
    site: Site,
    estimated: Callable[[Trace, EstimateRequest, Where], Estimate],
    trace: Trace,
    request: EstimateRequest,
    *,
    fits: tuple[Fit, ...] = (),
    engine: str = "",
    image: str = "",
) -> tuple[Estimate, Placement]:
    """The estimate of a step that was traced elsewhere, and the verdict on each device.

    Args:
        estimated: a trace's estimate for a request and a place; it takes no trace.
        fits: the largest batch on each device, from traces that only their maker can make.
        engine, image: the person's choice; empty leaves it to us.
    """
    check_request(request)
    request, where = _of_live(site, trace, request, engine, image)

    def of(one: EstimateRequest) -> Estimate:
        return estimated(trace, one, where)

    estimate = judged = of(request)
    if estimate.target == "cpu":
        judged = of(msgspec.structs.replace(request, target="gpu"))
    settling = of(_alone(request))
    if settling.target != "cpu":
        settling = of(_of_job(request, on_cpu=False))
    if fits:
        settling = msgspec.structs.replace(settling, fits=fits)
    known = judged if judged.status == "ok" else None
    placement = place(
        site,
        known,
        engine=engine,
        choice=where.choice,
        image=image if is_reference(image) else "",
        paddle_version=estimate.paddle_version,
        settling=settling,
    )
    placement = _told(placement, request, estimate, judged)
    return estimate, placement if judged is estimate else with_figure(placement, judged)


class _Figures:
    """The estimates that one answer rests on, each made once."""

    def __init__(
        self,
        estimated: Callable[[EstimateRequest], Estimate],
        whole: Callable[[EstimateRequest], Estimate],
    ) -> None:
        self._estimated, self._whole = estimated, whole
        self._known: list[tuple[EstimateRequest, Estimate]] = []

    def shown(self, request: EstimateRequest, asked: EstimateRequest) -> Estimate:
        """Of what is asked for; `asked`: with its target."""
        found = self._estimated(request)
        # Advice for the CPU is made for who asks for the CPU alone.
        if request.training is None and (asked == request or asked.target == "gpu" or not asked.details):
            self._known.append((asked, found))
        return found

    def of_all(self, request: EstimateRequest) -> Estimate:
        """Of all trainings that a job with this request runs; what is known with its details serves without them."""
        serving = (request, msgspec.structs.replace(request, details=True))
        known = next((found for one, found in self._known if one in serving), None)
        if known is None:
            known = self._whole(request)
            self._known.append((request, known))
        return known


def _alone(request: EstimateRequest) -> EstimateRequest:
    """What a job with this request is run with, whatever card was asked about."""
    return msgspec.structs.replace(for_job(request), held=request.held)


def _of_job(request: EstimateRequest, *, on_cpu: bool) -> EstimateRequest:
    """What a submit asks about its job (`submitting`), with advice for a device."""
    if on_cpu:
        return msgspec.structs.replace(_alone(request), target="cpu")
    return msgspec.structs.replace(_alone(request), device=request.device, target="gpu", details=request.details)


def _told(placement: Placement, request: EstimateRequest, shown: Estimate, judged: Estimate) -> Placement:
    """The placement with what it was decided without, and by which training."""
    decision = as_shown(as_submitted(placement.decision, request), shown, judged)
    told = msgspec.structs.replace(placement, decision=decision, reasons=(decision.reason, *decision.notes))
    if judged.training == shown.training:
        return told
    # How large a batch of the one that decides may be says nothing of the one that is looked at.
    verdicts = tuple(msgspec.structs.replace(one, largest_batch=None) for one in placement.verdicts)
    return msgspec.structs.replace(told, verdicts=verdicts)


def with_figure(placement: Placement, judged: Estimate) -> Placement:
    """The placement with what the training takes on a device, for whoever is shown what it takes on the CPU."""
    if judged.peak_bytes is None:
        return placement
    figure = DeviceFigure(peak_bytes=judged.peak_bytes, low=judged.low, high=judged.high, training=judged.training)
    return msgspec.structs.replace(placement, on_device=figure)
