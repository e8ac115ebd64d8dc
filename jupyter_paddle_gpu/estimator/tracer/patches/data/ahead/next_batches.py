"""The batches that come next, where they differ in shape from step to step: sentences are padded to the longest of
their batch.

On a CPU the largest decides, whenever it comes; on a GPU all of them, since each leaves other sizes in the allocator's
chunks.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import paddle

from ....eager.tensors import Tensors
from ....patience import while_in_time
from ....step.batches import unlike
from ....step.resizing import Resizing
from ....undecided.drawn_sizes import states_kept
from ....undecided.unseen_data import UnseenData
from ..batches import Kind, Made, bytes_of, collated_of, collated_samples, first_samples, kind_of, made
from ..loaders import Assumed, Loaders, Sides

MOST_BATCHES, MOST_SAMPLES = 20, 2_560
"""Batches that are put together, and samples that are loaded for them, at most."""
ALIKE = 4
"""Batches of one shape after which no other is looked for."""
LARGE = 1 << 20
"""Bytes of an array that holds pictures or sound, whose numbers decide nothing."""
LOOKING = {"seconds": 2.0, "at_most": 8.0}
"""How long they may take of the processor's time, and on the clock; then those that there are speak."""


def largest_of_next(runtime: Tensors, loader: Any, size: int, batch: Any) -> Any:
    """The largest of the next batches in bytes, where their shapes differ; else the batch itself.

    Args:
        size: samples of a batch.
        batch: the first one.
    """
    is_plain = size and getattr(loader, "batch_sampler", None) is not None and runtime.of(Resizing).change is None
    if not is_plain or isinstance(loader.dataset, UnseenData) or id(loader) in runtime.of(Loaders).drawn:
        return batch
    if len({_lengths(one) for one in first_samples(loader, size)}) == 1:
        return batch
    return chosen(runtime, loader, ahead(runtime, loader, of_size(loader, size)), batch)


def next_of_own(runtime: Tensors, loader: Any, batch: Any, seen: dict[Kind, Any]) -> Any:
    """The batch of a sampler of the program's own, or the other one that is asked for, with those that come next.

    Args:
        batch: what is given.
        seen: a batch of each kind.
    """
    if isinstance(loader.dataset, UnseenData) or runtime.of(Resizing).change is not None:
        return batch
    lists = (list(one) for one in loader.batch_sampler)
    are_sized = all(common for _, common in seen)
    found = ahead(runtime, loader, lists, seen={kind: _light(one) for kind, one in seen.items()} if are_sized else {})
    return chosen(runtime, loader, found, batch, is_given=True)


_HAVE_LENGTHS = (list, tuple, dict, np.ndarray, paddle.Tensor, str)


def _lengths(sample: Any) -> tuple[Any, ...]:
    """The shapes of a sample's arrays, and how long its lists and texts are: alike in each, none has to be padded."""
    if isinstance(sample, dict):
        sample = list(sample.values())
    if isinstance(sample, (list, tuple)) and any(isinstance(one, _HAVE_LENGTHS) for one in sample):
        return tuple(_lengths(one) for one in sample)
    if isinstance(sample, (np.ndarray, paddle.Tensor)):
        return tuple(map(int, sample.shape))
    return (len(sample),) if isinstance(sample, (list, tuple, str)) else ()


def of_size(loader: Any, size: int) -> Iterator[list[Any]]:
    """What the data set is asked for, batch by batch; the last one only where it is whole."""
    found = itertools.chain.from_iterable(loader.batch_sampler)
    while len(batch := list(itertools.islice(found, size))) == size:
        yield batch


def ahead(
    runtime: Tensors,
    loader: Any,
    lists: Iterator[list[Any]],
    *,
    are_samples: bool = False,
    seen: dict[Kind, Any] | None = None,
) -> list[Any]:
    """The next batches without their tensors, made of these indices, or of samples themselves, as many as there is room
    for; random states are then as they were.

    Args:
        seen: a batch of each kind where its indices say its shape: it stands for those that there is no time for,
            unless one that was read has another shape.
    """
    found, samples, in_time, seen = list[Any](), 0, while_in_time(**LOOKING), seen or {}
    put_together = collated_samples if are_samples else collated_of
    with states_kept(), contextlib.suppress(Exception):  # what is wrong with a later batch the first one need not say
        for asked in itertools.islice(lists, MOST_BATCHES):
            samples += len(asked)
            if samples > MOST_SAMPLES and len(found) > 1:
                break
            alike = seen.get(kind_of(asked)) if seen else None
            batch = alike
            if batch is None or in_time():
                batch = _light(made(runtime, put_together(runtime, loader, asked)))
                if alike is not None and sides(alike) != sides(batch):
                    seen = {}
            found.append(batch)
            if (len(found) == ALIKE and len(set(map(sides, found))) == 1) or not (seen or in_time()):
                break
    return found


def _light(batch: Any) -> Any:
    """The batch without what its large arrays hold: twenty batches of pictures are more than a process has room for."""
    if isinstance(batch, dict):
        return {key: _light(item) for key, item in batch.items()}
    if isinstance(batch, (list, tuple)):
        return [_light(item) for item in batch]
    if isinstance(batch, np.ndarray) and batch.nbytes > LARGE:
        return np.broadcast_to(np.zeros((), batch.dtype), batch.shape)
    return batch


def chosen(
    runtime: Tensors, loader: Any, found: list[Any], batch: Any, *, is_given: bool = False, assumed: Assumed = ""
) -> Any:
    """The largest of a batch and those that come next, or the other one that is asked for; where they differ, all of
    their shapes are told. The batch itself stays where it `is_given`, and where the others are made up (`assumed`)."""
    shapes = [sides(one) for one in found]
    if len(set(shapes)) < 2 or len(set(map(_ranks, [*shapes, sides(batch)]))) > 1:
        return batch
    loaders = runtime.of(Loaders)
    largest = batch if is_given or assumed else max([batch, *found], key=lambda one: bytes_of(runtime, one))
    traced = sides(largest)
    if loaders.wanted == "unlike":
        largest = max(found, key=lambda one: unlike(sides(one), traced))
    elif loaders.wanted in shapes:
        largest = found[shapes.index(loaders.wanted)]
    loaders.changing[id(loader)] = (shapes, sides(largest), assumed)
    return largest


def _ranks(shapes: Sides) -> tuple[int, ...]:
    return tuple(map(len, shapes))


def sides(batch: Any) -> Sides:
    """The shapes of all tensors and arrays of a batch, in their order."""
    if isinstance(batch, dict):
        batch = list(batch.values())
    if isinstance(batch, (list, tuple)):
        return tuple(shape for item in batch for shape in sides(item))
    return (tuple(map(int, batch.shape)),) if isinstance(batch, (Made, np.ndarray)) else ()
