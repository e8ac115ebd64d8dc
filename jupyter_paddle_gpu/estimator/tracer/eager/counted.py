"""What counts so many samples (`labels = paddle.arange(512)`, `paddle.eye(512)`) at another size of the batch.

Such a number may be that of the batch or of anything else (positions). It stays until an operator refuses what was made
of it beside the others; then it is the batch's, and both that and what is made at its place later have the other size.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Any

from .. import call_stack
from ..memory.arrays import State, known_state, resize

Place = tuple[int, int]
OPERATORS = frozenset(("arange", "eye"))


class Counted:
    """Tensors that count samples.

    Args:
        size: what they count.
        wanted: what they are to count where that is the batch.
        places: cells and lines whose calls count.

    Attributes:
        follows: places that turned out to count the batch.
    """

    def __init__(self, size: int, wanted: int, places: Iterable[Place]) -> None:
        self.follows: set[Place] = set()
        self._size, self._wanted, self._places = size, wanted, frozenset(places)
        self._known: weakref.WeakKeyDictionary[State, frozenset[Place]] = weakref.WeakKeyDictionary()

    def made(self, name: str, states: list[State], result: Any) -> Any:
        """What an operator has given, known from then on where it counts."""
        all_known = {call_stack.places() & self._places} if name in OPERATORS else set(map(self._known.get, states))
        places = all_known.pop() if len(all_known) == 1 else None
        state = known_state(result) if hasattr(result, "stop_gradient") else None
        if places and state is not None and self._size in state.array.shape:
            self._known[state] = places
            if places <= self.follows:
                self._resize(result, state)
        return result

    def followed(self, tensors: list[Any], states: list[State]) -> bool:
        """Whether one of the operands that an operator refuses counts samples, and has the other size now."""
        found = False
        for tensor, state in zip(tensors, states, strict=True):
            places = self._known.get(state)
            if places and self._size in state.array.shape:
                self.follows |= places
                self._resize(tensor, state)
                found = True
        return found

    def _resize(self, tensor: Any, state: State) -> None:
        shape = tuple(self._wanted if size == self._size else size for size in state.array.shape)
        resize(tensor, state.array, shape)
