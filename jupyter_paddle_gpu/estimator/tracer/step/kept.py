"""What steps keep of what they made: a list of losses, a sum of tensors, what Python itself holds of the last batch.

A step of which nothing is alive when the next one has ended stands for all. Where something is, one step more is
looked at, and the larger one stands for all; where something is alive of each of them, up to five are, and what is
alive of all grows with the training, which is told. `enumerate(zip(one, other))` is a case of the former: `enumerate`
holds the pair that `zip` gave last, so that `zip` makes a new one every second time, and keeps the one before it.
"""

from __future__ import annotations

import gc
import sys
import weakref
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise
from typing import Any

import numpy as np
import paddle

from .. import call_stack
from ..eager.autograd import Accumulation
from ..eager.tensors import Tensors
from ..memory.arrays import ATTRIBUTE, GraphNode, known_state, storage_of
from ..memory.ledger import Record
from .report import most_alive, rows

Window = tuple[int, int]
STEPS = 5
"""Steps of each of which something has to be alive before it counts as one that grows: some programs keep the last
two."""
LITTLE = 1024
"""Bytes of a step below which nothing is told: 100,000 steps leave less than 100 MiB then."""
NEAR = 8
"""Operations before a backward pass that are looked for later: a scaled loss goes, the loss itself or what the model
gave may stay."""
OF_NODE = 4096
"""Bytes of the machine's memory that Paddle's graph has for an operation once a backward pass has gone through it.
Measured with Paddle 3.3 over 800 steps whose losses were kept: 3.6 KiB with linear layers and with a transformer, 5.8
KiB with convolutions."""


_ALONE = 2
"""References to what nothing but a collection refers to, as `sys.getrefcount` counts them: its own is one."""


