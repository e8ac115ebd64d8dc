"""What the answer to an open need may be, looked for while the program runs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

from ...undecided.absent_data import Need
from . import hints, suggestions

Candidate = tuple[Any, str]
"""A value, and where it comes from."""


class Candidates:
    """Candidates by need, as of when it came up: the models of a function are gone at the end.

    Args:
        cells: list of {index, source}.
        beside: sources of what they run and import.

    Attributes:
        printed: what the notebook's saved outputs show (`hints.hints`).
    """

    def __init__(self, cells: list[dict[str, Any]], beside: Sequence[str]) -> None:
        self.printed: dict[str, Any] = {}
        self._cells = cells
        self._beside = beside
        self._seen: dict[str, list[Candidate]] = {}

    def look(self, need: Need, namespace: dict[str, Any]) -> None:
        """A need has come up; what is there now may say how it is answered."""
        self._seen[need.name] = self._found(need, namespace)

    def of(self, need: Need, namespace: dict[str, Any]) -> list[Candidate]:
        """Those of a need: what was found when it came up, else what is found now."""
        return self._seen.get(need.name) or self._found(need, namespace)

    def _found(self, need: Need, namespace: dict[str, Any]) -> list[Candidate]:
        found = hints.hints(self._cells, self.printed, namespace, need.name, self._beside)
        return list(islice(suggestions.of_need(need, found), suggestions.MOST))
