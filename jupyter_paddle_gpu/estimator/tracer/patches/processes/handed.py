"""Trainings that the program hands to a pool of threads (`pool.submit(train, 64)`).

Threads of one process train side by side, and which of them is ahead hangs on the machine. A trace has one behind the
other, in the order in which they are handed over and where that stands: so each is seen, and is the training of its
line. What does not train goes to the pool as it is: it may wait for something that comes later.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing import pool
from typing import Any

from ...session import Session
from ..patch import Patch

_ASKED = ("args", "kwds", "callback", "error_callback")
"""What `apply_async` takes behind the function, in its order."""


class Handed:
    """Which functions train, by their names."""

    trains: Callable[[str], bool] = staticmethod(lambda name: False)

    def __init__(self) -> None:
        self._of: weakref.WeakSet[Any] = weakref.WeakSet()

    def holds(self, called: Any, *given: Any) -> bool:
        """Whether a call trains; what it is given may be the function (`ctx.run`, which `to_thread` hands over)."""
        return any(map(self.trains, _names((called, *given))))

    def of(self, threads: object) -> bool:
        """Whether a pool was handed a training before."""
        is_known = threads in self._of
        self._of.add(threads)
        return is_known


def _names(values: tuple[Any, ...]) -> Iterator[str]:
    for value in values:
        if isinstance(value, functools.partial):
            yield from _names((value.func, *value.args))
        elif callable(value):
            yield getattr(value, "__name__", "")
            code = getattr(value, "__code__", None)
            if code is not None and code.co_name == "<lambda>":
                yield from code.co_names


def _tell(session: Session, threads: object, count: int) -> None:
    """Tell of a pool of several threads that is handed a second training."""
    known = session.of(Handed)
    if known.of(threads) and count > 1:
        session.note("trainings_side_by_side", threads=count)


def _submit(
    session: Session, original: Callable[..., Any], self: Any, called: Any, /, *args: Any, **options: Any
) -> Any:
    """`ThreadPoolExecutor.submit(...)`, through which `map` and a loop's `run_in_executor` go as well."""
    if not session.of(Handed).holds(called, *args):
        return original(self, called, *args, **options)
    _tell(session, self, self._max_workers)
    future: Future[Any] = Future()
    try:
        future.set_result(called(*args, **options))
    except Exception as problem:
        future.set_exception(problem)
    return future


def _apply_async(
    session: Session, original: Callable[..., Any], self: Any, called: Any, *given: Any, **options: Any
) -> Any:
    """`ThreadPool.apply_async(function, args, kwds, callback, error_callback)`."""
    if not session.of(Handed).holds(called):
        return original(self, called, *given, **options)
    _tell(session, self, self._processes)
    asked = {**dict(zip(_ASKED, given, strict=False)), **options}
    result: Any = pool.ApplyResult(self, asked.get("callback"), asked.get("error_callback"))
    try:
        found = True, called(*asked.get("args", ()), **(asked.get("kwds") or {}))
    except Exception as problem:
        found = False, problem
    result._set(0, found)
    return result


def patches() -> Iterator[Patch]:
    """How a pool of threads is given something to do."""
    yield Patch(ThreadPoolExecutor, "submit", _submit)
    yield Patch(pool.ThreadPool, "apply_async", _apply_async)
