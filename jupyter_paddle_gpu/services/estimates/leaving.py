"""Who asked for an estimate and does not wait for it any more: what workers do for it ends."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import CancelledError
from typing import ParamSpec, TypeVar

from ...estimator.workers.beside import Asked, ending_with

P = ParamSpec("P")
T = TypeVar("T")


class Asker:
    """Somebody who waits, in another thread than the work. Thread-safe."""

    def __init__(self) -> None:
        self._asked = Asked()

    def call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | None:
        """What the function answers; None where it was ended because nobody waits."""
        try:
            with ending_with(self._asked):
                return function(*args, **kwargs)
        except CancelledError:
            return None

    def leave(self) -> None:
        """Wait no longer."""
        self._asked.end()
