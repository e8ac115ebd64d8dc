"""Data that is known without training: what a value would be if somebody asked for it.

Loops and shapes sometimes hang on data (`int(lengths.max())`). Data that comes from the user's arrays is known; results
of operations on known data are computed only when asked for. Whatever depends on a parameter is unknown.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import paddle

LIMIT = 1 << 27
"""Bytes above which a value is not computed."""


class Value(ABC):
    """A value that can be had; `get` gives a real tensor."""

    __slots__ = ("_result",)
    _result: Any

    @abstractmethod
    def get(self) -> Any:
        """The real tensor; raises whatever Paddle raises while computing it."""


class Known(Value):
    """Data that is there: a numpy array or a real tensor."""

    __slots__ = ("data",)

    def __init__(self, data: Any) -> None:
        self.data = data

    def get(self) -> Any:
        """The data as a tensor."""
        if isinstance(self.data, np.ndarray):
            return paddle.to_tensor(self.data)
        return self.data


class Computed(Value):
    """The result of an operator on known values; computed once, then its recipe is dropped."""

    __slots__ = ("args", "draws", "function", "is_random", "kwargs")

    def __init__(self, function: Callable[..., Any], args: Any, kwargs: Any, *, draws: bool = False) -> None:
        self.function, self.args, self.kwargs, self.draws = function, args, kwargs, draws
        self.is_random = draws or is_random(args) or is_random(kwargs)

    def get(self) -> Any:
        """All results of the operator. What it is computed of comes first, without recursion: a sum over the parameters
        of a deep net is a chain of hundreds."""
        waiting = [self]
        while waiting:
            node = waiting[-1]
            if node.function is not None and (needed := [*_uncomputed((node.args, node.kwargs))]):
                waiting += needed
                continue
            waiting.pop()
            if node.function is not None:
                node._result = node.function(*_resolve(node.args), **_resolve(node.kwargs))
                node.function = node.args = node.kwargs = None  # type: ignore[assignment]
        return self._result


class Part(Value):
    """One of the results of an operator, by the path of indices into them."""

    __slots__ = ("path", "whole")

    def __init__(self, whole: Value, path: tuple[int, ...]) -> None:
        self.whole, self.path = whole, path

    def get(self) -> Any:
        """The result at the path."""
        result = self.whole.get()
        for index in self.path:
            result = result[index]
        return result


def is_random(node: Any) -> bool:
    """Whether a value, or what it is computed of, is drawn anew whenever the program comes to it."""
    if isinstance(node, Computed):
        return node.is_random
    if isinstance(node, Part):
        return is_random(node.whole)
    if isinstance(node, dict):
        return any(map(is_random, node.values()))
    return isinstance(node, (list, tuple)) and any(map(is_random, node))


DRAWS = 8
"""Of sizes that hang on numbers drawn at random the largest of so many draws is taken: a training draws in every step,
and its peak is that of the step that draws most. Normally distributed, the largest of 8 lies 1.4 standard deviations
above the mean."""


class Drawn(Value):
    """Of several draws of a random value the one with the largest amount; whatever is computed of its parts later goes
    by these numbers."""

    __slots__ = ("amount", "value")

    def __init__(self, value: Value, amount: Callable[[Any], int]) -> None:
        self.value, self.amount = value, amount

    def get(self) -> Any:
        """The result of the draw that is kept."""
        draws = []
        for _ in range(DRAWS):
            drawn: dict[int, tuple[Computed, Any]] = {}
            draws.append((self.amount(_draw(self.value, drawn)), drawn))
        _, kept = max(draws, key=lambda draw: draw[0])
        for node, result in kept.values():
            node._result = result
            node.function = node.args = node.kwargs = None  # type: ignore[assignment]
        return self.value.get()


class Sample(Value):
    """One draw of a random value, which stays as undecided as it was."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value

    def get(self) -> Any:
        """The result of a draw that nobody keeps."""
        return _draw(self.value, {})


def _draw(node: Any, drawn: dict[int, tuple[Computed, Any]]) -> Any:
    """A value whose recipe is kept; what several parts of it share is drawn once."""
    if isinstance(node, Part):
        result = _draw(node.whole, drawn)
        for index in node.path:
            result = result[index]
        return result
    if isinstance(node, Computed) and node.function is not None:
        if id(node) not in drawn:
            drawn[id(node)] = (node, node.function(*_draw(node.args, drawn), **_draw(node.kwargs, drawn)))
        return drawn[id(node)][1]
    if isinstance(node, Value):
        return node.get()
    if isinstance(node, (list, tuple)):
        return type(node)(_draw(item, drawn) for item in node)
    if isinstance(node, dict):
        return {key: _draw(item, drawn) for key, item in node.items()}
    return node


LOOKS = 128
"""Draws of a condition after which it counts as one that never changes: `paddle.rand([1]) < 0`."""


def varies(value: Value) -> bool:
    """Whether a random condition comes to both. Numbers that were asked for before cannot be drawn again: they do."""
    first: bool | None = None
    drawn: dict[int, tuple[Computed, Any]] = {}
    for _ in range(LOOKS):
        drawn = {}
        found = bool(_draw(value, drawn).numpy().all())
        if first is not None and found is not first:
            return True
        first = found
    return not any(node.draws for node, _ in drawn.values())


def _uncomputed(node: Any) -> Iterator[Computed]:
    """The operators among arguments whose results are not there yet."""
    if isinstance(node, Part):
        yield from _uncomputed(node.whole)
    elif isinstance(node, Computed):
        if node.function is not None:
            yield node
    elif isinstance(node, (list, tuple, dict)):
        for item in node.values() if isinstance(node, dict) else node:
            yield from _uncomputed(item)


def _resolve(node: Any) -> Any:
    if isinstance(node, Value):
        return node.get()
    if isinstance(node, (list, tuple)):
        return type(node)(_resolve(item) for item in node)
    if isinstance(node, dict):
        return {key: _resolve(item) for key, item in node.items()}
    return node
