"""The largest batch on each of several accelerators: the steps that are traced for one serve the others as well."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...domain.devices import Accelerator
from ...domain.errors import PaddleGpuError
from ...domain.estimates import Fit
from ..trace import Trace
from ..translate import WHOLE_GRAPH
from .search import SearchFailedError, largest_batch

HighOf = Callable[[int, Accelerator], int | None]
"""The most that the driver would show at a batch size on an accelerator, in bytes; None where there is no such step."""


def fits(high: HighOf, accelerators: Sequence[Accelerator], usable_share: float) -> tuple[Fit, ...]:
    """The largest batch that fits on each accelerator.

    Args:
        usable_share: part of a card's memory that a process may take.

    Raises:
        PaddleGpuError: `batch_unknown` (422): the batch of this training cannot be changed, so none can be sought.
    """
    batches: set[int] = set()
    return tuple(_fit(high, accelerator, usable_share, batches) for accelerator in accelerators)


def batched(trace: Trace | None) -> Trace | None:
    """The trace, of which the leading dimension is a batch.

    Raises:
        PaddleGpuError: `batch_is_graph` (422): the step takes in a whole graph.
    """
    if trace is not None and any(note.code == WHOLE_GRAPH for note in trace.notes):
        raise PaddleGpuError(
            "batch_is_graph",
            "Each step takes in a whole graph: there is no batch to make larger or smaller.",
            hint="To train on parts, draw neighbors in each step (paddle.geometric.sample_neighbors).",
            status=422,
        )
    return trace


def _fit(high: HighOf, accelerator: Accelerator, usable_share: float, batches: set[int]) -> Fit:
    """The largest batch on one; `batches`: those that were traced already, which tell where to look."""
    limit = int((accelerator.usable_bytes or accelerator.memory_bytes) * usable_share)
    seen = {batch: found for batch in batches if (found := high(batch, accelerator)) is not None}

    def peak(batch: int) -> int | None:
        found = high(batch, accelerator)
        if found is not None:
            batches.add(batch)
            seen[batch] = found
        return found

    try:
        largest = largest_batch(peak, limit, known=seen)
    except SearchFailedError:
        raise PaddleGpuError(
            "batch_unknown",
            "The largest batch cannot be found: this training gave no figure for another batch size.",
            hint="Look at `jupyter paddle-gpu estimate --batch-size 1`, which says why.",
            status=422,
        ) from None
    return Fit(
        device=accelerator.name,
        checked=accelerator.checked,
        limit_bytes=limit,
        largest_batch=largest,
        high_bytes=None if largest is None else seen.get(largest),
    )
