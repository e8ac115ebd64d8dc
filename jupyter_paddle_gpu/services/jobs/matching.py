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
from ...domain.what_ifs import EstimateRequest
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
    estimate, judged = _both(lambda asked: estimated(asked, where), request, meant(request, where))
    placement = place(
        site,
        judged if judged.status == "ok" else None,
        engine=engine,
        choice=choice,
        paddle_version=estimate.paddle_version,
        shown=_whole(lambda asked: estimated(asked, where), estimate, meant(request, where)),
    )
    if estimate.target == "cpu":
        placement = with_figure(placement, judged)
    return Matched(facts=facts, estimate=estimate, placement=placement)


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
