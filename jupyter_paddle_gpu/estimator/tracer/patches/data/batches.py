"""One batch of the user's own data set: its samples are loaded, as few as do, and put together by its own function.

Where the data is made up, all samples are alike, and so are the batches.
"""

from __future__ import annotations

import contextlib
import itertools
import random
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import paddle
from paddle.io.dataloader.collate import default_collate_fn

from ... import call_stack
from ...eager.tensors import Tensors
from ...memory.dtypes import SIZE
from ...memory.values import Computed, Value
from ...step.resizing import Resizing
from ...undecided.descriptions import like
from ...undecided.drawn_sizes import states_kept
from ...undecided.unseen_data import UNKNOWN_LENGTH, UnseenData
from .loaders import Loaders

DISTINCT_SAMPLES = 8
"""Samples that are really loaded; a larger batch repeats them."""
SAMPLED_BATCHES, MOST_KINDS = 64, 6
"""Batches of a sampler of the program's own that are looked at, and kinds of them that are put together."""

LARGE_SAMPLE = 4 << 10
"""Bytes; samples above this are not copied for every place of a batch: a batch of images alone would take gigabytes."""


Kind = tuple[int, tuple[Any, ...]]
"""Of a batch of the program's own sampler: how many samples, and each picture's size that goes with the indices."""


@dataclass(frozen=True)
class Made:
    """A tensor as the data set makes it, without a place in memory: what each batch's own tensor looks like."""

    shape: tuple[int, ...]
    dtype: str
    value: Value | None


class Text(str):
    """A description in place of a batch."""

    __slots__ = ()


def look_at_last(loaders: Loaders, loader: Any, size: int) -> None:
    """Read the last sample as well: a data set that counts more than it has fails there, long after its first batch.
    Where samples are shuffled, one of another shape than the first meets others in some batch."""
    data: Any = loader.dataset
    sampler: Any = getattr(loader, "batch_sampler", None)
    is_plain = isinstance(data, paddle.io.Dataset) and not isinstance(data, (paddle.io.IterableDataset, UnseenData))
    if (
        not size
        or loaders.late
        or not is_plain
        or not call_stack.is_own(type(data))
        or type(sampler) is not paddle.io.BatchSampler
    ):
        return
    left_out = len(data) % size if sampler.drop_last else 0
    before = random.getstate(), np.random.get_state()
    try:
        with loaders.reading(loader):
            last = data[len(data) - left_out - 1]
            if size > 1 and _draws(loader):
                _stack_alike(data[0], last)
    except (IndexError, _OtherShapeError) as problem:
        raised = problem.__cause__ if isinstance(problem, _OtherShapeError) and problem.__cause__ else problem
        loaders.silenced = loaders.silenced and raised
        loaders.late = *call_stack.place(), raised
    except Exception:  # what is wrong otherwise, the first batch tells
        loaders.silenced = None
    finally:
        random.setstate(before[0])
        np.random.set_state(before[1])


_KILLED = "(Fatal) Blocking queue is killed because the data reader raises an exception."


class _OtherShapeError(Exception):
    """Samples of a data set cannot be put together."""


def _draws(loader: Any) -> bool:
    """Whether any samples may meet in a batch, which Paddle puts together."""
    collate = getattr(loader, "collate_fn", None) or default_collate_fn
    return collate is default_collate_fn and type(loader.batch_sampler.sampler) is paddle.io.RandomSampler


def _stack_alike(first: Any, last: Any) -> None:
    """Refuse samples of which an array has another shape, as Paddle does in `default_collate_fn`."""
    if isinstance(first, (list, tuple)) and isinstance(last, (list, tuple)):
        for one, other in zip(first, last, strict=False):
            _stack_alike(one, other)
    elif isinstance(first, np.ndarray) and isinstance(last, np.ndarray) and first.shape != last.shape:
        try:
            np.stack([first, last])
        except ValueError as problem:
            raise _OtherShapeError from problem


