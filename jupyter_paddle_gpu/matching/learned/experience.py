"""What is known of steps on cards where a device is chosen: the jobs that have run, and what follows from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from statistics import median

import msgspec

from ...devices.catalogue import find
from ...domain.decisions import Need
from ...domain.learned import LearnedRun, StepSeconds
from ..roofline import seconds_per_step
from .model import StepModel, row_of, signature

MEASURED_RANGE = 1.2
"""A step measured on the same card takes at most so many times longer or shorter in the next job (90 % of them)."""

MOST_KEPT = 10_000
"""Expectations that are remembered: each costs up to 2 ms where the model makes it."""


class Experience(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """The jobs of a machine, oldest first.

    Attributes:
        active: the policy asks for what was learned, and it has proven itself: expectations are the model's. Otherwise
            they are the roofline, or what the same step took on the same card.
    """

    runs: tuple[LearnedRun, ...] = ()
    active: bool = False

    def expect(self, need: Need, card: str) -> StepSeconds | None:
        """How long a step is expected to take on a card by its name; None where nothing tells."""
        key = (need, card)
        if len(self._known) > MOST_KEPT:
            self._known.clear()
        if key not in self._known:
            self._known[key] = self._expect(need, card)
        return self._known[key]

    def _expect(self, need: Need, card: str) -> StepSeconds | None:
        row = find(card)
        if self.active and row is not None and (found := self.model.expect(need, row)) is not None:
            return found
        name = row.name if row is not None else card
        if (seen := self._measured.get((name, signature(need)))) is not None:
            likely = median(seen)
            low, high = min(*seen, likely / MEASURED_RANGE), max(*seen, likely * MEASURED_RANGE)
            return StepSeconds(likely=likely, low=low, high=high, source="measured", jobs=len(seen))
        least = None if row is None else seconds_per_step(need, row)
        return None if least is None else StepSeconds(likely=least, low=least, high=least, source="roofline")

    @cached_property
    def model(self) -> StepModel:
        """The model fitted to all that was measured on one card."""
        return fitted(self.runs)

    @cached_property
    def _measured(self) -> Mapping[tuple[str, str], list[float]]:
        found: dict[tuple[str, str], list[float]] = {}
        for run in self.runs:
            if is_measured(run):
                found.setdefault((run.card, signature(run.need)), []).append(run.step_seconds or 0.0)
        return found

    @cached_property
    def _known(self) -> dict[tuple[Need, str], StepSeconds | None]:
        return {}


def fitted(runs: Sequence[LearnedRun]) -> StepModel:
    """The model after these jobs."""
    rows = []
    for run in runs:
        card = find(run.card)
        if card is not None and is_measured(run) and (row := row_of(run.need, card, run.step_seconds or 0.0)):
            rows.append(row)
    return StepModel(rows)


def is_measured(run: LearnedRun) -> bool:
    """Whether a job teaches how long a step takes: it succeeded on one card of its own and made enough steps."""
    return (
        run.outcome == "succeeded"
        and run.devices == 1
        and run.alone
        and bool(run.step_seconds)
        and bool(run.need.flops)
    )
