"""Updates that a program writes out itself, without an optimizer: `w = w - rate * w.grad`, then `w.clear_grad()`."""

from __future__ import annotations

from typing import Any

from ..eager.tensors import Tensors
from ..memory.arrays import known_state
from .layers import LayerPaths


class UpdatesByHand:
    """Tells one such update from the next: by the first gradient that is cleared after a backward pass.

    Attributes:
        elements: by identity those of tensors whose gradient the program clears itself.
        has_gradients: whether a backward pass has run since the last update.
    """

    def __init__(self, runtime: Tensors) -> None:
        self.runtime = runtime
        self.elements: dict[int, int] = {}
        self.has_gradients = False
        self._ends: list[int] = []

    @property
    def count(self) -> int:
        """Updates so far."""
        return len(self._ends)

    def cleared(self, tensor: Any) -> bool:
        """The program clears a gradient; whether an update ends by that."""
        self.elements[id(tensor)] = int(tensor.size)
        count_as_parameter(tensor)
        state = known_state(tensor)
        if state is not None and state.grad is not None and state.grad.storage is not None:
            state.grad.storage.record.kind = "gradients"
        if not self.has_gradients:
            return False
        self.has_gradients = False
        self.runtime.of(LayerPaths).look(self._ends[-1] if self._ends else 0)
        self._ends.append(self.runtime.ledger.now)
        return True

    def window(self) -> tuple[int, int] | None:
        """The last step, where the one before has as many operations: it is one of a loop's."""
        if len(self._ends) < 3:
            return None
        before, begin, end = self._ends[-3:]
        return (begin, end) if begin - before == end - begin else None


def count_as_parameter(tensor: Any) -> None:
    """What is trained is one, also where no layer made it."""
    state = known_state(tensor)
    if state is not None and state.node is None and state.array.storage is not None:
        state.array.storage.record.kind = "parameters"
