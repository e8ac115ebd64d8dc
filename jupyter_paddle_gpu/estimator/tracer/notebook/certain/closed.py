"""Code that hangs on nothing but the program's own constants: what it raises it raises whatever the data is.

`config["rate"]` of a dictionary that stands in the code and that nothing changes is a `KeyError` with any data. An
expression is closed where each of its names is bound once, at the top of a cell or a module, to an expression that is
closed itself, and nothing that could change the value is done with it.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from traceback import walk_tb
from types import TracebackType
from typing import Any

from ... import call_stack
from ...session import current
from ...undecided.absent_data import AbsentData
from ..outside.looked_for import is_own, source_of
from ..syntax import nodes, parsed

_FUNCTIONS = frozenset((
    "abs", "bool", "dict", "divmod", "float", "format", "frozenset", "int", "isinstance", "len", "list", "max", "min",
    "range", "repr", "round", "set", "sorted", "str", "sum", "tuple", "zip",
))  # fmt: skip
"""Functions of Python's that give the same for the same, and change nothing."""
_METHODS = frozenset((
    "count", "endswith", "format", "get", "index", "items", "join", "keys", "lower", "replace", "rsplit", "split",
    "startswith", "strip", "upper", "values",
))  # fmt: skip
"""Methods of texts, lists and dictionaries of which the same holds."""
_REBINDS = frozenset(("exec", "eval", "globals", "locals", "vars", "setattr"))
"""Functions that may bind a name which stands nowhere."""
_EXITS = frozenset(("exit", "quit", "_exit", "abort", "SystemExit"))
"""What may leave the program before it comes to a line."""
_LEAVES = (ast.Return, ast.Break, ast.Continue)
_LOOPS = (ast.For, ast.While)
_COMPOSED = (
    ast.Tuple, ast.List, ast.Dict, ast.Set, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Subscript,
    ast.JoinedStr, ast.FormattedValue, ast.Slice,
)  # fmt: skip
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_DEEPEST = 12


def is_closed(problem: BaseException) -> bool:
    """Whether the program's own code raises it, and hangs on nothing but constants of the code there."""
    steps = list(_steps(problem.__traceback__))
    session = current()
    if not isinstance(problem, Exception) or not steps or session is None:
        return False
    walked = [step for step in walk_tb(problem.__traceback__) if not _is_passed_on(step[0].f_code.co_filename)]
    frame, line = walked[-1]
    if frame is not steps[-1].tb_frame or not is_own(frame.f_code.co_filename):
        return False
    data = session.of(AbsentData)
    code = Code.of(data.code, frozenset(data.answers))
    if code is None or not all(code.comes_to(source_of(one.tb_frame.f_code.co_filename), one.tb_lineno)
                               for one in steps):  # fmt: skip
        return False
    failed = _failed(source_of(frame.f_code.co_filename), line, steps[-1])
    return failed is not None and all(map(code.is_closed, failed))


def _is_passed_on(file: str) -> bool:
    """Whether it is where one of Python's functions is passed on to Python (`float("a")`)."""
    return file.startswith(call_stack.TRACER + "undecided")


def _steps(step: TracebackType | None) -> Iterator[TracebackType]:
    """The part of a way through code that is the program's own."""
    while step is not None:
        if is_program(step.tb_frame.f_code.co_filename):
            yield step
        step = step.tb_next


def is_program(file: str) -> bool:
    """Whether code of a file is the program's own, and not the tracer's."""
    return call_stack.is_beside(file) and not file.startswith(call_stack.TRACER)


def _failed(source: str, line: int, step: TracebackType) -> list[ast.expr] | None:
    """The expressions on which an error at a line hangs: none for `raise`, whose conditions tell; None where it is not
    known."""
    here = [one for one in nodes(source) if isinstance(one, ast.stmt) and one.lineno <= line <= (one.end_lineno or 0)]
    statement = max(here, key=lambda one: (one.lineno, one.col_offset), default=None)
    if statement is None or isinstance(statement, ast.Raise):
        return None if statement is None else []
    if isinstance(statement, ast.Assert):
        return [statement.test]
    at, parts = _position(step), (one for one in ast.walk(statement) if isinstance(one, ast.expr))
    found = [one for one in parts if (one.lineno, one.end_lineno, one.col_offset, one.end_col_offset) == at]
    return found[:1] or None


