"""A short run of the program that only looks: what models are called with, over how many steps gradients are summed."""

from __future__ import annotations

import os
from collections import Counter

from .. import call_stack

ATTEMPTS = 2
"""Updates after which the number of summed steps is told: what lies between the first two."""
_BELOW = (call_stack.TRACER, f"{call_stack.PADDLE}base{os.sep}")
Site = tuple[str, int]


class Probe:
    """Ends a run at its first backward pass, or at its second update where summed steps are to be counted."""

    def __init__(self, *, counts_steps: bool) -> None:
        self._counts_steps = counts_steps
        self._passes: Counter[Site] = Counter()
        self._counts: list[int] = []
        self.is_done = False
        self.has_trained = False

    @property
    def accumulation(self) -> int:
        """Backward passes from one line of the program for one update."""
        return max(1, *self._counts[-ATTEMPTS + 1 :]) if self._counts else 1

    def backward(self) -> bool:
        """A backward pass begins; whether enough was seen."""
        self.has_trained = True
        self._passes[_caller()] += 1
        self.is_done = not self._counts_steps
        return self.is_done

    def updates(self) -> bool:
        """An optimizer is to update; whether enough was seen."""
        if self._passes:  # not the second optimizer after the same backward passes
            self._counts.append(max(self._passes.values()))
            self._passes.clear()
        self.is_done = len(self._counts) >= ATTEMPTS
        return self.is_done


def _caller() -> Site:
    """The line that calls `backward`, in the notebook or in what trains for it."""
    frame = call_stack.caller(_BELOW)
    return ("", 0) if frame is None else (frame.f_code.co_filename, frame.f_lineno)
