"""What is done with what a call gives nothing for: `history = model.fit(data)` and `history.history["loss"]`, a
function that forgets its `return`. It hangs on no number of rounds."""

from __future__ import annotations

import ast
import linecache
import sys
import traceback
from collections.abc import Iterable
from types import FrameType
from typing import Any

from ... import call_stack
from ..syntax import nodes

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_GIVES = (ast.Yield, ast.YieldFrom)


def fails(problem: BaseException, sources: Iterable[str]) -> bool:
    """Whether an error is one of using what such a call gave, under the name that it was given alone."""
    is_of_none = isinstance(problem, (AttributeError, TypeError)) and "NoneType" in str(problem)
    if not is_of_none or problem.__traceback__ is None:
        return False
    *_, (frame, line) = traceback.walk_tb(problem.__traceback__)
    file = frame.f_code.co_filename
    if call_stack.cell_of(file) is None:
        return False
    own, everything = nodes("".join(linecache.getlines(file))), [node for source in sources for node in nodes(source)]
    near = {one.id for one in own if isinstance(one, ast.Name) and one.lineno <= line <= (one.end_lineno or line)}
    if str(problem).startswith("cannot unpack"):
        calls = [one.func for node in own if (one := _taken_apart(node, line)) is not None]
        return bool(calls) and all(_is_mute_of_paddles(one, frame) or _is_mute(one, everything) for one in calls)
    empty = [name for name in near if _value(name, frame) is None and _is_bound(name, frame)]
    return bool(empty) and all(
        all(_is_mute_of_paddles(one, frame) or _is_mute(one, everything) for one in made)
        for made in (_made(name, (own, everything), line) for name in empty)
    )


def _taken_apart(node: ast.AST, line: int) -> ast.Call | None:
    """The call of a line that gives what it gives to several names: `loss, rate = evaluate()`."""
    match node:
        case ast.Assign(targets=[ast.Tuple() | ast.List()], value=ast.Call() as call):
            return call if _is_within(node, line) else None
    return None


def _value(name: str, frame: FrameType) -> Any:
    return frame.f_locals.get(name, frame.f_globals.get(name))


def _is_bound(name: str, frame: FrameType) -> bool:
    return name in frame.f_locals or name in frame.f_globals


def _made(name: str, code: tuple[tuple[ast.AST, ...], list[ast.AST]], line: int) -> list[ast.expr]:
    """What is called for all that the code binds a name to; of a cell that binds it above the line, by that alone.

    Args:
        code: of the cell, and all of it.
    """
    own, everything = code
    module = next(one for one in own if isinstance(one, ast.Module))
    above = [one for one in module.body if (one.end_lineno or one.lineno) < line and _stores(name, [one])]
    is_own = bool(above) and not any(_is_within(one, line) for one in own if isinstance(one, _FUNCTIONS))
    parts = list(ast.walk(above[-1])) if is_own else everything
    made = [
        one.value.func
        for one in parts
        if isinstance(one, ast.Assign) and isinstance(one.value, ast.Call) and _names(one) == [name]
    ]
    others = {one.arg for one in everything if isinstance(one, ast.arg)}
    is_all = len(made) == _stores(name, parts) and (is_own or name not in others)
    return made if is_all and (not is_own or isinstance(above[-1], ast.Assign)) else [ast.Name("", ast.Load())]


def _is_within(node: ast.AST, line: int) -> bool:
    first = getattr(node, "lineno", line + 1)
    return first <= line <= (getattr(node, "end_lineno", None) or first)


def _names(node: ast.Assign) -> list[str]:
    return [one.id if isinstance(one, ast.Name) else "" for one in node.targets]


def _stores(name: str, parts: Iterable[ast.AST]) -> int:
    """How often a name is bound in them."""
    inner = (one for part in parts for one in (ast.walk(part) if isinstance(part, ast.stmt) else [part]))
    found = {id(one) for one in inner if isinstance(one, ast.Name) and one.id == name and _is_stored(one)}
    return len(found)


def _is_stored(node: ast.Name) -> bool:
    return not isinstance(node.ctx, ast.Load)


def _is_mute_of_paddles(called: ast.expr, frame: FrameType) -> bool:
    """Whether it is a method of Paddle's in whose code no `return` has a value."""
    if not isinstance(called, ast.Attribute) or not isinstance(called.value, ast.Name):
        return False
    kinds = (kind for kind in type(_value(called.value.id, frame)).__mro__ if called.attr in vars(kind))
    kind = next(kinds, None)
    file = getattr(sys.modules.get(getattr(kind, "__module__", "")), "__file__", None) or ""
    if kind is None or not file.startswith(call_stack.PADDLE) or not file.endswith(".py"):
        return False
    classes = [one for one in nodes("".join(linecache.getlines(file))) if isinstance(one, ast.ClassDef)]
    own = [part for one in classes if one.name == kind.__name__ for part in one.body]
    found = [one for one in own if isinstance(one, ast.FunctionDef) and one.name == called.attr]
    return bool(found) and not any(_gives(part) for one in found for part in _own(one))


def _is_mute(called: ast.expr, everything: list[ast.AST]) -> bool:
    """Whether a function of the program has no `return` with a value."""
    found = [one for one in everything if isinstance(one, ast.FunctionDef) and one.name == getattr(called, "id", "")]
    return bool(found) and not any(one.decorator_list or any(map(_gives, _own(one))) for one in found)


def _own(function: ast.FunctionDef) -> list[ast.AST]:
    """The parts of a function but for those of functions in it."""
    parts, left = list[ast.AST](), list[ast.AST](function.body)
    while left:
        one = left.pop()
        parts.append(one)
        left += [] if isinstance(one, _FUNCTIONS) else ast.iter_child_nodes(one)
    return parts


def _gives(node: ast.AST) -> bool:
    return isinstance(node, _GIVES) or (isinstance(node, ast.Return) and node.value is not None)
