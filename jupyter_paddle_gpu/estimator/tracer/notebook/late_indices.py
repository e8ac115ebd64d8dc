"""An index that a later round of the loop that trains brings (`xs[i]` of five in `for i in range(10)`).

The trace ends with its step; the rounds behind it are not run. But the loop counts, what it takes one of by its count
is a list or an array of the program's, and how long that is does not change: so the round that fails is known.
"""

from __future__ import annotations

import ast
import re
from types import FrameType, TracebackType
from typing import Any

import numpy as np

from .. import call_stack
from ..patches.data.loaders import Loaders
from ..session import Session

_LEAVING = (ast.Break, ast.Continue, ast.Return, ast.Raise, ast.Yield, ast.YieldFrom)
"""By these a loop may not come to its later rounds."""
_FUNCTIONS = (ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_CONDITIONAL = (ast.If, ast.IfExp, ast.BoolOp, ast.Try, ast.While, ast.For, ast.With, *_FUNCTIONS, *_COMPREHENSIONS)
"""What stands in these is not evaluated in each round as it stands there."""
_INDEXED = re.compile(r"\w\s*\[\s*[^\W\d]\w*\s*\]")
"""To look for `xs[i]` in a source is quicker than to go through its tree."""
_UNSURE = ("data_", "dataset_", "stand_in_", "value_failed")
"""Notes that say that numbers or lengths of the program may be others."""


def look(session: Session, ended: BaseException, sources: dict[int, str]) -> None:
    """Remember the index that fails in a later round of the loops that a trace has just left.

    Args:
        ended: with the way to the step.
        sources: code of the cells by their index.
    """
    loaders = session.of(Loaders)
    if loaders.late is not None or any(code.startswith(_UNSURE) for code in session.notes):
        return
    step: TracebackType | None = ended.__traceback__
    found: tuple[int, int, BaseException] | None = None
    while step is not None:
        cell = call_stack.cell_of(step.tb_frame.f_code.co_filename)
        if cell is not None and cell in sources and _INDEXED.search(sources[cell]):
            tree = ast.parse(sources[cell])
            if _handles(tree, step.tb_lineno):
                return
            late = _late(tree, step.tb_lineno, step.tb_frame)
            found = (cell, *late) if late is not None else found
        step = step.tb_next
    loaders.late = found


def _handles(tree: ast.Module, line: int) -> bool:
    """Whether a line stands in a `try`, so that an error may be no end."""
    return any(isinstance(one, ast.Try) and _holds(one, line) for one in ast.walk(tree))


def _holds(node: ast.stmt, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def _late(tree: ast.Module, line: int, frame: FrameType) -> tuple[int, BaseException] | None:
    """Line and error of the first index that fails, in the innermost of the counting loops around a line."""
    loops = [one for one in ast.walk(tree) if isinstance(one, ast.For) and _holds(one, line) and one.lineno < line]
    found = (_in(loop, frame) for loop in sorted(loops, key=lambda one: -one.lineno))
    return next((one for one in found if one is not None), None)


def _in(loop: ast.For, frame: FrameType) -> tuple[int, BaseException] | None:
    nodes = [one for statement in loop.body for one in ast.walk(statement)]
    rounds = _rounds(loop.iter, frame)
    if rounds is None or not isinstance(loop.target, ast.Name) or any(isinstance(one, _LEAVING) for one in nodes):
        return None
    changed = {one.id for one in nodes if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load)}
    changed |= {one.value.id for one in nodes if isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name)}
    failing = []
    for one in (part for statement in loop.body for part in _certain(statement)):
        match one:
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Name(id=index), ctx=ast.Load()):
                known = index == loop.target.id and not {name, index} & changed
                if known and (found := _failing(_value(name, frame), rounds)) is not None:
                    failing.append((found[0], one.lineno, found[1]))
    first = min(failing, key=lambda one: one[:2], default=None)
    return None if first is None else first[1:]


def _certain(node: ast.AST) -> list[ast.AST]:
    """What of a statement is evaluated in each round."""
    if isinstance(node, _CONDITIONAL):
        return []
    return [node, *(one for child in ast.iter_child_nodes(node) for one in _certain(child))]


def _value(name: str, frame: FrameType) -> Any:
    return frame.f_locals.get(name, frame.f_globals.get(name))


def _rounds(made: ast.expr, frame: FrameType) -> range | None:
    """What a loop counts, where `range` is given whole numbers that are known."""
    match made:
        case ast.Call(func=ast.Name(id="range"), args=[*given], keywords=[]) if _value("range", frame) is None:
            numbers = [_number(one, frame) for one in given]
            if given and all(type(one) is int for one in numbers):
                return range(*numbers) if 0 not in numbers[2:] else None  # type: ignore[arg-type]
    return None


def _number(expression: ast.expr, frame: FrameType) -> int | None:
    match expression:
        case ast.Constant(value=int() as value):
            return value
        case ast.Name(id=name):
            value = _value(name, frame)
            return value if type(value) is int else None
    return None


def _failing(value: Any, rounds: range) -> tuple[int, BaseException] | None:
    """The first index that a list, a tuple or an array does not have, and what is raised for it."""
    if type(value) not in (list, tuple, np.ndarray) or (type(value) is np.ndarray and not value.ndim):
        return None
    count = len(value)
    index = next((one for one in rounds if not -count <= one < count), None)
    if index is None:
        return None
    try:
        value[index]
    except IndexError as problem:
        return index, problem
    return None
