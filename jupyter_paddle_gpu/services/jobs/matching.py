"""A notebook estimated and matched against an engine's devices: what is shown before a submit."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import msgspec

from ...domain.estimates import Estimate
from ...domain.jobs.job import Resources
from ...domain.notebooks import NotebookFacts
from ...domain.what_ifs import EstimateRequest
from ...engines.capabilities import host_bytes_of, inventory_of
from ...matching.policy import Policy
from ..estimates.estimating import Where
from ..requests import Matched
from .placing import Site, choice_of, engine_name, place, together_on

Estimated = Callable[[EstimateRequest, Where], Estimate]
"""The notebook's estimate for a request and a place."""


def match(
    site: Site,
    facts: NotebookFacts,
    estimated: Estimated,
    request: EstimateRequest,
    policy: Policy,
    *,
    engine: str = "",
    gpus: int | None = None,
    device_ids: tuple[str, ...] = (),
) -> Matched:
    """Estimate for the devices that may be chosen, then judge each of them.

    Args:
        policy: how many devices may train together.
        engine, gpus, device_ids: the person's choice; empty or None leaves it to us.
    """
    chosen = site.engines[engine_name(site.engines, engine)]
    inventory = inventory_of(chosen, site.inventory)
    choice = choice_of(chosen, inventory, request, gpus, device_ids)
    host = partial(host_bytes_of, chosen, Resources(), inventory)
    where = Where(lambda: inventory, choice, together_on(chosen, inventory, policy), host)
    estimate = estimated(request, where)
    # The CPU allocator's number says nothing of a card: devices are judged by the GPU's, from the same trace.
    # A job runs all of the notebook's trainings: they are judged for the one that needs most.
    judged, asked = estimate, msgspec.structs.replace(request, target="gpu", training=None)
    if asked != request and estimate.status == "ok":
        judged = estimated(asked, where)
    placement = place(
        site,
        judged if judged.status == "ok" else None,
        engine=engine,
        choice=choice,
        paddle_version=estimate.paddle_version,
    )
    return Matched(facts=facts, estimate=estimate, placement=placement)
