"""The running trace: one object that holds whatever a run has to remember. It is made, run and thrown away.

Each floor keeps what it has to remember in a class of its own. A session has one object of each such class, put there
when the session is made or made when it is first asked for. So nothing of a trace outlives it, and no floor has to know
one above it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

Part = TypeVar("Part")
Refused = TypeVar("Refused", bound=BaseException)
NUMBERS, SIZES, SELECTED, CUT = "numbers", "sizes", "selected", "cut"
"""What a program can be told that is not known: numbers of a tensor, how large a tensor is, how much a condition
selects, and how much lies between two numbers (`x[start:end]`), which no other stand-ins tell."""
_REFUSED_IN = "_jupyter_paddle_gpu_refused_in"


class NotFollowedError(NotImplementedError):
    """An operator that no trace follows, by its name: what it takes hangs on numbers that nobody computes (of a sparse
    tensor, where they are not zero). The program is not wrong for it."""


class Session:
    """One run of a program.

    Attributes:
        target: cpu or gpu: the device that the estimate is for.
        notes: what was assumed or ignored, by code.
        assumed: which kinds of stand-ins the program was given so far (`NUMBERS`, `SIZES`, `SELECTED`, `CUT`).
    """

    def __init__(self, target: str = "gpu") -> None:
        self.target = target
        self.notes: dict[str, dict[str, Any]] = {}
        self.assumed: set[str] = set()
        self._refusals = object()
        """What a refusal is marked with. To hold it would hold its traceback, and so what its frames had in memory."""
        self._parts: dict[type, Any] = {}

    def of(self, kind: type[Part]) -> Part:
        """The session's object of a kind; made when it is first asked for."""
        part: Part | None = self._parts.get(kind)
        if part is None:
            part = self._parts[kind] = kind()
        return part

    def put(self, *parts: object) -> None:
        """Have the session hold these objects, each as the one of its kind."""
        self._parts.update({type(part): part for part in parts})

    def note(self, code: str, **params: Any) -> None:
        """Remember something assumed or ignored, once a code."""
        self.notes.setdefault(code, params)

    def refused(self, problem: Refused) -> Refused:
        """To be raised: what Paddle itself raises for shapes, types and attributes as the program has them."""
        problem.__dict__[_REFUSED_IN] = self._refusals
        return problem

    def is_refusal(self, problem: BaseException) -> bool:
        """Whether Paddle raised it so."""
        return problem.__dict__.get(_REFUSED_IN) is self._refusals

    def close(self) -> None:
        """The run is over: what its parts have changed outside of it (`close()` of each) is put back."""
        for part in self._parts.values():
            if hasattr(part, "close"):
                part.close()


_current: Session | None = None


class _Pauses(threading.local):
    """How deep the thread is in `paused`: what another thread does meanwhile goes on to the session."""

    def __init__(self) -> None:
        self.depth = 0


_pauses = _Pauses()


def current() -> Session | None:
    """The session of the running trace; None also where the thread has it paused."""
    return None if _pauses.depth else _current


def running() -> Session:
    """The session of the running trace.

    Raises:
        RuntimeError: none runs.
    """
    session = current()
    if session is None:
        raise RuntimeError("no trace is running")
    return session


@contextmanager
def entered(session: Session) -> Iterator[None]:
    """Send what the program does to a session."""
    global _current  # noqa: PLW0603 - one place holds which trace runs
    before, _current = _current, session
    try:
        yield
    finally:
        _current = before


@contextmanager
def paused() -> Iterator[None]:
    """What this thread does inside runs for real: numbers that are known are computed by Paddle itself."""
    _pauses.depth += 1
    try:
        yield
    finally:
        _pauses.depth -= 1