class Kept:
    """What the steps of one training leave behind.

    Attributes:
        graphs: operations of the graph that each step keeps, with the place of its backward pass; None: none does.
        grown: bytes that each of the first steps keeps of what it made.
        most: of how many steps they are kept, where what keeps them takes no more (`deque(maxlen=100)`).
    """

    def __init__(self, runtime: Tensors, began: int) -> None:
        self.graphs: tuple[int, dict[str, int]] | None = None
        self.grown = 0
        self.most: int | None = None
        self._runtime = runtime
        self._began = began
        self._passed: list[tuple[int, weakref.ref[GraphNode], dict[str, int]]] = []
        """When a backward pass began, an operation that it began with, and where."""
        self._best: Window | None = None
        self._is_even = False
        """Whether the first step seen stands for all."""
        self._is_late = False
        """Whether what may be kept is made behind the update: the first step has nothing of it."""

    def passed(self, tensors: Iterable[Any]) -> None:
        """A backward pass of these tensors begins."""
        place = call_stack.told()
        for state in map(known_state, tensors):
            if state is not None and state.node is not None:
                for node in islice(_leading_to(state.node), NEAR):
                    self._passed.append((self._runtime.ledger.now, weakref.ref(node), place))

    def settle(self, window: Window | None, ends: Sequence[int], period: int) -> Window | None:
        """The step that stands for the training; None where one more is to be looked at.

        Args:
            window: the last step, or the one that took most.
            ends: when updates have ended.
            period: updates of a step.
        """
        if window is None or self._is_even:
            return window
        bounds = self._bounds(ends, period)
        if self._best is None and not self._is_late and self._is_made_late(bounds):
            self._is_late = True
            return None
        if self._best is None:
            self._is_even, self._best = not self._is_uneven(bounds[-4:]), window
            return window if self._is_even else None
        self._best = max(self._best, window, key=lambda one: (self.size(one), one))
        return None if len(bounds) > 3 and self._grows(bounds) and len(bounds) <= STEPS else self._best

    def notes(self) -> list[dict[str, Any]]:
        """What grows with each step."""
        found: list[dict[str, Any]] = []
        most = {} if self.most is None else {"most": self.most}
        if self.graphs is not None:
            operations, place = self.graphs
            size = operations * OF_NODE
            found.append({"code": "graphs_kept", "params": {"operations": operations, "size": size, **place, **most}})
        if self.grown:
            found.append({"code": "steps_kept", "params": {"size": self.grown, **most}})
        return found

    def _bounds(self, ends: Sequence[int], period: int) -> list[int]:
        """When the first steps, or the last ones, begin and end."""
        bounds = [self._began, *ends[::-period][: STEPS + self._is_late][::-1]]
        return bounds[self._is_late :][-STEPS - 1 :]

    def _is_made_late(self, bounds: list[int]) -> bool:
        """Whether an array of numpy that was made behind the first update is alive at the end of the second step: of
        those two nobody can tell whether it is kept."""
        if len(bounds) != 3:
            return False
        return any(
            record.op == "numpy" and record.bytes >= LITTLE and record.start >= bounds[1] and _lives(record, bounds[2])
            for record in self._runtime.ledger.records
        )

    def _is_uneven(self, bounds: list[int]) -> bool:
        """Whether something of a step is alive at the end of the next one, of which the same is alive as well."""
        for first, middle, last in zip(bounds, bounds[1:], bounds[2:], strict=False):
            before, now = self._alive(first, middle, last), self._alive(middle, last, last)
            if before & now or any(node() is not None for when, node, _ in self._passed if when < bounds[-2]):
                return True
        return False

    def _grows(self, bounds: list[int]) -> bool:
        """Whether something is alive of each of some steps; of enough of them it is told."""
        steps = [*pairwise(bounds)]
        common, *others = [self._alive(*step, bounds[-1]) for step in steps]
        for other in others:
            common &= other
        grown = sum(size * count for (size, *_), count in common.items())
        graphs = [[*self._graphs(*step)] for step in steps]
        if len(steps) == STEPS:
            self.grown = grown if grown >= LITTLE else 0
            self.graphs = max(graphs[-2], key=lambda one: one[0]) if all(graphs) else None
            self.most = self._limit(steps[0], grown)
        return grown >= LITTLE or all(graphs)

    def _alive(self, first: int, last: int, now: int) -> Counter[tuple[Any, ...]]:
        """What was made between two operations, and is alive at a third one."""
        return Counter(
            (record.bytes, record.op, record.layer, record.shape, record.dtype, record.kind)
            for record in self._runtime.ledger.records
            if first <= record.start < last and _lives(record, now)
        )

    def _graphs(self, first: int, last: int) -> Iterator[tuple[int, dict[str, int]]]:
        """The size of each graph that is alive of backward passes between two operations, and their places."""
        for when, reference, place in self._passed:
            node = reference()
            if node is not None and first <= when < last:
                yield sum(1 for _ in _leading_to(node)), place

    def _limit(self, step: Window, grown: int) -> int | None:
        """As many items as a collection takes that alone keeps what is alive of a step; None: none does."""
        ended = [one for one in gc.get_objects() if type(one) is deque and len(one) < (one.maxlen or 0)]
        for collection in ended:
            parts = [(part, storage_of(part)) for part in _only_there(collection)]
            own = [(part, one.record) for part, one in parts if one and one.ledger is self._runtime.ledger]
            kept = [(part, record) for part, record in own if step[0] <= record.start < step[1]]
            has_graph = any(getattr(getattr(part, ATTRIBUTE, None), "node", None) for part, _ in kept)
            if kept and sum(one.bytes for _, one in kept) >= grown and (has_graph or self.graphs is None):
                return collection.maxlen
        return None

    def size(self, window: Window) -> int:
        """The most bytes alive at once in a step."""
        storages, operations = rows(self._runtime.ledger, window, str)
        return most_alive(storages, operations, self._runtime.target)


def _lives(record: Record, now: int) -> bool:
    """Whether a storage is alive when so many operations have run. One that goes then was last alive before it."""
    return record.end is None or record.end >= now


def _only_there(collection: deque[Any]) -> Iterator[Any]:
    """The tensors and arrays of a collection, also within its items, that nothing else refers to."""
    for index in range(len(collection)):
        if sys.getrefcount(collection[index]) > _ALONE:
            continue
        item = collection[index]
        parts = item if isinstance(item, (tuple, list)) else [*item.values()] if isinstance(item, dict) else [item]
        yield from (part for part in parts if isinstance(part, (paddle.Tensor, np.ndarray)))


def _leading_to(node: Any) -> Iterator[Any]:
    """An operation, and those that lead to it, the nearest first."""
    seen, waiting = {node}, deque([node])
    while waiting:
        node = waiting.popleft()
        yield node
        for target, _ in node.edges.values():
            if not isinstance(target, Accumulation) and target not in seen:
                seen.add(target)
                waiting.append(target)
