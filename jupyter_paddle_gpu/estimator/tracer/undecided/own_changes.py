"""What methods of the program's own objects bind and fill of them, as their code says it.

A method that data keeps from running would have set more of its object than it did: a vocabulary that began empty, an
array of zeros. What it would have set is of unknown content then.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import linecache
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from types import CodeType, TracebackType
from typing import Any, TypeAlias

import numpy as np

from ..session import current
from .absent_data import AbsentData, Unseen
from .rows import unset
from .running_code import FILLS, nodes_in, whole

_DEEP = 4
"""Methods that call each other are followed so far."""
Change: TypeAlias = tuple[str, bool]
"""An attribute, and whether it is bound, not only filled."""


def leave_open(value: Any, changes: Iterable[Change]) -> None:
    """Have what an object holds be of unknown content; of an array that was only filled the shape is known."""
    session = current()
    answers = {} if session is None else session.of(AbsentData).answers
    held, found = vars(value), dict[str, bool]()
    for name, is_bound in changes:
        found[name] = found.get(name, False) or is_bound
    for name in found.keys() & held.keys():
        answer = answers.get(name)
        if isinstance(held[name], np.ndarray) and not found[name]:
            held[name] = unset(held[name])
        else:
            held[name] = answer if isinstance(answer, (int, float)) else Unseen(name=name)


def changed_by(kind: type, method: str, deep: int = _DEEP) -> Iterator[Change]:
    """What a method of a class changes of its object, with the methods that it calls for that."""
    code = getattr(inspect.unwrap(getattr(kind, method, None)), "__code__", None)  # type: ignore[arg-type]
    if code is not None and deep:
        yield from _changed_in(kind, code, method, deep)


def changed_behind(value: Any, problem: BaseException) -> Iterator[Change]:
    """What methods of an object, which an error ended, would have changed of it from the failing line on."""
    step: TracebackType | None = problem.__traceback__
    while step is not None:
        code = step.tb_frame.f_code
        if code.co_argcount and step.tb_frame.f_locals.get(code.co_varnames[0]) is value:
            yield from _changed_in(type(value), code, code.co_name, _DEEP, step.tb_lineno)
        step = step.tb_next


def take_given(value: Any, problem: BaseException) -> None:
    """Run what the constructor of an object, which an error ended, would have made of its arguments alone behind that:
    `self.backend = backend`, `if transforms: self.transforms = Compose(transforms)`."""
    times = Counter(name for name, _ in changed_behind(value, problem))
    step: TracebackType | None = problem.__traceback__
    while step is not None:
        code, given = step.tb_frame.f_code, step.tb_frame.f_locals
        if code.co_name == "__init__" and code.co_argcount and given.get(code.co_varnames[0]) is value:
            source = "".join(linecache.getlines(code.co_filename))
            for names, statement in _of_arguments(source, code.co_firstlineno, step.tb_lineno):
                if not names & vars(value).keys() and all(times[name] == 1 for name in names):
                    with contextlib.suppress(Exception):  # of what is not here
                        made = compile(ast.Module([statement], []), code.co_filename, "exec")
                        exec(made, step.tb_frame.f_globals, dict(given))
        step = step.tb_next


@lru_cache(maxsize=256)
def _of_arguments(source: str, first: int, line: int) -> tuple[tuple[set[str], ast.stmt], ...]:
    """What the constructor that begins at a line binds to its object from arguments alone, behind another line."""
    found = []
    for method in nodes_in(source):
        if isinstance(method, ast.FunctionDef) and first in [
            method.lineno,
            *(one.lineno for one in method.decorator_list),
        ]:
            for part in method.body:
                of_self = [one for one in ast.walk(part) if isinstance(one, ast.Attribute)
                           and getattr(one.value, "id", "") == method.args.args[0].arg]  # fmt: skip
                names = {one.attr for one in of_self if isinstance(one.ctx, ast.Store)}
                plain = isinstance(part, (ast.Assign, ast.If)) and len(of_self) == len(names)
                if part.lineno > line and names and plain:
                    found.append((names, part))
    return tuple(found)


def _changed_in(kind: type, code: CodeType, method: str, deep: int, line: int = 0) -> Iterator[Change]:
    source = "".join(linecache.getlines(code.co_filename))
    changes, called = _in(source, code.co_firstlineno, line)
    yield from changes
    for other in called:
        if other != method:
            yield from changed_by(kind, other, deep - 1)


@lru_cache(maxsize=256)
def _in(source: str, first: int, line: int) -> tuple[tuple[Change, ...], tuple[str, ...]]:
    """What the method that begins at a line changes of its object from another line on, and which methods of it are
    called there."""
    for node in nodes_in(source):
        if not isinstance(node, ast.FunctionDef) or not node.args.args:
            continue
        if first in [node.lineno, *(one.lineno for one in node.decorator_list)]:
            own = node.args.args[0].arg
            parts = [part for part in node.body if line <= (part.end_lineno or part.lineno)]
            found = [(name.partition("."), is_bound) for part in parts for name, is_bound in _changes(part)]
            called = (method for part in parts for name, method in calls(part) if name == own)
            return tuple((name, is_bound) for (of, _, name), is_bound in found if of == own), tuple(called)
    return (), ()


def calls(statement: ast.stmt) -> list[tuple[str, str]]:
    """The methods that a statement calls for what they do (`words.add(line)`), each with the name it is called on."""
    found: dict[tuple[str, str], None] = {}
    for part in own(statement):
        match part:
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method))):
                found[name, method] = None
    return list(found)


def attributes(node: ast.stmt) -> list[str]:
    """The attributes of objects that a statement binds or fills: `self.rows = ...`, `self.rows.append(...)`."""
    return list(dict(_changes(node)))


def _changes(node: ast.stmt) -> Iterator[Change]:
    """The same, each with whether it is bound."""
    for part in outside_functions(node):
        target: ast.AST | None = None
        is_bound = isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store)
        if is_bound:
            target = part
        elif isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store):
            target = whole(part)
        elif isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr in FILLS:
            target = part.func.value
        if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
            yield f"{target.value.id}.{target.attr}", is_bound


def own(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a statement outside of functions and comprehensions, whose names are their own."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(
            child, (ast.FunctionDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
        ):
            yield from own(child)


def outside_functions(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a statement outside of functions; what comprehensions fill belongs to others."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (ast.FunctionDef, ast.Lambda)):
            yield from outside_functions(child)
