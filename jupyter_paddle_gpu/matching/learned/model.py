"""Seconds of a step on a card, from the jobs that have run: a Gaussian process whose parts can be read.

The logarithm of measured seconds over what a card's data sheet says (arithmetic's least time, and memory's after it) is
a sum of parts, each normally distributed beforehand: a constant and four features with their weights, what is peculiar
to a card, to a model (a step with the same FLOPs, bytes, batch and precision), to that model on that card, and the
noise of a job. Every part's posterior is a factor that can be shown
(Rasmussen and Williams 2006, chapter 2, with the linear and the identity kernels summed). Nothing is tuned: the prior's
spreads stand below. `docs/learned.md` says why it is this model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property
from math import exp, log, log1p, sqrt
from operator import mul
from typing import NamedTuple

from ...domain.decisions import Need
from ...domain.devices import Accelerator
from ...domain.learned import Effect, StepSeconds
from ..roofline import bounds

FEATURES = ("everywhere", "memory_bound", "small_operations", "low_precision", "other_arithmetic")
"""What `features` gives, in its order."""
SPREADS = (1.0, 0.5, 0.5, 0.5, 0.5)
"""Of each feature's weight: a step takes up to about seven times its base (two standard deviations)."""
CARD, MODEL, PAIR = 0.25, 0.5, 0.15
"""Spread of what is peculiar to a card, a model, a model on a card."""
NOISE = 0.1
"""Of one job: the same step on the same card differs so much between jobs (clocks, data, neighbours)."""
MOST_ROWS = 160
"""Newest jobs that are fitted: the fit costs the cube of their number, 0.1 s for so many."""
NINETY = 1.645
"""Standard deviations to either side that hold 90 % of a normal distribution."""
LAUNCH_SECONDS = 5e-6
"""Least time of one operation, whatever its size: a kernel launch takes some microseconds."""


class Row(NamedTuple):
    """One measured step: its features, whose it is, and the logarithm of its seconds over the data sheet's."""

    x: tuple[float, ...]
    card: str
    model: str
    y: float


def features(need: Need, card: Accelerator) -> tuple[float, ...] | None:
    """What of a step on a card tells how far it stays from the data sheet; None where that says nothing.

    A constant; the memory's share of the time; the logarithm of how much longer the launches of its operations would
    make it; whether products run in low precision; the share of FLOPs that are no products.
    """
    found = bounds(need, card)
    if (least := found.in_turn) is None or least <= 0:
        return None
    arithmetic, memory = found.arithmetic or 0.0, found.memory or 0.0
    products = need.flops if need.matrix_flops is None else need.matrix_flops
    return (
        1.0,
        memory / (arithmetic + memory),
        log1p((need.operations or 0) * LAUNCH_SECONDS / least),
        float(need.amp in ("O1", "O2")),
        1 - min(1.0, (products or 0) / need.flops) if need.flops else 0.0,
    )


def signature(need: Need) -> str:
    """Names a step: two jobs whose steps do the same work have the same."""
    return "|".join(map(str, (need.flops, need.bytes_moved, need.batch, need.amp or "off")))


def _kernel(one: Row, other: Row) -> float:
    both = _linear(one.x, other.x)
    if one.card == other.card:
        both += CARD**2
    if one.model == other.model:
        both += MODEL**2 + (PAIR**2 if one.card == other.card else 0.0)
    return both


