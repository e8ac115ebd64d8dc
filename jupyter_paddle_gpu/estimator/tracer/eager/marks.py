"""How many entries of a mask can be set where its values are not computed.

`topk` chooses k of a row; `one_hot` marks them; sums, products with other masks, `where` and comparisons with the
number of the background leave at most as many. An assigner of a detector (PP-YOLOE's `topk=13` places for each object)
says by that how many places its losses are taken of.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from ..kernels.rules import Choice
from ..memory.arrays import State


class Count(NamedTuple):
    """Entries that are set, that is, other than the background.

    Attributes:
        expected, most: as many as are expected, and at most.
        even: whether at most an equal part of `most` lies in each row of the first dimension, as in each picture.
    """

    expected: float
    most: float
    even: bool = True

    def within(self, numel: int) -> Count:
        """Of a tensor of so many entries."""
        return Count(min(self.expected, numel), min(self.most, numel), self.even)

    def times(self, factor: float) -> Count:
        """Each entry so many times."""
        return Count(self.expected * factor, self.most * factor, self.even)


class Marks:
    """What is known of masks in a trace.

    Attributes:
        counts: by mask: entries that are set.
        backgrounds: by mask: the number of all the others; 0 where none is told.
        numbers: by tensor of one number throughout: that number.
        least: by tensor: the number that none of its own is below, as `clip` leaves it.
    """

    def __init__(self) -> None:
        self.counts: WeakKeyDictionary[State, Count] = WeakKeyDictionary()
        self.backgrounds: WeakKeyDictionary[State, float] = WeakKeyDictionary()
        self.numbers: WeakKeyDictionary[State, float] = WeakKeyDictionary()
        self.least: WeakKeyDictionary[State, float] = WeakKeyDictionary()

    def share(self, states: list[State]) -> Count | None:
        """What part is set of the mask among an operator's operands, the data beside it may be marked too; None where
        there is none."""
        mask = next((state for state in states if state in self.counts and _is_mask(state, states)), None)
        return None if mask is None else self.counts[mask].times(1 / max(1, mask.array.numel))

    def follow(self, choice: Choice, states: list[State], made: list[State], number: Any) -> None:
        """What is known goes on to an operator's result; `number`: what it fills it with, or leaves at least."""
        if choice is Choice.PASSES and states[0] in self.least:
            self.least[made[0]] = self.least[states[0]]
        if choice is Choice.FILLS:
            if isinstance(number, (int, float)):
                self.numbers[made[0]] = float(number)
        elif choice is Choice.BOUNDS:
            if isinstance(number, (int, float)):
                self.least[made[0]] = float(number)
        elif choice is Choice.MARKS:
            width = made[0].array.shape[-1]
            rows = made[0].array.numel / width if width > 0 else 0
            self.counts[made[0]] = Count(rows, rows)
        elif (rule := _BY_CHOICE.get(choice)) is not None and any(state in self.counts for state in states):
            rule(self, states, made[0])

    def set(self, made: State, count: Count | None, background: float = 0.0) -> None:
        """What is known of a new mask."""
        if count is not None:
            self.counts[made] = count.within(made.array.numel)
            if background:
                self.backgrounds[made] = background

    def laid_over(self, state: State, made: State) -> Count | None:
        """A mask's count in a result that it is broadcast to."""
        count = self.counts.get(state)
        if count is None:
            return None
        even = count.even and state.array.shape[:1] == made.array.shape[:1]
        return count.times(max(1.0, made.array.numel / max(1, state.array.numel)))._replace(even=even)


def _is_mask(state: State, states: list[State]) -> bool:
    return state.array.dtype == "bool" or len(states) == 1


def _passes(of: Marks, states: list[State], made: State) -> None:
    """The same entries, laid out anew or several times; of a part of them as large a part is expected."""
    count = of.laid_over(states[0], made)
    part = made.array.numel / max(1, states[0].array.numel)
    if count is not None and part < 1:
        is_of_rows = of.counts[states[0]].even and states[0].array.shape[:1] != made.array.shape[:1]
        count = Count(count.expected * part, count.most * (part if is_of_rows else 1), even=False)
    of.set(made, count, of.backgrounds.get(states[0], 0.0))


