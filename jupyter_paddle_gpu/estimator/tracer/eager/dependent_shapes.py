"""How much of a tensor is selected where that hangs on values that are not computed.

`nonzero`, `masked_select` and boolean indices of a model's output have between no and all elements. A trace takes all,
unless a mask compares what `topk`, `argmax` or `one_hot` chose among n classes with one of them: then the n-th part,
which is what the balance losses of such models train for. Two further traces take the least and all everywhere; they
give the ends of the range.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from math import ceil
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, WeakSet

from ..kernels.registry import rule_of
from ..kernels.rules import Choice
from ..memory.arrays import State, known_state

LIKELY, LEAST, MOST = "likely", "least", "most"
NOTES = frozenset(("unknown_shape", "unknown_shape_line"))
SHARED = "unknown_shape_share"
way = LIKELY
"""What the running trace takes."""


class Share(NamedTuple):
    """What part of a mask is expected to hold, what part can, and among how many classes was chosen."""

    expected: float
    most: float
    classes: int


_classes: WeakKeyDictionary[State, tuple[int, int]] = WeakKeyDictionary()
"""By tensor of indices: among how many classes each was chosen, and how many different ones at a time."""
_shares: WeakKeyDictionary[State, Share] = WeakKeyDictionary()
"""By mask."""
_constants: WeakSet[State] = WeakSet()
"""Tensors of one number, to which Paddle compares in place of the number."""
Result = dict[str, Any]


def taken(most: int, states: list[State]) -> tuple[int, int | None]:
    """(elements that are taken of so many, the number of classes where their share is the reason)."""
    if way == LEAST:
        return min(most, 1), None  # none at all would stop most programs, and differs by a row
    known = next((_shares[state] for state in states if state in _shares), None)
    if known is None:
        return most, None
    share = known.most if way == MOST else known.expected
    return min(most, max(1, ceil(share * most))), known.classes


def follow(name: str, states: list[State], result: Any) -> None:
    """What is known of the choice goes on to an operator's result."""
    choice = rule_of(name.rstrip("_")).choice
    if choice is not None:
        made = [known_state(one) for one in (result if isinstance(result, (list, tuple)) else [result])]
        if all(state is not None for state in made):
            _BY_CHOICE[choice](states, [state for state in made if state is not None])


def _chooses(states: list[State], made: list[State]) -> None:
    """Of the one dimension that shrank: `topk` leaves several of it, `argmax` one or none."""
    before, after = states[0].array.shape, made[-1].array.shape
    if len(before) == len(after):
        shrunk = {(old, new) for old, new in zip(before, after, strict=True) if old != new}
    else:
        shrunk = {(size, 1) for axis, size in enumerate(before) if before[:axis] + before[axis + 1 :] == after}
    if len(shrunk) == 1:
        _classes[made[-1]] = shrunk.pop()


def _compares(states: list[State], made: list[State]) -> None:
    chosen = next((_classes[state] for state in states if state in _classes), None)
    others = [state for state in states if state not in _classes]
    if chosen and all(state in _constants or state.array.numel == 1 for state in others):
        _shares[made[0]] = Share(1 / chosen[0], 1 / chosen[1], chosen[0])


def _fills(states: list[State], made: list[State]) -> None:
    _constants.update(made)


def _differs(states: list[State], made: list[State]) -> None:
    _compares(states, made)
    if made[0] in _shares:
        share = _shares[made[0]]
        _shares[made[0]] = Share(1 - share.expected, 1.0, share.classes)


def _marks(states: list[State], made: list[State]) -> None:
    """`one_hot`."""
    if states[0] in _classes:
        classes = made[0].array.shape[-1]
        _shares[made[0]] = Share(1 / classes, 1.0, classes)


def _joins(states: list[State], made: list[State]) -> None:
    """`any` over the choices of `topk`, which are different ones."""
    if states[0] in _shares and made[0].array.numel:
        share, times = _shares[states[0]], states[0].array.numel / made[0].array.numel
        _shares[made[0]] = Share(min(1.0, share.expected * times), min(1.0, share.most * times), share.classes)


def _passes(states: list[State], made: list[State]) -> None:
    if states[0] in _classes:
        _classes[made[0]] = _classes[states[0]]
    if states[0] in _shares:
        _shares[made[0]] = _shares[states[0]]


_BY_CHOICE: dict[Choice, Callable[[list[State], list[State]], None]] = {
    Choice.FILLS: _fills,
    Choice.CHOOSES: _chooses,
    Choice.COMPARES: _compares,
    Choice.DIFFERS: _differs,
    Choice.MARKS: _marks,
    Choice.JOINS: _joins,
    Choice.PASSES: _passes,
}


def widened(result: Result, run: Callable[[], Result], peak: Callable[[Result], int]) -> Result:
    """The trace with the least and the most that its unknown sizes may come to, in `extra["extents"]`.

    Args:
        result: the trace that is shown.
        run: one more trace.
        peak: bytes of a trace.
    """
    codes = {note["code"] for note in result["notes"]}
    if result["status"] != "ok" or not codes & {*NOTES, SHARED}:
        return result
    shown = peak(result)
    found = {"low": shown, "likely": shown, "high": shown}
    for end, other in (("low", LEAST), ("high", MOST)):
        if other == MOST and SHARED not in codes:
            continue
        again = _run_as(other, run)
        if again is not None and again["status"] == "ok" and again["optimizer"] == result["optimizer"]:
            found[end] = peak(again)
            result["seconds"] = {name: own + again["seconds"][name] for name, own in result["seconds"].items()}
    ends = sorted(found.values())
    result.setdefault("extra", {})["extents"] = {"low": ends[0], "likely": shown, "high": ends[-1]}
    return result


def _run_as(other: str, run: Callable[[], Result]) -> Result | None:
    global way  # noqa: PLW0603
    way = other
    try:
        with contextlib.suppress(Exception):  # the program may refuse other sizes: then that end is not known
            return run()
        return None
    finally:
        way = LIKELY
