"""What would make a step smaller, each computed by tracing the changed step, never guessed."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import structs

from ..domain.estimates import Change, Estimate, Remedy

ACCUMULATION = 4
"""Micro-batches of the accumulation that is offered: the same batch, gathered from steps of a quarter."""
LEAST_SAVING = 0.01
"""Part of the peak below which a change is no remedy: nobody would take the trouble."""

SMALLEST_IMAGE, SHORTEST_SEQUENCE = 32, 16
"""Side in pixels and length from which on less is offered."""
COARSE, FINE = 32, 8
"""Sides offered are multiples of one of them, as strides and patches want it: of the first from `LARGE` pixels on."""
LARGE = 128
OTHER_DATA = frozenset(("image_size", "sequence_length"))
"""Changes of what is learned from: they come last."""

Ask = Callable[[Mapping[str, Any]], int | None]
"""Bytes of the step with a changed request; None where it cannot be had."""
Largest = Callable[[Mapping[str, Any]], int | None]
"""Largest batch on the device with a changed request; None where not even one sample fits or it cannot be told."""


def candidates(estimate: Estimate) -> list[tuple[Change, dict[str, Any]]]:
    """The changes that make sense for a step: name and request."""
    batch = estimate.batch_size or 1
    found: list[tuple[Change, dict[str, Any]]] = []
    if estimate.amp not in ("O1", "O2"):
        found.append(("amp_o1", {"amp": "O1"}))
    if estimate.amp != "O2":
        found.append(("amp_o2", {"amp": "O2"}))
    found.append(("recompute", {"recompute": True}))
    if batch > 1:
        found.append(("batch_size", {"batch_size": batch // 2}))
    if batch >= ACCUMULATION:
        found.append(("accumulation", {"batch_size": batch, "accumulation": ACCUMULATION}))
    found.append(("clear_grad", {"set_to_zero": False}))
    side, length = min(estimate.image_size or (0,)), estimate.sequence_length or 0
    if side >= SMALLEST_IMAGE:
        found.append(("image_size", {"image_size": smaller_side(side)}))
    if length >= SHORTEST_SEQUENCE:
        found.append(("sequence_length", {"sequence_length": length // 2}))
    return found


def smaller_side(side: int) -> int:
    """The side of an image with about half as many pixels: 160 for 224."""
    step = COARSE if side >= LARGE else FINE
    return round(math.sqrt(side * side / 2) / step) * step


def remedies(estimate: Estimate, ask: Ask, largest: Largest | None) -> tuple[Remedy, ...]:
    """Every change that saves memory worth the name, the largest saving first; other data comes behind all others."""
    if estimate.peak_bytes is None:
        return ()
    found = []
    for change, request in candidates(estimate):
        size = ask(request)
        if size is None or size > (1 - LEAST_SAVING) * estimate.peak_bytes:
            continue
        saves = estimate.peak_bytes - size
        found.append(Remedy(change=change, request=request, peak_bytes=size, saves_bytes=saves))
    found.sort(key=lambda remedy: (remedy.change in OTHER_DATA, -remedy.saves_bytes))
    if largest is None:
        return tuple(found)
    # A search takes several traces: all that is saved comes before the first of them, should the time run out.
    return tuple(structs.replace(remedy, largest_batch=largest(remedy.request)) for remedy in found)
