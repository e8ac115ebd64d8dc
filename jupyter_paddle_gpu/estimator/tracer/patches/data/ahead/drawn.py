"""The batch in which whatever a program draws of sizes is the largest."""

from __future__ import annotations

from typing import Any

import paddle
from paddle.io.dataloader.collate import default_collate_fn

from ....eager.tensors import Tensors
from ....step.model_inputs import IMAGE_RANK
from ....undecided.drawn_sizes import DrawnSizes, filled, states_kept
from ..batches import bytes_of, collated, largest_shape, look_at_last, made
from ..loaders import Loaders
from .next_batches import largest_of_next, sides
from .published import of_mean
from .streams import largest_of_stream


def largest_drawn(runtime: Tensors, loader: Any, size: int, batch: Any) -> Any:
    """The batch, or one in which every size that is drawn is the largest, where the program itself puts it together."""
    look_at_last(runtime.of(Loaders), loader, size)
    collate = getattr(loader, "collate_fn", None) or default_collate_fn
    if isinstance(loader.dataset, paddle.io.IterableDataset):
        return largest_of_stream(runtime, loader, size, batch)
    is_plain, drawn = collate is default_collate_fn and size != 1, runtime.of(DrawnSizes)
    if is_plain and not drawn.has_factors:
        return batch
    largest = _with_largest(runtime, loader, size, batch)
    if drawn.has_uniform and not is_plain:
        largest = _with_largest(runtime, loader, size, largest, of_uniform=True)
    if drawn.has_factors and _is_filled_more(batch, largest):
        batch = largest
    if is_plain:
        return batch
    if not _is_drawn(runtime, loader, size, batch, largest):
        return of_mean(runtime, loader, size, largest_of_next(runtime, loader, size, batch))
    runtime.note("sizes_drawn")
    return largest


def _with_largest(runtime: Tensors, loader: Any, size: int, batch: Any, *, of_uniform: bool = False) -> Any:
    """A batch in which draws are the largest; the one that there is where that is none, or where the largest of numbers
    between two others make none that is larger: they move boxes and colors as well."""
    try:
        with runtime.of(DrawnSizes).largest(of_uniform=of_uniform):
            largest = made(runtime, collated(runtime, loader, size))
    except Exception:  # the largest of all together may be none that the program draws
        return batch
    return batch if of_uniform and bytes_of(runtime, largest) <= bytes_of(runtime, batch) else largest


def _is_drawn(runtime: Tensors, loader: Any, size: int, batch: Any, largest: Any) -> bool:
    """Whether a batch with the largest draws is larger than one without, for its draws: other samples may be as well.

    Of pictures it is the draws: their sizes are drawn far more often than they differ by themselves.
    """
    if bytes_of(runtime, largest) <= bytes_of(runtime, batch):
        return False
    if len(largest_shape(runtime, largest)) < IMAGE_RANK:
        with states_kept():
            plain = made(runtime, collated(runtime, loader, size))
        if bytes_of(runtime, largest) <= bytes_of(runtime, plain):
            return False
    runtime.of(Loaders).drawn.add(id(loader))
    runtime.of(Loaders).changing.pop(id(loader), None)
    return True


def _is_filled_more(batch: Any, largest: Any) -> bool:
    """Whether a batch of the same shapes with the largest draws has less of padding in its labels."""
    return sides(largest) == sides(batch) and filled(largest) > filled(batch)
