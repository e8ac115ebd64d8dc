"""Optimizers that a program writes itself, as textbooks begin: `optimizer.step()` of a class of the notebook's own,
with gradients that the program may have worked out by hand.

Such a step ends an update as one of Paddle's optimizers does. What counts as one is an object of the program's own that
has a learning rate, or groups of parameters as PyTorch's optimizers have (PASSL), and whose `step` takes no argument.
"""

from __future__ import annotations

import builtins
import functools
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import paddle

from ..session import Session, current
from ..step.steps import StepWatch
from .patch import Patch

_RATE = re.compile(r"(?i)(^|_)(lr|rate|alpha|eta)$")
_PARAMETERS = re.compile(r"(?i)^(params?|parameters|weights)$")
_GROUPS = "param_groups"
_STEP = "step"
_DEEP = 4
"""Objects between an optimizer and the tensors of its model: `optimizer.model.layers[0].params`."""


def _defined(session: Session, original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A class is defined: the `step` of one that may be an optimizer is watched."""
    kind = original(*args, **kwargs)
    step = vars(kind).get(_STEP) if isinstance(kind, type) else None
    if inspect.isfunction(step) and not _is_of_paddle(kind) and _takes_nothing(step):
        kind.step = _watched(step)
    return kind


def _is_of_paddle(kind: type) -> bool:
    return any(base.__module__.partition(".")[0] == paddle.__name__ for base in kind.__mro__)


def _takes_nothing(step: Callable[..., Any]) -> bool:
    given = list(inspect.signature(step).parameters.values())[1:]
    return all(one.default is not one.empty or one.kind in {one.VAR_POSITIONAL, one.VAR_KEYWORD} for one in given)


def _watched(step: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(step)
    def watched(self: Any, *args: Any, **kwargs: Any) -> Any:
        session = current()
        if session is None or not any(name == _GROUPS or _RATE.search(name) for name in getattr(self, "__dict__", ())):
            return step(self, *args, **kwargs)
        update = functools.partial(step, self, *args, **kwargs)
        return session.of(StepWatch).update_by_hand(update, functools.partial(_parameters, self))

    return watched


def _parameters(value: Any, depth: int = 0, name: str = "") -> Iterator[Any]:
    """The tensors that an object holds under the name of parameters."""
    if isinstance(value, paddle.Tensor):
        if _PARAMETERS.match(name):
            yield value
        return
    if depth == _DEEP or isinstance(value, (str, bytes, type)):
        return
    if isinstance(value, dict):
        parts = [(name, one) for one in value.values()]
    elif isinstance(value, (list, tuple)):
        parts = [(name, one) for one in value]
    else:
        parts = list(getattr(value, "__dict__", {}).items())
        depth += 1
    for label, part in parts:
        yield from _parameters(part, depth, label)


def patches() -> Iterator[Patch]:
    """Where classes are defined."""
    yield Patch(builtins, "__build_class__", _defined)
