"""Losses that compare each prediction with each label: `mse_loss` of [n] and [n, 1] is one of [n, n].

Paddle says nothing of it, and a training of such a loss needs far more memory. It is hardly ever meant: a batch with
which it happens is suggested only where no other one fits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import paddle

from ...session import Session
from ...undecided.absent_data import Unseen
from ..patch import Patch


class Compared:
    """Whether a loss has spread its operands."""

    def __init__(self) -> None:
        self.is_spread = False


def _loss(session: Session, original: Callable[..., Any], input: Any, label: Any, *args: Any, **kwargs: Any) -> Any:
    _look(session, input, label)
    return original(input, label, *args, **kwargs)


def _forward(session: Session, original: Callable[..., Any], self: Any, input: Any, label: Any) -> Any:
    _look(session, input, label)
    return original(self, input, label)


def _look(session: Session, *given: Any) -> None:
    if any(isinstance(each, Unseen) for each in given):
        return  # what it looks like is asked for by the operator
    one, other = (list(getattr(each, "shape", [])) for each in given)
    if len(one) != len(other) and one and other:
        session.of(Compared).is_spread = True


def patches() -> Iterator[Patch]:
    """Losses of numbers that take operands of any shapes."""
    for name in ("mse_loss", "l1_loss"):
        yield Patch(paddle.nn.functional, name, _loss)
    yield Patch(paddle.nn.MSELoss, "forward", _forward)
