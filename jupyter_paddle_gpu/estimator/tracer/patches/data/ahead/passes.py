"""What a loader gives that is gone through behind a step that is known: some of its batches, or all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ....eager.tensors import Tensors
from ....session import Session
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
        given, short = count if watch.rest.is_open() else min(count, 1 + watch.rest.later), None
        if watch.rest.gathers is not None:
            short = last(runtime, loader, batches[0])
            given = min(given, count - (short is not None))
            watch.rest.gathers.append(Passed(batches[0], given, _left_out(loader, batches, given, short)))
        for _ in range(given):
            yield batch
        if short is not None:
            yield short
    else:
        yield from _whole(runtime, loader, batches)


class Passed(NamedTuple):
    """A pass of which some batches were left out.

    Attributes:
        size: samples of a batch.
        given: full batches that were given.
        left: those that were left out.
    """

    size: int
    given: int
    left: int


def _left_out(loader: Any, batches: Batches, given: int, short: Any) -> int:
    """Full batches that a pass has more; none where nobody knows how many it has."""
    size, count, _ = batches
    try:
        full, rest = _divided(loader, size)
    except Exception:
        return 0
    is_known = size > 0 and count == full + (rest > 0) and (rest > 0) == (short is not None)
    return full - given if is_known else 0


def predicted(session: Session, original: Callable[..., Any], model: Any, *args: Any, **kwargs: Any) -> Any:
    """`Model.predict`: behind the step some batches are gone through, and what they gave stands for the others."""
    rest = session.of(StepWatch).rest
    if not rest.is_on:
        return original(model, *args, **kwargs)
    rest.gathers = gathered = list[Passed]()
    try:
        found = original(model, *args, **kwargs)
    finally:
        rest.gathers = None
    if len(gathered) != 1 or not isinstance(found, list):
        return found
    return [_as_long(one, gathered[0]) for one in found]


_MOST = 1 << 26
"""Bytes that are made for batches which were left out."""


def _as_long(output: Any, passed: Passed) -> Any:
    """One output of all batches, in a list or in one array."""
    first = output[: passed.size] if isinstance(output, np.ndarray) else output[0] if output else None
    if not isinstance(first, np.ndarray) or not passed.left or first.nbytes * passed.left > _MOST:
        return output
    if isinstance(output, (list, tuple)):
        return type(output)([*[first] * passed.left, *output])
    is_by_sample = len(first) == passed.size and len(output) >= passed.size * passed.given
    return np.concatenate([*[first] * passed.left, output]).view(type(output)) if is_by_sample else output


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
    return full, 0 if drops_last(loader) else rest


def drops_last(loader: Any) -> bool:
    """Whether a last batch of fewer samples is left out: a sampler that was handed to a loader says it in its place."""
    return any(getattr(one, "drop_last", False) for one in (getattr(loader, "batch_sampler", None), loader))
