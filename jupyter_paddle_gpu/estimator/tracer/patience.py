"""How long something is looked for that decides what an answer is of.

Operations of the trace come first: they are the same on every machine, however busy it is. Where a program does
something else than operations, the processor's time ends it. The clock decides nothing but when to give up
(`step.deadline`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Patience:
    """So many operations of the trace, and no more than so much of the processor's time.

    Attributes:
        operations: some 20,000 take a second.
        seconds: of the processor's time; enough for the operations on a machine half as fast.
    """

    operations: int
    seconds: float

    def begins(self, now: int = 0) -> Waiting:
        """It begins behind so many operations."""
        return Waiting(self, now)


class Waiting:
    """A patience that has begun."""

    def __init__(self, patience: Patience, now: int) -> None:
        self._patience = patience
        self._until = now + patience.operations
        self._ends = time.process_time() + patience.seconds

    def is_over(self, now: int) -> bool:
        """Whether it is, behind so many operations."""
        return now >= self._until or time.process_time() >= self._ends


def while_in_time(seconds: float, at_most: float) -> Callable[[], bool]:
    """Whether there is time left from now on, of the processor's and of the clock's: a busy machine gets as far as an
    idle one, unless it waits."""
    ends, late = time.process_time() + seconds, time.monotonic() + at_most
    return lambda: time.process_time() < ends and time.monotonic() < late
