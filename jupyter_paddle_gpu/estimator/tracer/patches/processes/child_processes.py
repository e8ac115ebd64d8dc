"""Processes that the program starts with `multiprocessing`: environments of reinforcement learning, pools over data.

An estimate starts none; their code runs in threads of this one, which holds for whatever passes messages or data. Ends
of pipes are copied for them, as a fork does, since both sides close the ends that are not theirs. Where
several of them compute, they take turns. Locks and shared numbers, which real processes have in /dev/shm, where an
estimate writes nothing, are those of threads.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures.process import ProcessPoolExecutor
from multiprocessing import connection, context, heap, pool, process, synchronize, util
from typing import Any

from ...session import Session
from ..awaited import Awaited
from ..patch import Patch
from . import queues

_RECURSIVE = 0
"""`multiprocessing.synchronize.RECURSIVE_MUTEX`; the other kind counts."""
_MAIN = threading.main_thread().ident
_THREAD, _TURN, _ENDED = "_thread_of_estimate", "_turn_of_estimate", "_ended_in_estimate"
_SESSION = "_session_of_estimate"


class _Counter:
    """What `_multiprocessing.SemLock` is to the locks, semaphores and conditions that are made of it."""

    def __init__(self, kind: int, value: int, maxvalue: int) -> None:
        self.kind, self.maxvalue, self._value = kind, maxvalue, value
        self._changed = threading.Condition()
        self._owner, self._depth = 0, 0

    def acquire(self, block: bool = True, timeout: float | None = None) -> bool:
        """Take one, or one more of a lock that this thread has already."""
        with self._changed:
            if not (self._again() or self._changed.wait_for(lambda: self._value, timeout if block else 0)):
                return False
            self._value -= 0 if self._again() else 1
            self._owner, self._depth = threading.get_ident(), self._depth + 1
            return True

    def _again(self) -> bool:
        return self.kind == _RECURSIVE and self._is_mine()

    def release(self) -> None:
        """Give it back.

        Raises:
            ValueError: more were given back than there are.
            AssertionError: the lock is another thread's.
        """
        with self._changed:
            if self.kind == _RECURSIVE and not self._is_mine():
                raise AssertionError("attempt to release recursive lock not owned by thread")
            if self._value >= self.maxvalue:
                raise ValueError("semaphore or lock released too many times")
            self._value += 0 if self._again() and self._depth > 1 else 1
            self._depth -= 1
            self._changed.notify()

    __enter__ = acquire

    def __exit__(self, *_: object) -> None:
        self.release()

    def _count(self) -> int:
        return self._depth

    def _is_mine(self) -> bool:
        return self._depth > 0 and self._owner == threading.get_ident()

    def _get_value(self) -> int:
        return self._value

    def _is_zero(self) -> bool:
        return not self._value


class ChildProcesses:
    """Threads that stand for processes of one trace."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.started: list[threading.Thread] = []
        self._turn = threading.Lock()
        """Held by the one of them that computes, until it ends: each of the real ones has memory of its own, so that
        the figure is for one of them."""

    def start(self, run: Callable[[], None], name: str) -> threading.Thread:
        """A thread for a process; what it leaves behind, when its session is over, ends with its next operator."""

        def turn() -> None:
            try:
                run()
            finally:
                if _TURN in vars(thread):
                    vars(thread)[_TURN].release()

        thread = threading.Thread(target=turn, name=name, daemon=True)
        vars(thread)[_SESSION] = self._session
        self.started.append(thread)
        thread.start()
        return thread

    def unstarted(self, name: str) -> threading.Thread:
        """The same for a process whose code does not run."""
        thread = threading.Thread(name=name, daemon=True)
        vars(thread)[_ENDED] = True
        return thread

    def check(self) -> None:
        """An operator is about to run: of several processes one computes at a time, the first one first.

        Raises:
            SystemExit: the thread stands for a process that was ended, or of a trace that is over.
        """
        if threading.get_ident() == _MAIN:
            return
        thread = threading.current_thread()
        mine = vars(thread)
        if mine.get(_SESSION, self._session) is not self._session or _ENDED in mine:
            raise SystemExit
        if thread in self.started and _TURN not in mine:
            mine[_TURN] = self._turn
            self._turn.acquire()


def _counter(session: Session, original: Callable[..., Any], self: Any, *given: int, **_: Any) -> None:
    """`SemLock(kind, value, maxvalue, ctx=...)`, the base of all locks."""
    self._semlock = _Counter(*given)
    self._make_methods()


