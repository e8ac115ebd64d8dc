"""Steps whose batches have other shapes, from two that were traced: the allocator's replay over them in their order.

Each batch leaves its sizes in the allocator's chunks, and the next one's seldom fit them: what is reserved hangs on the
shapes of all batches, not on the largest alone. `benchmarks/changing` holds it against Paddle's own allocator.

Of an allocation both traced steps tell the shape. A side that is the same in both stays; one that is as long as a side
of the batch in either goes with that side, and so do products of two (tokens of all sentences), neighbours (a word
less) and parts (a picture behind strides). What is left goes evenly with the batch's elements.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from operator import itemgetter

import msgspec

from ..trace import Batches, Operation, OtherStep, Sides, Storage, Trace
from .allocator import Allocator, AutoGrowthBestFit
from .replay import peak_of
from .reserved import Kept, Reserved, Steps

STAYS = ("parameters", "gradients", "optimizer_state")
"""Kinds of allocations that no batch changes."""
NEIGHBOURS = (-1, 1, -2, 2)
"""By how much a side may differ from the batch's own: labels without the first word, a word more for the end."""

Sizes = Callable[[Sides], int]
"""From a batch's sides to bytes."""
Workspace = Callable[[Operation], int]
Way = Callable[[Sequence[int]], int]
"""From the lengths of all sides of a batch to that of an allocation's."""


MOST_ORDERS, LEAST_ORDERS = 9, 3
"""Orders of the batches that are replayed: of nine, the most that one of them reserves is not enough for a tenth of all
orders."""
WORK = 400_000
"""Allocations in all orders together, some 6 microseconds each, beyond which there are fewer orders."""