def _linear(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(s * s * a * b for s, a, b in zip(SPREADS, one, other, strict=True))


class StepModel:
    """The posterior after some rows, the newest last."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = tuple(rows)[-MOST_ROWS:]
        matrix = [[_kernel(one, other) for other in self.rows[: at + 1]] for at, one in enumerate(self.rows)]
        for at, line in enumerate(matrix):
            line[at] += NOISE**2
        self._lower = _cholesky(matrix)
        self._weights = _backward(self._lower, _forward(self._lower, [row.y for row in self.rows]))
        self.cards = Counter(row.card for row in self.rows)
        self._models = Counter(row.model for row in self.rows)

    @cached_property
    def scale(self) -> float:
        """By how much the ranges are wider than the prior says, because the jobs foretold one by one were farther off:
        the root mean square of their leave-one-out residuals, in standard deviations; at least 1."""
        if len(self.rows) < 5:
            return 1.0
        # Leave-one-out from the inverse's diagonal (Rasmussen and Williams 2006, equation 5.12).
        total = 0.0
        for at in range(len(self.rows)):
            unit = [0.0] * at + [1.0] + [0.0] * (len(self.rows) - at - 1)
            half = _forward(self._lower, unit)
            precision = sum(map(mul, half, half))
            total += self._weights[at] ** 2 / precision
        return max(1.0, sqrt(total / len(self.rows)))

    def expect(self, need: Need, card: Accelerator, *, name: str | None = None) -> StepSeconds | None:
        """The seconds of a step on a card, with the range that holds 90 % of jobs; None where no sheet says a thing."""
        x = features(need, card)
        least = bounds(need, card).in_turn
        if x is None or least is None:
            return None
        asked = Row(x, name or card.name, signature(need), 0.0)
        mean, variance = self._posterior(lambda row: _kernel(asked, row), _kernel(asked, asked))
        spread = sqrt(variance) * self.scale
        reach = NINETY * sqrt(variance + NOISE**2) * self.scale
        return StepSeconds(
            likely=least * exp(mean),
            low=least * exp(mean - reach),
            high=least * exp(mean + reach),
            source="learned",
            spread=spread,
            jobs=len(self.rows),
        )

    def effects(self) -> list[Effect]:
        """Every part that can be read: features at their full value, then cards."""
        found = []
        for at, name in enumerate(FEATURES):
            unit = tuple(float(place == at) for place in range(len(FEATURES)))
            mean, variance = self._posterior(lambda row, unit=unit: _linear(unit, row.x), _linear(unit, unit))  # type: ignore[misc]
            found.append(_effect(name, mean, variance, sum(bool(row.x[at]) for row in self.rows)))
        for card, jobs in self.cards.most_common():
            mean, variance = self._posterior(lambda row, card=card: CARD**2 * (row.card == card), CARD**2)  # type: ignore[misc]
            found.append(_effect(card, mean, variance, jobs))
        return found

    def _posterior(self, kernel: Callable[[Row], float], own: float) -> tuple[float, float]:
        """Mean and variance of a part with these covariances with the rows."""
        if not self.rows:
            return 0.0, own
        between = [kernel(row) for row in self.rows]
        half = _forward(self._lower, between)
        return sum(map(mul, between, self._weights)), max(0.0, own - sum(map(mul, half, half)))


def _effect(name: str, mean: float, variance: float, jobs: int) -> Effect:
    reach = NINETY * sqrt(variance)
    return Effect(name=name, factor=exp(mean), low=exp(mean - reach), high=exp(mean + reach), jobs=jobs)


def row_of(need: Need, card: Accelerator, step_seconds: float) -> Row | None:
    """A measured step as the model sees it; None where there is no data sheet to compare it with."""
    x, least = features(need, card), bounds(need, card).in_turn
    if x is None or not least or step_seconds <= 0:
        return None
    return Row(x, card.name, signature(need), log(step_seconds / least))


def _cholesky(matrix: list[list[float]]) -> list[list[float]]:
    """The lower triangle of a symmetric positive matrix's root; both as rows up to the diagonal."""
    lower: list[list[float]] = []
    for at, line in enumerate(matrix):
        row: list[float] = []
        for place, above in enumerate(lower):
            row.append((line[place] - sum(map(mul, row, above))) / above[place])
        row.append(sqrt(line[at] - sum(map(mul, row, row))))
        lower.append(row)
    return lower


def _forward(lower: Sequence[Sequence[float]], right: Sequence[float]) -> list[float]:
    found: list[float] = []
    for line, value in zip(lower, right, strict=True):
        found.append((value - sum(map(mul, line, found))) / line[len(found)])
    return found


def _backward(lower: Sequence[Sequence[float]], right: Sequence[float]) -> list[float]:
    rest = list(right)
    for at in range(len(lower) - 1, -1, -1):
        line = lower[at]
        value = rest[at] = rest[at] / line[at]
        for place in range(at):
            rest[place] -= line[place] * value
    return rest
