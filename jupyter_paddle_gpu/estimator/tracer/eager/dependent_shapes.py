"""How much of a tensor is selected where that hangs on values that are not computed.

`nonzero`, `masked_select` and boolean indices of a model's output have between no and all elements. A trace takes all,
unless a mask compares what `topk`, `argmax` or `one_hot` chose among n classes with one of them: then the n-th part,
which is what the balance losses of such models train for; or the mask has at most so many entries (`marks.py`). Two
further traces take the least and all everywhere; they give the ends of the range.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, WeakSet

from ..kernels.rules import Choice
from ..memory.arrays import State, known_state
from .marks import MARKS_ALONE, Marks

LIKELY, LEAST, MOST = "likely", "least", "most"
NOTES = frozenset(("unknown_shape", "unknown_shape_line"))
SHARED = "unknown_shape_share"


class Share(NamedTuple):
    """What part of a mask is expected to hold, what part can, and among how many classes was chosen."""

    expected: float
    most: float
    classes: int


class Numbers(NamedTuple):
    """What stands for numbers that nobody computes: for a whole one, for another one, and how much more for each
    further one of a tensor."""

    whole: int = 0
    real: float = 1.0
    slope: int = 0


USUAL = Numbers()


class Choices:
    """What a trace knows of choices among classes, and what it takes of shapes and numbers that hang on values.

    Attributes:
        way: `LIKELY`, `LEAST` or `MOST`.
        numbers: what stands for those that are not computed.
        classes: by tensor of indices: among how many classes each was chosen, and how many different ones at a time.
        shares: by mask.
        constants: tensors of one number, to which Paddle compares in place of the number.
    """

    def __init__(self, way: str = LIKELY, numbers: Numbers = USUAL) -> None:
        self.way, self.numbers = way, numbers
        self.classes: WeakKeyDictionary[State, tuple[int, int]] = WeakKeyDictionary()
        self.shares: WeakKeyDictionary[State, Share] = WeakKeyDictionary()
        self.constants: WeakSet[State] = WeakSet()
        self.marks = Marks()

    def taken(self, most: int, states: list[State]) -> tuple[int, int | None]:
        """(elements that are taken of so many, the number of classes where their share is the reason)."""
        if self.way == LEAST:
            return min(most, _least(states)), None
        known = next((self.shares[state] for state in states if state in self.shares), None)
        if known is None:
            counted = self.marks.share(states)
            if counted is None:
                return most, None
            known = Share(counted.expected, counted.most, round(1 / max(counted.expected, 1 / max(1, most))))
        share = known.most if self.way == MOST else known.expected
        return min(most, max(1, ceil(share * most))), known.classes

    def follow(self, choice: Choice, states: list[State], result: Any, number: Any = None) -> None:
        """What is known of the choice goes on to an operator's result; `number`: what it fills the result with."""
        if choice in MARKS_ALONE and not self.marks.counts:
            return
        found = [known_state(one) for one in (result if isinstance(result, (list, tuple)) else [result])]
        made = [state for state in found if state is not None]
        if len(made) == len(found):
            if choice in _BY_CHOICE:
                _BY_CHOICE[choice](self, states, made)
            self.marks.follow(choice, states, made, number)


SHORT = 128
"""Entries of a row that masks of whole rows have at most: four sides of a box, each by a distribution over 17 or so."""


def _least(states: list[State]) -> int:
    """One element, or a row of few: none at all would stop most programs. A mask of boxes chooses all four sides."""
    shape = states[-1].array.shape if states else ()
    return shape[-1] if len(shape) > 1 and 0 < shape[-1] <= SHORT else 1


def _chooses(of: Choices, states: list[State], made: list[State]) -> None:
    """Of the one dimension that shrank: `topk` leaves several of it, `argmax` one or none."""
    before, after = states[0].array.shape, made[-1].array.shape
    if len(before) == len(after):
        shrunk = {(old, new) for old, new in zip(before, after, strict=True) if old != new}
    else:
        shrunk = {(size, 1) for axis, size in enumerate(before) if before[:axis] + before[axis + 1 :] == after}
    if len(shrunk) == 1:
        of.classes[made[-1]] = shrunk.pop()


def _compares(of: Choices, states: list[State], made: list[State]) -> None:
    chosen = next((of.classes[state] for state in states if state in of.classes), None)
    others = [state for state in states if state not in of.classes]
    if chosen and all(state in of.constants or state.array.numel == 1 for state in others):
        of.shares[made[0]] = Share(1 / chosen[0], 1 / chosen[1], chosen[0])


def _fills(of: Choices, states: list[State], made: list[State]) -> None:
    of.constants.update(made)


def _differs(of: Choices, states: list[State], made: list[State]) -> None:
    _compares(of, states, made)
    if made[0] in of.shares:
        share = of.shares[made[0]]
        of.shares[made[0]] = Share(1 - share.expected, 1.0, share.classes)


def _marks(of: Choices, states: list[State], made: list[State]) -> None:
    """`one_hot`: one of the classes in each row, whoever chose it."""
    classes = made[0].array.shape[-1]
    if classes > 0:
        of.shares[made[0]] = Share(1 / classes, 1.0, classes)


def _joins(of: Choices, states: list[State], made: list[State]) -> None:
    """`any` over the choices of `topk`, which are different ones."""
    if states[0] in of.shares and made[0].array.numel:
        share, times = of.shares[states[0]], states[0].array.numel / made[0].array.numel
        of.shares[made[0]] = Share(min(1.0, share.expected * times), min(1.0, share.most * times), share.classes)


def _passes(of: Choices, states: list[State], made: list[State]) -> None:
    if states[0] in of.classes:
        of.classes[made[0]] = of.classes[states[0]]
    if states[0] in of.shares:
        of.shares[made[0]] = of.shares[states[0]]


_BY_CHOICE: dict[Choice, Callable[[Choices, list[State], list[State]], None]] = {
    Choice.FILLS: _fills,
    Choice.CHOOSES: _chooses,
    Choice.COMPARES: _compares,
    Choice.DIFFERS: _differs,
    Choice.MARKS: _marks,
    Choice.JOINS: _joins,
    Choice.PASSES: _passes,
}
