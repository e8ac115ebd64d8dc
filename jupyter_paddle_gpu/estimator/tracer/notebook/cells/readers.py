"""Generators of a notebook that can begin anew: one that failed for want of its data is asked again with samples made
up (`patches/data/followed`)."""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator, Iterator
from typing import Any

READER = "__reader__"
"""The name under which cells find `Reader`."""


class Reader:
    """A generator function: what it gives is a `Reading`."""

    def __init__(self, function: Callable[..., Generator[Any, Any, Any]]) -> None:
        functools.update_wrapper(self, function)
        self._function = function

    def __get__(self, owner: Any, kind: type | None = None) -> Any:
        return self if owner is None else Reader(functools.partial(self._function, owner))

    def __call__(self, *args: Any, **kwargs: Any) -> Reading:
        """What goes through the items."""
        return Reading(functools.partial(self._function, *args, **kwargs))


class Reading:
    """A generator that can begin anew."""

    def __init__(self, begin: Callable[[], Generator[Any, Any, Any]]) -> None:
        self._begin = begin
        self._items = begin()

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return next(self._items)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._items, name)

    def again(self) -> Reading:
        """The same from its first item."""
        return Reading(self._begin)
