"""What would make a step smaller, each computed by tracing the changed step, never guessed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec import structs

from ...domain.estimates import Estimate, Remedy
from ...domain.messages import Message
from ...domain.what_ifs import BY_NAME

ACCUMULATION = 4
"""Micro-batches of the accumulation that is offered: the same batch, gathered from steps of a quarter."""
LEAST_SAVING = 0.01
"""Part of the peak below which a change is no remedy: nobody would take the trouble."""

SMALLEST_IMAGE, SHORTEST_SEQUENCE = 32, 16
"""Side in pixels and length from which on less is offered."""
COARSE, FINE = 32, 8
"""Sides offered are multiples of one of them, as strides and patches want it: of the first from `LARGE` pixels on."""
LARGE = 128
Request = dict[str, Any]
Ask = Callable[[Mapping[str, Any]], int | None]
"""Bytes of the step with a changed request; None where it cannot be had."""
Refused = Callable[[Mapping[str, Any]], Message | None]
"""Why a changed request cannot be handed to a job; None where it can."""
Largest = Callable[[Mapping[str, Any]], int | None]
"""Largest batch on the device with a changed request; None where not even one sample fits or it cannot be told."""


def _amp(estimate: Estimate) -> Iterator[Request]:
    levels = ("O1", "O2")
    yield from ({"amp": level} for level in levels[levels.index(estimate.amp) + 1 if estimate.amp in levels else 0 :])


def _recompute(_estimate: Estimate) -> Iterator[Request]:
    yield {"recompute": True}


def _batch_size(estimate: Estimate) -> Iterator[Request]:
    if (batch := estimate.batch_size or 1) > 1:
        yield {"batch_size": batch // 2}


def _accumulation(estimate: Estimate) -> Iterator[Request]:
    if (batch := estimate.batch_size or 1) >= ACCUMULATION:
        yield {"batch_size": batch, "accumulation": ACCUMULATION}


def _devices(estimate: Estimate, devices: int) -> Iterator[Request]:
    batch = estimate.batch_size or 1
    if (estimate.devices or 1) == 1 and devices > 1 and batch % devices == 0:
        yield {"devices": devices, "batch_size": batch // devices}


def _set_to_zero(_estimate: Estimate) -> Iterator[Request]:
    yield {"set_to_zero": False}


def _image_size(estimate: Estimate) -> Iterator[Request]:
    if (side := min(estimate.image_size or (0,))) >= SMALLEST_IMAGE:
        yield {"image_size": smaller_side(side)}


def _sequence_length(estimate: Estimate) -> Iterator[Request]:
    if (length := estimate.sequence_length or 0) >= SHORTEST_SEQUENCE:
        yield {"sequence_length": length // 2}


OFFERS: dict[str, Callable[[Estimate], Iterator[Request]]] = {
    "amp": _amp,
    "recompute": _recompute,
    "batch_size": _batch_size,
    "accumulation": _accumulation,
    "set_to_zero": _set_to_zero,
    "image_size": _image_size,
    "sequence_length": _sequence_length,
}
"""What-ifs that may save memory, each with the requests that make sense for a step."""


def candidates(estimate: Estimate, devices: int = 1) -> list[tuple[str, Request]]:
    """The changes that make sense for a step: the what-if's name and the request.

    Args:
        devices: how many could train together; the same samples an update, divided among them.
    """
    found = [(change, request) for change, offer in OFFERS.items() for request in offer(estimate)]
    return found + [("devices", request) for request in _devices(estimate, devices)]


def smaller_side(side: int) -> int:
    """The side of an image with about half as many pixels: 160 for 224."""
    step = COARSE if side >= LARGE else FINE
    return round(math.sqrt(side * side / 2) / step) * step


def remedies(
    estimate: Estimate,
    ask: Ask,
    largest: Largest | None,
    refused: Refused = lambda request: None,
    devices: int = 1,
) -> tuple[Remedy, ...]:
    """Every change that saves memory worth the name, the largest saving first; other data comes behind all others."""
    if estimate.peak_bytes is None:
        return ()
    found = []
    for change, request in candidates(estimate, devices):
        size = ask(request)
        if size is None or size > (1 - LEAST_SAVING) * estimate.peak_bytes:
            continue
        saves, says = estimate.peak_bytes - size, BY_NAME[change].suggestion(request[change])
        found.append(
            Remedy(
                change=change,
                says=says,
                request=request,
                peak_bytes=size,
                saves_bytes=saves,
                refused=refused(request),
            )
        )
    found.sort(key=lambda remedy: (BY_NAME[remedy.change].other_data, -remedy.saves_bytes))
    if largest is None:
        return tuple(found)
    # A search takes several traces: all that is saved comes before the first of them, should the time run out.
    return tuple(structs.replace(remedy, largest_batch=largest(remedy.request)) for remedy in found)
