"""A GPU that a program asks for by name where Paddle has none: on the CPU the job ends at that line."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import CodeType, FrameType
from typing import NamedTuple

from paddle.base import core

from .. import call_stack
from ..session import Session

_CATCHING = (ast.Try, getattr(ast, "TryStar", ast.Try))


class Asked(NamedTuple):
    """Who asks: the cell, its line, the device's name, and what Paddle says to it."""

    cell: int
    line: int
    device: str
    problem: Exception


class _Tried(NamedTuple):
    """From which line to which something is tried, and what is caught there; None: all."""

    first: int
    last: int
    caught: CodeType | None


class AbsentDevices:
    """The first request of a trace for a device that its Paddle was not built for; None: there was none."""

    def __init__(self) -> None:
        self.asked: Asked | None = None
        self._tried: dict[str, tuple[_Tried, ...]] = {}

    def is_caught(self, problem: Exception, frame: FrameType | None) -> bool:
        """Whether the line at which a frame is, or one that called it, stands in a `try` that catches the problem."""
        while frame is not None and not frame.f_code.co_filename.startswith(call_stack.TRACER):
            file, line = frame.f_code.co_filename, frame.f_lineno
            if file not in self._tried:  # a program may move its data to a device in each step
                self._tried[file] = tuple(_tried("".join(linecache.getlines(file))))
            if any(one.first <= line <= one.last and _catches(one, problem, frame) for one in self._tried[file]):
                return True
            frame = frame.f_back
        return False


def ask(session: Session, device: str, original: Callable[[], object]) -> None:
    """Note that the program asks for a device. The trace goes on: its figure is that of the same on the CPU.

    Args:
        original: Paddle's own function, called with a build for CPUs alone, where it refuses.

    Raises:
        Exception: what Paddle raises, where the program catches that and takes another device.
    """
    if session.target != "cpu" or core.is_compiled_with_cuda():
        return
    try:
        original()
    except Exception as problem:  # whatever Paddle says
        found, frame = session.of(AbsentDevices), call_stack.caller((call_stack.TRACER, call_stack.PADDLE))
        if found.is_caught(problem, frame):
            raise
        if found.asked is not None:
            return
        while frame is not None and (cell := call_stack.cell_of(frame.f_code.co_filename)) is None:
            frame = frame.f_back
        if frame is not None and cell is not None:
            found.asked = Asked(cell, frame.f_lineno, device, problem.with_traceback(None))


def _tried(source: str) -> Iterator[_Tried]:
    """What a file tries whose errors it catches."""
    with suppress(SyntaxError, ValueError):
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, _CATCHING):
                for handler in node.handlers:
                    kind = handler.type
                    caught = None if kind is None else compile(ast.Expression(kind), "<caught>", "eval")
                    yield _Tried(node.body[0].lineno, node.body[-1].end_lineno or node.body[-1].lineno, caught)


def _catches(tried: _Tried, problem: Exception, frame: FrameType) -> bool:
    """Whether a handler is for such a problem (`contextlib` tries each `with`, for StopIteration alone)."""
    try:
        return tried.caught is None or isinstance(problem, eval(tried.caught, frame.f_globals, frame.f_locals))
    except Exception:  # a name that is made later: taken for one that catches
        return True
