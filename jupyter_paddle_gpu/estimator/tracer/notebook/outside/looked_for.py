"""Files and folders that a program looked for and that are not here: opened, or tested for where it ends without
them."""

from __future__ import annotations

import ast
import contextlib
import linecache
import os
import re
import sysconfig
from collections.abc import Iterator
from functools import lru_cache
from types import TracebackType
from typing import Any

from ... import call_stack
from ...patches.data.own_datasets import names_absent_path
from ...undecided.needs import NeededError
from .. import syntax
from ..sites import name_of
from ..syntax import parsed

_IS_THERE = frozenset(("exists", "isfile", "isdir", "is_file", "is_dir"))
"""Functions that tell whether a path is there."""
_LIBRARIES = (*(sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib")), call_stack.TRACER)
"""Where code stands that is not the program's own, besides what is installed."""


def absent_path(problem: BaseException) -> str | None:
    """The file or folder that was looked for and is not here: opened, or tested for (`assert os.path.exists(path)`,
    `if not path.exists(): raise ...`)."""
    if isinstance(problem, (FileNotFoundError, NotADirectoryError)):
        return str(problem.filename or names_absent_path(problem) or _named_file(problem) or problem)
    step = problem.__traceback__ if isinstance(problem, (Exception, SystemExit)) else None
    if step is None or isinstance(problem, NeededError):
        return None
    if (unread := _unread(problem, step)) is not None:
        return unread
    while step.tb_next is not None and not _is_of_exit(step.tb_next):
        step = step.tb_next
    names = {**step.tb_frame.f_globals, **step.tb_frame.f_locals}
    for call in _tests(tree_of(step.tb_frame), step.tb_lineno, is_own=is_own(step.tb_frame.f_code.co_filename)):
        given = call.args[0] if call.args else call.func.value if isinstance(call.func, ast.Attribute) else None
        with contextlib.suppress(Exception):  # it was worked out a moment ago; what has changed since tells nothing
            path = os.fspath(eval(compile(ast.Expression(given), "<path>", "eval"), names))  # type: ignore[arg-type]
            if not os.path.exists(path):  # noqa: PTH110 - text of the program's
                return str(path)
    return None


_QUOTED = re.compile(r"""['"]([^'"\n]+)['"]""")
_FILE = re.compile(r"[^\s'\"]+\.\w{1,8}(?=[,;:!?.)]*(\s|$))")
"""A word that is the name of a file, with its suffix."""


def _named_file(problem: BaseException) -> str | None:
    """The file without a folder that the words of an error name: in quotation marks (`name = 'train.h5'`), or as a word
    of its own (`emb.txt not found.`)."""
    said = str(problem)
    words = [*_QUOTED.findall(said), *(one[0] for one in _FILE.finditer(said))]
    named = (word for word in words if re.search(r"\.\w{1,8}$", word) and " " not in word)
    return next((word for word in named if not os.path.exists(word)), None)  # noqa: PTH110 - text of the program's


def _unread(problem: BaseException, step: TracebackType | None) -> str | None:
    """The picture that OpenCV was to read on the way to where it failed: of one that is not there it gives None, at
    which whatever takes it fails (`cv2.cvtColor(cv2.imread(path), ...)`, `cv2.imread(path).shape`). The same of a data
    base that SQLite opens."""
    found = None
    is_unread = type(problem).__module__ in {"cv2", "sqlite3"} or "NoneType" in str(problem)
    while step is not None and is_unread:
        names = {**step.tb_frame.f_globals, **step.tb_frame.f_locals}
        for call in _readers(tree_of(step.tb_frame)):
            with contextlib.suppress(Exception):  # as above
                path = os.fspath(eval(compile(ast.Expression(call.args[0]), "<path>", "eval"), names))
                found = found if os.path.exists(path) else str(path)  # noqa: PTH110 - text of the program's
        step = step.tb_next
    return found


def is_own(file: str) -> bool:
    """Whether a file is the program's own, a cell or a module beside it."""
    return f"{os.sep}site-packages{os.sep}" not in file and not file.startswith(_LIBRARIES)


def _is_of_exit(step: TracebackType) -> bool:
    """Whether it is within Python's own `exit()` and `quit()`."""
    return step.tb_frame.f_globals.get("__name__") == "_sitebuiltins"


@lru_cache(maxsize=1024)
def _readers(tree: ast.Module) -> tuple[ast.Call, ...]:
    """The calls of a file that have OpenCV read a picture, or SQLite open a data base."""
    calls = [node for node in syntax.walk(tree) if isinstance(node, ast.Call)]
    return tuple(one for one in calls if name_of(one.func) in {"imread", "connect"} and one.args)


@lru_cache(maxsize=1024)
def _tests(tree: ast.Module, line: int, *, is_own: bool) -> tuple[ast.Call, ...]:
    """The calls by which the statement that raises at a line was told whether a path is there.

    Args:
        is_own: whether it is the program's own; of a library an `else` says rather what else could have been given.
    """
    found: list[ast.Call] = []
    for node in syntax.walk(tree):
        tests = isinstance(node, ast.Assert) and node.lineno <= line <= (node.end_lineno or 0)
        if isinstance(node, ast.If):
            tests = any(_raises(one, line) for one in (*node.body, *(node.orelse if is_own else ())))
        asked = list(ast.walk(node.test)) if tests and isinstance(node, (ast.Assert, ast.If)) else []
        names = {one.id for one in asked if isinstance(one, ast.Name)}
        asked += _bound_once(tree, names) if names and is_own else ()
        found += [one for one in asked if isinstance(one, ast.Call) and name_of(one.func) in _IS_THERE]
    return tuple(found)


def _bound_once(tree: ast.Module, names: set[str]) -> Iterator[ast.expr]:
    """What names are bound to that are bound in one place: `is_there = os.path.exists(path)`."""
    bound = [
        node for node in syntax.walk(tree) if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    ]
    for name in names:
        own = [one.value for one in bound if getattr(one.targets[0], "id", "") == name]
        yield from own if len(own) == 1 else ()


def _raises(statement: ast.stmt, line: int) -> bool:
    """Whether a statement at a line ends the program: it raises, or leaves (`sys.exit(...)`, also of a `sys` that was
    never imported)."""
    leaves = isinstance(statement, ast.Expr) and name_of(statement.value) in _LEAVES
    return (isinstance(statement, ast.Raise) or leaves) and statement.lineno == line


_LEAVES = frozenset(("exit", "quit", "_exit"))


def tree_of(frame: Any) -> ast.Module:
    """The code of the file in which a frame runs: the same object as long as it is the same text."""
    return parsed(source_of(frame.f_code.co_filename))


def source_of(file: str) -> str:
    """The text of a file, or of a cell."""
    return "".join(linecache.getlines(file))
