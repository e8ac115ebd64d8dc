"""Objects of the program's own classes that hold data which is not here: by what constructor, with what arguments.

A `DataModule` reads its data where it is made, and gives loaders of it later: it is made again with samples made up.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import paddle

from ... import call_stack
from ...session import current
from ...undecided import variants
from ...undecided.absent_data import is_unseen


@dataclass
class Constructed:
    """How objects were made.

    Attributes:
        makings: by number of the object a reference to it, and what makes one like it.
    """

    makings: dict[int, tuple[Callable[[], Any], Callable[[], Any]]] = field(default_factory=dict)


def constructor(method: Callable[..., None]) -> Callable[..., None]:
    """A constructor of the program's: with what it was called is remembered."""

    @functools.wraps(method)
    def constructing(self: Any, *args: Any, **kwargs: Any) -> None:
        if variants.present() is None:
            _remember(self, args, kwargs)
        method(self, *args, **kwargs)

    return constructing


def _remember(made: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    session = current()
    # Held any longer, a tensor would count in the estimate; layers have some, and data sets remember this themselves.
    holds_tensor = any(isinstance(one, (paddle.Tensor, paddle.nn.Layer)) for one in (*args, *kwargs.values()))
    if session is None or holds_tensor or isinstance(made, (paddle.nn.Layer, paddle.io.Dataset)):
        return
    makings = session.of(Constructed).makings
    if id(made) in makings and makings[id(made)][0]() is made:
        return  # a class derived from this one
    with suppress(TypeError):  # a class with `__slots__`
        kind: Callable[..., Any] = type(made)
        makings[id(made)] = weakref.ref(made), functools.partial(kind, *args, **kwargs)


def holds_data(value: Any) -> bool:
    """Whether an object of the program's own holds data that is not here, and no model."""
    if isinstance(value, type) or not call_stack.is_own(type(value)):
        return False
    held = list(getattr(value, "__dict__", {}).values())
    return any(map(is_unseen, held)) and not any(isinstance(one, paddle.nn.Layer) for one in held)


def making_of(value: Any) -> Callable[[], Any] | None:
    """What makes an object like this one; None where nobody remembers."""
    session = current()
    found = None if session is None else session.of(Constructed).makings.get(id(value))
    return found[1] if found is not None and found[0]() is value else None
