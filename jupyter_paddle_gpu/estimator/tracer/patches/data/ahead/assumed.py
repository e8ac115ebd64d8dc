"""Batches of other lengths, made up where the program pads to the longest of each and its data is not here.

How long texts are nobody knows then: they are assumed to be between half and all of what the described batch has, which
is taken for the longest. Each length of a batch (of a source, of its target) goes its own way.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from ....eager.tensors import Tensors
from ....step.model_inputs import IMAGE_RANK
from ....step.resizing import Resizing
from ..batches import Made
from ..loaders import HALF, Loaders
from . import next_batches
from .padding import draws, pads

LEAST = 0.5
"""Of the longest, how long the shortest batch is. Assumed."""
COUNT = 20
"""Batches that are made up, as many as are looked at where the data is here."""


def made_up(runtime: Tensors, loader: Any, batch: Any) -> Any:
    """The batch, or the other one that is asked for, with the shapes of those that are assumed to come.

    Args:
        batch: as it was described, or as the program's own code makes it of data that is not here.
    """
    if id(loader) in runtime.of(Loaders).drawn or runtime.of(Resizing).change is not None:
        return batch
    if draws(loader):
        runtime.note("sizes_drawn_unseen")
    if not pads(loader):
        return batch
    lengths, are_steps = _lengths(batch)
    if not lengths:
        return batch
    chance, found = random.Random(0), list[Any]()
    whole = chance.randrange(COUNT)
    for number in range(COUNT):
        parts = [1.0 if number == whole else chance.uniform(LEAST, 1) for _ in lengths]
        others = {one: max(1, round(one * part)) for one, part in zip(lengths, parts, strict=True)}
        found.append(_resized(batch, others, _rows(loader, batch, others), 2 if are_steps else None))
    return next_batches.chosen(runtime, loader, found, batch, assumed=HALF)


def _arrays(batch: Any) -> list[Any]:
    if isinstance(batch, dict):
        batch = list(batch.values())
    if isinstance(batch, (list, tuple)):
        return [array for item in batch for array in _arrays(item)]
    return [batch] if isinstance(batch, (Made, np.ndarray)) else []


def _lengths(batch: Any) -> tuple[list[int], bool]:
    """Sides of a batch that go with the lengths of its samples: of ids in rows, else of what is seen at each step of a
    sequence, which alone may be the second of its array, else of pictures in their width, and in their height where
    that is the same."""
    arrays = _arrays(batch)
    ids = [array.shape[1] for array in arrays if len(array.shape) == 2 and _is_whole(array) and array.shape[1] > 1]
    steps = [array.shape[1] for array in arrays if len(array.shape) == IMAGE_RANK - 1]
    widths = [array.shape[-1] for array in arrays if len(array.shape) == IMAGE_RANK]
    return sorted({one for one in ids or steps or widths if one > 1}), bool(steps and not ids)


def _is_whole(array: Any) -> bool:
    return str(array.dtype).removeprefix("paddle.") in {"int64", "int32"}


def _rows(loader: Any, batch: Any, others: dict[int, int]) -> dict[int, int]:
    """How many samples a batch of other lengths has, by how many this one has: as many, unless a sampler of the
    program's own names no size; such a one gives batches of so many tokens."""
    sampler = getattr(loader, "batch_sampler", None)
    if sampler is None or isinstance(getattr(sampler, "batch_size", None), int):
        return {}
    longest, other = max(others), max(others.values())
    sizes = {array.shape[0] for array in _arrays(batch) if array.shape}
    return {size: max(1, size * longest // other) for size in sizes}


def _resized(batch: Any, lengths: dict[int, int], rows: dict[int, int], end: int | None) -> Any:
    """The batch with other lengths and samples; sides from `end` on stay."""
    if isinstance(batch, dict):
        return {key: _resized(item, lengths, rows, end) for key, item in batch.items()}
    if isinstance(batch, (list, tuple)):
        return [_resized(item, lengths, rows, end) for item in batch]
    if not isinstance(batch, (Made, np.ndarray)) or not batch.shape:
        return batch
    first, rest, kept = batch.shape[0], batch.shape[1:end], () if end is None else batch.shape[end:]
    shape = (rows.get(first, first), *(lengths.get(side, side) for side in rest), *kept)
    if isinstance(batch, Made):
        return batch if shape == batch.shape else Made(shape, batch.dtype, None)
    return batch if shape == batch.shape else np.resize(batch, shape)
