"""Numbers that size nothing: a learning rate, a dropout's probability, a clip's norm, read of a file that is not here.

Paddle's constructors and functions say by their signatures which of their arguments are such: a `float`, and in a
scheduler any number. What was answered for it, else what the signature has takes its place, so that optimizer and layer
are made and followed.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import partial
from types import FunctionType
from typing import Any, NamedTuple

import paddle
from paddle import nn
from paddle.optimizer.lr import LRScheduler

from ..session import Session
from ..undecided.absent_data import AbsentData, Unseen
from .patch import Patch

_ANY_NUMBER = 0.1
"""In place of a `float` that has no value of its own: a learning rate, a norm, a margin."""
_ANY_COUNT = 10
"""In place of a scheduler's steps and epochs."""
_HOLDERS = (paddle.optimizer.lr, paddle.regularizer, nn)


class _Argument(NamedTuple):
    """An argument that sizes nothing.

    Attributes:
        name, place: among all arguments.
        value: what stands for it.
        is_switch: whether a layer computes more where it is given.
    """

    name: str
    place: int
    value: Any
    is_switch: bool


def call(
    taken: tuple[_Argument, ...], session: Session, original: Callable[..., Any], /, *args: Any, **kwargs: Any
) -> Any:
    """A constructor or a function, which may be given numbers that nobody knows."""
    if not any(type(one) is Unseen for one in (*args, *kwargs.values())):
        return original(*args, **kwargs)
    given: dict[int | str, Any] = {}
    given.update(enumerate(args))
    given.update(kwargs)
    for argument in taken:
        key = argument.place if argument.place in given else argument.name
        if type(given.get(key)) is Unseen:
            given[key] = _of(argument, given[key], session)
    return original(*(given[place] for place in range(len(args))), **{name: given[name] for name in kwargs})


def _of(argument: _Argument, held: Unseen, session: Session) -> Any:
    data = session.of(AbsentData)
    if (answer := data.answer_of(held)) is not None:
        return answer
    if argument.is_switch:
        data.assumed[data.part_name(held) or argument.name] = argument.value
    return argument.value


def arguments(called: Callable[..., Any], kind: type = object) -> tuple[_Argument, ...]:
    """Which arguments of a function of Paddle's, or of a class's constructor, size nothing."""
    is_schedule, is_optional = issubclass(kind, LRScheduler), kind is object or issubclass(kind, nn.Layer)
    declared = enumerate(inspect.signature(called).parameters.values())
    rows = ((place, one, _value(one, is_schedule=is_schedule)) for place, one in declared if one.name != "self")
    return tuple(
        _Argument(one.name, place, value, is_optional and not one.default)
        for place, one, value in rows
        if value is not None
    )


def _value(argument: inspect.Parameter, *, is_schedule: bool) -> Any:
    """What stands for an argument; None where it may size something."""
    default, said = argument.default, str(argument.annotation)
    if isinstance(default, float) or said.startswith("float") or argument.name == "learning_rate":
        return default if isinstance(default, float) and default else _ANY_NUMBER
    if not is_schedule:
        return None
    if "Sequence" in said or "list" in said:
        return [_ANY_COUNT]
    return default if isinstance(default, int) and default else _ANY_COUNT


def patches() -> Iterator[Patch]:
    """All that takes such numbers."""
    held = {id(one): one for holder in _HOLDERS for one in vars(holder).values() if isinstance(one, type)}
    for kind in (*held.values(), paddle.ParamAttr):
        if kind.__module__.startswith("paddle") and (taken := arguments(kind.__init__, kind)):
            yield Patch(kind, "__init__", partial(call, taken))
    for name, function in vars(nn.functional).items():
        if isinstance(function, FunctionType) and (taken := arguments(function)):
            yield Patch(nn.functional, name, partial(call, taken), everywhere=True)
