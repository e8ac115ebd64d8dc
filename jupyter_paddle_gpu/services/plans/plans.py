"""All plans of a user, and the thread in which whoever has the queue looks after them."""

from __future__ import annotations

import logging
import math
import threading

from .firing import ScheduleTender
from .scheduling import Schedules
from .sweep_reconciler import SweepReconciler
from .sweeping import Sweeps
from .tools import Tools

_logger = logging.getLogger(__name__)
AGAIN_SECONDS = 5.0
"""After a look that failed, and between two looks at what nobody tells of: a disk that was full, an engine that was
away, a card that somebody else lets go of."""


class Plans:
    """Sweeps and schedules (`jobs.plans.periodic.PeriodicTasks`)."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self.sweeps = Sweeps(tools)
        self._sweep_tender = SweepReconciler(tools, self.sweeps)
        self.schedules = Schedules(tools)
        self._schedule_tender = ScheduleTender(tools, self.schedules)
        self._thread: threading.Thread | None = None
        self._seen: int | None = None  # the store's revision before the last look
        self._looked, self._due = 0.0, 0.0  # when that was, and when there is something to do though nothing changed

    def look(self) -> bool:
        """See `PeriodicTasks`."""
        if self._thread is not None and self._thread.is_alive():
            return True
        revision, now = self._tools.jobs().store.revision(), self._tools.clock()
        if revision == self._seen and self._looked <= now < self._due:  # else the clock was set, or it is time
            return False
        self._seen, self._looked, self._due = revision, now, now + AGAIN_SECONDS
        self._thread = threading.Thread(target=self._act, name="paddle-gpu plans", daemon=True)
        self._thread.start()
        return True

    def pending(self) -> bool:
        """See `PeriodicTasks`."""
        return self._sweep_tender.pending() or self._schedule_tender.pending()

    def close(self, seconds: float) -> None:
        """See `PeriodicTasks`."""
        if self._thread is not None:
            self._thread.join(seconds)

    def _act(self) -> None:
        try:
            self._sweep_tender.look()
            due = self._schedule_tender.look()
            later = self._looked + AGAIN_SECONDS if self._sweep_tender.pending() else math.inf
            self._due = min(later, math.inf if due is None else due)
        except Exception:  # whoever looks after the queue must not end for it; the next look tries again
            _logger.exception("looking after sweeps and schedules")
