"""The rows that a sparse gradient holds (phi::SelectedRows), and how those of several are merged.

MergeAdd in phi/kernels/funcs/selected_rows_functor.cc, of 3.3.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..session import paused
from .values import Value, is_random

Indices = np.ndarray[Any, np.dtype[np.int64]]


class Rows:
    """The rows that a sparse gradient holds.

    Attributes:
        height: rows of the whole parameter.
        count: rows held.
        lookups: the indices that were looked up for it, with their numbers.
        ascends: whether the rows are known to ascend, each once, though not which they are.
    """

    __slots__ = ("_indices", "_is_computed", "ascends", "count", "height", "lookups")

    def __init__(self, height: int, count: int, lookups: dict[Any, int], indices: Indices | None = None) -> None:
        self.height, self.count, self.lookups = height, count, lookups
        self.ascends = count < 2
        self._indices, self._is_computed = indices, indices is not None

    @property
    def indices(self) -> Indices | None:
        """Which ones, in their order; None where that is not known without training, or drawn anew in each step."""
        if not self._is_computed:
            self._is_computed = True
            parts = [_computed(value) if isinstance(value, Value) else None for value in self.lookups]
            self._indices = parts[0] if len(parts) == 1 else None
        return self._indices

    @property
    def is_sorted(self) -> bool:
        """Whether the rows ascend and none comes twice."""
        found = self.indices
        return self.ascends if found is None else bool(np.all(found[1:] > found[:-1]))


def merged(parts: list[Rows]) -> Rows:
    """MergeAdd: each row once, in ascending order unless none came twice.

    Of indices that are not known there are as many rows as of uniform ones are expected.
    """
    height, total = parts[0].height, sum(part.count for part in parts)
    lookups = {value: count for part in parts for value, count in part.lookups.items()}
    known = [indices for part in parts if (indices := part.indices) is not None]
    if len(known) == len(parts):
        together = np.concatenate(known)
        once = np.unique(together)
        kept = together if len(once) == len(together) else once
        return Rows(height, len(kept), lookups, kept)
    expected = height * (1 - (1 - 1 / height) ** sum(lookups.values()))
    made = Rows(height, min(int(expected), total), lookups)
    made.ascends = made.count < total
    return made


def _computed(value: Value) -> Indices | None:
    if is_random(value):
        return None
    try:
        with paused():
            found: Indices = value.get().numpy().reshape(-1)
    except Exception:
        return None  # whatever computes the user's data may fail; what is expected of uniform indices stands in
    return found
