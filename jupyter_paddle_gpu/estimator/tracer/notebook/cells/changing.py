"""Objects of the program's own that a statement would have changed which was passed by.

`for pair in pairs: language.add(pair[0])` counts words: without its pairs, the number of words is not the one that the
object began with. What the method binds or fills of the object is of unknown content then.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

import paddle

from ... import call_stack
from ...patches.data import makings
from ...session import current
from ...undecided import chosen, own_changes, settings
from ...undecided.absent_data import AbsentData, Unseen
from ...undecided.descriptions import described, is_description
from ...undecided.needs import Need, NeededError
from . import absorbing
from .statements import bound_by, tensors_made, type_said

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


def leave_open(statement: ast.stmt, namespace: dict[str, Any], problem: BaseException) -> None:
    """The same for all methods that a statement of a cell would have called, and for the layers that it would have put
    into a model: `net.fc = Linear(2048, len(data.classes))`."""
    for name, method in own_changes.calls(statement):
        if name in namespace:
            changed(lambda name=name: namespace[name], method)  # type: ignore[misc]
    if not isinstance(problem, NeededError) or not problem.need.is_of_step or not isinstance(statement, ast.Assign):
        return
    for target in statement.targets:
        if isinstance(target, (ast.Attribute, ast.Subscript)):
            with suppress(Exception):  # whatever the program's own code raises, the statement has failed before
                _put(OpenLayer(problem.need), target, namespace)


class OpenLayer(paddle.nn.Layer):  # type: ignore[misc]  # Paddle has no types
    """In the place of a layer whose size hangs on data that is not here: where the model comes to it, it is asked."""

    def __init__(self, need: Need) -> None:
        super().__init__()
        self._need = need

    def forward(self, *_: Any, **__: Any) -> NoReturn:
        """Raises `NeededError`."""
        session = current()
        raise NeededError(self._need if session is None else session.of(AbsentData).need(self._need))


def _put(layer: OpenLayer, target: ast.Attribute | ast.Subscript, namespace: dict[str, Any]) -> None:
    """Put it where a statement would have put another one, if that is a model's."""

    def value_of(part: ast.expr) -> Any:
        return eval(compile(ast.Expression(part), "<target>", "eval"), namespace)

    owner = value_of(target.value)
    if not isinstance(owner, paddle.nn.Layer):
        return
    if isinstance(target, ast.Attribute):
        setattr(owner, target.attr, layer)
    else:
        owner[value_of(target.slice)] = layer


NAMES = {CHANGED: changed, FILLED: filled}
"""What cells find here."""


def bind_unseen(
    statement: ast.stmt, namespace: dict[str, Any], data: AbsentData, problem: BaseException, before: dict[str, Any]
) -> None:
    """Bind what a statement would have bound: to its answer, else to data of unknown content. What it has bound to such
    before it failed stays, where it is known how that is made.

    Args:
        before: what it binds, as it was before it ran.
    """
    need = getattr(problem, "need", None)
    is_asked = need is not None and need.is_of_step
    made, wanted = tensors_made(statement), chosen.wanted(problem)
    is_of_settings = absorbing.is_of_settings(problem) or _names_settings(statement, namespace)
    for name in bound_by(statement):
        answer = data.answers.get(name)
        if answer is not None and not is_description(answer):
            namespace[name] = settings.answer(answer)
        elif answer is not None and _is_array(answer):
            data.used[name] = answer
            namespace[name] = described(answer)[0]
        elif not isinstance(held := namespace.get(name), type):
            if isinstance(held, Unseen) and before.get(name) is not held and makings.of(held):
                continue
            value = Unseen(is_asked=is_asked, dtype=type_said(statement))
            wants = held.__dict__.get("_wants") if isinstance(held, Unseen) else None
            value.__dict__["_wants"] = wants or wanted
            settings.mark(value, is_one=is_of_settings)
            namespace[name] = value
            if name in made:
                data.uncounted[name] = None


def _is_array(answer: str) -> bool:
    found = described(answer)
    return isinstance(found, list) and len(found) == 1


def _names_settings(statement: ast.stmt, namespace: dict[str, Any]) -> bool:
    """Whether a statement speaks of a file of settings: `yaml.safe_load(open("config.yml"))`, or by a name for it."""
    parts = list(ast.walk(statement))
    said = (one.value if isinstance(one, ast.Constant) else namespace.get(getattr(one, "id", "")) for one in parts)
    is_one = any(isinstance(one, ast.Name) and one.id == absorbing.SETTINGS for one in parts)
    return is_one or any(map(settings.is_file, said))
