"""Objects of the program's own that a statement would have changed which was passed by.

`for pair in pairs: language.add(pair[0])` counts words: without its pairs, the number of words is not the one that the
object began with. What the method binds or fills of the object is of unknown content then.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache
from typing import Any

import paddle

from ... import call_stack
from ...session import current
from ...undecided.absent_data import AbsentData, Unseen
from ..syntax import parsed
from . import absorbing, statements

CHANGED, FILLED = "__changed__", "__filled__"
"""The names under which functions find `changed` and `filled`."""
_DEEP = 4
"""Methods that call each other are followed so far."""


def calls(statement: ast.stmt) -> list[tuple[str, str]]:
    """The methods that a statement calls for what they do (`words.add(line)`), each with the name it is called on."""
    found: dict[tuple[str, str], None] = {}
    for part in statements.own(statement):
        match part:
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method))):
                found[name, method] = None
    return list(found)


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
    session = current()
    for name in _changed_by(type(value), method, _DEEP):
        if name in vars(value):
            answer = None if session is None else session.of(AbsentData).answers.get(name)
            vars(value)[name] = answer if isinstance(answer, (int, float)) else Unseen(name=name)


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
    for name, method in calls(statement):
        if name in namespace:
            changed(lambda name=name: namespace[name], method)  # type: ignore[misc]


def _changed_by(kind: type, method: str, deep: int) -> Iterator[str]:
    """The attributes that a method of a class binds or fills, and those that it calls for that."""
    function = inspect.unwrap(getattr(kind, method, None))  # type: ignore[arg-type]
    code = getattr(function, "__code__", None)
    if code is None or not deep:
        return
    bound, called = _in(absorbing.source_of(code.co_filename), code.co_firstlineno)
    yield from bound
    for other in called:
        if other != method:
            yield from _changed_by(kind, other, deep - 1)


@lru_cache(maxsize=256)
def _in(source: str, line: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The attributes of itself that the method at a line binds or fills, and the methods of itself that it calls."""
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.FunctionDef) and node.lineno == line and node.args.args:
            own = node.args.args[0].arg
            bound = [name for part in node.body for name in statements.attributes(part)]
            called = [method for part in node.body for name, method in calls(part) if name == own]
            return tuple(one.partition(".")[2] for one in bound if one.startswith(f"{own}.")), tuple(called)
    return (), ()


NAMES = {CHANGED: changed, FILLED: filled}
"""What cells find here."""