def kinds(loader: Any) -> dict[Kind, list[Any]]:
    """Batches of the program's own sampler that names no size, one of each kind; empty where the sampler names a size
    or there is none."""
    sampler = getattr(loader, "batch_sampler", None)
    if sampler is None or isinstance(getattr(sampler, "batch_size", None), int):
        return {}
    found: dict[Kind, list[Any]] = {}
    for batch in itertools.islice(iter(sampler), SAMPLED_BATCHES):
        indices = list(batch) if isinstance(batch, (list, tuple)) else []
        if not indices:
            return {}
        found.setdefault(kind_of(indices), indices)
    return dict(itertools.islice(found.items(), MOST_KINDS))


def kind_of(indices: list[Any]) -> Kind:
    """What a batch of these indices is like."""
    return len(indices), _common(indices)


def _common(indices: list[Any]) -> tuple[Any, ...]:
    """What all entries of a batch carry beside their own index: (width, height, index) has the first two."""
    rows = [index if isinstance(index, tuple) else (index,) for index in indices]
    return tuple(str(column[0]) for column in zip(*rows, strict=False) if len(column) > 1 and len(set(column)) == 1)


def _samples(loader: Any, wanted: int, indices: list[Any]) -> list[Any]:
    dataset = loader.dataset
    if isinstance(dataset, paddle.io.IterableDataset):
        first = list(itertools.islice(iter(dataset), min(wanted, DISTINCT_SAMPLES)))
    else:
        few = min(wanted, DISTINCT_SAMPLES)
        first = [dataset[i] for i in (indices or _indices(loader, few))[:few]]
    return [first[i] if i < len(first) else _again(first[i % len(first)]) for i in range(wanted)]


def first_samples(loader: Any, size: int) -> list[Any]:
    """A few samples, none of them twice; none where they cannot be loaded. Random states are then as they were."""
    with states_kept(), contextlib.suppress(Exception):
        return _samples(loader, min(size, DISTINCT_SAMPLES), [])
    return []


def _again(sample: Any) -> Any:
    """A sample once more: what puts a batch together may change its entries, once for each place. Arrays are shared."""
    if type(sample) in {list, tuple}:
        return type(sample)(map(_again, sample))
    return {key: _again(item) for key, item in sample.items()} if type(sample) is dict else sample


def _indices(loader: Any, count: int) -> list[Any]:
    """What the data set is asked for: integers, or what a sampler of the program's own gives in their place."""
    total = len(loader.dataset)
    if total == UNKNOWN_LENGTH and type(getattr(loader, "batch_sampler", None)) is paddle.io.BatchSampler:
        return list(range(count)) or [0]  # a million numbers need not be drawn for samples that are not here
    try:
        found = list(next(iter(loader.batch_sampler)))
    except (TypeError, StopIteration, AttributeError):
        found = list(range(total))
    return found[:count] or [0]


def collated(runtime: Tensors, loader: Any, size: int, indices: list[Any] | None = None) -> Any:
    """A batch of so many samples as the loader would give it, of these `indices` where they are told; 0: a sample
    alone."""
    resizing = runtime.of(Resizing)
    with resizing.samples():
        batch = _put_together(runtime, loader, size, indices or [])
    return batch if resizing.change is None else _resized(runtime, batch)


def collated_of(runtime: Tensors, loader: Any, asked: list[Any]) -> Any:
    """The batch of all these indices, each loaded for itself."""
    with runtime.of(Resizing).samples():
        return collated_samples(runtime, loader, [loader.dataset[index] for index in asked])


def collated_samples(runtime: Tensors, loader: Any, samples: list[Any]) -> Any:
    """The batch of these samples; one alone is it where the loader puts none together."""
    if getattr(loader, "batch_sampler", None) is None and len(samples) == 1:
        return samples[0]
    return (getattr(loader, "collate_fn", None) or default_collate_fn)(samples)


