"""Functions of a notebook that can be run anew: a generator that failed for want of its data, and what gave a loader of
data that is not here, are asked again with samples made up (`patches/data/followed`)."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Generator, Iterator
from typing import Any

import paddle

from ...patches.data import constructed, followed, makings
from ...patches.data import loader as data_loader
from ...patches.data.loaders import Loaders
from ...session import Session, current
from ...undecided import variants
from ...undecided.absent_data import AbsentData, Unseen
from ..sites import name_of

READER, MAKER, CONSTRUCTOR = "__reader__", "__maker__", "__constructor__"
"""The names under which cells find `reader`, `maker` and `constructor`."""
DESCRIBED = "__as_described__"
"""The name under which a loop that trains finds `as_described`."""


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


def reader(function: Callable[..., Generator[Any, Any, Any]]) -> Callable[..., Reading]:
    """A generator function: what it gives is a `Reading`. It stays a function, which libraries look for."""

    @functools.wraps(function)
    def reading(*args: Any, **kwargs: Any) -> Reading:
        return Reading(functools.partial(function, *args, **kwargs))

    return reading


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


def describe(node: ast.stmt) -> None:
    """Let what a call gives to several names be asked by the function's."""
    match node:
        case ast.Assign(targets=[ast.Tuple()], value=ast.Call(func=func) as call) if name_of(func).isidentifier():
            given = [ast.Constant(name_of(func)), call]
            node.value = ast.copy_location(ast.Call(ast.Name(DESCRIBED, ast.Load()), given, []), call)


def as_described(name: str, value: Any) -> Any:
    """What a loop that trains has bound to a name: data that is not here as it was described, if it was."""
    session = current()
    if session is None or not isinstance(value, Unseen):
        return value
    text = session.of(AbsentData).description(name)
    if text is None:
        return _as_made(session, name, value)
    found = data_loader.described_tensors(session, text, session.of(Loaders).described_size(text))
    return found[0] if isinstance(found, list) and len(found) == 1 else found


def _as_made(session: Session, name: str, value: Unseen) -> Any:
    """The tensor or the array that the program's own functions make of data that is not here, where they say what it
    looks like."""
    data = session.of(AbsentData)
    if not data.follows:
        return value
    if name not in data.bound:
        data.bound[name] = None
        found = followed.of_value(session, value, name)
        if isinstance(found, followed.Partial):
            data.know_partly(name, found.parts, found.names)
        elif found is not None:
            data.followed[name] = followed.text(found)
            data.bound[name] = followed.as_unknown(found)
    found = data.bound[name]
    return value if found is None else next(iter(data_loader.batches_like(session, found, 1)))


NAMES = {READER: reader, MAKER: maker, CONSTRUCTOR: constructed.constructor, DESCRIBED: as_described}
"""What cells find here."""
