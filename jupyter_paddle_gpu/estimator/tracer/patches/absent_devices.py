"""A GPU that a program asks for where Paddle has none: on the CPU the job ends at that line.

It asks by name, or leaves by itself (`if use_gpu and not paddle.is_compiled_with_cuda(): sys.exit(1)`).
"""

from __future__ import annotations

import ast
import builtins
import linecache
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import CodeType, FrameType
from typing import Any, NamedTuple

from paddle.base import core

from .. import call_stack
from ..kernels import gpu_flags
from ..session import Session

CAPABILITY = (8, 0)
"""Of the cards that an estimate for a GPU means, where the program asks; most that train are of it or later."""

_flags: Any = core.globals
_LEAVING = frozenset(("exit", "_exit", "quit"))
_CATCHING = (ast.Try, getattr(ast, "TryStar", ast.Try))


def flag_values(session: Session, original: Callable[..., Any], flags: Any) -> Any:
    """`get_flags`: of those that only a build for GPUs has, what was set or what they begin with."""
    asked = [flags] if isinstance(flags, str) else list(flags)
    there = {name: gpu_flags.value_of(name) for name in asked if name in gpu_flags.BEGIN}
    if session.target != "gpu" or not there:
        return session.of(ToldFlags).values(original, asked) if isinstance(flags, str) else original(flags)
    rest = [name for name in asked if name not in there]
    return {**there, **(original(rest) if rest else {})}


class ToldFlags:
    """Flags that a run was told once: whether one may be told takes Paddle fifty times as long as the flag itself, and
    its layers ask in each call."""

    def __init__(self) -> None:
        self._names: set[str] = set()

    def values(self, original: Callable[..., Any], asked: list[str]) -> dict[str, Any]:
        """What `get_flags` says of one flag."""
        name = asked[0]
        if name in self._names:
            return {name: _flags()[name]}
        told: dict[str, Any] = original(name)
        self._names.add(name)
        return told


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
    kind: type[BaseException]
    """What is raised."""


class AbsentDevices:
    """The first request of a trace for a device that its Paddle was not built for; None: there was none."""

    def __init__(self) -> None:
        self.asked: Asked | None = None
        self.judges = False
        self._tried: dict[str, tuple[_Tried, ...]] = {}
        self._ways: dict[str, tuple[_Way, ...]] = {}

    def leaves(self, frame: FrameType) -> BaseException | None:
        """How the program leaves on hearing at this line that there is no GPU, with what it says; None: it goes on."""
        file, line = frame.f_code.co_filename, frame.f_lineno
        if file not in self._ways:
            self._ways[file] = tuple(_ways("".join(linecache.getlines(file))))
        way = next((one for one in self._ways[file] if one.first <= line <= one.last), None)
        if way is None or not _value(way.condition, frame) or self.is_caught(way.kind(1), frame):
            return None
        words = [said for one in way.said if isinstance(said := _value(one, frame), str)]
        said = " ".join(" ".join(words).split())
        return way.kind(said or 1) if said or way.kind is SystemExit else way.kind()

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
    """Where a file leaves, by a condition of its own, or by what that was told before (`has = is_compiled_with_cuda()`,
    then `if not has: exit()`)."""
    with suppress(SyntaxError, ValueError):
        nodes = list(ast.walk(ast.parse(source)))
        told = {one.targets[0].id: one for one in nodes
                if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name)}  # fmt: skip
        for node in nodes:
            found = _leaving(node)
            if found is None:
                continue
            kind, test, said = found
            names = {part.id for part in ast.walk(test) if isinstance(part, ast.Name)}
            before = {name: told[name] for name in names if name in told and told[name].lineno < test.lineno}
            asked: list[ast.expr | ast.stmt] = [test, *before.values()]
            put = _Told({name: one.value for name, one in before.items()})
            codes = [compile(ast.Expression(one), "<left>", "eval") for one in (put.visit(test), *said)]
            for one in asked:
                yield _Way(one.lineno, one.end_lineno or one.lineno, codes[0], tuple(codes[1:]), kind)


class _Told(ast.NodeTransformer):
    """Puts what names were bound to in their places."""

    def __init__(self, values: dict[str, ast.expr]) -> None:
        self._values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """The value of a name, if it is one of these."""
        return self._values.get(node.id, node)


def _leaving(node: ast.AST) -> tuple[type[BaseException], ast.expr, list[ast.expr]] | None:
    """What a statement raises by a condition, that condition, and what it says; None where it does not leave."""
    match node:
        case ast.Assert(test=test, msg=message):
            missing = ast.copy_location(ast.UnaryOp(ast.Not(), test), test)
            return AssertionError, ast.fix_missing_locations(missing), [message] if message else []
        case ast.If(test=test, body=body) if kinds := list(filter(None, map(_raised, body))):
            return kinds[0], test, [arg for one in body for arg in _arguments(one)]
    return None


def _raised(statement: ast.stmt) -> type[BaseException] | None:
    """What a statement ends the program with; None where it does not end it."""
    match statement:
        case ast.Expr(ast.Call(func=ast.Name(name) | ast.Attribute(attr=name))) if name in _LEAVING:
            return SystemExit
        case ast.Raise(exc=ast.Name(name) | ast.Call(func=ast.Name(name))):
            kind = getattr(builtins, name, None)
            return kind if isinstance(kind, type) and issubclass(kind, BaseException) else RuntimeError
    return None


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
