"""Passing by the rest of a training whose step is known, so that the notebook's next one is seen too.

What may hold a training, a loop or a call, becomes the body of a `with`, which an exception leaves that nothing of the
program sees: names keep what they hold, functions return what they return, later cells run.
"""

from __future__ import annotations

import ast
import copy
import os
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import CodeType
from typing import Any, TypeGuard

from ... import call_stack
from ...session import current
from ...step.passages import Passage
from ...step.steps import StepWatch
from ..sites import STEPS, TRAININGS, Holding, Sites, name_of

PASSING = "__passing__"
"""The name under which the notebook's loops find `passing`."""
IN_PLACE = "__in_place__"
"""The name under which `exec` finds what makes code of a text that it is given."""
MOST_OWN = 40
"""Modules beside the notebook whose trainings are passed by as those of cells; a repository of more runs as it is."""
_LOOPS = (ast.For, ast.While)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_SIMPLE = (ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Assert)


class Passed:
    """Whether a loop was passed by: then a function gives what its loop would have returned."""

    is_so = False


@contextmanager
def passing(cell: int | None, line: int, is_loop: bool, trainings: int) -> Iterator[Passed]:
    """A loop or a statement of the notebook runs; it ends here where its training is passed by. Of a module (`cell` is
    None) the place is that of the cell which runs."""
    session, passed = current(), Passed()
    if session is None:
        yield passed
        return
    watch = session.of(StepWatch)
    place = call_stack.place_of_threads() if cell is None else (cell, line)
    passage = watch.enter(Passage(*place, is_loop, trainings))
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
        self._cell: int | None = 0
        self._line: int | None = None
        self._last: ast.stmt | None = None
        """The last statement of the function that is gone through."""
        self._seen_only = frozenset[int]()
        """Statements of a cell that was seen to train, where reading it did not tell."""

    def of_cell(self, index: int | None, line: int | None = None) -> Passing:
        """For the code of this cell, or of what one of its lines runs."""
        self._cell, self._line = index, line
        return self

    def files(self, folder: str) -> Iterator[str]:
        """Modules beside the notebook that hold a training, with a link's target in its place."""
        beside = self._sites.beside if len(self._sites.beside) <= MOST_OWN else {}
        for path, tree in beside.items():
            if any(isinstance(one, ast.Call) and name_of(one.func) in STEPS | TRAININGS for one in ast.walk(tree)):
                yield os.path.realpath(os.path.join(folder, path))  # noqa: PTH118

    def of_module(self, tree: ast.Module) -> ast.Module:
        """The code of a module that the notebook imports."""
        module: ast.Module = Passing(self._sites).of_cell(None).visit(tree)
        return module

    def visit(self, node: ast.AST) -> Any:
        """A statement, or what leads to one."""
        if isinstance(node, ast.Module):
            is_unread = self._line is None and self._cell in self._sites.seen_only
            self._seen_only = frozenset(map(id, node.body)) if is_unread else frozenset()
        is_loop = isinstance(node, _LOOPS)
        held = self._sites.held(node) if is_loop or isinstance(node, _SIMPLE) else Holding()
        if id(node) in self._seen_only and not held.trains and (is_loop or isinstance(node, _SIMPLE)):
            held = Holding(trainings=1)
        if self._cell is not None and is_text_run(node) and self._sites.held(node).trains:
            node.args[0] = ast.copy_location(ast.Call(ast.Name(IN_PLACE, ast.Load()), node.args[:1], []), node)
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


class InPlace:
    """Code that the program runs in its own process from a file (`runpy`) or a text (`exec`), with its trainings passed
    by as those of cells are.

    Args:
        rewritten: the tree of a source, as it is run: (source, file, cell, line).
        names: that a namespace begins with which code of that cell makes.
        written: sources that cells have written, by path.
        beside: those that the notebook runs, by path.
    """

    def __init__(
        self,
        rewritten: Callable[[str, str, int, int], Any],
        names: Callable[[int], dict[str, Any]],
        written: Mapping[str, str],
        beside: Iterable[str],
    ) -> None:
        self._rewritten, self._names, self._written, self._beside = rewritten, names, written, beside

    def of_file(self, file: str) -> tuple[CodeType, dict[str, Any]] | None:
        """The code of a file, and the names that it begins with; None for one of which nothing is known."""
        source = self._written.get(file)
        if source is None and not any(file == path or file.endswith(os.sep + path) for path in self._beside):
            return None
        cell, line = call_stack.place()
        names = {name: value for name, value in self._names(cell).items() if name != "__name__"}
        text = Path(file).read_text(encoding="utf-8", errors="replace") if source is None else source
        return compile(self._rewritten(text, file, cell, line), file, "exec", dont_inherit=True), names

    def of_text(self, source: Any) -> Any:
        """The code of a text; what is no text is as it is."""
        if not isinstance(source, (str, bytes)):
            return source
        text, file = source if isinstance(source, str) else source.decode(), "<string>"
        return compile(self._rewritten(text, file, *call_stack.place()), file, "exec", dont_inherit=True)


def is_text_run(node: ast.AST) -> TypeGuard[ast.Call]:
    """`exec(open("train.py").read())`, also with `globals()`: in the names of whoever calls it."""
    others = [name_of(one) for one in node.args[1:]] if isinstance(node, ast.Call) else []
    return isinstance(node, ast.Call) and name_of(node.func) == "exec" and others in ([], ["globals"])


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
