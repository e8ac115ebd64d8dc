"""Functions that return before the training which they hold: `def main(path=None): if not path: return`."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ... import call_stack
from ...patches.processes.command_lines import Parsers
from ...session import Session, current
from ..sites import Sites
from ..syntax import nodes
from .asking import of_program, question
from .endings import Ended, Lack, wanted_by
from .looked_for import source_of

LEFT = "__left__"
"""The name under which such a return is told of."""
_MOST = 80
"""Characters of a condition that is told."""


class Leaving(NamedTuple):
    """Where a function returned, its name, the condition under which it did, and what it could be given instead."""

    cell: int | None
    line: int | None
    function: str
    test: str
    lacks: tuple[Lack, ...]


class Left:
    """The first return before a training of a run."""

    def __init__(self) -> None:
        self.first: Leaving | None = None


class Returns(ast.NodeTransformer):
    """Has a function tell that it returns early, where something behind that return trains.

    Args:
        sites: where the program trains.
    """

    def __init__(self, sites: Sites) -> None:
        self._sites = sites

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """With a call before each such return."""
        self.generic_visit(node)
        for at, statement in enumerate(node.body):
            arms = [(statement.body, True), (statement.orelse, False)] if isinstance(statement, ast.If) else []
            leaving = [(arm, holds) for arm, holds in arms if arm and isinstance(arm[-1], ast.Return)]
            if leaving and any(self._sites.held(one).trains for one in node.body[at + 1 :]):
                for arm, holds in leaving:
                    told = [ast.Constant(node.name), ast.Constant(statement.lineno), ast.Constant(holds)]
                    call = ast.Call(ast.Name(LEFT, ast.Load()), told, [])  # type: ignore[arg-type]
                    arm.insert(len(arm) - 1, ast.copy_location(ast.Expr(call), arm[-1]))
        return node


def left(function: str, line: int, holds: bool) -> None:
    """A function returns under the condition at a line, which holds or not."""
    session, frame = current(), sys._getframe(1)
    if session is None or session.of(Left).first is not None:
        return
    source = source_of(frame.f_code.co_filename)
    tests = (one.test for one in nodes(source) if isinstance(one, ast.If) and one.lineno == line)
    if (test := next(tests, None)) is not None:
        lacks = wanted_by(Ended(test, holds, frame, source), session.of(Parsers))
        said = ast.unparse(test if holds else ast.UnaryOp(ast.Not(), test))
        cell, here = call_stack.place()
        session.of(Left).first = Leaving(cell, here, function, said[:_MOST], tuple(lacks))


def questions(session: Session, sources: Sequence[str]) -> Iterator[dict[str, Any]]:
    """What is asked so that the function goes on; where nothing can be given, a note tells the condition."""
    if (first := session.of(Left).first) is None:
        return
    parsers = session.of(Parsers)
    lacks = of_program(list(first.lacks), parsers, sources, is_started=False)
    for lack in lacks:
        yield {
            "suggestion": None,
            "cell": first.cell,
            "line": first.line,
            **question(lack, first.test, session, sources),
        }
    if not lacks:
        at = {"cell": (first.cell or 0) + 1, "line": first.line or 0}
        session.note("left_early", **at, function=first.function, test=first.test)
