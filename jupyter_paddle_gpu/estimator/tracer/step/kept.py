"""What steps keep of what they made: a list of losses, a sum of tensors, what Python itself holds of the last batch.

A step of which nothing is alive when the next one has ended stands for all. Where something is, one step more is
looked at, and the larger one stands for all; where something is alive of each of them, up to five are, and what is
alive of all grows with the training, which is told. `enumerate(zip(one, other))` is a case of the former: `enumerate`
holds the pair that `zip` gave last, so that `zip` makes a new one every second time, and keeps the one before it.
"""

from __future__ import annotations

import weakref
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise
from typing import Any

from .. import call_stack
from ..eager.autograd import Accumulation
from ..eager.tensors import Tensors
from ..memory.arrays import GraphNode, known_state
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


class Kept:
    """What the steps of one training leave behind.

    Attributes:
        graphs: operations of the graph that each step keeps, with the place of its backward pass; None: none does.
        grown: bytes that each of the first steps keeps of what it made.
    """

    def __init__(self, runtime: Tensors, began: int) -> None:
        self.graphs: tuple[int, dict[str, int]] | None = None
        self.grown = 0
        self._runtime = runtime
        self._began = began
        self._passed: list[tuple[int, weakref.ref[GraphNode], dict[str, int]]] = []
        """When a backward pass began, an operation that it began with, and where."""
        self._best: Window | None = None
        self._is_even = False
        """Whether the first step seen stands for all."""

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
        bounds = [self._began, *ends[::-period][:STEPS][::-1]][-STEPS - 1 :]
        if self._best is None:
            self._is_even, self._best = not self._is_uneven(bounds[-4:]), window
            return window if self._is_even else None
        self._best = max(self._best, window, key=lambda one: (self._size(one), one))
        return None if len(bounds) > 3 and self._grows(bounds) and len(bounds) <= STEPS else self._best

    def notes(self) -> list[dict[str, Any]]:
        """What grows with each step."""
        found: list[dict[str, Any]] = []
        if self.graphs is not None:
            operations, place = self.graphs
            size = operations * OF_NODE
            found.append({"code": "graphs_kept", "params": {"operations": operations, "size": size, **place}})
        if self.grown:
            found.append({"code": "steps_kept", "params": {"size": self.grown}})
        return found

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

    def _size(self, window: Window) -> int:
        storages, operations = rows(self._runtime.ledger, window, str)
        return most_alive(storages, operations, self._runtime.target)


def _lives(record: Record, now: int) -> bool:
    """Whether a storage is alive when so many operations have run. One that goes then was last alive before it."""
    return record.end is None or record.end >= now


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
