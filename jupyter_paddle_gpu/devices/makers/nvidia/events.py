"""Critical errors (Xid) that the driver reports of its cards while NVML is open."""

from __future__ import annotations

import contextlib
import time
from typing import Any

HARDWARE_XIDS = frozenset({46, 48, 62, 64, 74, 79, 94, 95, 119, 120, 140})
"""Errors of the card itself: it stopped, fell off the bus, its memory, link or firmware failed. Others (13, 31, 43, 45)
follow from what a program did. https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html"""
MOST_EVENTS = 100
"""Read at once; a card in trouble may send many."""


class XidEvents:
    """Asks for the events of all cards once and remembers of each card the newest error of its hardware."""

    def __init__(self) -> None:
        self._set: Any = None
        self._cards: set[str] = set()
        self._newest: dict[str, tuple[int, float]] = {}

    def watch(self, nvml: Any, handle: Any, card: str) -> None:
        """From now on hear of this card, where it can tell (no slice, a driver that supports events)."""
        if card in self._cards:
            return
        self._cards.add(card)  # once: a card that cannot is not asked every second
        with contextlib.suppress(nvml.NVMLError):
            if self._set is None:
                self._set = nvml.nvmlEventSetCreate()
            if nvml.nvmlDeviceGetSupportedEventTypes(handle) & nvml.nvmlEventTypeXidCriticalError:
                nvml.nvmlDeviceRegisterEvents(handle, nvml.nvmlEventTypeXidCriticalError, self._set)

    def read(self, nvml: Any) -> None:
        """Take what came since the last time; never waits."""
        if self._set is None:
            return
        with contextlib.suppress(nvml.NVMLError, UnicodeDecodeError):  # a timeout: nothing more is there
            for _ in range(MOST_EVENTS):
                event = nvml.nvmlEventSetWait_v2(self._set, 0)
                if event.eventData in HARDWARE_XIDS:
                    self._newest[str(nvml.nvmlDeviceGetUUID(event.device))] = (int(event.eventData), time.time())

    def of(self, card: str) -> tuple[int, float] | None:
        """Number and time (seconds since the epoch) of the newest error of a card."""
        return self._newest.get(card)

    def close(self, nvml: Any) -> None:
        """Give the set back, before NVML is; what was heard stays known."""
        if self._set is not None:
            with contextlib.suppress(nvml.NVMLError):
                nvml.nvmlEventSetFree(self._set)
        self._set = None
        self._cards.clear()