def replay_orders(
    trace: Trace, batches: Batches, workspace: Workspace, new: Callable[[], Allocator] = AutoGrowthBestFit
) -> tuple[Reserved, ...]:
    """The allocator after steps with these batches in several orders, first as they come, by what the driver maps.

    Which lengths come first is chance, and decides: behind the longest nothing has to be asked for any more, while each
    that is a little longer than all before leaves their chunks to shorter ones.
    """
    if not _is_known(trace, batches):
        return ()
    sized, order = _sized(trace, batches, workspace), _coming(batches)
    steps = {sides: Steps(*sized(sides)) for sides in dict.fromkeys(order)}
    work = max(1, len(trace.storages) * len(order))
    shuffle, found = random.Random(0).shuffle, []
    for _ in range(max(LEAST_ORDERS, min(MOST_ORDERS, WORK // work))):
        found.append(_replayed(trace, [steps[sides] for sides in order], new()))
        shuffle(order)
    return tuple(sorted(found, key=lambda one: one.mapped))


def _coming(batches: Batches) -> list[Sides]:
    """The batches that are replayed: those that were looked at, and behind them the traced one where none has its
    shape, as where a sampler's kinds are looked at apart from the batches that come next: it comes later."""
    is_missing = not batches.assumed and batches.traced not in batches.sides
    return [*batches.sides, *(batches.traced,) * is_missing]


def largest(trace: Trace, workspace: Workspace) -> Sides | None:
    """The batch whose step takes most, where that is another than the traced one: fewer sentences, but longer ones."""
    batches = trace.batches
    if batches is None or batches.assumed or batches.other is None or not _are_alike(trace, batches.other):
        return None
    peaks = _peaks(trace, batches, workspace)
    found = max(peaks, key=lambda one: peaks[one])
    return found if peaks[found] > peaks[batches.traced] else None


def beyond(trace: Trace, workspace: Workspace) -> int:
    """By how much a step with the largest of batches that were made up is above the traced one; 0 where none were."""
    batches = trace.batches
    if batches is None or not batches.assumed or not _is_known(trace, batches):
        return 0
    peaks = _peaks(trace, batches, workspace)
    return max(peaks.values()) - peaks[batches.traced]


def _peaks(trace: Trace, batches: Batches, workspace: Workspace) -> dict[Sides, int]:
    """What a step takes with each batch."""
    sized, peaks = _sized(trace, batches, workspace), dict[Sides, int]()
    for sides in dict.fromkeys((batches.traced, *batches.sides)):
        step, transients = sized(sides)
        peaks[sides] = peak_of(step.storages, transients)
    return peaks


def _is_known(trace: Trace, batches: Batches) -> bool:
    """Whether another step tells how allocations go with the shapes, or only lengths change, with which they go about
    evenly."""
    if batches.other is not None and _are_alike(trace, batches.other):
        return True
    return len({tuple(shape[:1] for shape in sides) for sides in batches.sides}) == 1


def _replayed(trace: Trace, steps: Sequence[Steps], allocator: Allocator) -> Reserved:
    kept: Kept = defaultdict(list)
    for number, step in enumerate(steps):
        kept = step.run(allocator, kept, first=number == 0 and not trace.begins_whole)
    return Reserved.of(allocator)


def _sized(trace: Trace, batches: Batches, workspace: Workspace) -> Callable[[Sides], tuple[Trace, list[int]]]:
    """The step with a batch of other sides, and its transients."""
    other = batches.other
    if other is None or not _are_alike(trace, other):
        sizes = [_evenly(one.bytes, batches.traced) for one in trace.storages]
        moved = [_evenly(workspace(one), batches.traced) for one in trace.operations]
    else:
        ways = _Ways(batches, other.sides)
        sizes = [ways.size(one, two) for one, two in zip(trace.storages, other.storages, strict=True)]
        moved = [
            ways.between(workspace(one), workspace(two))
            for one, two in zip(trace.operations, other.operations, strict=True)
        ]

    def at(sides: Sides) -> tuple[Trace, list[int]]:
        storages = tuple(
            one if one.kind in STAYS or one.bytes <= 0 else msgspec.structs.replace(one, bytes=max(1, size(sides)))
            for one, size in zip(trace.storages, sizes, strict=True)
        )
        return msgspec.structs.replace(trace, storages=storages), [max(0, size(sides)) for size in moved]

    return at


def _evenly(size: int, traced: Sides) -> Sizes:
    return lambda sides: round(size * elements(sides) / elements(traced))


def elements(sides: Sides) -> int:
    """Of all tensors of a batch."""
    return sum(prod(shape) for shape in sides)


def _are_alike(trace: Trace, other: OtherStep) -> bool:
    """Whether both steps do the same, allocation by allocation."""
    if len(trace.storages) != len(other.storages) or len(trace.operations) != len(other.operations):
        return False
    return all(
        (one.start, one.end, one.kind, one.op) == (two.start, two.end, two.kind, two.op)
        for one, two in zip(trace.storages, other.storages, strict=True)
    )


class _Ways:
    """How allocations go with the sides of a batch."""

    def __init__(self, batches: Batches, other: Sides) -> None:
        self._traced, self._other = batches.traced, other
        self._changing: dict[tuple[int, int], int] = {}
        """By a side's length in either step its number among all sides of the batch."""
        for number, pair in enumerate(zip(_flat(batches.traced), _flat(other), strict=True)):
            if pair[0] != pair[1]:
                self._changing.setdefault(pair, number)

    def size(self, one: Storage, two: Storage) -> Sizes:
        """That of an allocation."""
        if one.bytes == two.bytes:
            return lambda _: one.bytes
        ways = [self._side(*pair) for pair in zip(one.shape, two.shape, strict=False)]
        found = [way for way in ways if way is not None]
        element, rest = divmod(one.bytes, prod(one.shape) or 1)
        is_told = len(found) == len(one.shape) == len(two.shape) and not rest
        if not is_told or element * prod(two.shape) != two.bytes:
            return self.between(one.bytes, two.bytes)

        def size(sides: Sides) -> int:
            flat = _flat(sides)
            return element * prod([way(flat) for way in found])

        return size

    def between(self, one: int, two: int) -> Sizes:
        """Bytes that go evenly from one step's to the other's."""
        start, end = elements(self._traced), elements(self._other)
        if one == two or start == end:
            return lambda _: one
        return lambda sides: one + round((two - one) * (elements(sides) - start) / (end - start))

    def _side(self, one: int, two: int) -> Way | None:
        """How a side of an allocation goes with the sides of a batch."""
        if one == two:
            return lambda _: one
        if (number := self._changing.get((one, two))) is not None:
            return itemgetter(number)
        return self._near(one, two) or self._product(one, two) or self._part(one, two)

    def _near(self, one: int, two: int) -> Way | None:
        """A side and a few."""
        for more in NEIGHBOURS:
            if (number := self._changing.get((one - more, two - more))) is not None:
                return partial(_more, number, more)
        return None

    def _product(self, one: int, two: int) -> Way | None:
        """Two sides, of which the second may be the same in both."""
        for (start, end), number in self._changing.items():
            for (first, last), second in self._changing.items():
                if (start * first, end * last) == (one, two):
                    return partial(_times, number, second)
        return None

    def _part(self, one: int, two: int) -> Way | None:
        """A side in proportion, rounded."""
        for (start, end), number in self._changing.items():
            if abs(two - one * end / start) <= 1:
                return partial(_in_proportion, number, one / start)
        return None


def _more(number: int, more: int, flat: Sequence[int]) -> int:
    return flat[number] + more


def _times(number: int, second: int, flat: Sequence[int]) -> int:
    return flat[number] * flat[second]


def _in_proportion(number: int, part: float, flat: Sequence[int]) -> int:
    return max(1, round(flat[number] * part))


def _flat(sides: Sides) -> list[int]:
    return [side for shape in sides for side in shape]
