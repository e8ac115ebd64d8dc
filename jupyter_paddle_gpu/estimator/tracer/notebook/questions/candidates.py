"""What the answer to an open need may be, looked for while the program runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any, NamedTuple

from ... import own_faults
from ...memory.ledger import Ledger
from ...session import current
from ...step.static_graphs import StaticGraphs
from ...undecided.absent_data import AbsentData
from ...undecided.descriptions import shapes_of
from ...undecided.needs import CHOSEN, Need
from . import hints, suggestions, texts
from .models import Models

Candidate = tuple[Any, str]
"""A value, and where it comes from."""


def _unheard(code: str, **params: Any) -> None:
    """Nobody listens yet."""


class _Found(NamedTuple):
    """Candidates of a moment, and whether there was a model to take from what a batch looks like."""

    candidates: list[Candidate]
    has_models: bool


class Candidates:
    """Candidates by need, as of when it came up: the models of a function are gone at the end.

    Args:
        cells: list of {index, source}.
        beside: sources of what they run and import.

    Attributes:
        printed: what the notebook's saved outputs show (`hints.hints`).
        held: by the names of questions what the notebook's kernel holds.
        ledger: of the run, which knows its own models also when it is over.
        note: takes what is to be told, as the run's session does.
    """

    def __init__(self, cells: list[dict[str, Any]], beside: Sequence[str]) -> None:
        self.printed: dict[str, Any] = {}
        self.held: dict[str, Any] = {}
        self.ledger: Ledger | None = None
        self.note: Callable[..., Any] = _unheard
        self._cells = cells
        self._beside = beside
        self._seen: dict[str, _Found] = {}

    def look(self, need: Need, namespace: dict[str, Any]) -> None:
        """A need has come up; what is there now may say how it is answered."""
        self._seen[need.name] = self._found(need, namespace)

    def of(self, need: Need, namespace: dict[str, Any]) -> list[Candidate]:
        """Those of a need: what was found when it came up, else what is found now."""
        held = [(self.held[need.name], suggestions.HELD)] if need.name in self.held else []
        seen = self._seen.get(need.name)
        if seen is None or not seen.has_models:  # a batch that was looked at before there was a model
            found = self._found(need, namespace)
            seen = found if seen is None or found.has_models or not seen.candidates else seen
        return [*held, *seen.candidates]

    def held_for(self, question: dict[str, Any]) -> dict[str, Any]:
        """A question of a value with what the kernel holds by its name, to be tried."""
        name = question["name"]
        if name not in self.held or question.get("candidates"):
            return question
        return {**question, "candidates": [(self.held[name], suggestions.HELD)]}

    def _found(self, need: Need, namespace: dict[str, Any]) -> _Found:
        """What is there now; nothing where looking for it fails, which is no fault of the program that runs."""
        return own_faults.without(lambda: self._sought(need, namespace), _Found([], False), self.note)

    def _sought(self, need: Need, namespace: dict[str, Any]) -> _Found:
        found = hints.hints(self._cells, self.printed, namespace, need.name, self._beside)
        found.models = Models(self.ledger)
        if (session := current()) is not None:
            data = session.of(AbsentData)
            found.declared = list(session.of(StaticGraphs).declared.values())
            found.partly = data.partly.get(need.name, [])
            found.names = data.part_names.get(need.name) or found.names
            found.counted = {name: one for name, one in data.answers.items() if type(one) is int and one > 1}
            found.text = "\n".join([found.text, *(one for one in data.answers.values() if isinstance(one, str))])
            found.answered = [shape for text in data.answers.values() for shape in shapes_of(text)]
        each = texts.settings_of(need, found) if need.why in CHOSEN else suggestions.of_need(need, found)
        return _Found(
            list(islice(each, suggestions.MOST)),
            bool(found.models.first or found.models.by_hand),
        )
