"""What else whoever looks after the queue does: plans that make jobs, each in its time."""

from __future__ import annotations

from typing import Protocol


class PeriodicTasks(Protocol):
    """Asked in every step by the one process that has the queue, which may die at any moment: the next one asks then.
    What is done must bear being done again."""

    def look(self) -> bool:
        """Do what is due, in a thread of its own; whether something is being done or comes soon."""

    def pending(self) -> bool:
        """Whether something is left for later: somebody has to look after it."""

    def close(self, seconds: float) -> None:
        """Nothing is begun any more; what is being done may take so many seconds to end."""
