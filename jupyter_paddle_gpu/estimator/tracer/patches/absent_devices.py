"""A GPU that a program asks for by name where Paddle has none: on the CPU the job ends at that line."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Callable
from functools import lru_cache
from types import FrameType
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


class AbsentDevices:
    """The first request of a trace for a device that its Paddle was not built for; None: there was none."""

    def __init__(self) -> None:
        self.asked: Asked | None = None


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
        found = session.of(AbsentDevices)
        if found.asked is not None:
            return
        frame = call_stack.caller((call_stack.TRACER, call_stack.PADDLE))
        if _is_caught(frame):
            raise
        while frame is not None and (cell := call_stack.cell_of(frame.f_code.co_filename)) is None:
            frame = frame.f_back
        if frame is not None and cell is not None:
            found.asked = Asked(cell, frame.f_lineno, device, problem.with_traceback(None))


def _is_caught(frame: FrameType | None) -> bool:
    """Whether the line, or one that called it, stands in a `try`."""
    while frame is not None and not frame.f_code.co_filename.startswith(call_stack.TRACER):
        file, line = frame.f_code.co_filename, frame.f_lineno
        if any(first <= line <= last for first, last in _tried("".join(linecache.getlines(file)))):
            return True
        frame = frame.f_back
    return False


@lru_cache(maxsize=64)
def _tried(source: str) -> tuple[tuple[int, int], ...]:
    """From which line to which something is tried."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return ()
    found = (node for node in ast.walk(tree) if isinstance(node, _CATCHING) and node.handlers)
    return tuple((node.body[0].lineno, node.body[-1].end_lineno or node.body[-1].lineno) for node in found)
