"""Queues that a process or a thread of the program fills with batches of data that is not here.

`Process(target=sample, args=(users, batch_size, queue)).start()` and `queue.get()` in the loop that trains: without the
users there is nothing to put, and whoever takes waits for good. Such a target is not started. What it would put is data
of unknown content, and `makings` knows by which function it comes about: with samples made up, that is run up to its
first `put`.
"""

from __future__ import annotations

import functools
import queue
import threading
from collections.abc import Callable, Iterator
from multiprocessing import process, queues
from typing import Any

from ...session import Session, current
from ...undecided import variants
from ...undecided.absent_data import Unseen, is_unseen
from ..data import constructed, makings, read_names
from ..patch import Patch

_FED = "_fed_in_estimate"
"""The attribute of a queue that holds what fills it and was not started: each a `functools.partial` that gives what is
put first."""
_KINDS = (queue.Queue, queue.SimpleQueue, queues.Queue, queues.SimpleQueue)


class _PutError(BaseException):
    """Something was put into a queue while only the first thing is asked for."""

    def __init__(self, item: Any) -> None:
        super().__init__()
        self.item = item


class Feeds:
    """Whether a target runs up to its first `put`, and in which thread."""

    def __init__(self) -> None:
        self.running: int | None = None


def feeds(runs: threading.Thread | process.BaseProcess) -> bool:
    """Whether what is about to be started fills a queue with data that is not here, so that it is not started."""
    target, args, named = _called(runs)
    if target is None:
        return False
    bound = getattr(target, "__self__", None)
    held = [*args, *named.values(), bound, *getattr(bound, "__dict__", {}).values()]
    read = [space[name] for space, name in read_names.read_by(target)]
    found = [one for one in (*held, *read) if isinstance(one, _KINDS)]
    is_absent = variants.present() is not None or any(
        is_unseen(one) or constructed.holds_data(one) for one in (*held, *read)
    )
    if not found or not is_absent:
        return False
    for one in found:
        vars(one).setdefault(_FED, []).append(functools.partial(_first_of(target), *args, **named))
    return True


def _called(runs: Any) -> tuple[Callable[..., Any] | None, tuple[Any, ...], dict[str, Any]]:
    """What a thread or a process calls, and with what; a class of the program's own has it in `run`."""
    if type(runs).run not in (threading.Thread.run, process.BaseProcess.run):
        return runs.run, (), {}
    return runs._target, tuple(runs._args), dict(runs._kwargs)


def _first_of(target: Callable[..., Any]) -> Callable[..., Any]:
    def first(*args: Any, **named: Any) -> Any:
        """What the target puts first; None where it ends before."""
        session = current()
        assert session is not None
        state = session.of(Feeds)
        before, state.running = state.running, threading.get_ident()
        try:
            target(*args, **named)
        except _PutError as put:
            return list(put.item) if isinstance(put.item, Iterator) else put.item
        finally:
            state.running = before
        return None

    return first


def _put(session: Session, original: Callable[..., Any], self: Any, item: Any, *args: Any, **kwargs: Any) -> Any:
    if session.of(Feeds).running == threading.get_ident():
        raise _PutError(item)
    return original(self, item, *args, **kwargs)


def _get(session: Session, original: Callable[..., Any], self: Any, *args: Any, **kwargs: Any) -> Any:
    """What is in the queue; data of unknown content where what fills it was not started."""
    filled = getattr(self, "__dict__", {}).get(_FED)
    if not filled or not self.empty():
        return original(self, *args, **kwargs)
    if variants.present() is not None:
        return makings.Making(filled[0], ())()
    return _of_absent(filled[0])


def computed(function: Callable[..., Any], given: Any) -> Any:
    """What a pool's task gives; data of unknown content where it is given such."""
    is_absent = variants.present() is None and is_unseen(given)
    return _of_absent(functools.partial(function, given)) if is_absent else function(given)


def _of_absent(make: Callable[[], Any]) -> Unseen:
    found = Unseen()
    makings.remember(found, make)
    return found


def _thread_started(session: Session, original: Callable[..., Any], self: Any) -> None:
    if not feeds(self):
        original(self)


def patches() -> Iterator[Patch]:
    """What is put into queues and taken out."""
    for kind in (queue.Queue, queues.Queue, queues.SimpleQueue):
        yield Patch(kind, "put", _put)
        yield Patch(kind, "get", _get)
    yield Patch(threading.Thread, "start", _thread_started)
