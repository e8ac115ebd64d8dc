"""Functions of a notebook that can be run anew: a generator that failed for want of its data, and what gave a loader of
data that is not here, are asked again with samples made up (`patches/data/followed`)."""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator, Iterator
from typing import Any

import paddle

from ...patches.data import constructed, makings
from ...undecided import variants

READER, MAKER, CONSTRUCTOR = "__reader__", "__maker__", "__constructor__"
"""The names under which cells find `Reader`, `maker` and `constructor`."""


def maker(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function: how the loaders were made that it gives is remembered."""

    @functools.wraps(function)
    def making(*args: Any, **kwargs: Any) -> Any:
        given = function(*args, **kwargs)
        # Held any longer, a tensor would count in the estimate.
        has_tensor = any(isinstance(one, paddle.Tensor) for one in (*args, *kwargs.values()))
        if variants.present() is None and not has_tensor:
            makings.remember(given, functools.partial(function, *args, **kwargs))
        return given

    return making


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


NAMES = {READER: Reader, MAKER: maker, CONSTRUCTOR: constructed.constructor}
"""What cells find here."""
