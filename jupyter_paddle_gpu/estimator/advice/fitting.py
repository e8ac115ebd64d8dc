"""The largest batch on each of several accelerators: the steps that are traced for one serve the others as well."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence

from ...devices.makers.registry import keeps_factors
from ...domain.devices import Accelerator
from ...domain.errors import PaddleGpuError
from ...domain.estimates import Fit
from ..trace import Trace
from ..translate import WHOLE_GRAPH
from .between import expected
from .search import SearchFailedError, largest_batch

Traced = Callable[[int], "Trace | None"]
"""The step at a batch size; None where there is none."""
TracedOn = Callable[[Accelerator, int], "Trace | None"]
"""The same on an accelerator."""
HighOf = Callable[[Trace, Accelerator], int]
"""The most that the driver would show for a step on an accelerator, in bytes."""


def fits(trace: TracedOn, high: HighOf, accelerators: Sequence[Accelerator], usable_share: float) -> tuple[Fit, ...]:
    """The largest batch that fits on each accelerator.

    Args:
        usable_share: part of a card's memory that a process may take.

    Raises:
        PaddleGpuError: `batch_unknown` (422): the batch of this training cannot be changed, so none can be sought.
    """
    steps: dict[bool, tuple[Traced, dict[int, Trace]]] = {}
    for accelerator in accelerators:
        steps.setdefault(keeps_factors(accelerator), _steps(functools.partial(trace, accelerator)))
    return tuple(_fit(*steps[keeps_factors(one)], high, one, usable_share) for one in accelerators)


def _steps(trace: Traced) -> tuple[Traced, dict[int, Trace]]:
    """What traces a step where none was traced at that size, and those that were."""
    traced, traces = functools.cache(trace), dict[int, Trace]()

    def one(batch: int) -> Trace | None:
        if (found := batched(traced(batch))) is not None:
            traces[batch] = found
        return found

    return one, traces


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


def _fit(
    trace: Traced, traces: Mapping[int, Trace], high: HighOf, accelerator: Accelerator, usable_share: float
) -> Fit:
    """The largest batch on one; `traces`: those that there are already, which tell where to look."""
    limit = int((accelerator.usable_bytes or accelerator.memory_bytes) * usable_share)
    seen = {batch: high(found, accelerator) for batch, found in traces.items()}

    def peak(batch: int) -> int | None:
        found = trace(batch)
        if found is not None:
            seen[batch] = high(found, accelerator)
        return seen.get(batch)

    try:
        between = expected(traces, lambda found: high(found, accelerator))
        largest = largest_batch(peak, limit, known=seen, between=between)
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
