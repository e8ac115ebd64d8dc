"""Which part of the code is ever come to: a function that nothing names is none of what runs."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .dead import IMPORTED, alive
from .syntax import parsed

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
Defined = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def reached(
    cells: Sequence[str], beside: Iterable[str], known: Mapping[str, Any] | None = None, imported: Iterable[str] = ()
) -> list[str]:
    """The code that may run: what stands outside of functions and classes in cells, and what is named from there on.

    A name is any word of the code that could be one, an attribute's or a text's, too: what is left out is sure to be
    out of reach.

    Args:
        beside: sources of scripts and modules that the cells run and import; what stands there outside of functions
            runs as well.
        known: what conditions may be told by (`dead.settled`): an arm that never runs is none of it.
        imported: those of `beside` that are no programs.
    """
    known, imported = known or {}, frozenset(imported)
    defined: dict[str, list[Defined]] = {}
    open_still: list[ast.AST] = []
    found: list[str] = []
    for source in (*cells, *beside):
        tree = alive(parsed(source), {**known, **(IMPORTED if source in imported else {})})
        body = tree.body if isinstance(tree, ast.Module) else []
        found += [] if body else [source]  # what is no Python is not known to be out of reach
        for statement in body:
            _sort(statement, defined, open_still)
    seen: set[str] = set()
    while open_still:
        node = open_still.pop()
        found.append(ast.unparse(node))
        for name in _names(node) - seen:
            seen.add(name)
            open_still += defined.get(name, ())
    return found


def _sort(statement: ast.stmt, defined: dict[str, list[Defined]], runs: list[ast.AST]) -> None:
    if isinstance(statement, (*_FUNCTIONS, ast.ClassDef)):
        defined.setdefault(statement.name, []).append(statement)
        runs += statement.decorator_list
    else:
        runs.append(statement)


def _names(node: ast.AST) -> set[str]:
    found: set[str] = set()
    for part in ast.walk(node):
        match part:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                found.add(name)
            case ast.Constant(value=str(text)):
                found.add(text)
            case ast.alias(name=name):
                found.update(name.split("."))
    return found
