"""How loaders of data that is not here came about: by which functions of the program, with what arguments.

`train_iter, vocab = load_data(batch_size)` gives a loader over arrays that such a function makes of a file. The loader
itself does not tell what its batches look like; the function does, when it is run again with samples made up
(`followed`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import paddle

from ... import call_stack
from ...undecided.absent_data import Unseen, UnseenData, is_unseen

_MADE_BY = "_paddle_gpu_made_by"
"""The attribute of a loader that holds how it was made."""
_PARTS = 16
"""Entries of what a function gives that are looked at."""


@dataclass(frozen=True)
class Making:
    """One function that gave a value, with its arguments.

    Attributes:
        again: runs the function once more.
        place: where the value stands in what it gives: indices and keys, the outermost first.
    """

    again: Callable[[], Any]
    place: tuple[Any, ...]

    def __call__(self) -> Any:
        """The value made once more."""
        value = self.again()
        for key in self.place:
            value = value[key]
        return value


def remember(given: Any, again: Callable[[], Any]) -> None:
    """Keep how loaders of data that is not here were made, which a function gave alone or among other things."""
    for place, part in _parts(given, ()):
        if _wants_data(part):
            vars(part).setdefault(_MADE_BY, []).append(Making(again, place))


def of(value: Any) -> list[Making]:
    """How a value was made, the innermost function first."""
    return list(getattr(value, "__dict__", {}).get(_MADE_BY, ()))


def _parts(given: Any, place: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if isinstance(given, (list, tuple)) and len(given) <= _PARTS:
        for number, one in enumerate(given):
            yield from _parts(one, (*place, number))
    elif isinstance(given, dict) and len(given) <= _PARTS:
        for key, one in given.items():
            yield from _parts(one, (*place, key))
    else:
        yield place, given


def _wants_data(value: Any) -> bool:
    """Whether it gives batches of data that is not here."""
    if isinstance(value, Unseen):
        return True
    if isinstance(value, paddle.io.DataLoader):
        data_set = value.dataset
        held = list(getattr(data_set, "__dict__", {}).values())
        return isinstance(data_set, UnseenData) or any(map(is_unseen, held))
    return is_own(value) and any(map(is_unseen, vars(value).values()))


def is_own(value: Any) -> bool:
    """Whether it is a loader of the program's own class."""
    return call_stack.is_own(type(value)) and hasattr(type(value), "__iter__") and hasattr(value, "__dict__")
