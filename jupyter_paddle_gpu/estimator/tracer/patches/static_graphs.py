"""Static mode: Paddle builds its programs itself; what runs them is stood for (`executors`)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np
import paddle
from paddle.base import core

from ..eager.tensors import Tensors
from ..memory.arrays import Array, allocate, new_tensor
from ..memory.dtypes import VAR_TYPE, name_of
from ..program.dynamic import dynamic
from ..session import Session
from ..step.static_graphs import StaticGraphError, StaticGraphs
from ..undecided import tensor_values
from ..undecided.absent_data import is_unseen
from ..undecided.unseen_data import UnseenData
from .patch import Patch

_NEW_PROGRAMS, _OFF = "FLAGS_enable_pir_api", frozenset(("0", "false", "off"))


def _enable(session: Tensors, original: Callable[..., Any]) -> None:
    original()
    if not paddle.framework.in_pir_mode() or os.environ.get(_NEW_PROGRAMS, "").lower() in _OFF:
        session.of(StaticGraphs).refused()  # programs of the old kind, whatever this process was started with
    session.builds_graph, session.in_graph = True, session.of(StaticGraphs).refused
    session.of(StaticGraphs).enter()


def _disable(session: Tensors, original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    session.builds_graph = False
    session.of(StaticGraphs).leave()
    return original(*args, **kwargs)


def _guard(session: Tensors, original: Callable[..., Any], *args: Any, **kwargs: Any) -> AbstractContextManager[None]:
    """`paddle.base.dygraph.guard`: dynamic mode for a while."""

    @contextmanager
    def dynamic() -> Iterator[None]:
        graphs = session.of(StaticGraphs)
        before, graphs.is_on = graphs.is_on, False
        session.builds_graph = False
        try:
            with original(*args, **kwargs):
                yield
        finally:
            graphs.is_on = session.builds_graph = before

    return dynamic()


def _data(session: Session, original: Callable[..., Any], name: str, *args: Any, **kwargs: Any) -> Any:
    if not session.of(StaticGraphs).is_on:
        session.of(StaticGraphs).refused()
    value = original(name, *args, **kwargs)
    session.of(StaticGraphs).declared[name] = declared(value)
    return value


def declared(value: Any) -> tuple[str, tuple[int | None, ...]]:
    """Type and shape that a program declares for what it is fed with; None for a size that it leaves open."""
    return name_of(value.dtype), tuple(None if side < 0 else int(side) for side in value.shape)


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
    if not session.of(StaticGraphs).is_on and any(isinstance(one, paddle.pir.Value) for one in given):
        raise session.refused(AttributeError(f"'{_value()}' object has no attribute 'desc'"))


def as_given(session: Session, loader: Any, batches: Iterator[Any]) -> Iterator[Any]:
    """The batches of a loader; in static mode by name, for an executor to be fed with, unless it is to give lists."""
    if not session.of(StaticGraphs).is_on or loader.return_list or not loader.feed_list:
        return batches
    names = [value.name for value in loader.feed_list]
    return ([dict(zip(names, batch, strict=False))] for batch in batches)


class Fed:
    """What a loader gives in static mode: no tensor, but what an executor is fed with (`DenseTensor`)."""

    def __init__(self, session: Tensors, array: Array) -> None:
        self._session, self.array = session, array

    def shape(self) -> list[int]:
        """Its sizes."""
        return list(self.array.shape)

    def _dtype(self) -> Any:
        return VAR_TYPE[self.array.dtype]

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        with dynamic():
            tensor = new_tensor(self.array)
        found = tensor_values.numbers(self._session, tensor)
        return found if dtype is None else found.astype(dtype)

    def __getitem__(self, index: Any) -> FedRows:
        return FedRows(np.asarray(self))[index]


class FedRows:
    """Rows of such, as numbers."""

    def __init__(self, numbers: Any) -> None:
        self._numbers = np.atleast_1d(numbers)

    def shape(self) -> list[int]:
        """Its sizes."""
        return list(self._numbers.shape)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self._numbers if dtype is None else self._numbers.astype(dtype)

    def __getitem__(self, index: Any) -> FedRows:
        real = core.DenseTensor()
        real.set(np.zeros([1] * self._numbers.ndim, self._numbers.dtype), core.CPUPlace())
        real[_within(index)]  # what Paddle says of an index into one
        return FedRows(self._numbers[index])


def _within(index: Any) -> Any:
    """The same kind of an index into sizes of one."""
    if isinstance(index, tuple):
        return tuple(map(_within, index))
    return slice(None) if isinstance(index, slice) else 0 if isinstance(index, int) else index


def fed(session: Tensors, shape: tuple[int, ...], dtype: str) -> Fed:
    """What a loader gives in static mode, in the allocator's memory."""
    operation = session.ledger.begin("to_tensor")
    with session.ledger.allocating("inputs"):
        array = allocate(session.ledger, shape, dtype, "to_tensor")
    session.ledger.finish(operation)
    return Fed(session, array)


def _value() -> str:
    return f"{paddle.pir.Value.__module__}.{paddle.pir.Value.__qualname__}"


def patches() -> Iterator[Patch]:
    """Static mode on and off, and what graphs begin with."""
    yield Patch(paddle, "enable_static", _enable)
    yield Patch(paddle, "disable_static", _disable)
    yield Patch(paddle.base.dygraph, "guard", _guard)
    yield Patch(paddle.static, "data", _data)
    yield Patch(paddle.static.InputSpec, "__init__", _specify)
