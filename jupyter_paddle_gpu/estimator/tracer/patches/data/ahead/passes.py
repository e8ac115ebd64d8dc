"""What a loader gives that is gone through behind a step that is known: some of its batches, or all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ....eager.tensors import Tensors
from ....step.beyond import BATCHES
from ....step.steps import StepWatch
from ..batches import collated, made
from ..loaders import Loaders

EPOCH = 64
"""Batches that one pass over a loader gives at most."""
Batches = tuple[int, int, Any]
"""Samples of a batch, batches of a pass, and one of them."""


def behind(runtime: Tensors, loader: Any, batches: Batches, ahead: list[Any]) -> Iterator[Any]:
    """Batches that are gone through behind the step.

    Args:
        batches: what the loader has.
        ahead: those that wait, as tensors: they go with the last ones.
    """
    watch, (_, count, batch) = runtime.of(StepWatch), batches
    if watch.beyond.is_on:
        yield from _beyond(runtime, loader, batches, ahead)
    elif watch.rest.is_on:  # for the errors that they bring alone
        for _ in range(min(count, 1 + watch.rest.later)):
            yield batch
    else:
        yield from _whole(runtime, loader, batches)


def _beyond(runtime: Tensors, loader: Any, batches: Batches, ahead: list[Any]) -> Iterator[Any]:
    """Of a training all, up to its first update; of what is gone through beside one some, or all where it may keep what
    comes out."""
    size, _, batch = batches
    full, rest = _divided(loader, size)
    trains = runtime.of(Loaders).updated.get(id(loader), 0) > 0
    for number in range(full if trains or runtime.of(StepWatch).beyond.is_whole else min(full, BATCHES)):
        del ahead[full + (rest > 0) - 1 - number :]
        yield batch
    ahead.clear()
    if rest:
        yield made(runtime, collated(runtime, loader, rest))


def _whole(runtime: Tensors, loader: Any, batches: Batches) -> Iterator[Any]:
    """As many batches as there are, the last one as small as it is: what an evaluation collects has that size."""
    size, _, batch = batches
    full, rest = _divided(loader, size)
    for _ in range(full):
        yield batch
    if rest:
        yield made(runtime, collated(runtime, loader, rest))


def last(runtime: Tensors, loader: Any, size: int) -> Any:
    """The last batch of a pass, where it has fewer samples than the others; else None."""
    try:
        _, rest = _divided(loader, size)
        return made(runtime, collated(runtime, loader, rest)) if rest else None
    except Exception:  # nobody knows how many there are, or the program's code takes no fewer
        return None


def _divided(loader: Any, size: int) -> tuple[int, int]:
    """Full batches of a pass, and the samples of a last one of fewer."""
    if not size:
        return EPOCH, 0
    full, rest = divmod(len(loader.dataset), size)
    return full, 0 if getattr(loader, "drop_last", False) else rest
