"""A contextual bandit over the devices on which a job may start: its context is the step, its arms the cards.

Each card is judged by how fast it may well be: the expected logarithm of a step's seconds less one standard deviation
of what is not known of it yet (the lower confidence bound of LinUCB, Li and others 2010, for a time that is to be
small). A card that nobody has tried is so tried where it may be the best, and not again once it is known. It draws
nothing, so that everybody who asks gets the same answer and a history can be replayed. Filters come before it: it only
orders what may be chosen anyway, and without jobs it orders as the roofline does.
"""

from __future__ import annotations

from math import exp

from ...domain.learned import StepSeconds
from ...domain.messages import Message, Param

CURIOSITY = 1.0
"""Standard deviations by which an unknown card is thought faster than expected."""


def hopeful_seconds(expected: StepSeconds) -> float:
    """The seconds of a step by which a card is compared."""
    return expected.likely * exp(-CURIOSITY * expected.spread)


def why(expected: StepSeconds, fastest: StepSeconds | None) -> Message:
    """Why this card, in a sentence.

    Args:
        fastest: of all cards that may be chosen the one with the least expected seconds; None: it is this one.
    """
    params: dict[str, Param] = {
        "seconds": f"{expected.likely:.2g}",
        "low": f"{expected.low:.2g}",
        "high": f"{expected.high:.2g}",
        "jobs": expected.jobs,
    }
    if fastest is None or expected.likely <= fastest.likely:
        return Message(
            code="learned_fastest",
            text="Learned from {jobs} jobs: a step is expected to take {seconds} s here ({low} to {high} s).",
            singular="Learned from {jobs} job: a step is expected to take {seconds} s here ({low} to {high} s).",
            counted="jobs",
            params=params,
        )
    if hopeful_seconds(expected) < fastest.likely:
        return Message(
            code="learned_tried",
            text="Learned from {jobs} jobs: a step is expected to take {seconds} s here ({low} to {high} s); less is "
            "known of this card than of the fastest, and it may be as fast.",
            singular="Learned from {jobs} job: a step is expected to take {seconds} s here ({low} to {high} "
            "s); less is known of this card than of the fastest, and it may be as fast.",
            counted="jobs",
            params=params,
        )
    return Message(
        code="learned_other_aims",
        text="Learned from {jobs} jobs: a step is expected to take {seconds} s here ({low} to {high} s); another card "
        "is faster, this one serves the policy's other aims better.",
        singular="Learned from {jobs} job: a step is expected to take {seconds} s here ({low} to {high} s); "
        "another card is faster, this one serves the policy's other aims better.",
        counted="jobs",
        params=params,
    )
