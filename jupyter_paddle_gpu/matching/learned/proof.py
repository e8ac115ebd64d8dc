"""Whether what was learned may decide on a machine: each of its jobs foretold from those before it."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, log

import msgspec

from ...devices.catalogue import find
from ...domain.learned import LearnedRun, Proof, Replayed
from ...domain.messages import Message, Param
from .bandit import hopeful_seconds
from .experience import Experience, is_measured
from .model import MOST_ROWS

FIRST = 10
"""Jobs before the first that is foretold."""
LEAST = 20
"""Jobs that have to be foretold: fewer may be luck."""
COVERED = 0.8
"""Share of the measured seconds that must lie in the 90 % range."""
CHANCE = 0.05
"""The model must be better in so many jobs that tossing coins does as well with this probability at most."""
REFITS = 40
"""How often the model is fitted anew while a history is seen again; each fit takes up to 0.1 s."""


def replay(runs: Sequence[LearnedRun]) -> list[Replayed]:
    """Each measured job from the eleventh on, foretold by the jobs before it, with what rules and model would have
    chosen of the cards that it fitted."""
    measured = [run for run in runs if is_measured(run) and find(run.card) is not None]
    every = max(1, len(measured) // REFITS)
    found: list[Replayed] = []
    before = Experience()
    rules = Experience()
    for at in range(FIRST, len(measured)):
        run = measured[at]
        if at == FIRST or at % every == 0:
            before = Experience(runs=tuple(measured[max(0, at - MOST_ROWS) : at]), active=True)
        rules = Experience(runs=tuple(measured[:at]))
        expected, bound = before.expect(run.need, run.card), rules.expect(run.need, run.card)
        if expected is None or bound is None or run.step_seconds is None:
            continue
        found.append(
            Replayed(
                job=run.job,
                card=run.card,
                measured=run.step_seconds,
                roofline=bound.likely,
                expected=expected.likely,
                low=expected.low,
                high=expected.high,
                rules=_first(run, rules),
                learned=_first(run, before),
            )
        )
    return found


def _first(run: LearnedRun, experience: Experience) -> str:
    """The card with the least seconds of those that the job fitted; of equals the first."""
    known = [(card, expected) for card in run.cards or (run.card,) if (expected := experience.expect(run.need, card))]
    return min(known, key=lambda one: hopeful_seconds(one[1]))[0] if known else ""


def prove(replayed: Sequence[Replayed]) -> Proof:
    """What the jobs that were foretold say."""
    count = len(replayed)
    errors = [abs(log(one.expected / one.measured)) for one in replayed]
    bounds = [abs(log(one.roofline / one.measured)) for one in replayed]
    better = sum(mine < other for mine, other in zip(errors, bounds, strict=True))
    covered = sum(one.low <= one.measured <= one.high for one in replayed)
    proof = Proof(
        jobs=count,
        error=sum(errors) / count if count else 0.0,
        roofline_error=sum(bounds) / count if count else 0.0,
        covered=covered / count if count else 0.0,
        better=better / count if count else 0.0,
        proven=False,
        reason=Message(
            code="learned_young",
            text="The rules decide: {jobs} jobs here can be foretold from those before them, {least} are needed.",
            singular="The rules decide: {jobs} job here can be foretold from those before it, {least} are needed.",
            counted="jobs",
            params={"jobs": count, "least": LEAST},
        ),
    )
    if count < LEAST:
        return proof
    params: dict[str, Param] = {
        "jobs": count,
        "better": better,
        "error": f"{100 * proof.error:.0f}",
        "other": f"{100 * proof.roofline_error:.0f}",
        "covered": f"{100 * proof.covered:.0f}",
    }
    if _coins(better, count) > CHANCE or proof.error >= proof.roofline_error:
        text = (
            "The rules decide: of {jobs} jobs the model foretold {better} better than the roofline (mean error "
            "{error} % against {other} %), which is not enough."
        )
        return _with(proof, Message(code="learned_no_better", text=text, params=params))
    if proof.covered < COVERED:
        text = "The rules decide: only {covered} % of {jobs} jobs took as long as the model's 90 % range said."
        return _with(proof, Message(code="learned_not_honest", text=text, params=params))
    text = (
        "It has proven itself here: of {jobs} jobs it foretold {better} better than the roofline (mean error {error} % "
        "against {other} %), and {covered} % lay in its 90 % range."
    )
    return _with(proof, Message(code="learned_proven", text=text, params=params), proven=True)


def _with(proof: Proof, reason: Message, *, proven: bool = False) -> Proof:
    return msgspec.structs.replace(proof, reason=reason, proven=proven)


def _coins(better: int, count: int) -> float:
    """The probability that so many heads or more come of so many coins: the sign test."""
    return sum(comb(count, heads) for heads in range(better, count + 1)) / 2.0**count
