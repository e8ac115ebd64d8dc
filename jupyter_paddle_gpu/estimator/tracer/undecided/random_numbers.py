"""Numbers that a program draws anew in every step: a condition on one (`if random.random() < ratio:`) goes both ways.

Data is drawn at random as well, and there the very numbers make the sizes. So only what is drawn while a layer is
called, or by the code that holds the training step once that has run, decides as a value that is not known.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np

from .. import call_stack
from ..memory.values import Value, is_random, varies
from ..session import Session, current, paused
from ..step.layers import LayerPaths
from ..step.steps import StepWatch
from . import unknowns
from .drawn_sizes import factor

_TRAINING = frozenset(("backward", "minimize", "train_batch"))
"""Names in code that holds a training step."""
Bounds = Callable[..., tuple[float, float]]


class Draw(float):
    """A number drawn between two others; arithmetic makes plain numbers of it."""

    low, high = -math.inf, math.inf

    def within(self, low: float, high: float) -> Draw:
        """The number with its bounds, beyond which a comparison is certain."""
        self.low, self.high = float(low), float(high)
        return self


def _comparison(name: str) -> Any:
    own = getattr(float, name)

    def method(self: Draw, other: Any) -> Any:
        if not isinstance(other, (int, float, np.number)):
            return NotImplemented
        found = own(float(self), float(other))
        is_certain = not unknowns.is_unknown(other) and not self.low < float(other) < self.high
        return found if is_certain else unknowns.decided(found)

    method.__name__ = name
    return method


for _name in ("__lt__", "__le__", "__gt__", "__ge__"):
    setattr(Draw, _name, _comparison(_name))


def decide(frame: FrameType | None) -> bool:
    """Whether what is drawn for this code decides anew in each step."""
    session = current()
    if frame is None or session is None:
        return False
    if not session.of(LayerPaths).is_outside:
        return True
    return session.of(StepWatch).updates > 0 and not _TRAINING.isdisjoint(frame.f_code.co_names)


def is_drawn(value: Value) -> bool:
    """Whether a tensor's known value is drawn at random, for code that such a value decides for."""
    return is_random(value) and decide(call_stack.of_program())


def goes_both_ways(value: Value) -> bool:
    """Whether a condition that is known is another one in another step."""
    if not is_drawn(value):
        return False
    with paused():
        return varies(value)


def _drawing(bounds: Bounds) -> Callable[..., Any]:
    def draw(session: Session, original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        found = original(*args, **kwargs)
        if type(found) is not float:
            return found
        if not decide(sys._getframe(2)):  # behind the patch's own frame
            return factor(session, found, *bounds(*args, **kwargs))
        return Draw(found).within(*bounds(*args, **kwargs))

    return draw


def _unit(*_: Any) -> tuple[float, float]:
    return 0.0, 1.0


def _uniform(low: float = 0.0, high: float = 1.0, *_: Any, **names: float) -> tuple[float, float]:
    ends = names.get("a", low), names.get("b", high)
    return min(ends), max(ends)


unit, uniform = _drawing(_unit), _drawing(_uniform)
"""What stands for functions that draw one number: between 0 and 1, between two others."""