def numbers_of(runtime: Tensors, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """An array that becomes a tensor, itself.

    Raises:
        SystemError: it is of text or of objects, by which the thread ends that reads.
    """
    if str(array.dtype) not in SIZE:
        raise runtime.refused(SystemError(_KILLED))
    return array


def _resized(runtime: Tensors, batch: Any) -> Any:
    """The batch with its tensors in the size that is asked for; arrays have it when they become tensors."""
    if isinstance(batch, (list, tuple)):
        return [_resized(runtime, item) for item in batch]
    if isinstance(batch, Mapping):
        return {key: _resized(runtime, item) for key, item in batch.items()}
    if not isinstance(batch, paddle.Tensor):
        return batch
    array = runtime.state(batch).array
    shape, value = runtime.of(Resizing).arriving(array.shape, array.dtype, array.value)
    return batch if shape == array.shape else runtime.create("stack", shape, array.dtype, value, "inputs")


def _put_together(runtime: Tensors, loader: Any, size: int, indices: list[Any]) -> Any:
    if not size and getattr(loader, "batch_sampler", None) is None:
        return _samples(loader, 1, indices)[0]
    collate = getattr(loader, "collate_fn", None) or default_collate_fn
    if collate is default_collate_fn and size > DISTINCT_SAMPLES:
        return repeated(runtime, collate(_samples(loader, DISTINCT_SAMPLES, indices)), size)
    return collate(_samples(loader, size or 1, indices))


def repeated(runtime: Tensors, batch: Any, size: int) -> Any:
    """A batch of few samples as one of `size`: small arrays repeat all of them, large ones the first, in its place."""
    if isinstance(batch, (list, tuple)):
        if batch and all(isinstance(item, (str, bytes)) for item in batch):
            return [batch[i % len(batch)] for i in range(size)]
        return [repeated(runtime, item, size) for item in batch]
    if isinstance(batch, Mapping):
        return {key: repeated(runtime, item, size) for key, item in batch.items()}
    if isinstance(batch, paddle.Tensor) and batch.ndim:
        array = runtime.state(batch).array
        value = array.value and Computed(_repeated_tensor, (array.value, size), {})
        return runtime.create("stack", (size, *array.shape[1:]), array.dtype, value, "inputs")
    return _rows(batch, size) if isinstance(batch, np.ndarray) and batch.ndim else batch


def _rows(batch: Any, size: int) -> Any:
    shape = (size, *batch.shape[1:])
    if batch.nbytes // len(batch) > LARGE_SAMPLE:
        return np.broadcast_to(batch[:1], shape)
    return np.resize(batch, shape)


def _repeated_tensor(batch: Any, size: int) -> Any:
    return paddle.to_tensor(_rows(batch.numpy(), size))


def made(runtime: Tensors, batch: Any) -> Any:
    """The batch without its tensors: a loader hands its first one over too and keeps none. Of any mapping Paddle makes
    a dictionary (`_restore_batch` of `dataloader/flat.py`)."""
    if isinstance(batch, (list, tuple)):
        return [made(runtime, item) for item in batch]
    if isinstance(batch, Mapping):
        return like(batch, {key: made(runtime, item) for key, item in batch.items()})
    if not isinstance(batch, paddle.Tensor):
        return batch
    array = runtime.state(batch).array
    return Made(array.shape, array.dtype, array.value)


def bytes_of(runtime: Tensors, batch: Any) -> int:
    """Bytes of all tensors and arrays of a batch."""
    if isinstance(batch, (list, tuple)):
        return sum(bytes_of(runtime, item) for item in batch)
    if isinstance(batch, dict):
        return sum(bytes_of(runtime, item) for item in batch.values())
    if isinstance(batch, Made):
        return prod(batch.shape) * SIZE[batch.dtype]
    return int(batch.nbytes) if isinstance(batch, np.ndarray) else 0


def largest_shape(runtime: Tensors, batch: Any) -> tuple[int, ...]:
    """The shape of a batch's largest tensor or array: of its pictures, not of their labels."""
    if isinstance(batch, dict):
        batch = list(batch.values())
    if isinstance(batch, (list, tuple)):
        parts = [item for item in batch if bytes_of(runtime, item)]
        return largest_shape(runtime, max(parts, key=lambda part: bytes_of(runtime, part))) if parts else ()
    return tuple(getattr(batch, "shape", ()))
