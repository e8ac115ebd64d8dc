"""A program that ends before its training for want of a file that it looks for itself (`if not os.path.exists(path):
return`, `rows = load(path)` that gives None, `except FileNotFoundError: return`): it is run as if the file were there,
so that it gets as far as opening it, which then counts as data that is not here."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable
from itertools import islice
from traceback import walk_tb
from typing import Any

from ...patches.folders import LookedFor
from ...session import Session
from .. import syntax
from .endings import conditions
from .looked_for import is_own, tree_of

Result = dict[str, Any]

PRESUMED, CAUGHT = "presumed", "absence_caught"
"""What a request calls the files and folders that are taken to be there, and that errors of absent ones are no
matter of the program's own `except`."""
ABSENT = "__absent__"
"""The name under which an `except` asks whether it is such an error."""
_MOST = 4
_ENDS = frozenset(("ends_itself", "cell_failed"))


def behind(
    request: Result, result: Result, trace: Callable[[Result], Result], sources: Iterable[str], *, may_train: bool
) -> tuple[Result, Result]:
    """The request with what has to be taken to be there, and its result; both as they are where that leads nowhere.

    Args:
        sources: all of the code.
        may_train: whether any of it trains, also where nothing that runs comes to it.
    """
    if not _ends_early(result) or (result.get("is_idle") and not may_train):
        return request, result
    catches = any("except" in source for source in sources)
    asked, found = request, result
    for _ in range(_MOST):
        known = [tuple(one) for one in asked.get(PRESUMED, ())]
        left = [one for one in map(tuple, found.get("looked_for", ())) if one not in known]
        if not left:
            break
        asked = {**asked, PRESUMED: [*known, left[-1]]}  # the last one is nearest to the end
        found = trace(asked)
        if not _ends_early(found):
            break
    if catches and (_ends_early(found) or _is_of_presumed(found, asked)):
        # A folder of results that is taken to be there and empty hides what the program reads.
        caught = {**(asked if _ends_early(found) else request), CAUGHT: True}
        other = trace(caught)
        if _ends_early(found) or (_lacks_data(other) and not _is_of_presumed(other, asked)):
            asked, found = caught, other
    return (asked, found) if _lacks_data(found) else (request, result)


def _ends_early(result: Result) -> bool:
    """Whether a program ended without a step: in order, or for want of something."""
    if result["status"] == "no_model":
        return True
    is_told = result["status"] == "would_stop" or (result["status"] == "needs_input" and bool(result["questions"]))
    return is_told and bool(result.get("is_for_want")) and all(one["why"] in _ENDS for one in result["questions"])


def _lacks_data(result: Result) -> bool:
    """Whether a figure or a question came of it."""
    asked = result["questions"] if result["status"] == "needs_input" else []
    return result["status"] == "ok" or any(one["why"] not in _ENDS for one in asked)


def _is_of_presumed(result: Result, asked: Result) -> bool:
    """Whether nothing is missing but what was taken to be there."""
    paths = {path for _, path in asked.get(PRESUMED, ())}
    questions = result["questions"] if result["status"] == "needs_input" else []
    return bool(questions) and all(one["params"].get("path") in paths for one in questions)


def leads_nowhere(result: Result) -> bool:
    """Whether a way that goes on without the data has come to nothing that can be answered: an output's folder that is
    taken to be there says nothing of what ends the program."""
    if result["status"] == "needs_input":
        return not any(one["name"] or one["why"] == "module_missing" for one in result["questions"])
    return result["status"] in {"no_model", "unsupported"}


def is_for_want(problem: BaseException) -> bool:
    """Whether the program's own code ends it because it has something not (`if rows is None: raise ...`, `if not files:
    sys.exit()`, `sys.exit(main())`), or takes None for more."""
    steps = [one for one in walk_tb(problem.__traceback__) if one[0].f_globals.get("__name__") != "_sitebuiltins"]
    if not steps or not is_own(steps[-1][0].f_code.co_filename):
        return False
    if isinstance(problem, (TypeError, AttributeError)) and "NoneType" in str(problem):
        return True
    frame, line = steps[-1]
    if isinstance(problem, SystemExit) and any(_passes_on(one, line) for one in syntax.walk(tree_of(frame))):
        return True
    for ended in islice(conditions(problem), 1):
        names = {**ended.frame.f_globals, **ended.frame.f_locals}
        return any(_is_lacking(one, names) for one in ast.walk(ended.test))
    return False


def _passes_on(node: ast.AST, line: int) -> bool:
    """Whether a call at a line leaves with what another one gives: `sys.exit(main())`."""
    match node:
        case ast.Call(func=ast.Attribute(attr="exit") | ast.Name(id="exit"), args=[ast.Call()]):
            return node.lineno <= line <= (node.end_lineno or 0)
    return False


def _is_lacking(node: ast.AST, names: dict[str, Any]) -> bool:
    """Whether a part of a condition says that something is not there, or is nothing itself."""
    if isinstance(node, ast.Not):
        return True
    value = names.get(node.id, True) if isinstance(node, ast.Name) else True
    return value is None or (isinstance(value, (bool, int, list, tuple, dict, set, str)) and not value)


def told(session: Session, request: Result) -> None:
    """Tell a run what is taken to be there."""
    session.put(LookedFor(presumed=frozenset(map(tuple, request.get(PRESUMED, ())))))


class Handlers(ast.NodeTransformer):
    """Lets errors of files that are not here pass by the program's own `except`."""

    def visit_Try(self, node: ast.Try) -> ast.AST:
        """With one more handler before the others."""
        self.generic_visit(node)
        if node.handlers:
            kind = ast.Call(ast.Name(ABSENT, ast.Load()), [], [])
            first = ast.ExceptHandler(kind, None, [ast.Raise(None, None)])
            node.handlers.insert(0, ast.copy_location(first, node.handlers[0]))
        return node


def lets_pass(node: ast.Try) -> bool:
    """Whether it has such a handler."""
    first = node.handlers[0].type if node.handlers else None
    return isinstance(first, ast.Call) and isinstance(first.func, ast.Name) and first.func.id == ABSENT


def absent() -> type[BaseException] | tuple[()]:
    """The type of the error that is being handled, where it is one of an absent file; else none."""
    problem = sys.exc_info()[1]
    return type(problem) if isinstance(problem, (FileNotFoundError, NotADirectoryError)) else ()
