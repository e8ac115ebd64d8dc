"""What a program takes of the machine's own memory beside the data that its cells have really made.

Loaders tell how many workers they start and what a batch has; Python's allocator tells how many objects there are then,
which every worker copies in time (reading an object counts its references, which writes to its page); the ledger tells
the most that Paddle's CPU allocator would hold in the whole run so far, data sets and initial values included.
"""

from __future__ import annotations

import sys
from itertools import accumulate
from typing import Any

from ..memory.ledger import Ledger

STANDING = 4
"""Batches of a loader without workers beside those of its queue (see `data_loader._prefetched`), and the one that is
being put together."""


class HostMemory:
    """What was seen of one run."""

    def __init__(self) -> None:
        self._blocks = sys.getallocatedblocks()
        self._taking_turns: dict[int, int] = {}
        self._staying: dict[int, int] = {}
        self.batch = 0
        self.waiting = 0
        self.stand_ins = 0
        self.objects = 0

    def loads(self, loader: Any, batch: int) -> None:
        """A loader begins an epoch of batches of `batch` bytes."""
        workers = int(getattr(loader, "num_workers", 0) or 0)
        stays = bool(getattr(loader, "_persistent_workers", False))
        (self._staying if stays else self._taking_turns)[id(loader)] = workers
        if workers:  # they are forked now
            self.objects = max(self.objects, sys.getallocatedblocks() - self._blocks)
        self.batch = max(self.batch, batch)
        ahead = int(getattr(loader, "prefetch_factor", 2)) * max(workers, 1)
        self.waiting = max(self.waiting, (ahead + STANDING) * batch)

    def stands_in(self, size: int) -> None:
        """A data set that is not on this machine would have so many bytes."""
        self.stand_ins += size

    @property
    def workers(self) -> int:
        """Worker processes at the same time: loaders take turns, but for those whose workers stay."""
        return max(self._taking_turns.values(), default=0) + sum(self._staying.values())

    def fields(self, ledger: Ledger) -> dict[str, int]:
        """The fields of `estimator.trace.TracedHost`."""
        return {
            "workers": self.workers,
            "batch": self.batch,
            "waiting": self.waiting,
            "stand_ins": self.stand_ins,
            "objects": self.objects,
            "allocated": highest(ledger),
        }


def highest(ledger: Ledger) -> int:
    """The most bytes that lived at once in all of the run (storages alone; a kernel's transients are the step's)."""
    changes = [0] * (ledger.now + 2)
    for record in ledger.records:
        changes[record.start] += record.bytes
        if record.end is not None:
            changes[record.end + 1] -= record.bytes
    return max(accumulate(changes))
