"""The end of an estimate's time: the program is stopped where it is, so that the answer can say where that was."""

from __future__ import annotations

import ast
import linecache
import signal
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from .. import call_stack

SHARE = 0.85
"""Part of the time that is given after which the program is stopped: the rest is for the answer."""
_TIMERS = (("ITIMER_REAL", "SIGALRM"), ("ITIMER_PROF", "SIGPROF"))
"""Timers of wall and of processor time, with the signals that they send."""


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
        """The signal of a timer.

        Raises:
            TimeUp: always.
        """
        if not self.stopped:
            found = [(one.f_code.co_filename, line, one.f_globals) for one, line in traceback.walk_stack(frame)]
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


@contextmanager
def limited(wall_seconds: float, cpu_seconds: float) -> Iterator[Deadline]:
    """Raise `TimeUp` in the program when its time is over; zero is no limit. Main thread only."""
    used = [
        (getattr(signal, timer), getattr(signal, name), seconds * SHARE)
        for (timer, name), seconds in zip(_TIMERS, (wall_seconds, cpu_seconds), strict=True)
        if seconds and hasattr(signal, timer)
    ]
    deadline = Deadline()
    before = [(number, signal.signal(number, deadline.stop)) for _, number, _ in used]
    for timer, _, seconds in used:
        signal.setitimer(timer, seconds)
    try:
        yield deadline
    finally:
        for timer, _, _ in used:
            signal.setitimer(timer, 0)
        for number, handler in before:
            signal.signal(number, handler)
