"""When two states of a notebook are the same program: comments, blank lines and what is only shown make no difference.

A person types; the panel follows. Most of what is typed beside a model (a comment, a plot, a print) leaves the training
as it is, and then the trace that is known stands, with the places in it moved to where their lines are now.
"""

from __future__ import annotations

import ast
import builtins
import types
import warnings
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from ...domain.notebooks import Place
from ...domain.parsing import parse
from ..trace import Trace

PLOTTING = ("matplotlib", "seaborn", "plotly", "IPython")
"""Packages whose calls only show something."""
SHOWING = ("print", "display")
PLAIN_CALLS = ("len", "range", "str", "round", "list", "sorted", "zip", "enumerate", "type", "repr")
"""Built-in functions that change nothing of what they are given."""
_PLAIN = (
    ast.Name,
    ast.Constant,
    ast.Attribute,
    ast.JoinedStr,
    ast.FormattedValue,
    ast.BinOp,
    ast.UnaryOp,
    ast.Tuple,
    ast.List,
    ast.Dict,
    ast.keyword,
    ast.Call,
    ast.Subscript,
    ast.Slice,
    ast.expr_context,
    ast.operator,
    ast.unaryop,
)

Lines = dict[tuple[int, int], tuple[int, int]]


class Program(NamedTuple):
    """A notebook's cells as a program.

    Attributes:
        exact: alike for two states that do the same at the same places.
        loose: alike for two states that do the same.
        places: (cell, line) of each instruction, alike in number and order for two programs with the same `loose`.
    """

    exact: list[Any]
    loose: list[Any]
    places: list[tuple[int, int]]


def program(cells: list[dict[str, Any]]) -> Program:
    """The program of cells as `tracer_request` hands them over."""
    exact: list[Any] = []
    loose: list[Any] = []
    places: list[tuple[int, int]] = []
    known = _Names()
    for cell in cells:
        rest = sorted((key, value) for key, value in cell.items() if key not in ("index", "source"))
        code = _compiled(cell["source"], known)
        if code is None:
            exact.append([cell["index"], rest, cell["source"]])
            loose.append([rest, cell["source"]])
            continue
        if not code.body and not cell.get("hides"):
            continue
        does, at = _instructions(code.compiled)
        exact.append([cell["index"], rest, does, at])
        loose.append([rest, does])
        places.extend((cell["index"], line) for line in at)
    return Program(exact, loose, places)


def moved(trace: Trace, before: Program, after: Program) -> Trace | None:
    """The trace of the same program at other places; None where it tells places that cannot be moved for certain."""
    lines = dict(zip(before.places, after.places, strict=True)) if len(before.places) == len(after.places) else {}
    try:
        return _moved(trace, lines)
    except KeyError:
        return None


def _moved(trace: Trace, lines: Lines) -> Trace:
    told = any(key in note.params for note in (*trace.notes, *trace.own_notes) for key in ("line", "cell"))
    if told or trace.questions or trace.stop is not None or trace.batch_from or trace.batch_candidates:
        raise KeyError
    return msgspec.structs.replace(
        trace,
        where=None if trace.where is None else _place(trace.where, lines),
        unreached=tuple(_place(place, lines) for place in trace.unreached),
        others=tuple(_moved(other, lines) for other in trace.others),
    )


def _place(place: Place, lines: Lines) -> Place:
    cell, line = lines[place.cell, place.line]
    return Place(cell, line)


class _Names:
    """The names that cells have bound so far, and those among them that stand for something that only shows."""

    def __init__(self) -> None:
        self.bound: set[str] = set(dir(builtins))
        self.plotting: set[str] = set()

    def learn(self, statement: ast.stmt) -> None:
        """Take up what a statement binds, wherever in it."""
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self.bound.add(node.id)
                self.plotting.discard(node.id)
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                self.bound.add(node.name)
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                for alias in node.names:
                    module = alias.name if isinstance(node, ast.Import) else node.module or ""
                    name = alias.asname or alias.name.partition(".")[0]
                    self.bound.add(name)
                    if module.partition(".")[0] in PLOTTING:
                        self.plotting.add(name)

    def only_shows(self, statement: ast.stmt) -> bool:
        """Whether a statement changes nothing for those behind it: a text, or a call that shows what is there."""
        if not isinstance(statement, ast.Expr):
            return False
        value = statement.value
        if isinstance(value, ast.Constant):
            return True
        if not isinstance(value, ast.Call):
            return False
        root = value.func
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name):
            return False
        shows = root.id in self.plotting or (root is value.func and root.id in SHOWING)
        given = [*value.args, *(keyword.value for keyword in value.keywords)]
        return shows and all(self._is_plain(one) for one in given)

    def _is_plain(self, value: ast.expr) -> bool:
        for node in ast.walk(value):
            if not isinstance(node, _PLAIN):
                return False
            if isinstance(node, ast.Name) and node.id not in self.bound:
                return False  # it would fail, which is worth a word
            if isinstance(node, ast.Call) and not (isinstance(node.func, ast.Name) and node.func.id in PLAIN_CALLS):
                return False
        return True


class _Compiled(NamedTuple):
    body: list[ast.stmt]
    compiled: types.CodeType


def _compiled(source: str, known: _Names) -> _Compiled | None:
    """What of a cell does something; None where it is not Python as this interpreter knows it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = parse(source)
            body = []
            for statement in tree.body:
                if not known.only_shows(statement):
                    body.append(statement)
                    known.learn(statement)
            code = compile(ast.Module(body, []), "", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return _Compiled(body, code)


def _instructions(code: types.CodeType) -> tuple[list[Any], list[int]]:
    """What the instructions of a code object do, those of functions in it included, and the line of each."""
    does: list[Any] = []
    lines: list[int] = []
    for one in _codes(code):
        constants = [_constant(constant) for constant in one.co_consts if not isinstance(constant, types.CodeType)]
        names = (one.co_name, one.co_names, one.co_varnames, one.co_freevars, one.co_cellvars)
        does.append((one.co_code.hex(), one.co_flags, one.co_argcount, one.co_kwonlyargcount, constants, names))
        lines.extend(line or 0 for _, _, line in one.co_lines())
    return does, lines


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _constant(value: Any) -> str:
    """A constant as text, with its type: 1, 1.0 and True are three."""
    if isinstance(value, (frozenset, tuple)):
        parts: Iterable[str] = map(_constant, value)
        return f"{type(value).__name__}({', '.join(sorted(parts) if isinstance(value, frozenset) else parts)})"
    return f"{type(value).__name__} {value!r}"
