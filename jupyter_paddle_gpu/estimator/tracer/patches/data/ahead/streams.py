"""The next batches of an `IterableDataset`, where looking at them takes nothing from the program."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Iterator
from typing import Any

from ....eager.tensors import Tensors
from ....patience import while_in_time
from ....step.resizing import Resizing
from . import next_batches
from .assumed import made_up


def largest_of_stream(runtime: Tensors, loader: Any, size: int, batch: Any) -> Any:
    """The largest of the next batches in bytes, where their shapes differ; else the batch itself.

    A generator begins anew with each `iter`. Where it cannot be begun so, what is made up stands for what comes.

    Args:
        size: samples of a batch; 0: the data set gives batches itself.
    """
    if runtime.of(Resizing).change is not None:
        return batch
    if not _begins_anew(loader.dataset):
        return made_up(runtime, loader, batch)
    with runtime.of(Resizing).samples():
        found = next_batches.ahead(runtime, loader, _lists(loader, size), are_samples=True)
    return next_batches.chosen(runtime, loader, found, batch)


def _begins_anew(data: Any) -> bool:
    """Whether `iter` of it leaves its other iterators as they are: its method is a generator, and it holds nothing that
    is read on, such as an open file."""
    return inspect.isgeneratorfunction(type(data).__iter__) and not any(
        hasattr(type(held), "__next__") for held in vars(data).values()
    )


def _lists(loader: Any, size: int) -> Iterator[list[Any]]:
    """Samples of batch after batch; the last one only where it is whole."""
    is_time = while_in_time(**next_batches.LOOKING)
    in_time = itertools.takewhile(lambda _: is_time(), iter(loader.dataset))
    while len(batch := list(itertools.islice(in_time, size or 1))) == (size or 1):
        yield batch
