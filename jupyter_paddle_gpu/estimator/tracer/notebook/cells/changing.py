"""Objects of the program's own that a statement would have changed which was passed by.

`for pair in pairs: language.add(pair[0])` counts words: without its pairs, the number of words is not the one that the
object began with. What the method binds or fills of the object is of unknown content then.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import paddle

from ... import call_stack
from ...session import current
from ...undecided import own_changes
from ...undecided.absent_data import AbsentData

CHANGED, FILLED = "__changed__", "__filled__"
"""The names under which functions find `changed` and `filled`."""


def changed(held: Callable[[], Any], method: str) -> None:
    """Leave open what a method that was not called would have changed of an object.

    Args:
        held: gives the object, where its name is bound.
    """
    try:
        value = held()
    except NameError:
        return
    if not call_stack.is_own(type(value)) or isinstance(value, (type, paddle.nn.Layer)):
        return
    own_changes.leave_open(value, own_changes.changed_by(type(value), method))


def filled(held: Callable[[], Any]) -> None:
    """Remember that nobody knows how much is in a container, into which something was to be put.

    Args:
        held: gives it, where its name is bound.
    """
    session = current()
    with suppress(NameError):
        value = held()
        if session is not None and isinstance(value, (dict, list, set)):
            session.of(AbsentData).uncertain[id(value)] = value


def leave_open(statement: ast.stmt, namespace: dict[str, Any]) -> None:
    """The same for all methods that a statement of a cell would have called."""
    for name, method in own_changes.calls(statement):
        if name in namespace:
            changed(lambda name=name: namespace[name], method)  # type: ignore[misc]


NAMES = {CHANGED: changed, FILLED: filled}
"""What cells find here."""
