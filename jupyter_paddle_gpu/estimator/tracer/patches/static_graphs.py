"""Programs that switch static mode on: their graphs are not followed, and the line that builds one is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NoReturn

import numpy as np
import paddle
from paddle.base import core

from ..session import Session
from ..step.static_graphs import StaticGraphError, StaticGraphs
from ..undecided.absent_data import UnseenData, is_unseen
from .patch import Patch


class Fed:
    """What `paddle.static.data` stands for: a loader may be handed it, all else is a graph."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise StaticGraphError


def _enable(session: Session, original: Callable[..., Any]) -> None:
    session.of(StaticGraphs).is_on = True


def _disable(session: Session, original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    session.of(StaticGraphs).is_on = False
    return original(*args, **kwargs)


def _guard(session: Session, original: Callable[..., Any], *args: Any, **kwargs: Any) -> AbstractContextManager[None]:
    """`paddle.base.dygraph.guard`: dynamic mode for a while."""

    @contextmanager
    def dynamic() -> Iterator[None]:
        graphs = session.of(StaticGraphs)
        before, graphs.is_on = graphs.is_on, False
        try:
            with original(*args, **kwargs):
                yield
        finally:
            graphs.is_on = before

    return dynamic()


def _data(session: Session, original: Callable[..., Any], name: str, *args: Any, **kwargs: Any) -> Fed:
    graphs = session.of(StaticGraphs)
    graphs.built()
    if not graphs.is_on:
        raise StaticGraphError
    return Fed(name)


def _run(session: Session, original: Callable[..., Any], *args: Any, **kwargs: Any) -> NoReturn:
    session.of(StaticGraphs).built()
    raise StaticGraphError


def _specify(session: Session, original: Callable[..., Any], spec: Any, shape: Any, *args: Any, **kwargs: Any) -> None:
    """`InputSpec`: a size that hangs on data that is not here is one that it leaves open."""
    is_written = isinstance(shape, (list, tuple))
    original(spec, [None if is_unseen(one) else one for one in shape] if is_written else shape, *args, **kwargs)


def check_loader(session: Session, loader: Any) -> None:
    """A loader that was handed parts of a graph is about to be read.

    Raises:
        StaticGraphError: in static mode, where nobody knows what it gives.
        AttributeError: in dynamic mode, as Paddle 3 (`_init_thread` of its `dataloader_iter.py` asks each for a
            description that they have no more).
        TypeError: the same, where it is no list of such: `DataLoader(data, 64)` names no batch size.
    """
    try:
        given = list(loader.feed_list or ())
    except TypeError as problem:
        raise session.refused(problem) from None
    if session.of(StaticGraphs).is_on and isinstance(getattr(loader, "dataset", None), UnseenData):
        raise StaticGraphError
    if not session.of(StaticGraphs).is_on and any(isinstance(one, Fed) for one in given):
        raise session.refused(AttributeError(f"'{_value()}' object has no attribute 'desc'"))


def fed(shape: tuple[int, ...], dtype: str) -> Any:
    """What a loader gives in static mode: no tensor, but what an executor is fed with."""
    found = core.DenseTensor()
    found.set(np.zeros(shape, dtype), core.CPUPlace())
    return found


def _value() -> str:
    return f"{paddle.pir.Value.__module__}.{paddle.pir.Value.__qualname__}"


def patches() -> Iterator[Patch]:
    """Static mode on and off, and what graphs begin with."""
    yield Patch(paddle, "enable_static", _enable)
    yield Patch(paddle, "disable_static", _disable)
    yield Patch(paddle.base.dygraph, "guard", _guard)
    yield Patch(paddle.static, "data", _data)
    yield Patch(paddle.static.InputSpec, "__init__", _specify)
    yield Patch(paddle.static, "Executor", _run)
