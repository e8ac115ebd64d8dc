"""Passing by the rest of a training whose step is known, so that the notebook's next one is seen too.

What may hold a training, a loop or a call, becomes the body of a `with`, which an exception leaves that nothing of the
program sees: names keep what they hold, functions return what they return, later cells run.
"""

from __future__ import annotations

import ast
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

from ...session import current
from ...step.passages import Passage
from ...step.steps import StepWatch
from ..sites import Holding, Sites

PASSING = "__passing__"
"""The name under which the notebook's loops find `passing`."""
_LOOPS = (ast.For, ast.While)
_SIMPLE = (ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Assert)


@contextmanager
def passing(cell: int, line: int, is_loop: bool, trainings: int) -> Iterator[None]:
    """A loop or a statement of the notebook runs; it ends here where its training is passed by."""
    session = current()
    if session is None:
        yield
        return
    watch = session.of(StepWatch)
    passage = watch.enter(Passage(cell, line, is_loop, trainings))
    try:
        yield
    except BaseException as problem:
        if not watch.leave(passage, problem):
            raise
        traceback.clear_frames(problem.__traceback__)  # what functions held goes as if they had returned
    else:
        watch.leave(passage, None)


class Passing(ast.NodeTransformer):
    """Puts every loop and every call that may train into a `with`."""

    def __init__(self, sites: Sites) -> None:
        self._sites = sites
        self._cell = 0
        self._line: int | None = None

    def of_cell(self, index: int, line: int | None = None) -> Passing:
        """For the code of this cell, or of what one of its lines runs."""
        self._cell, self._line = index, line
        return self

    def visit(self, node: ast.AST) -> ast.AST:
        """A statement, or what leads to one."""
        is_loop = isinstance(node, _LOOPS)
        held = self._sites.held(node) if is_loop or isinstance(node, _SIMPLE) else Holding()
        self.generic_visit(node)
        if not (held.trains and isinstance(node, ast.stmt)):
            return node
        place = [ast.Constant(value) for value in (self._cell, self._line or node.lineno, is_loop, held.trainings)]
        passes = ast.withitem(ast.Call(ast.Name(PASSING, ast.Load()), list(place), []))
        return ast.copy_location(ast.With([passes], [node]), node)
