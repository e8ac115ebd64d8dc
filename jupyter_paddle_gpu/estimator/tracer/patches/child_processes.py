"""Processes that the program starts with `multiprocessing`: environments of reinforcement learning, pools over data.

An estimate starts none; their code runs in threads of this one, which holds for whatever passes messages or data. Ends
of pipes are copied for them, as a fork does, since both sides close the ends that are not theirs. Where
several of them compute, they take turns.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import multiprocessing
import os
import threading
from collections.abc import Callable
from concurrent.futures.process import ProcessPoolExecutor
from multiprocessing import connection, context, pool, process
from typing import Any

from ..eager.interception import current

_MAIN = threading.main_thread().ident
_THREAD, _TURN = "_thread_of_estimate", "_turn_of_estimate"
started: list[threading.Thread] = []
"""Threads that stand for processes of the running trace."""
_turn = threading.Lock()
"""Held by the one of them that computes, until it ends: each of the real ones has memory of its own, so that the figure
is for one of them."""
_installed = False


def begin() -> None:
    """Start a run."""
    global _turn  # noqa: PLW0603
    started.clear()
    _turn = threading.Lock()


def check() -> None:
    """An operator is about to run: of several processes one computes at a time, the first one first."""
    if threading.get_ident() != _MAIN and (thread := threading.current_thread()) in started:
        mine = vars(thread)
        if _TURN not in mine:
            mine[_TURN] = _turn
            _turn.acquire()


def _own(value: Any) -> Any:
    """An end of a pipe as a forked process has it."""
    if isinstance(value, connection.Connection) and not value.closed:
        return connection.Connection(os.dup(value.fileno()), value.readable, value.writable)
    return value


def _start(original: Callable[..., Any], self: Any) -> None:
    held = [_own(one) for one in self._args]
    self._args = tuple(held)
    self._kwargs = {name: _own(one) for name, one in self._kwargs.items()}

    def run() -> None:
        with contextlib.suppress(BaseException):  # a process that fails stops no other
            self.run()
        for one in (*held, *self._kwargs.values()):
            if isinstance(one, connection.Connection):
                one.close()
        if _TURN in vars(thread):
            vars(thread)[_TURN].release()

    thread = threading.Thread(target=run, name=self.name, daemon=True)
    vars(self)[_THREAD] = thread
    started.append(thread)
    thread.start()


def _join(original: Callable[..., Any], self: Any, timeout: float | None = None) -> None:
    vars(self)[_THREAD].join(timeout)


def _is_alive(original: Callable[..., Any], self: Any) -> bool:
    return bool(vars(self)[_THREAD].is_alive())


def _nothing(original: Callable[..., Any], self: Any) -> None:
    return None


def _pool(original: Callable[..., Any], self: Any, processes: Any = None, *args: Any, **kwargs: Any) -> Any:
    """`multiprocessing.Pool`: one thread, which takes one task after another."""
    initializer = args[0] if args else kwargs.get("initializer")
    return pool.ThreadPool(1, initializer, args[1] if len(args) > 1 else kwargs.get("initargs", ()))


def _executor(original: Callable[..., Any], kind: Any, *args: Any, **kwargs: Any) -> Any:
    """`ProcessPoolExecutor`, in the same way."""
    given = {name: kwargs[name] for name in ("initializer", "initargs") if name in kwargs}
    return concurrent.futures.ThreadPoolExecutor(1, **given)


def _stands(self: Any) -> bool:
    return _THREAD in vars(self)


def _always(self: Any) -> bool:
    return True


def _method(owner: Any, name: str, replacement: Callable[..., Any], applies: Callable[[Any], bool]) -> None:
    original = getattr(owner, name)

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if current() is None or not applies(self):
            return original(self, *args, **kwargs)
        return replacement(original, self, *args, **kwargs)

    method.__name__ = name
    setattr(owner, name, method)


def install() -> None:
    """Replace how processes start and end, once a process."""
    global _installed  # noqa: PLW0603
    if _installed:
        return
    _installed = True
    kind = process.BaseProcess
    _method(kind, "start", _start, _always)
    _method(kind, "join", _join, _stands)
    _method(kind, "is_alive", _is_alive, _stands)
    for name in ("terminate", "kill", "close"):
        _method(kind, name, _nothing, _stands)
    _method(context.BaseContext, "Pool", _pool, _always)
    multiprocessing.Pool = multiprocessing.context._default_context.Pool
    plain: Any = ProcessPoolExecutor.__new__

    def new(kind: Any, *args: Any, **kwargs: Any) -> Any:
        return plain(kind) if current() is None else _executor(plain, kind, *args, **kwargs)

    ProcessPoolExecutor.__new__ = new  # type: ignore[assignment]
