"""Initializers: the numbers that they are given size nothing, so that those of unknown content are asked of nobody."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from paddle.nn.initializer import initializer
from paddle.nn.initializer.assign import NumpyArrayInitializer

from ...session import Session
from ...undecided.absent_data import Unseen
from ..patch import Patch

_PLAIN = frozenset((bool, float, int, str, type(None)))
_SMALL = 0.1
"""What stands for such a number: one that lies between the bounds which initializers check."""


def _made(_session: Session, original: Callable[..., Any], made: Any, *args: Any, **kwargs: Any) -> None:
    if _PLAIN.issuperset(map(type, args)) and _PLAIN.issuperset(map(type, kwargs.values())):  # nearly all
        original(made, *args, **kwargs)
        return
    given = [_SMALL if isinstance(one, Unseen) else one for one in args]
    original(made, *given, **{name: _SMALL if isinstance(one, Unseen) else one for name, one in kwargs.items()})


def _kinds(kind: Any) -> Iterator[Any]:
    for child in kind.__subclasses__():
        yield child
        yield from _kinds(child)


def patches() -> Iterator[Patch]:
    """What makes each of Paddle's initializers that take no array."""
    kinds = dict.fromkeys(_kinds(initializer.Initializer))
    of_numbers = (kind for kind in kinds if not issubclass(kind, NumpyArrayInitializer) and "__init__" in vars(kind))
    yield from (Patch(kind, "__init__", _made) for kind in of_numbers)
