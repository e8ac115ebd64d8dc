"""What finished jobs have told of steps on cards: what is kept of each, and what has come of it."""

from __future__ import annotations

from typing import Literal

import msgspec

from .decisions import Need
from .messages import Message

StepSource = Literal["roofline", "measured", "learned"]
"""Where the seconds of a step are from: a bound from the maker's sheet, the same step measured on the same card, or the
model that was fitted to all jobs of this machine."""


class LearnedRun(msgspec.Struct, frozen=True, kw_only=True):
    """One finished job as it is kept for learning.

    Attributes:
        time: when it ended, seconds since the epoch.
        card: the catalogue's name of its devices, else the driver's.
        need: what a step takes: FLOPs, bytes moved, operator mix, batch, precision.
        devices: how many cards trained together.
        step_seconds: wall time from one update to the next, what lies between them included, mean; None: too few steps.
        steps: how many updates it made.
        seconds: wall time of the whole job.
        peak_bytes: the driver's figure for its processes on one card.
        energy_joules: of all its devices, from their mean power; None where they do not tell.
        outcome: `succeeded`, or the code of the reason for which it failed.
        alone: it had whole cards; the steps of one that shares a card take as long as the others let them.
        cards: names of the cards of that machine that its estimate fitted when empty, its own among them.
    """

    job: str
    time: float
    card: str
    need: Need
    devices: int = 1
    step_seconds: float | None = None
    steps: int = 0
    seconds: float | None = None
    peak_bytes: int | None = None
    energy_joules: float | None = None
    outcome: str = "succeeded"
    alone: bool = True
    cards: tuple[str, ...] = ()


class StepSeconds(msgspec.Struct, frozen=True, kw_only=True):
    """How long a step is expected to take on a card, in seconds.

    Attributes:
        low, high: the 90 % range; of a bound, both are the bound.
        spread: standard deviation of the logarithm, without the noise of single jobs: what further jobs would narrow.
        jobs: how many measured jobs stand behind it.
    """

    likely: float
    low: float
    high: float
    source: StepSource
    spread: float = 0.0
    jobs: int = 0


class Effect(msgspec.Struct, frozen=True, kw_only=True):
    """One part of the fitted model: `name` of what (a feature, a card), and the factor by which it makes a step longer
    than its roofline, with its 90 % range."""

    name: str
    factor: float
    low: float
    high: float
    jobs: int = 0


class Replayed(msgspec.Struct, frozen=True, kw_only=True):
    """One job of the history seen again with what was known before it.

    Attributes:
        roofline, expected, measured: seconds of a step on the card on which it ran; `low`, `high` of the expectation.
        rules, learned: the card that each would have chosen of those it fitted.
    """

    job: str
    card: str
    measured: float
    roofline: float
    expected: float
    low: float
    high: float
    rules: str = ""
    learned: str = ""


class Proof(msgspec.Struct, frozen=True, kw_only=True):
    """Whether what was learned may decide here: each job foretold from those before it.

    Attributes:
        jobs: how many were foretold.
        error, roofline_error: mean of |ln(foretold / measured)|, of the model and of the roofline (or the same step
            measured before on that card).
        covered: share of the measured seconds that lay in the 90 % range.
        better: share of the jobs that the model foretold better.
        proven: it may decide; `reason` says why, or what is missing.
    """

    jobs: int
    error: float
    roofline_error: float
    covered: float
    better: float
    proven: bool
    reason: Message


class LearnedReport(msgspec.Struct, frozen=True, kw_only=True):
    """What was learned on this machine, for people.

    Attributes:
        asked: whether the policy says `algorithm: learned`.
        active: it decides now: asked for and proven.
        kept: jobs in the file; `measured`: those that teach the model.
    """

    file: str
    asked: bool
    active: bool
    kept: int
    measured: int
    proof: Proof
    effects: tuple[Effect, ...] = ()
    replayed: tuple[Replayed, ...] = ()
