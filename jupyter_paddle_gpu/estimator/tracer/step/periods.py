"""The step of several optimizers, or of one that others wait for: a period of the order in which they update."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

LONGEST = 64
"""Updates of a period at most."""


def ending(order: Sequence[int]) -> Iterator[int]:
    """Lengths of the periods of which two in a row are the last of the order, the shortest first."""
    for length in range(1, min(LONGEST, len(order) // 2) + 1):
        if order[-length:] == order[-2 * length : -length]:
            yield length


def first(order: Sequence[int]) -> tuple[int, int] | None:
    """The last update of the first, and of the second, of the first two equal periods, of a program that has ended: an
    optimizer that never updated is none of the step's. The last ones of a program may be those of an epoch's incomplete
    batch."""
    for length in range(1, min(LONGEST, len(order) // 2) + 1):
        for start in range(len(order) - 2 * length + 1):
            middle, end = start + length, start + 2 * length
            if order[start:middle] == order[middle:end] and set(order[start:middle]) == set(order):
                return middle - 1, end - 1
    return None


def first_forward(operations: Sequence[Any], began: int) -> int:
    """Where the forward pass before the first backward pass begins, of what began there."""
    start = next((i for i in range(began, len(operations)) if operations[i].phase == "backward"), len(operations))
    while start > began and operations[start - 1].name not in {"to_tensor", "parameter"}:
        start -= 1
    return start
