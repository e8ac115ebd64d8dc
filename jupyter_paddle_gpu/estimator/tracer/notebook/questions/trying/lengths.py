"""How long the sequences of a batch are, and how large its pictures, with which a layer goes together that wants one
size of what comes of them: a linear layer behind what was flattened, a convolution that takes places as channels.

What comes of a side grows with it. So each is made longer by itself, which says on which the size hangs; that one is
then found between one that is too short and one that is too long. Where it hangs on several they are as long as each
other, which is assumed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ....undecided.descriptions import parts_of, said, shapes_of
from ..candidates import Candidate
from ..numbers import ASSUMED, LAYER, LENGTH
from .ends import input_of

_REFUSED = re.compile(r"X's shape = \[([\d, ]+)\].* known capacity of 'shape' is (\d+)")
"""What Paddle says of a tensor that no whole number of rows of the wanted size comes of."""
_UNLIKE = re.compile(
    r"(?:Input\(X\) is|X\[-1\] =) \[(\d+)\], (?:and the \[0\] dimension of Input\(Y\) is|Y\[0\] =) \[(\d+)\]"
)
"""What it says of rows that a linear layer does not take, in two wordings: how wide they are, and should be."""
_CHANNELS = re.compile(r"the input's channels is (\d+),.*?; the filter's channels is (\d+)", re.DOTALL)
"""The same of channels: for a layer that goes along the vectors of ids, these are channels."""
_JOINED = re.compile(
    r"(?s)expected to be equal.*?input\[0\]'s shape = \[(?:\d+, )(\d+), \d+\].*?= \[(?:\d+, )(\d+), \d+\]"
)
"""The same of sequences that are joined, and are not as long as each other."""
_ROWS = re.compile(r"^(\w+\[\d+,)(\d+)(?=\])")
_MOST = 12
"""Sides that are tried for one question, beyond those of which a size is a multiple."""
_LONGEST = 1_000_000
_ROUND = (100, 64, 50, 32, 16, 10, 8, 5)
_NEAR = 50
"""Within which part of a side a round one is tried first: of several that fit it is the likeliest."""
_PICTURES = ",0,0]"
"""In what a description says but for its sides."""
_FRAMED, _PICTURE, _SOUND, _IDS = 5, 4, 3, 2
"""Ranks of what has sides to find."""
Sides = tuple[int, ...]


class _Side(NamedTuple):
    """How long it is, and of which things of a batch it is which axes."""

    size: int
    places: list[tuple[int, int]]


@dataclass
class _Goal:
    """A size that a layer wants, which a batch came to that got past the layers before.

    Attributes:
        reached: how many operations ran before it.
        is_exact: whether another length is refused; several sides of a picture commonly come to the same size.
        seen: how large it was, by the sides of the batch; the first is the one that is to be made otherwise.
    """

    wanted: int
    reached: int
    is_exact: bool
    seen: dict[Sides, int] = field(default_factory=dict)
    sides: set[int] = field(default_factory=set)
    """On which of them it hangs, once that is known."""


class Fitting:
    """Finds the sides, by what is said of the batches that were tried."""

    def __init__(self) -> None:
        self._goals: dict[str, list[_Goal]] = {}
        self._tried: dict[str, set[Sides]] = {}
        self._places: dict[str, list[_Side]] = {}
        self._passed: dict[str, Sides] = {}
        self._left = _MOST

    def told(self, answer: Any, words: list[str], reached: int) -> Iterator[Candidate]:
        """The candidates to which leads what was said of one.

        Args:
            reached: how many operations it came to.
        """
        own = self._sides_of(answer)
        kind, sides = _kind(answer, own), tuple(one.size for one in own)
        goals, tried = self._goals.setdefault(kind, []), self._tried.setdefault(kind, set())
        tried.add(sides)
        multiples = list(_multiples(answer, words))
        yield from ((_ROWS.sub(rf"\g<1>{count}", answer), LAYER) for count in multiples)
        turns = str(answer).startswith("int") or len(shapes_of(answer)[:1] and shapes_of(answer)[0][1]) == _FRAMED
        rows = (_UNLIKE, _CHANNELS, _JOINED) if turns else (_UNLIKE, _JOINED)
        for made, wanted in _unlike(words, *rows) if len(multiples) < len(sides) else ():
            goal = next((one for one in goals if one.wanted == wanted and one.reached == reached), None)
            if goal is None and all(one.reached < reached for one in goals):
                goals.append(goal := _Goal(wanted, reached, _PICTURES not in kind))
            if goal is not None:
                goal.seen[sides] = made
        if goals and reached > goals[-1].reached:
            self._passed.setdefault(kind, sides)
        if goals and goals[-1].reached >= reached and self._left:
            self._left -= 1
            for other in _next(goals[-1], tried):
                is_sure = len(set[int]().union(*(one.sides for one in goals))) == len(sides) == len(goals)
                source = LAYER if is_sure and goals[-1].is_exact else ASSUMED
                candidate = _with(answer, own, other)
                self._places[candidate] = own
                yield candidate, source

    def fitted(self, answer: Any) -> Any:
        """A candidate with the sides that came furthest in place of its own, where a layer refuses these."""
        own = self._sides_of(answer)
        sides = tuple(one.size for one in own)
        kind = _kind(answer, own)
        goals = self._goals.get(kind, [])
        if kind in self._passed and any(sides in goal.seen for goal in goals):
            return _refitted(answer, own, self._passed[kind])
        refused = next((at for at, goal in enumerate(goals) if sides in goal.seen), len(goals))
        return _refitted(answer, own, next(iter(goals[-1].seen))) if refused < len(goals) - 1 else answer

    def _sides_of(self, answer: Any) -> list[_Side]:
        """The sides of a description: those of the one that it was made of, as long as they are in it."""
        if (of_first := self._places.get(answer)) is None:
            return _sides(answer)
        shapes = [shape for _, shape in shapes_of(answer)]
        firsts = [one.places[0] for one in of_first]
        sizes = [shapes[thing][axis] for thing, axis in firsts]
        return [_Side(size, one.places) for size, one in zip(sizes, of_first, strict=True)]


def _next(goal: _Goal, tried: set[Sides]) -> Iterator[Sides]:
    """Other sides, where anything is left to be tried."""
    first, made = next(iter(goal.seen.items()))
    depending = []
    for number, size in enumerate(first):
        longer = (*first[:number], 2 * size + 1, *first[number + 1 :])
        if longer not in tried:
            yield longer
            return
        depending += [number] if goal.seen.get(longer, made) > made else []
    base, goal.sides = first, set(depending)
    for together in _together(first, depending):
        own = [one for one in goal.seen if _with_one_size(one, base, together)]
        if not own:
            continue
        known = {one[together[0]]: goal.seen[one] for one in own}
        size = _between(known, goal.wanted, is_exact=goal.is_exact)
        chosen = tuple(size if at in together else side for at, side in enumerate(base))
        if size and chosen not in tried:
            yield chosen
            return
        base = min(own, key=lambda one: abs(goal.seen[one] - goal.wanted))


def _together(first: Sides, depending: list[int]) -> list[list[int]]:
    """Which sides are found, and are as long as each other then: all on which a size hangs, and where that leads to
    none the last; of those that are known to be unlike the longest."""
    if len({first[at] for at in depending}) > 1:
        return [[max(depending, key=lambda at: first[at])]]
    return [depending, depending[-1:]][: len(depending)]


def _with_one_size(one: Sides, base: Sides, together: list[int]) -> bool:
    """Whether some sides are as long as each other, and the others as they were."""
    sizes = {one[at] for at in together}
    return len(sizes) == 1 and all(at in together or side == base[at] for at, side in enumerate(one))


def _between(known: dict[int, int], wanted: int, *, is_exact: bool) -> int:
    """A side that is longer than those which are too short, and shorter than those which are too long, as far as known;
    a round number where several fit and one is near; 0 where there is none."""
    short = max((side for side, made in known.items() if made < wanted), default=0)
    long = min((side for side, made in known.items() if made > wanted), default=_LONGEST)
    nearest = sorted(known, key=lambda side: abs(known[side] - wanted))[:2]
    one, other = (*nearest, 0)[:2]
    growth = (known[one] - known.get(other, 0)) / (one - other)
    more = (wanted - known[one]) / growth if growth > 0 else 0.0
    side = one + (math.ceil(more) if more > 0 else math.floor(more))
    if not short < side < long:
        side = (short + long) // 2 if long < _LONGEST else 2 * short
    if is_exact:
        return side if short < side < long else 0
    near = range(max(short + 1, side - side // _NEAR), min(long, side + side // _NEAR + 1))
    return max(near, key=lambda one: (_roundness(one), -abs(one - side)), default=0)


def _roundness(side: int) -> int:
    return next((of for of in _ROUND if side % of == 0), 1)


def _kind(answer: Any, sides: list[_Side]) -> str:
    """What a description says but for the sides that may be otherwise."""
    return input_of(_with(answer, sides, [0] * len(sides)))


def _sides(answer: Any) -> list[_Side]:
    """What of a batch may be longer: of ids their number, of a picture both sides, of a sequence of rows its length.
    Its last thing is a label, where there are several; one that is as long goes with the only side there is."""
    things = parts_of(answer)
    found = []
    for number, (_, dtype, shape) in enumerate(things[: max(len(things) - 1, 1)]):
        if (dtype == "int64" and len(shape) == _IDS and shape[1] > 1) or (len(shape) == _FRAMED and not number):
            found.append(_Side(shape[1], [(number, 1)]))
        elif len(shape) == _SOUND:
            axis = 1 if shape[1] == LENGTH or shape[1] > shape[2] != LENGTH else 2
            found.append(_Side(shape[axis], [(number, axis)]))
        elif not number and len(shape) == _PICTURE and shape[2] == shape[3]:
            found.append(_Side(shape[2], [(number, 2), (number, 3)]))
    if len(found) == 1:
        (size, places), *_ = found
        others = ((number, axis) for number, thing in enumerate(things) for axis in range(1, len(thing[2])))
        places += [
            (number, axis) for number, axis in others if number != places[0][0] and things[number][2][axis] == size
        ]
    return found


def _refitted(answer: Any, own: list[_Side], sides: Sides) -> Any:
    """A description with sides that came further, where it has as many."""
    return _with(answer, own, sides) if len(own) == len(sides) else answer


def _with(answer: Any, sides: list[_Side], sizes: Iterable[int]) -> str:
    """A description with other sides."""
    things = [(name, dtype, list(shape)) for name, dtype, shape in parts_of(answer)]
    for own, size in zip(sides, sizes, strict=True):
        for thing, axis in own.places:
            things[thing][2][axis] = size
    return said([(name, dtype, tuple(shape)) for name, dtype, shape in things])


def _unlike(told: list[str], *rows: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """How large what comes of a batch is, and how large a layer wants it."""
    for one in (match for text in told for match in (row.search(text) for row in rows) if match is not None):
        yield int(one[1]), int(one[2])


def _multiples(answer: Any, told: list[str]) -> Iterator[int]:
    """How many items the input of a description has that the program's rows can be made of."""
    if not isinstance(answer, str) or (given := _ROWS.match(answer)) is None:
        return
    count = int(given[2])
    for shape, capacity in (one.groups() for one in map(_REFUSED.search, told) if one is not None):
        sizes = [int(one) for one in shape.split(",")][1:]
        if sizes.count(count) == 1:
            others = math.prod(sizes) // count
            if int(capacity) % others == 0:
                yield int(capacity) // others
    for made, wanted in _unlike(told, _UNLIKE):
        if made and made % count == 0 and count * wanted % made == 0:
            yield count * wanted // made
