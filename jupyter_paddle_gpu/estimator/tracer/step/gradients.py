"""Whether gradients arrive at what an optimizer updates, and whether they are cleared between two updates.

Nothing of it ends a program: Paddle updates by no gradients, and by ever larger sums, without a word.
"""

from __future__ import annotations

from typing import Any

import paddle

from .. import call_stack
from ..memory.arrays import known_state
from ..memory.ledger import Record
from .changes import parameters

Held = dict[int, tuple[Record, int]]
"""By a parameter's identity where its gradient lies, and how often the program has written into it."""


class Gradients:
    """What the updates of one training found.

    Attributes:
        passes: backward passes so far.
    """

    def __init__(self) -> None:
        self.passes = 0
        self._passed_at: dict[str, int] = {}
        self._found: dict[int, tuple[int, Held]] = {}
        """By an optimizer's identity what its last update found, and how many passes there had been."""
        self._fed = set[int]()
        """Optimizers that have found gradients."""
        self._wrong: dict[int, tuple[str, dict[str, int]]] = {}

    def passed(self) -> None:
        """A backward pass has begun."""
        self.passes += 1
        if self.passes == 1:
            self._passed_at = call_stack.told()

    def updating(self, optimizer: Any, *, is_behind: bool) -> None:
        """An optimizer is about to update.

        Args:
            is_behind: whether the step is known: one update more behind the loop has its gradients from rounds that
                were left out, or none.
        """
        runs_them_itself = isinstance(optimizer, paddle.optimizer.LBFGS)
        if is_behind or runs_them_itself or not paddle.in_dynamic_mode():  # a graph has both
            return
        key, now = id(optimizer), _held(optimizer)
        passes, before = self._found.get(key, (self.passes, {}))
        self._found[key] = self.passes, now
        if now and self.passes:  # else they are left of the training before
            self._fed.add(key)
        if not now and key in self._fed:
            return  # one update more behind the loop has none left: what is learned comes of the others
        if not now:
            self._wrong[key] = "no_gradients" if self.passes else "no_backward", call_stack.told()
        elif self.passes > passes and all(before.get(number) == one for number, one in now.items()):
            self._wrong[key] = "gradients_add_up", call_stack.told()
        else:
            self._wrong.pop(key, None)

    def notes(self) -> list[dict[str, Any]]:
        """What the last update of each optimizer was made with."""
        told = dict(reversed(self._wrong.values()))
        return [{"code": code, "params": place} for code, place in reversed(told.items())]

    def unused(self) -> dict[str, Any] | None:
        """That backward passes run, and that no optimizer updates."""
        return {"code": "never_steps", "params": self._passed_at} if self.passes and not self._found else None


def _held(optimizer: Any) -> Held:
    found = Held()
    for parameter in parameters(optimizer):
        state = known_state(parameter)
        grad = None if state is None or state.grad_is_stale else state.grad
        if grad is not None and grad.storage is not None:
            found[id(parameter)] = grad.storage.record, grad.storage.version
    return found
