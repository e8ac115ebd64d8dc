"""The end of an estimate's time: the program is stopped where it is, so that the answer can say where that was."""

from __future__ import annotations

import ast
import linecache
import signal
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

from .. import call_stack
from ..session import Session

SHARE = 0.85
"""Part of the time that is given after which the program is stopped: the rest is for the answer."""
WAITS = 0.03
"""Part of a time on the clock below which, in the processor's time, a program waits for something: on a machine that is
busy with other work one that computes has more of it."""


GIVEN_UP = "given_up"
"""The code of a note: where a program was that lacks something, when its step was no longer looked for."""


def given_up(session: Session) -> None:
    """Remember the place; where nothing that is asked for leads on, it is what is told."""
    session.note(GIVEN_UP, **call_stack.told())


class TimeUp(BaseException):
    """The program has had its time."""


class Deadline:
    """The end of a request's time: one for all of its traces.

    Attributes:
        stopped: where the program was when its time was over: file, line and globals of each frame, the outermost
            first.
    """

    def __init__(self) -> None:
        self.stopped: list[tuple[str, int, dict[str, Any]]] = []

    def stop(self, number: int, frame: FrameType | None) -> None:
        """The signal of a timer: of two that come, the first one. The other one would end the answer, as would one that
        comes while what a run of the program has shown is looked at: it comes again.

        Raises:
            TimeUp: the first time that the program runs.
        """
        if not self.stopped:
            found = [(one.f_code.co_filename, line, one.f_globals) for one, line in traceback.walk_stack(frame)]
            if _is_looked_at([file for file, *_ in found]):
                signal.setitimer(_TIMERS[number], AGAIN)
                return
            self.stopped.extend(reversed(found))
            raise TimeUp

    def check(self) -> None:
        """Raise again where the program caught the end."""
        if self.stopped:
            raise TimeUp

    def waits_for(self) -> str:
        """The number that a `while` of the notebook waited for when its time was over; empty where none did.

        `while len(memory) < WARMUP:` waits for `WARMUP`, where that name holds a number.
        """
        for file, line, names in self.stopped:
            for node in ast.walk(ast.parse("".join(linecache.getlines(file)))) if call_stack.is_cell(file) else ():
                if isinstance(node, ast.While) and node.lineno <= line <= (node.end_lineno or line):
                    tested = [one.id for one in ast.walk(node.test) if isinstance(one, ast.Name)]
                    found = [name for name in tested if type(names.get(name)) is int]
                    if found:
                        return found[-1]
        return ""


AGAIN = 0.1
"""Seconds after which a timer comes again that came at no time to stop the program."""
_TIMERS = {
    getattr(signal, name): getattr(signal, timer)
    for name, timer in (("SIGALRM", "ITIMER_REAL"), ("SIGPROF", "ITIMER_PROF"))
    if hasattr(signal, name)
}


def _is_looked_at(files: list[str]) -> bool:
    """Whether the tracer's own code runs, and not for the program, by the files of the frames."""
    return not any(map(call_stack.is_cell, files)) and any(file.startswith(call_stack.TRACER) for file in files)


@contextmanager
def limited(wall_seconds: float, cpu_seconds: float, waiting_seconds: float = 0) -> Iterator[Deadline]:
    """Raise `TimeUp` in the program when its time is over; zero is no limit. Main thread only.

    Args:
        wall_seconds: on the clock.
        cpu_seconds: of the processor's time.
        waiting_seconds: on the clock, in which it does nothing but wait.
    """
    deadline, waiting = Deadline(), Waiting()

    def looked(number: int, frame: FrameType | None) -> None:
        if waiting.waited >= wall_seconds * SHARE or waiting.is_idle():
            signal.setitimer(signal.ITIMER_REAL, 0)  # `stop` may set it again
            deadline.stop(number, frame)

    between = min(wall_seconds, waiting_seconds or wall_seconds) * SHARE
    used = [
        (getattr(signal, timer), getattr(signal, name), handler, *seconds)
        for timer, name, handler, *seconds in (
            ("ITIMER_REAL", "SIGALRM", looked, between, between),
            ("ITIMER_PROF", "SIGPROF", deadline.stop, cpu_seconds * SHARE),
        )
        if seconds[0] and hasattr(signal, timer)
    ]
    before = [(number, signal.signal(number, handler)) for _, number, handler, *_ in used]
    for timer, _, _, *seconds in used:
        signal.setitimer(timer, *seconds)
    try:
        yield deadline
    finally:
        for timer, *_ in used:
            signal.setitimer(timer, 0)
        for number, known in before:
            signal.signal(number, known)


_LATE = 0.7
"""Part of the time on the clock after which no trace more is begun."""


class Clock:
    """What is left of a request's time: a trace more is begun only where there is enough for it."""

    def __init__(self, request: dict[str, Any], deadline: Deadline) -> None:
        self._deadline = deadline
        self._wall, self._cpu = request.get("wall_seconds") or 0, request.get("cpu_seconds") or 0
        self._began = time.monotonic(), time.process_time()

    def has_time(self) -> bool:
        """Whether no more than half of the processor's time is gone, and time to answer is left on the clock: a busy
        machine is slow, but no reason to leave a suggestion out."""
        wall, cpu = time.monotonic() - self._began[0], time.process_time() - self._began[1]
        is_late = (self._wall and wall > self._wall * _LATE) or (self._cpu and cpu > self._cpu / 2)
        return not is_late and not self._deadline.stopped


class Waiting:
    """Whether a program does nothing but wait: for a lock, a pipe, the clock."""

    def __init__(self) -> None:
        self._began = self._seen = time.monotonic()
        self._used = time.process_time()

    @property
    def waited(self) -> float:
        """Seconds since it began."""
        return time.monotonic() - self._began

    def is_idle(self) -> bool:
        """Whether it waited, but for a small part, since the last look."""
        now, used = time.monotonic(), time.process_time()
        passed, worked = now - self._seen, used - self._used
        self._seen, self._used = now, used
        return worked < passed * WAITS


def may_interrupt() -> bool:
    """Whether this system, in this thread, can interrupt code that computes."""
    return hasattr(signal, "ITIMER_VIRTUAL") and threading.current_thread() is threading.main_thread()


@contextmanager
def interrupted(seconds: float, problem: type[BaseException]) -> Iterator[None]:
    """Raise an exception in code that computes for longer, whatever it does; it goes no further than this.

    Args:
        seconds: of the program's own time with the processor.
    """

    def stop(*_: object) -> None:
        raise problem

    before = signal.signal(signal.SIGVTALRM, stop)
    try:
        with suppress(problem):
            signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
            yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