def _position(step: TracebackType) -> tuple[int | None, ...] | None:
    """First and last line and column of the expression that runs; None before Python 3.11."""
    code = step.tb_frame.f_code
    known: Any = getattr(code, "co_positions", tuple)()
    return next(islice(known, step.tb_lasti // 2, None), None)


@dataclass(frozen=True)
class Code:
    """All code of a program, and what it does with its names.

    Attributes:
        bound: by name what it is bound to, None for what is no plain assignment at the top of a cell or a module.
        loads: by name where it is read, each with what it stands in.
        answered: names to which an answer may be bound.
    """

    bound: dict[str, list[ast.expr | None]] = field(default_factory=lambda: defaultdict(list))
    loads: dict[str, list[tuple[ast.AST, ast.AST]]] = field(default_factory=lambda: defaultdict(list))
    answered: frozenset[str] = frozenset()

    @staticmethod
    @lru_cache(maxsize=8)
    def of(source: str, answered: frozenset[str] = frozenset(), *, is_any: bool = False) -> Code | None:
        """That of a source; None where it may bind names that stand nowhere, or leave by itself, unless it `is_any`."""
        tree, everything = parsed(source), nodes(source)
        names = {one.id for one in everything if isinstance(one, ast.Name)}
        attributes = {one.attr for one in everything if isinstance(one, ast.Attribute)}
        is_starred = any(isinstance(one, ast.ImportFrom) and one.names[0].name == "*" for one in everything)
        leaves = not (names | attributes).isdisjoint(_EXITS)
        binds = is_starred or not names.isdisjoint(_REBINDS)
        if not tree.body or (not is_any and (binds or leaves)):
            return None
        found = Code(answered=answered)
        plain = {id(one.targets[0]): one.value for one in tree.body
                 if isinstance(one, ast.Assign) and len(one.targets) == 1}  # fmt: skip
        for node in everything:
            found._take(node, plain)
        return found

    def _take(self, node: ast.AST, plain: dict[int, ast.expr]) -> None:
        """What a part of the code binds."""
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                self.bound[name].append(plain.get(id(node)))
            case ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                self.bound[name].append(None)
            case ast.ClassDef(name=name) | ast.ExceptHandler(name=str() as name) | ast.MatchAs(name=str() as name):
                self.bound[name].append(None)
            case ast.alias(name=imported, asname=name):
                self.bound[name or imported.split(".")[0]].append(None)
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                for name in names:
                    self.bound[name].append(None)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Load):
                self.loads[child.id].append((child, node))

    def is_closed(self, node: ast.AST, depth: int = 0) -> bool:
        """Whether an expression hangs on constants of the code alone."""
        parts: list[ast.expr] = []
        match node:
            case ast.Constant():
                return True
            case ast.Name(id=name):
                return self._is_constant(name, depth)
            case ast.Call(func=ast.Name(id=name), args=args, keywords=words) if name in _FUNCTIONS - self.bound.keys():
                parts = [*args, *(one.value for one in words)]
            case ast.Call(func=ast.Attribute(attr=name, value=value), args=args, keywords=words) if name in _METHODS:
                parts = [value, *args, *(one.value for one in words)]
            case _ if isinstance(node, _COMPOSED):
                parts = [one for one in ast.iter_child_nodes(node) if isinstance(one, ast.expr)]
            case _:
                return False
        return depth < _DEEPEST and all(self.is_closed(one, depth + 1) for one in parts)

    def _is_constant(self, name: str, depth: int) -> bool:
        """Whether a name is bound once, to what is closed, and what it is bound to stays as it is."""
        found = self.bound.get(name, [])
        if len(found) != 1 or found[0] is None or name in self.answered or not self.is_closed(found[0], depth + 1):
            return False
        is_fixed = isinstance(found[0], ast.Constant)
        return is_fixed or all(self._only_reads(*one) for one in self.loads.get(name, ()))

    def _only_reads(self, name: ast.AST, holder: ast.AST) -> bool:
        """Whether what a name stands in cannot change what it holds."""
        match holder:
            case ast.Subscript(value=value, ctx=ctx):
                return value is not name or isinstance(ctx, ast.Load)
            case ast.Attribute(attr=attr, ctx=ast.Load()):
                return attr in _METHODS
            case ast.Call(func=ast.Name(id=called)):
                return called in _FUNCTIONS | {"print"} and called not in self.bound
            case ast.keyword(arg=None) | ast.Compare() | ast.BinOp() | ast.BoolOp() | ast.FormattedValue():
                return True
        return isinstance(holder, (ast.If, ast.For, ast.comprehension, ast.Assert, ast.UnaryOp, ast.Starred))

    def comes_to(self, source: str, line: int) -> bool:
        """Whether a program that does not end before comes to a line whatever its data is: what it stands in, and what
        may leave before it, hangs on constants alone."""
        body: list[ast.stmt] = parsed(source).body
        while body:
            number = next((n for n, one in enumerate(body) if one.lineno <= line <= (one.end_lineno or 0)), None)
            if number is None or not all(map(self._goes_on, body[:number])):
                return False
            body = self._inner(body[number], line)
            if body is _UNKNOWN:
                return False
        return True

    def _inner(self, node: ast.stmt, line: int) -> list[ast.stmt]:
        """The statements of a compound one among which a line stands."""
        match node:
            case ast.If(test=test, body=body, orelse=orelse):
                if test.lineno <= line <= (test.end_lineno or 0):
                    return []
                within = next((one for one in (body, orelse) if _is_in(one, line)), [])
                return within if self.is_closed(test) or is_of_script(test) else _UNKNOWN
            case ast.For(body=body) | ast.With(body=body) | ast.Try(body=body):
                is_head = line < body[0].lineno and not isinstance(node, ast.Try)
                return [] if is_head else body if _is_in(body, line) else _UNKNOWN
            case ast.FunctionDef(body=body) | ast.ClassDef(body=body):
                return body if _is_in(body, line) else []
            case ast.While() | ast.Match() | ast.AsyncFunctionDef() | ast.AsyncFor() | ast.AsyncWith():
                return _UNKNOWN
        return []

    def _goes_on(self, node: ast.stmt) -> bool:
        """Whether the code goes on behind a statement whatever its data is."""
        if isinstance(node, _SCOPES):
            return True
        if isinstance(node, ast.If) and self.is_closed(node.test):
            return True
        leaves = (ast.Return,) if isinstance(node, _LOOPS) else _LEAVES
        return not any(isinstance(one, leaves) for one in _own(node))


_UNKNOWN: list[ast.stmt] = [ast.Pass()]
"""In place of statements of which nobody knows whether they are come to."""


def is_of_script(test: ast.expr) -> bool:
    """Whether a condition is that of a program which runs itself: `if __name__ == "__main__":`."""
    return ast.unparse(test).replace('"', "'") == "__name__ == '__main__'"


def _is_in(body: list[ast.stmt], line: int) -> bool:
    return bool(body) and body[0].lineno <= line <= (body[-1].end_lineno or 0)


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """What a statement runs itself, not in functions that it defines."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        yield one
        waiting += [inner for inner in ast.iter_child_nodes(one) if not isinstance(inner, _SCOPES)]
