"""What was learned orders what may be chosen anyway, says why, and decides only where it has proven itself."""

from __future__ import annotations

import random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_paddle_gpu.domain.decisions import Choice, Need
from jupyter_paddle_gpu.domain.devices import Device
from jupyter_paddle_gpu.domain.learned import LearnedRun
from jupyter_paddle_gpu.matching.decision import decide
from jupyter_paddle_gpu.matching.learned.experience import Experience
from jupyter_paddle_gpu.matching.learned.proof import FIRST, LEAST, prove, replay
from jupyter_paddle_gpu.matching.offer import Offer
from jupyter_paddle_gpu.matching.policy import Policy
from jupyter_paddle_gpu.matching.roofline import seconds_per_step

from .test_model import CARDS, card, drawn, need

GIB = 1 << 30


def device(index: int, name: str, *, used: int = 0) -> Device:
    total = card(name).memory_bytes
    return Device(
        id=f"g{index}",
        index=index,
        vendor="nvidia",
        name=name,
        memory_total=total,
        memory_used=used,
        memory_free=total - used,
    )


def run(at: int, step: Need, name: str, seconds: float, **more: object) -> LearnedRun:
    cards = tuple(card(one).name for one in CARDS)
    fields = {"step_seconds": seconds, "steps": 100, "cards": cards, **more}
    return LearnedRun(job=f"j{at}", time=float(at), card=card(name).name, need=step, **fields)  # type: ignore[arg-type]


def history(factors: dict[str, float], jobs: int = 60) -> tuple[LearnedRun, ...]:
    """Steps that take so many times their roofline on each card."""
    draw, names = random.Random(0), list(factors)
    found = []
    for at in range(jobs):
        step, name = need(1e12 * (1 + at % 5), 1e9 * (1 + at % 7)), names[at % len(names)]
        least = seconds_per_step(step, card(name)) or 0.0
        found.append(run(at, step, name, least * factors[name] * draw.uniform(0.97, 1.03)))
    return tuple(found)


NEED = need(3.3e12, 2.2e9)
HERE = (device(0, "NVIDIA GeForce RTX 3090"), device(1, "Tesla V100-SXM2-16GB"))
SLOW_3090 = {"NVIDIA GeForce RTX 3090": 6.0, "Tesla V100-SXM2-16GB": 1.2, "Tesla T4": 1.5}


def first(policy: Policy, here: tuple[Device, ...] = HERE, step: Need = NEED) -> tuple[str, list[str]]:
    decision = decide(step, Offer(devices=here), policy, Choice(gpus=1))
    return decision.device_ids[0], [note.code for note in decision.notes]


def test_a_card_that_is_slower_here_than_its_sheet_says_is_left_for_a_better_one_with_a_reason() -> None:
    rules = Policy(prefer="fastest")
    assert first(rules) == ("g0", [])
    learned = Policy(prefer="fastest", experience=Experience(runs=history(SLOW_3090), active=True))
    unasked = Policy(prefer="fastest", experience=Experience(runs=history(SLOW_3090)))
    assert first(learned) == ("g1", ["learned_fastest", "by_the_rules"])
    assert first(unasked) == ("g0", []), "what is not proven or not asked for does not decide"


def test_without_jobs_it_chooses_as_the_rules_do() -> None:
    for weights in ({}, {"prefer": "score"}):
        rules = Policy(prefer="score")
        learned = Policy(**weights, experience=Experience(active=True))  # type: ignore[arg-type]
        for step in (NEED, need(1e10, 5e10), need(1e12, 1e9, amp="O1")):
            assert first(rules, step=step)[0] == first(learned, step=step)[0]


def test_an_unknown_card_that_may_be_faster_is_tried() -> None:
    here = (device(0, "NVIDIA GeForce RTX 3090"), device(1, "Tesla V100-SXM2-16GB"))
    only = {"NVIDIA GeForce RTX 3090": 2.1}
    experience = Experience(runs=history(only), active=True)
    known, unknown = (experience.expect(NEED, one.name) for one in here)
    assert known is not None and unknown is not None
    assert known.spread < unknown.spread and known.likely < unknown.likely