def _own_folder(session: Session, original: Callable[..., Any], self: Any, size: int) -> str:
    """Where an arena of shared numbers has its file: with the estimate's own."""
    return util.get_temp_dir()


def _own(value: Any) -> Any:
    """An end of a pipe as a forked process has it."""
    if isinstance(value, connection.Connection) and not value.closed:
        return connection.Connection(os.dup(value.fileno()), value.readable, value.writable)
    return value


def _start(session: Session, original: Callable[..., Any], self: Any) -> None:
    if queues.feeds(self):
        vars(self)[_THREAD] = session.of(ChildProcesses).unstarted(self.name)
        return
    held = [_own(one) for one in self._args]
    self._args = tuple(held)
    self._kwargs = {name: _own(one) for name, one in self._kwargs.items()}

    def run() -> None:
        with contextlib.suppress(BaseException):  # a process that fails stops no other
            self.run()
        for one in (*held, *self._kwargs.values()):
            if isinstance(one, connection.Connection):
                one.close()

    vars(self)[_THREAD] = session.of(ChildProcesses).start(run, self.name)


def _join(thread: threading.Thread, timeout: float | None = None) -> None:
    if _ENDED not in vars(thread):
        thread.join(timeout)


def _is_alive(thread: threading.Thread) -> bool:
    return _ENDED not in vars(thread) and thread.is_alive()


def _end(thread: threading.Thread) -> None:
    """A thread cannot be ended from outside: nobody waits for it any more, and its next operator ends it."""
    vars(thread)[_ENDED] = True


def _of_thread(answer: Callable[..., Any]) -> Callable[..., Any]:
    """A method of processes that is asked of the thread which stands for one; others are real."""

    def method(session: Session, original: Callable[..., Any], self: Any, *args: Any, **kwargs: Any) -> Any:
        thread = vars(self).get(_THREAD)
        return original(self, *args, **kwargs) if thread is None else answer(thread, *args, **kwargs)

    return method


class _Pool(pool.ThreadPool):
    """One thread, which takes one task after another; a stream of results has each made when it is asked for, so that
    an endless one can be begun."""

    def imap(self, func: Any, iterable: Any, chunksize: int | None = 1) -> Any:
        """Results in order."""
        return _Results(queues.computed(func, one) for one in iterable)

    imap_unordered = imap


class _Results:
    """What `imap` gives."""

    def __init__(self, found: Iterator[Any]) -> None:
        self._found = found

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self, timeout: float | None = None) -> Any:
        return next(self._found)

    next = __next__


def _pool(
    session: Session, original: Callable[..., Any], _: Any, processes: Any = None, *args: Any, **kwargs: Any
) -> Any:
    """`Pool` of a context."""
    initializer = args[0] if args else kwargs.get("initializer")
    return _Pool(1, initializer, args[1] if len(args) > 1 else kwargs.get("initargs", ()))


def _own_pool(session: Session, original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """`multiprocessing.Pool`, the one of the context that is the default."""
    return _pool(session, original, None, *args, **kwargs)


def _executor(session: Session, original: Callable[..., Any], kind: Any, *args: Any, **kwargs: Any) -> Any:
    """`ProcessPoolExecutor`, in the same way."""
    given = {name: kwargs[name] for name in ("initializer", "initargs") if name in kwargs}
    return concurrent.futures.ThreadPoolExecutor(1, **given)


def _one_by_one(session: Session, original: Callable[..., Any], _: Any, calls: Any) -> Any:
    """`joblib.Parallel(n_jobs=8)(delayed(load)(path) for path in paths)`: one call behind the other."""
    return [function(*args, **kwargs) for function, args, kwargs in calls]


def patches() -> Iterator[Patch]:
    """How processes start and end."""
    kind = process.BaseProcess
    yield Patch(kind, "start", _start)
    yield Patch(kind, "join", _of_thread(_join))
    yield Patch(kind, "is_alive", _of_thread(_is_alive))
    yield from (Patch(kind, name, _of_thread(_end)) for name in ("terminate", "kill", "close"))
    yield Patch(synchronize.SemLock, "__init__", _counter)
    if hasattr(heap.Arena, "_choose_dir"):  # Windows has no file behind it
        yield Patch(heap.Arena, "_choose_dir", _own_folder)
    yield Patch(context.BaseContext, "Pool", _pool)
    yield Patch(multiprocessing, "Pool", _own_pool)
    yield Patch(ProcessPoolExecutor, "__new__", _executor)
    yield Patch(Awaited("joblib.parallel", "Parallel"), "__call__", _one_by_one)
