"""A notebook estimated and matched against an engine's devices: what is shown before a submit."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import msgspec

from ...domain.estimates import Estimate
from ...domain.jobs.job import Resources
from ...domain.notebooks import NotebookFacts
from ...domain.placements import DeviceFigure, Placement
from ...domain.what_ifs import EstimateRequest, for_job
from ...engines.capabilities import host_bytes_of, inventory_of
from ...matching.policy import Policy
from ..estimates.estimating import Where
from ..requests import Matched
from .placing import Site, choice_of, engine_name, place, together, together_on

Estimated = Callable[[EstimateRequest, Where], Estimate]
"""The notebook's estimate for a request and a place."""
Meant = Callable[[EstimateRequest, Where], EstimateRequest]
"""A request with its target: that on which a job would run, where none is asked for."""


def match(
    site: Site,
    facts: NotebookFacts,
    estimated: Estimated,
    request: EstimateRequest,
    policy: Policy,
    *,
    meant: Meant,
    engine: str = "",
    gpus: int | None = None,
    device_ids: tuple[str, ...] = (),
) -> Matched:
    """Estimate for the devices that may be chosen, then judge each of them.

    Args:
        meant: settles what the estimate is for.
        policy: how many devices may train together.
        engine, gpus, device_ids: the person's choice; empty or None leaves it to us.
    """
    chosen = site.engines[engine_name(site.engines, engine)]
    inventory = inventory_of(chosen, site.inventory)
    choice = choice_of(chosen, inventory, request, gpus, device_ids)
    request = together(request, facts, choice)
    host = partial(host_bytes_of, chosen, Resources(), inventory)
    where = Where(lambda: inventory, choice, together_on(chosen, inventory, policy), host)
    asked, alone = meant(request, where), _alone(request)
    on_cpu = meant(alone, where).target == "cpu"

    def made(one: EstimateRequest) -> Estimate:
        return estimated(one, where)

    with ThreadPoolExecutor(1) as pool:
        # A card that is only named, or a GPU where there is none: the job would run on the CPU all the same.
        other = pool.submit(made, alone) if on_cpu and asked.target == "gpu" else None
        estimate, judged = _both(made, request, asked)
        shown = other.result() if other is not None else _whole(made, estimate, asked)
    known = judged if judged.status == "ok" else None
    placed = partial(place, site, known, engine=engine, choice=choice, paddle_version=estimate.paddle_version)
    placement = placed(shown=shown)
    if on_cpu and request.details and placement.decision.outcome == "refuse":
        # What would make it fit the machine takes many traces: they are made for who needs them.
        placement = placed(shown=made(msgspec.structs.replace(alone, details=True, target="cpu")))
    if estimate.target == "cpu":
        placement = with_figure(placement, judged)
    return Matched(facts=facts, estimate=estimate, placement=placement)


def match_trace(
    site: Site, estimated: Callable[[EstimateRequest], Estimate], request: EstimateRequest
) -> tuple[Estimate, Placement]:
    """The estimate of a step that was traced elsewhere, and the verdict on each device.

    Args:
        estimated: the step's estimate for a request; it takes no trace.
    """
    estimate = judged = estimated(request)
    if estimate.target == "cpu":
        judged = estimated(msgspec.structs.replace(request, target="gpu"))
    shown = estimate if estimate.target == "cpu" else estimated(_alone(request))
    known = judged if judged.status == "ok" else None
    placement = place(site, known, paddle_version=estimate.paddle_version, shown=shown)
    return estimate, placement if judged is estimate else with_figure(placement, judged)


def _alone(request: EstimateRequest) -> EstimateRequest:
    """What a job with this request is estimated for where it runs, whatever card was asked about."""
    return msgspec.structs.replace(for_job(request), training=None)


def _whole(estimated: Callable[[EstimateRequest], Estimate], estimate: Estimate, meant: EstimateRequest) -> Estimate:
    """The estimate of all of the notebook's trainings, which a job runs; where it is for the CPU."""
    if estimate.target != "cpu" or estimate.status != "ok" or meant.training is None:
        return estimate
    return estimated(msgspec.structs.replace(meant, training=None))


def with_figure(placement: Placement, judged: Estimate) -> Placement:
    """The placement with what the training takes on a device, for whoever is shown what it takes on the CPU."""
    if judged.peak_bytes is None:
        return placement
    figure = DeviceFigure(peak_bytes=judged.peak_bytes, low=judged.low, high=judged.high)
    return msgspec.structs.replace(placement, on_device=figure)


def _both(
    estimated: Callable[[EstimateRequest], Estimate], request: EstimateRequest, meant: EstimateRequest
) -> tuple[Estimate, Estimate]:
    """The estimate that is shown, and the one that devices are judged by.

    The CPU allocator's number says nothing of a card, and a job runs all of the notebook's trainings: devices are
    judged by the GPU's for the training that needs most.
    """
    judging = msgspec.structs.replace(meant, target="gpu", training=None)
    if judging == meant:
        estimate = estimated(request)
        return estimate, estimate
    if meant.target == "gpu" or request.target is not None:
        estimate = estimated(request)
        return estimate, estimated(judging) if estimate.status == "ok" else estimate
    # The job would run on the CPU, so nothing is advised for a device: both steps are traced at once.
    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(estimated, msgspec.structs.replace(judging, details=False))
        estimate = estimated(request)
        return estimate, other.result() if estimate.status == "ok" else estimate
