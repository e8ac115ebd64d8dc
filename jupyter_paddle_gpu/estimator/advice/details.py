"""What needs further traces: the largest batch on a device, and what each remedy would save there."""

from __future__ import annotations

import time
from collections.abc import Container, Mapping
from typing import Any

import msgspec

from ...domain.estimates import Estimate, Fit
from ...domain.what_ifs import EstimateRequest
from .. import messages
from ..memory.assemble import Peak
from ..translate import WHOLE_GRAPH
from .changed_steps import SOUGHT, Steps
from .remedies import remedies
from .search import SearchFailedError, largest_batch


class Details:
    """Asks for changed steps until the time for that is used up."""

    def __init__(self, request: EstimateRequest, steps: Steps, seconds: float) -> None:
        self._request = request
        self._steps = steps
        self._deadline = time.monotonic() + seconds
        self._late = False

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
        # Nobody misses a remedy for what has room.
        has_room = limit is not None and estimate.high is not None and estimate.high <= limit
        notes = (*estimate.notes, messages.DETAILS_LATE) if self._late and not has_room else estimate.notes
        return msgspec.structs.replace(estimate, remedies=found, fits=fits, notes=notes)

    def largest_batch(self, limit: int, change: Mapping[str, Any], known: dict[int, int] | None = None) -> int | None:
        """The largest batch of the changed step whose upper bound stays within the limit (see `search`)."""

        def high(batch: int) -> int | None:
            peak = self._asked({**change, "batch_size": batch}, SOUGHT)
            return peak.high if peak else None

        return largest_batch(high, limit, known=known)

    def _fit(self, device: str, limit: int, known: dict[int, int]) -> tuple[Fit, ...]:
        try:
            return (Fit(device=device, limit_bytes=limit, largest_batch=self.largest_batch(limit, {}, known)),)
        except SearchFailedError:
            return ()

    def _largest(self, limit: int, change: Mapping[str, Any]) -> int | None:
        try:
            return self.largest_batch(limit, change)
        except SearchFailedError:
            return None

    def _likely(self, change: Mapping[str, Any]) -> int | None:
        peak = self._asked(change)
        return peak.likely if peak else None

    def _asked(self, change: Mapping[str, Any], told: Container[str] = ()) -> Peak | None:
        if time.monotonic() > self._deadline:
            self._late = True
            return None
        return self._steps.peak(msgspec.structs.replace(self._request, **change), told)