def _chains(of: Marks, states: list[State], made: State) -> None:
    grounds = {of.backgrounds.get(state, 0.0) for state in states}
    counts = [of.counts[state] for state in states if state in of.counts]
    if len(counts) == len(states) and len(grounds) == 1:
        even = all(one.even for one in counts) and states[0].array.shape[:1] == made.array.shape[:1]
        total = Count(sum(one.expected for one in counts), sum(one.most for one in counts), even)
        of.set(made, total, grounds.pop())


def _adds(of: Marks, states: list[State], made: State) -> None:
    if states[0] in of.counts and not of.backgrounds.get(states[0]):
        count = of.counts[states[0]]
        of.set(made, count._replace(even=count.even and states[0].array.shape[:1] == made.array.shape[:1]))


def _masks(of: Marks, states: list[State], made: State) -> None:
    counts = [of.laid_over(state, made) for state in states if not of.backgrounds.get(state)]
    of.set(made, min((one for one in counts if one is not None), key=lambda one: one.most, default=None))


def _selects(of: Marks, states: list[State], made: State) -> None:
    """`where`: of one number throughout and of a mask on its background; or of two masks, one in place of the other."""
    if len(states) != len(("condition", "x", "y")):
        return
    condition, chosen, other = states
    ground = of.numbers.get(other)
    places, own = of.laid_over(condition, made), of.laid_over(chosen, made)
    if ground is not None:
        known = [places, own if of.backgrounds.get(chosen, 0.0) == ground else None]
        of.set(made, min((one for one in known if one), key=lambda one: one.most, default=None), ground)
    elif (rest := of.laid_over(other, made)) is not None:
        background = of.backgrounds.get(other, 0.0)
        if of.numbers.get(chosen) == background:
            of.set(made, rest, background)
        elif places is not None:
            moved = places if own is None or of.backgrounds.get(chosen, 0.0) != background else min(places, own)
            of.set(made, Count(rest.expected, rest.most + moved.most, rest.even and moved.even), background)


def _number_beside(of: Marks, states: list[State]) -> tuple[State, float] | None:
    mask = next((state for state in states if state in of.counts), None)
    number = next((of.numbers[state] for state in states if state in of.numbers), None)
    return None if mask is None or number is None else (mask, number)


def _differs(of: Marks, states: list[State], made: State) -> None:
    found = _number_beside(of, states)
    if found is not None and found[1] == of.backgrounds.get(found[0], 0.0):
        of.set(made, of.laid_over(found[0], made))


def _equals(of: Marks, states: list[State], made: State) -> None:
    found = _number_beside(of, states)
    if found is not None and found[1] != of.backgrounds.get(found[0], 0.0):
        of.set(made, of.laid_over(found[0], made))


def _exceeds(of: Marks, states: list[State], made: State) -> None:
    found = _number_beside(of, states)
    if found is not None and found[0] is states[0] and found[1] >= of.backgrounds.get(found[0], 0.0):
        of.set(made, of.laid_over(found[0], made))


_BY_CHOICE: dict[Choice, Callable[[Marks, list[State], State], None]] = {
    Choice.PASSES: _passes,
    Choice.JOINS: _adds,
    Choice.ADDS: _adds,
    Choice.MASKS: _masks,
    Choice.SELECTS: _selects,
    Choice.CHAINS: _chains,
    Choice.DIFFERS: _differs,
    Choice.COMPARES: _equals,
    Choice.EXCEEDS: _exceeds,
}
MARKS_ALONE = frozenset((Choice.ADDS, Choice.MASKS, Choice.SELECTS, Choice.CHAINS, Choice.EXCEEDS))
"""What matters for counts alone."""
