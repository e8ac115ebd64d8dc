"""Two requests at once, of which neither outlives the one who waits for both."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


class Asked:
    """What one thread has asked workers for. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ends: list[Callable[[], None]] = []
        self._is_over = False

    @contextmanager
    def waiting(self, end: Callable[[], None]) -> Iterator[None]:
        """While an answer is waited for; `end` makes it come at once.

        Raises:
            CancelledError: nobody waits for the answer any more.
        """
        with self._lock:
            if self._is_over:
                raise CancelledError
            self._ends.append(end)
        try:
            yield
        finally:
            with self._lock:
                self._ends.remove(end)
        if self._is_over:
            raise CancelledError

    def end(self) -> None:
        """End what is asked for now, and refuse what would be asked for next."""
        with self._lock:
            self._is_over = True
            ends = list(self._ends)
        for end in ends:
            end()


_asked: contextvars.ContextVar[Asked | None] = contextvars.ContextVar("asked", default=None)


@contextmanager
def ending_with(asked: Asked) -> Iterator[None]:
    """What this thread asks workers for ends when `asked` does."""
    token = _asked.set(asked)
    try:
        yield
    finally:
        _asked.reset(token)


@contextmanager
def waiting(end: Callable[[], None]) -> Iterator[None]:
    """While a worker is waited for: an interrupt ends what it does, here and in the thread that waits beside."""
    asked = _asked.get() or Asked()
    try:
        with asked.waiting(end):
            yield
    except CancelledError:
        raise
    except BaseException:
        end()
        raise


@contextmanager
def beside(work: Callable[[], T]) -> Iterator[Future[T]]:
    """`work` goes on in another thread. Who leaves by an exception, as by an interrupt, does not wait for it: what it
    has asked workers for is ended."""
    asked = Asked()
    context = contextvars.copy_context()
    context.run(_asked.set, asked)
    pool = ThreadPoolExecutor(1, thread_name_prefix="paddle-gpu beside")
    try:
        future = pool.submit(context.run, work)
        # Who waits for both may be ended while it waits for this one.
        with waiting(asked.end):
            yield future
    except BaseException:
        asked.end()
        raise
    finally:
        pool.shutdown(wait=False)
