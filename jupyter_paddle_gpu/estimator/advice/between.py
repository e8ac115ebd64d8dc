"""A step at batch sizes that were not traced, from two that were: each allocation grows by as much a sample.

It tells where to look for the largest batch. What is found is traced before it is said.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import msgspec

from ..trace import Operation, Storage, Trace
from .search import Between, Peak

Row = TypeVar("Row", Storage, Operation)
AtBatch = tuple[int, Trace]
"""A batch size and the step that was traced with it."""
_UNLIKE = ("branches", "extents", "beyond", "waiting")
"""What a trace tells besides that is no allocation."""


def between(first: AtBatch, second: AtBatch) -> Callable[[int], Trace] | None:
    """The step at any batch size, None where the two do not do the same."""
    (start, one), (end, other) = first, second
    if start == end or any(name in trace.extra for trace in (one, other) for name in _UNLIKE):
        return None
    if list(map(_kept, one.operations)) != list(map(_kept, other.operations)):
        return None
    if list(map(_lived, one.storages)) != list(map(_lived, other.storages)):
        return None

    def at(batch: int) -> Trace:
        def grown(size: int, to: int) -> int:
            return size + (to - size) * (batch - start) // (end - start)

        return msgspec.structs.replace(
            one,
            storages=_each(one.storages, other.storages, ("bytes",), grown),
            operations=_each(
                one.operations, other.operations, ("workspace_cpu", "workspace_low", "workspace_high"), grown
            ),
            batches_ahead=grown(one.batches_ahead, other.batches_ahead),
            batch_size=batch,
        )

    return at


def _each(
    ones: Sequence[Row], others: Sequence[Row], names: tuple[str, ...], grown: Callable[[int, int], int]
) -> tuple[Row, ...]:
    """Rows in which these numbers have grown."""
    rows = []
    for one, other in zip(ones, others, strict=True):
        sizes = {name: getattr(one, name) for name in names}
        larger = {name: getattr(other, name) for name in names}
        if sizes != larger:
            sizes = {name: grown(sizes[name], larger[name]) for name in names}
            rows.append(msgspec.structs.replace(one, **sizes))
        else:
            rows.append(one)
    return tuple(rows)


def _kept(operation: Operation) -> tuple[str, str]:
    return operation.name, operation.phase


def _lived(storage: Storage) -> tuple[int, int, str, str]:
    return storage.start, storage.end, storage.kind, storage.op


def expected(traces: Mapping[int, Trace], high: Callable[[Trace], int | None]) -> Between:
    """What a search is told of the batches between two of those that were traced.

    Args:
        traces: by batch size; those of a search are in it by the time it asks.
        high: the most that the driver would show for a step.
    """

    def of(batches: Sequence[int]) -> Peak | None:
        traced = [(batch, traces[batch]) for batch in batches if batch in traces][:2]
        at = between(*traced) if len(traced) == 2 else None
        return None if at is None else lambda batch: high(at(batch))

    return of
