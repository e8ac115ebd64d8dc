"""The trainings of one run: what each one's step takes, which are the same, which one the answer is of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..step.passages import Leaving, Passage
from ..undecided.branches import peak
from .sites import Site, Sites

Result = dict[str, Any]
_ALIKE = ("model", "optimizer", "batch_size", "inputs", "parameters", "amp")
"""What two rounds of one training have in common."""


LEARNS_NOTHING = frozenset(("no_backward", "no_gradients"))
"""Codes of notes on a step that changes no model."""


def learns(result: Result) -> bool:
    """Whether a training has gradients; without them it may be one of which only a part was followed."""
    return not any(note["code"] in LEARNS_NOTHING for note in result["own_notes"])


class Trainings:
    """What was seen, in the order in which the program runs.

    Args:
        sites: where the notebook may train.
        asked: the id of the one that the answer is to be of; None: of the one that takes most.
        alone: whether nothing is wanted of those behind that one.
        least: how many that learn have to be seen for an answer.
        target: cpu or gpu: which transients count where steps are compared.
    """

    def __init__(
        self, sites: Sites, asked: str | None = None, *, alone: bool = False, least: int = 1, target: str = "gpu"
    ) -> None:
        self.sites = sites
        self.asked = asked
        self._alone, self._least, self._target = alone, least, target
        self._results: list[Result] = []
        self._marks: list[frozenset[int]] = []
        self._sizes: list[int] = []
        self._reached: set[Site | None] = set()
        self.step: Callable[[], tuple[Result, frozenset[int]]] | None = None
        """The step that is seen now, and what of the program trains, as numbers that nothing else has."""
        self.is_over = False
        """Whether the program ended with a training that is kept."""

        self.may_grow: Callable[[], bool] = lambda: False
        """Whether a later round may take more than those that were seen, though this one does not."""

    def __len__(self) -> int:
        return len(self._results)

    def is_wanted(self) -> bool:
        """Whether the training that comes now is the one that was asked for; the first one where none was."""
        return str(len(self._results) + 1) == (self.asked or "1")

    def ended(self, passage: Passage | None, outermost: Passage | None) -> Leaving:
        """A training ends: keep its step and say where the program goes on.

        Args:
            passage: what stands for it.
            outermost: the statement outside of all functions that holds it.
        """
        top = None if outermost is None else self.sites.begun(outermost.cell, outermost.line)
        is_known = self.keep(None if passage is None else (passage.cell, passage.line), top)
        is_enough = self._alone and str(len(self._results)) == self.asked
        if outermost is None or is_enough or not self.sites.behind(outermost.cell, outermost.line, is_through=is_known):
            self.is_over = True
            return Leaving.PROGRAM
        return Leaving.LOOP if is_known else Leaving.TRAINING

    def keep(self, place: tuple[int, int] | None, site: Site | None) -> bool:
        """Keep the step that is seen now.

        Args:
            place: what stands for its training.
            site: what holds it.

        Returns:
            Whether it is a round of a loop that was seen before, and took as much then.
        """
        assert self.step is not None
        self._reached.add(site)
        result, mark = self.step()
        result["where"] = None if place is None else {"cell": place[0], "line": place[1]}
        size = peak(result, self._target)
        for number, known in enumerate(self._results):
            is_there = known["where"] == result["where"]
            if all(known[name] == result[name] for name in _ALIKE) and (is_there or self._marks[number] == mark):
                grew = size > self._sizes[number]
                if grew:
                    self._results[number], self._sizes[number] = {**result, "where": known["where"]}, size
                return is_there and not grew and not self.may_grow()
        self._results.append(result)
        self._marks.append(mark)
        self._sizes.append(size)
        return False

    def chosen(self) -> Result | None:
        """The training that the answer is of, with the others beside it and the places that were not reached; None
        where the one that was asked for was not seen, or fewer than are wanted."""
        numbered = [{**result, "id": str(number)} for number, result in enumerate(self._results, 1)]
        if self.asked is None:
            best = max(range(len(numbered)), key=self._sizes.__getitem__, default=None)
        else:
            best = next((at for at, result in enumerate(numbered) if result["id"] == self.asked), None)
        if best is None or sum(map(learns, numbered)) < self._least:
            return None
        others = [result for at, result in enumerate(numbered) if at != best]
        return {**numbered[best], "others": others, "unreached": self.unreached()}

    def unreached(self) -> list[dict[str, int]]:
        """Places where the notebook may train and was not seen to."""
        told = (site for site in self.sites.all if site.cell not in self.sites.seen_only)
        return [{"cell": site.cell, "line": site.line} for site in told if site not in self._reached]