@settings(max_examples=60, deadline=None)
@given(
    used=st.lists(st.integers(0, 30), min_size=4, max_size=4),
    needed=st.integers(1, 80),
    claimed=st.sets(st.integers(0, 3), max_size=3),
    threshold=st.sampled_from([0.5, 0.85, 1.0]),
)
def test_it_never_leaves_what_the_rules_allow(
    used: list[int], needed: int, claimed: set[int], threshold: float
) -> None:
    here = tuple(device(at, name, used=min(used[at] * GIB, card(name).memory_bytes)) for at, name in enumerate(CARDS))
    step = msgspec.structs.replace(NEED, low=needed * GIB, high=needed * GIB)
    offer = Offer(devices=here, taken={f"g{at}": "other" for at in claimed})
    rules = Policy(memory_threshold=threshold)
    learned = msgspec.structs.replace(rules, experience=PROVEN)
    mine, other = (decide(step, offer, policy, Choice(gpus=1)) for policy in (learned, rules))
    assert mine.outcome == other.outcome
    if mine.outcome == "run":
        chosen = next(one for one in here if one.id == mine.device_ids[0])
        assert chosen.id not in offer.taken
        assert (chosen.memory_used or 0) + step.high <= threshold * (chosen.memory_total or 0)
        assert mine == decide(step, offer, learned, Choice(gpus=1))


PROVEN = Experience(runs=history(SLOW_3090), active=True)


def test_it_is_proven_by_a_history_that_it_foretells_better() -> None:
    jobs = drawn(random.Random(5), 6, 60)
    runs = [run(at, step, on.name, seconds) for at, (step, on, seconds) in enumerate(jobs)]
    found = prove(replay(runs))
    assert (found.proven, found.jobs) == (True, len(runs) - FIRST)
    assert found.error < found.roofline_error and found.covered >= 0.8
    assert found.reason.code == "learned_proven"


@pytest.mark.parametrize(
    ("jobs", "code"),
    [(FIRST + LEAST - 1, "learned_young"), (60, "learned_no_better")],
)
def test_it_is_not_proven_by_few_jobs_or_where_the_roofline_is_as_good(jobs: int, code: str) -> None:
    exact = dict.fromkeys(CARDS, 1.0)
    runs = [msgspec.structs.replace(one, step_seconds=_bound(one)) for one in history(exact, jobs)]
    found = prove(replay(runs))
    assert (found.proven, found.reason.code) == (False, code)


def _bound(one: LearnedRun) -> float:
    return seconds_per_step(one.need, card(one.card)) or 0.0


def test_a_replay_says_who_would_have_chosen_what_and_repeats_itself() -> None:
    runs = history({**SLOW_3090, "NVIDIA A100-SXM4-80GB": 12.0}, 50)
    seen = replay(runs)
    assert len(seen) == 50 - FIRST and seen == replay(runs)
    assert seen[-1].rules != seen[-1].learned
    assert all(one.low <= one.expected <= one.high for one in seen)


def test_only_jobs_on_one_card_that_succeeded_teach_and_the_same_step_on_the_same_card_is_remembered() -> None:
    step = need(1e12, 1e9)
    runs = (
        run(0, step, "Tesla T4", 5.0, outcome="device_out_of_memory"),
        run(1, step, "Tesla T4", 5.0, devices=2),
        run(2, step, "Tesla T4", 0.9),
    )
    experience = Experience(runs=runs)
    assert len(experience.model.rows) == 1
    found = experience.expect(step, "Tesla T4")
    assert found is not None and (found.likely, found.source, found.jobs) == (0.9, "measured", 1)
    other = experience.expect(need(2e12, 1e9), "Tesla T4")
    assert other is not None and other.source == "roofline"
