"""Passing by the rest of a training whose step is known, so that the notebook's next one is seen too.

What may hold a training, a loop or a call, becomes the body of a `with`, which an exception leaves that nothing of the
program sees: names keep what they hold, functions return what they return, later cells run.
"""

from __future__ import annotations

import ast
import copy
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ...session import current
from ...step.passages import Passage
from ...step.steps import StepWatch
from ..sites import Holding, Sites

PASSING = "__passing__"
"""The name under which the notebook's loops find `passing`."""
_LOOPS = (ast.For, ast.While)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_SIMPLE = (ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Assert)


class Passed:
    """Whether a loop was passed by: then a function gives what its loop would have returned."""

    is_so = False


@contextmanager
def passing(cell: int, line: int, is_loop: bool, trainings: int) -> Iterator[Passed]:
    """A loop or a statement of the notebook runs; it ends here where its training is passed by."""
    session, passed = current(), Passed()
    if session is None:
        yield passed
        return
    watch = session.of(StepWatch)
    passage = watch.enter(Passage(cell, line, is_loop, trainings))
    try:
        yield passed
    except BaseException as problem:
        if not watch.leave(passage, problem):
            raise
        passed.is_so = True
        traceback.clear_frames(problem.__traceback__)  # what functions held goes as if they had returned
    else:
        watch.leave(passage, None)


class Passing(ast.NodeTransformer):
    """Puts every loop and every call that may train into a `with`."""

    def __init__(self, sites: Sites) -> None:
        self._sites = sites
        self._cell = 0
        self._line: int | None = None
        self._last: ast.stmt | None = None
        """The last statement of the function that is gone through."""

    def of_cell(self, index: int, line: int | None = None) -> Passing:
        """For the code of this cell, or of what one of its lines runs."""
        self._cell, self._line = index, line
        return self

    def visit(self, node: ast.AST) -> Any:
        """A statement, or what leads to one."""
        is_loop = isinstance(node, _LOOPS)
        held = self._sites.held(node) if is_loop or isinstance(node, _SIMPLE) else Holding()
        then = returned(node, self._last) if isinstance(node, (ast.For, ast.While)) else None
        outer = self._last
        if isinstance(node, _FUNCTIONS):
            self._last = node.body[-1]
        self.generic_visit(node)
        self._last = outer
        if not (held.trains and isinstance(node, ast.stmt)):
            return node
        place = [ast.Constant(value) for value in (self._cell, self._line or node.lineno, is_loop, held.trainings)]
        passes = ast.withitem(ast.Call(ast.Name(PASSING, ast.Load()), list(place), []))
        through = ast.copy_location(ast.With([passes], [node]), node)
        if then is None:
            return through
        name = f"{PASSING}{node.lineno}_{node.col_offset}"
        passes.optional_vars = ast.Name(name, ast.Store())
        is_so = ast.Attribute(ast.Name(name, ast.Load()), "is_so", ast.Load())
        return [through, ast.copy_location(ast.If(is_so, [then], []), node)]


def returned(loop: ast.For | ast.While, last: ast.stmt | None = None) -> ast.Return | None:
    """By what a function ends within a loop, if nothing comes behind the loop that would end it otherwise.

    Args:
        last: the last statement of the function, where it may be the loop.
    """
    found = [one for one in _own(loop) if isinstance(one, ast.Return) and one.value is not None]
    is_alone = loop is last or is_endless(loop)
    return copy.deepcopy(found[-1]) if found and is_alone else None


def is_endless(loop: ast.For | ast.While) -> bool:
    """Whether only `return` ends a loop."""
    return isinstance(loop, ast.While) and isinstance(loop.test, ast.Constant) and not _is_broken(loop.body)


def _is_broken(body: list[ast.stmt]) -> bool:
    """Whether a `break` of the loop itself stands in it."""
    for one in body:
        if isinstance(one, ast.Break):
            return True
        if not isinstance(one, (*_LOOPS, *_FUNCTIONS, ast.ClassDef)):
            inner = [part for name in ("body", "orelse", "finalbody", "handlers") for part in getattr(one, name, ())]
            if _is_broken(inner):
                return True
    return False


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a statement that are of its function."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (*_FUNCTIONS, ast.Lambda, ast.ClassDef)):
            yield child
            yield from _own(child)
