"""A GPU that a program asks for where Paddle has none: on the CPU the job ends at that line.

It asks by name, or leaves by itself (`if use_gpu and not paddle.is_compiled_with_cuda(): sys.exit(1)`).
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import CodeType, FrameType
from typing import Any, NamedTuple

from paddle.base import core

from .. import call_stack
from ..session import Session

_LEAVING = frozenset(("exit", "_exit", "quit"))
_CATCHING = (ast.Try, getattr(ast, "TryStar", ast.Try))


class Asked(NamedTuple):
    """Who asks: the cell, its line, the device's name, and what Paddle says to it."""

    cell: int
    line: int
    device: str
    problem: BaseException


class _Tried(NamedTuple):
    """From which line to which something is tried, and what is caught there; None: all."""

    first: int
    last: int
    caught: CodeType | None


class _Way(NamedTuple):
    """A condition under which a file leaves: its lines, and what is said then."""

    first: int
    last: int
    condition: CodeType
    said: tuple[CodeType, ...]


class AbsentDevices:
    """The first request of a trace for a device that its Paddle was not built for; None: there was none."""

    def __init__(self) -> None:
        self.asked: Asked | None = None
        self.judges = False
        self._tried: dict[str, tuple[_Tried, ...]] = {}
        self._ways: dict[str, tuple[_Way, ...]] = {}

    def leaves(self, frame: FrameType) -> SystemExit | None:
        """How the program leaves on hearing at this line that there is no GPU, with what it says; None: it goes on."""
        file, line = frame.f_code.co_filename, frame.f_lineno
        if file not in self._ways:
            self._ways[file] = tuple(_ways("".join(linecache.getlines(file))))
        way = next((one for one in self._ways[file] if one.first <= line <= one.last), None)
        if way is None or not _value(way.condition, frame) or self.is_caught(SystemExit(1), frame):
            return None
        words = [said for one in way.said if isinstance(said := _value(one, frame), str)]
        return SystemExit(" ".join(" ".join(words).split()) or 1)

    def is_caught(self, problem: BaseException, frame: FrameType | None) -> bool:
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
        _keep(found, frame, device, problem)


def leaves(session: Session, frame: FrameType) -> bool:
    """Whether a program that is told at this frame that there is no GPU leaves; it is noted, and to be told that there
    is one."""
    found = session.of(AbsentDevices)
    if session.target != "cpu" or core.is_compiled_with_cuda() or found.judges:
        return False
    found.judges = True  # the condition asks again
    try:
        problem = found.leaves(frame)
    finally:
        found.judges = False
    if problem is not None:
        _keep(found, frame, "GPU", problem)
    return problem is not None


def _keep(found: AbsentDevices, frame: FrameType | None, device: str, problem: BaseException) -> None:
    """The first request of all."""
    while frame is not None and (cell := call_stack.cell_of(frame.f_code.co_filename)) is None:
        frame = frame.f_back
    if found.asked is None and frame is not None and cell is not None:
        found.asked = Asked(cell, frame.f_lineno, device, problem.with_traceback(None))


def _ways(source: str) -> Iterator[_Way]:
    """Where a file leaves, by a condition of its own."""
    with suppress(SyntaxError, ValueError):
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.If) and any(map(_is_exit, node.body)):
                said = [arg for one in node.body for arg in _arguments(one)]
                codes = [compile(ast.Expression(one), "<left>", "eval") for one in (node.test, *said)]
                yield _Way(node.test.lineno, node.test.end_lineno or node.test.lineno, codes[0], tuple(codes[1:]))


def _is_exit(statement: ast.stmt) -> bool:
    match statement:
        case ast.Expr(ast.Call(func=ast.Name(name) | ast.Attribute(attr=name))):
            return name in _LEAVING
        case ast.Raise(exc=ast.Name("SystemExit") | ast.Call(func=ast.Name("SystemExit"))):
            return True
    return False


def _arguments(statement: ast.stmt) -> list[ast.expr]:
    """What a statement says: the arguments of the call that it is."""
    match statement:
        case ast.Expr(ast.Call(args=given)) | ast.Raise(exc=ast.Call(args=given)):
            return [one for one in given if not isinstance(one, ast.Starred)]
    return []


def _value(code: CodeType, frame: FrameType) -> Any:
    """An expression's value where a frame is; None where it has none."""
    try:
        return eval(code, frame.f_globals, frame.f_locals)
    except Exception:  # whatever the program's own expression raises
        return None


def _tried(source: str) -> Iterator[_Tried]:
    """What a file tries whose errors it catches."""
    with suppress(SyntaxError, ValueError):
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, _CATCHING):
                for handler in node.handlers:
                    kind = handler.type
                    caught = None if kind is None else compile(ast.Expression(kind), "<caught>", "eval")
                    yield _Tried(node.body[0].lineno, node.body[-1].end_lineno or node.body[-1].lineno, caught)


def _catches(tried: _Tried, problem: BaseException, frame: FrameType) -> bool:
    """Whether a handler is for such a problem (`contextlib` tries each `with`, for StopIteration alone)."""
    try:
        return tried.caught is None or isinstance(problem, eval(tried.caught, frame.f_globals, frame.f_locals))
    except Exception:  # a name that is made later: taken for one that catches
        return True
