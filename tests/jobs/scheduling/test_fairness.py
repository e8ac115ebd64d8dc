"""The order among users: by priority, then by use, and nobody waits for ever."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_paddle_gpu.jobs.scheduling.fairness import Line, Place, Rules, ranked

NOW = 1_000_000.0


def line(user: str, *jobs: str, since: float | list[float] = NOW - 10, priority: int = 0, **fields: Any) -> Line:
    places = tuple(Place(job=job, priority=priority, **fields) for job in jobs)
    times = since if isinstance(since, list) else [since + number / 1000 for number in range(len(jobs))]
    return Line(user=user, name=user, places=places, since=tuple(times))


def order(*lines: Line, usage: dict[str, float] | None = None, rules: Rules | None = None, now: float = NOW) -> str:
    return " ".join(one.place.job for one in ranked(lines, usage or {}, rules or Rules(), now))


SITUATIONS: list[tuple[str, dict[str, Any], str]] = [
    ("a b", {"lines": [line("anna", "a", since=5), line("ben", "b", since=6)]}, "who came first"),
    ("b a", {"lines": [line("anna", "a", since=6), line("ben", "b", since=5)]}, "who came first"),
    ("b a", {"lines": [line("anna", "a"), line("ben", "b")], "usage": {"anna": 5.0}}, "who used less"),
    ("b1 a b2", {"lines": [line("anna", "a"), line("ben", "b1", "b2")], "usage": {"anna": 1.0}}, "by turns"),
    (
        "b1 b2 a",
        {"lines": [line("anna", "a"), line("ben", "b1", "b2", seconds=10)], "usage": {"anna": 15.0}},
        "short jobs weigh less",
    ),
    (
        "a b",
        {
            "lines": [line("anna", "a"), line("ben", "b")],
            "usage": {"anna": 9.0},
            "rules": Rules(priorities={"anna": 1}),
        },
        "a priority stands above use",
    ),
    (
        "b a",
        {"lines": [line("anna", "a"), line("ben", "b")], "rules": Rules(priorities={"anna": -1, "*": 0})},
        "everybody who is not named",
    ),
    ("b a", {"lines": [line("anna", "a", priority=-1), line("ben", "b", since=NOW)]}, "who lets others pass"),
    (
        "a b",
        {"lines": [line("anna", "a"), line("ben", "b", since=NOW, priority=900)]},
        "nobody raises himself above others",
    ),
    (
        "a b",
        {"lines": [line("anna", "a", since=NOW - 3700), line("ben", "b")], "usage": {"anna": 1e9}},
        "an hour of waiting is a step",
    ),
    (
        "a b",
        {"lines": [line("anna", "a", since=NOW + 500), line("ben", "b", since=NOW - 7300)], "usage": {"ben": 1.0}},
        "a place from before the clock was set back is no younger than any other",
    ),
]


@pytest.mark.parametrize(("expected", "given_", "why"), SITUATIONS, ids=[why for _, _, why in SITUATIONS])
def test_situations(expected: str, given_: dict[str, Any], why: str) -> None:
    assert order(*given_.pop("lines"), **given_) == expected, why


USERS = st.sampled_from(["anna", "ben", "chen"])


@st.composite
def queues(draw: st.DrawFn) -> tuple[list[Line], dict[str, float], Rules]:
    """Lines of up to three users with up to two stores each, their use, and a place's rules."""
    lines = []
    for number, user in enumerate(draw(st.lists(USERS, max_size=5))):
        count = draw(st.integers(0, 4))
        priorities = sorted(draw(st.lists(st.integers(-2, 2), min_size=count, max_size=count)), reverse=True)
        since = sorted(draw(st.lists(st.floats(NOW - 1e5, NOW), min_size=count, max_size=count)))
        places = tuple(
            Place(
                job=f"{number}-{place}",
                priority=priority,
                devices=draw(st.integers(1, 8)),
                seconds=draw(st.none() | st.floats(0, 1e5)),
            )
            for place, priority in enumerate(priorities)
        )
        lines.append(Line(user=user, name=str(number), places=places, since=tuple(since)))
    usage = draw(st.dictionaries(USERS, st.floats(0, 1e7)))
    rules = Rules(priorities=draw(st.dictionaries(USERS, st.integers(-3, 3))), aging=draw(st.floats(60, 1e4)))
    return lines, usage, rules


@given(queues(), st.randoms())
def test_everybody_computes_the_same_order_with_each_place_once(case: Any, chance: Any) -> None:
    lines, usage, rules = case
    found = ranked(lines, usage, rules, NOW)
    chance.shuffle(lines)
    assert ranked(lines, usage, rules, NOW) == found
    assert sorted(one.place.job for one in found) == sorted(place.job for one in lines for place in one.places)
    for one in lines:  # a user's own order stands
        assert [each.place for each in found if each.line == one] == list(one.places)


@given(queues())
def test_the_wait_is_bounded(case: Any) -> None:
    """A first job goes before everything that came so much later as all steps of priority there are."""
    lines, usage, rules = case
    found = ranked(lines, usage, rules, NOW)
    levels = [*rules.priorities.values(), 0]
    steps = max(levels) - min(levels) + 2 + 1  # two that a user may give up himself, one for rounding
    for place, one in enumerate(found):
        if one.place is not one.line.places[0]:
            continue
        for before in found[:place]:
            assert before.since - one.since < steps * rules.aging


@given(queues())
def test_priority_is_respected(case: Any) -> None:
    """Of two first jobs that came together, nobody of a lower priority goes first."""
    lines, usage, rules = case
    together = [msgspec.structs.replace(one, since=(NOW,) * len(one.since)) for one in lines]
    heads = [one for one in ranked(together, usage, rules, NOW) if one.place is one.line.places[0]]
    levels = [one.level for one in heads]
    assert levels == sorted(levels, reverse=True)


@given(queues(), USERS, st.floats(1, 1e6))
def test_less_use_never_means_a_later_start(case: Any, user: str, less: float) -> None:
    lines, usage, rules = case

    def first(used: dict[str, float]) -> int:
        found = [one.line.user for one in ranked(lines, used, rules, NOW)]
        return found.index(user) if user in found else 0

    assert first({**usage, user: max(0.0, usage.get(user, 0.0) - less)}) <= first(usage)
