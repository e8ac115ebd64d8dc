"""What needs further traces: the largest batch on a device, and what each remedy would save there."""

from __future__ import annotations

import time
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from ...domain.estimates import LARGEST_BATCH, BatchPoint, Estimate, Fit
from ...domain.what_ifs import EstimateRequest
from .. import messages
from ..memory.assemble import Peak
from ..trace import Trace
from ..translate import WHOLE_GRAPH
from .between import expected
from .changed_steps import SOUGHT, Steps
from .remedies import remedies
from .search import SearchFailedError, largest_batch

FURTHER = 4
"""Times the batch at which the step is traced beside it, so that what lies between is no guess."""
FEWER = 8
"""Samples by which a batch is taken back that the cells do not have as it was sought, one by one."""
LONGER = 300
"""Seconds that are proposed where the usual ones were too few."""


class Details:
    """Asks for changed steps until the time for that is used up."""

    def __init__(self, request: EstimateRequest, steps: Steps, seconds: float) -> None:
        self._request = request
        self._steps = steps
        self._seconds, self._deadline = seconds, time.monotonic() + seconds
        self._late = False
        self._found: dict[frozenset[tuple[str, Any]], int | None] = {}
        self._lacking: set[frozenset[tuple[str, Any]]] = set()

    def add_to(
        self, estimate: Estimate, device: str, limit: int | None, devices: int = 1, *, checked: bool = True
    ) -> Estimate:
        """The estimate with its remedies and, for a device (or the CPU) with `limit` usable bytes, its largest batch.

        Args:
            limit: None: no device is meant.
            devices: how many there are to train together on.
            checked: as of `Device`.
        """
        fits: tuple[Fit, ...] = ()
        step = estimate
        if any(note.code == WHOLE_GRAPH for note in estimate.notes):  # there is no batch to change
            step, limit, devices = msgspec.structs.replace(estimate, batch_size=None), None, 1
        own = step.batch_size or LARGEST_BATCH
        curve = tuple(self._points(own, [own * FURTHER], always=True))  # without it there is no line
        if limit is not None:
            known = {estimate.batch_size: estimate.high} if estimate.batch_size and estimate.high else {}
            fits = tuple(msgspec.structs.replace(one, checked=checked) for one in self._fit(device, limit, known))
        found = remedies(
            step,
            self._likely,
            (lambda change: self._largest(limit, change)) if limit is not None else None,
            lambda change: self._steps.refused(msgspec.structs.replace(self._request, **change)),
            devices,
        )
        found_at = [one.largest_batch or 0 for one in fits if one.largest_batch != own * FURTHER]
        curve += tuple(self._points(own, found_at))
        late = messages.DETAILS_LATE.filled(seconds=round(self._seconds), more=LONGER)
        notes = (*estimate.notes, late) if self._late else estimate.notes
        return msgspec.structs.replace(estimate, remedies=found, fits=fits, curve=curve, notes=notes)

    def largest_batch(self, limit: int, change: Mapping[str, Any], known: dict[int, int] | None = None) -> int | None:
        """The largest batch of the changed step whose upper bound stays within the limit (see `search`).

        Where gradients are summed over several steps, what is sought is the batch of one of them: an update's own
        grows by so many samples before anything else is laid out.
        """
        summed = change.get("accumulation") or self._request.accumulation or 1
        traces: dict[int, Trace] = {}

        def high(batch: int) -> int | None:
            trace, peak = self._asked({**change, "batch_size": batch * summed}, SOUGHT)
            if trace is not None:
                traces[batch] = trace
            return peak.high if peak else None

        def of(trace: Trace) -> int | None:
            peak = self._steps.peak(trace, msgspec.structs.replace(self._request, **change))
            return peak.high if peak else None

        found = largest_batch(high, limit, known=known if summed == 1 else None, between=expected(traces, of))
        found = found and self._as_run(found, limit, change, summed)
        return None if found is None else min(found * summed + summed - 1, LARGEST_BATCH)

    def _as_run(self, found: int, limit: int, change: Mapping[str, Any], summed: int) -> int:
        """What is left of a batch when the cells have it, as a job's do: a shorter last batch may be laid out beside
        more, and the step of whoever takes the advice is to fit. The search asks for steps of the size alone.
        """
        for batch in range(found, max(0, found - FEWER), -1):
            _, peak = self._asked({**change, "batch_size": batch * summed})
            if peak is None or peak.high <= limit:
                return batch
        return found

    def _largest(self, limit: int, change: Mapping[str, Any], known: dict[int, int] | None = None) -> int | None:
        """The same, once for all changes that differ by their batch alone; None where it cannot be found."""
        key = frozenset((name, value) for name, value in change.items() if name != "batch_size")
        if key not in self._found:
            try:
                self._found[key] = self.largest_batch(limit, change, known)
            except SearchFailedError:
                self._found[key] = None
                self._lacking.add(key)
        return self._found[key]

    def _fit(self, device: str, limit: int, known: dict[int, int]) -> tuple[Fit, ...]:
        largest = self._largest(limit, {}, known)
        return () if frozenset() in self._lacking else (Fit(device=device, limit_bytes=limit, largest_batch=largest),)

    def _points(self, own: int, batches: Iterable[int], *, always: bool = False) -> Iterator[BatchPoint]:
        """The step at larger batches than its own. A loader of fewer samples gives as many."""
        summed = self._request.accumulation or 1
        for batch in batches:
            if own < batch < LARGEST_BATCH:
                trace, peak = self._asked({"batch_size": batch * summed}, SOUGHT, always=always)
                size = trace.batch_size if trace is not None else None
                if peak is not None and size is not None and size > own:
                    yield BatchPoint(batch=size, low=peak.low, bytes=peak.likely, high=peak.high)

    def _likely(self, change: Mapping[str, Any]) -> int | None:
        _, peak = self._asked(change)
        return peak.likely if peak else None

    def _asked(
        self, change: Mapping[str, Any], told: Container[str] = (), *, always: bool = False
    ) -> tuple[Trace | None, Peak | None]:
        if time.monotonic() > self._deadline and not always:
            self._late = True
            return None, None
        request = msgspec.structs.replace(self._request, **change)
        trace = self._steps.trace(request, told)
        return trace, self._steps.peak(trace, request)
