"""Statements that data keeps from running when it is not on this machine: what they would have bound is not known.

A cell goes on behind such a statement. An error counts as one of data where a file, a download or a program that
fetches it is missing, or where data of unknown content was in the hands of the code that failed.
"""

from __future__ import annotations

import ast
import contextlib
import io
import linecache
import os
import traceback
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from types import TracebackType
from typing import Any

from ... import call_stack
from ...patches.absent_modules import AbsentModule, AbsentModuleError
from ...patches.environment import DownloadNeeded
from ...session import Session
from ...step.static_graphs import StaticGraphError
from ...undecided import chosen, settings, variants
from ...undecided.absent_data import Unseen
from ...undecided.needs import CHOSEN, BatchNeeded, NeededError
from ...undecided.unseen_data import UnseenData
from .. import syntax
from ..certain.closed import is_closed
from ..miscalled import is_of_program, is_undeclared
from ..outside.looked_for import absent_path, tree_of
from ..questions.wording import refused
from ..removed import is_removed
from ..sites import STEPS
from ..syntax import nodes, parsed

_LOOKED_AT = 64
"""Entries of a container or of an object that are looked at."""
_DEEP = 3
_MISSING = (FileNotFoundError, NotADirectoryError, DownloadNeeded, StaticGraphError, NeededError, BatchNeeded)


def is_of_data(problem: BaseException) -> bool:
    """Whether data that is not here keeps the program from going on."""
    if isinstance(problem, _MISSING) or absent_path(problem) is not None:
        return True
    if isinstance(problem, AbsentModuleError):  # what a layer is made of is no data
        return not any(file.startswith(call_stack.PADDLE) for file in files(problem.__traceback__))
    if refused(problem) is not None:
        return True
    if not isinstance(problem, Exception) or is_of_types(problem) or is_removed(problem):
        return False
    if is_of_program(problem) or is_undeclared(problem):
        return False
    held = any(holds_unseen(value) for frame in _program(problem.__traceback__) for value in frame)
    return held and not is_closed(problem)


def is_of_settings(problem: BaseException) -> bool:
    """Whether a file of settings was looked for and is not here, or what failed was handed such."""
    path = absent_path(problem)
    return chosen.from_settings(problem) if path is None else settings.is_file(path)


def is_refusal(problem: BaseException, session: Session) -> bool:
    """Whether Paddle refuses what it was given, and that was no data of unknown content."""
    return session.is_refusal(problem) and not took_unseen(problem)


def took_unseen(problem: BaseException) -> bool:
    """Whether Paddle was handed data of unknown content: what it says of that is no refusal. What the program's own
    functions were called with on the way there tells nothing."""
    is_asked = has_taken = False
    for frame, _ in traceback.walk_tb(problem.__traceback__):
        file = frame.f_code.co_filename
        if call_stack.is_beside(file) and not file.startswith(call_stack.TRACER):
            is_asked, has_taken = True, False  # what runs the program's code holds all that this has bound
        elif is_asked and file.startswith((call_stack.PADDLE, call_stack.TRACER)):
            has_taken = has_taken or any(map(holds_unseen, list(frame.f_locals.values())[:_LOOKED_AT]))
    return has_taken


def is_of_types(problem: BaseException) -> bool:
    """Whether Paddle's own code says that it was given something of the wrong type, and no data of unknown content:
    `SGD(learning_rate=1)`, or `set_lr` of an optimizer whose rate is a scheduler."""
    step = problem.__traceback__
    if step is None:
        return False
    while step.tb_next is not None:
        step = step.tb_next
    file = step.tb_frame.f_code.co_filename
    is_said = linecache.getline(file, step.tb_lineno).strip().startswith("raise ") and file.startswith(
        call_stack.PADDLE
    )
    is_of_one = is_said and (isinstance(problem, TypeError) or step.tb_lineno in _raised_for_types(file))
    return is_of_one and not took_unseen(problem)


@lru_cache(maxsize=256)
def _raised_for_types(file: str) -> frozenset[int]:
    """The lines of a file that raise right behind a question for the type of something:
    `if isinstance(rate, LRScheduler): raise RuntimeError(...)`, or with the type in their words."""
    tree = nodes("".join(linecache.getlines(file)))
    choices = [node for node in tree if isinstance(node, ast.If)]
    raised = [one for node in choices if _asks_for_type(node.test) for one in [*node.body, *node.orelse]]
    raised += [one for one in tree if isinstance(one, ast.Raise) and one.exc is not None and _tells_a_type(one.exc)]
    return frozenset(one.lineno for one in raised if isinstance(one, ast.Raise))


def _tells_a_type(said: ast.expr) -> bool:
    """Whether the words of an error name the type that something has: `f"..., but got {type(path)}"`."""
    calls = (node for node in ast.walk(said) if isinstance(node, ast.Call))
    return any(isinstance(one.func, ast.Name) and one.func.id == "type" for one in calls)


def _asks_for_type(test: ast.expr) -> bool:
    """Whether a condition is of `isinstance` alone."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return _asks_for_type(inner)
        case ast.BoolOp(values=values):
            return all(map(_asks_for_type, values))
        case ast.Call(func=ast.Name(id="isinstance")):
            return True
        case _:
            return False


def files(step: TracebackType | None) -> Iterator[str]:
    """The files whose code an exception went through, the outermost first."""
    while step is not None:
        yield step.tb_frame.f_code.co_filename
        step = step.tb_next


def is_of_step(problem: BaseException) -> bool:
    """Whether what is missing is asked for, because the step needs it."""
    need = getattr(problem, "need", None)
    return isinstance(problem, BatchNeeded) or (need is not None and need.is_of_step)


def may_be_passed(problem: BaseException) -> bool:
    """Whether code within a function may go on behind the statement that failed; files that were being written go."""
    if variants.are_over() or is_of_step(problem) or not is_of_data(problem) or _is_of_model(problem):
        return False
    forget_written(problem)
    return True


def _is_of_model(problem: BaseException) -> bool:
    """Whether a module that is not here takes part in the step: code directly in a loop that trains wanted it."""
    if not isinstance(problem, AbsentModuleError) or (step := problem.__traceback__) is None:
        return False
    tree = parsed("".join(linecache.getlines(step.tb_frame.f_code.co_filename)))
    return any(
        isinstance(node, (ast.For, ast.While)) and node.lineno <= step.tb_lineno <= (node.end_lineno or 0)
        and any(getattr(part, "attr", "") in STEPS for part in ast.walk(node))
        for node in syntax.walk(tree)
    )  # fmt: skip


def forget_written(problem: BaseException) -> None:
    """Take away files that were being written of data that is not here: an empty one would say that there is none."""
    step = problem.__traceback__
    while step is not None:
        for value in list(step.tb_frame.f_locals.values()):
            if isinstance(value, io.IOBase) and str(getattr(value, "mode", ""))[:1] in {"w", "a", "x"}:
                with contextlib.suppress(OSError, AttributeError, TypeError):
                    value.close()
                    os.remove(value.name)  # type: ignore[attr-defined]  # noqa: PTH107 - the overlay knows this one
        step = step.tb_next


def _program(step: TracebackType | None) -> Iterator[list[Any]]:
    """What the frames of an error had in their hands: their locals, in a cell the names of its statement."""
    while step is not None:
        frame = step.tb_frame
        if call_stack.is_cell(frame.f_code.co_filename):
            names = {**frame.f_globals, **frame.f_locals}
            yield [names[name] for name in loaded(frame, step) if name in names]
        elif not frame.f_code.co_filename.startswith(call_stack.TRACER):
            own = [value for name, value in frame.f_locals.items() if not name.startswith("__")]
            yield own[:_LOOKED_AT]
        step = step.tb_next


def loaded(frame: Any, step: TracebackType) -> frozenset[str]:
    """Names in the innermost statement that runs."""
    return _loaded_at(tree_of(frame), step.tb_lineno)


@lru_cache(maxsize=1024)
def _loaded_at(tree: ast.Module, line: int) -> frozenset[str]:
    return frozenset(node.id for node in _innermost(tree, line) if isinstance(node, ast.Name))


def nodes_of(frame: Any) -> Iterable[ast.AST]:
    """All of the code of the file in which a frame runs."""
    return syntax.walk(tree_of(frame))


def _innermost(tree: ast.Module, line: int) -> Iterable[ast.AST]:
    """The nodes of the innermost statement at a line; of a compound one those of its head."""
    here = [node for node in syntax.walk(tree) if isinstance(node, ast.stmt)
            and node.lineno <= line <= (node.end_lineno or line)]  # fmt: skip
    if not here:
        return ()
    found = max(here, key=lambda node: (node.lineno, node.col_offset, -(node.end_lineno or 0)))
    return (
        part for child in ast.iter_child_nodes(found) if not isinstance(child, ast.stmt) for part in ast.walk(child)
    )


def holds_unseen(value: Any, depth: int = 0) -> bool:
    """Whether a value is data of unknown content, or has some in it."""
    if isinstance(value, (Unseen, UnseenData, AbsentModule)):
        return not isinstance(value, AbsentModule) or depth > 0
    if depth == _DEEP:
        return False
    if isinstance(value, (list, tuple)):
        return any(holds_unseen(one, depth + 1) for one in value[:_LOOKED_AT])
    if isinstance(value, dict):
        return any(holds_unseen(one, depth + 1) for one in list(value.values())[:_LOOKED_AT])
    held = getattr(value, "__dict__", None) if not isinstance(value, type) else None
    if isinstance(held, dict) and call_stack.is_own(type(value)):
        return any(holds_unseen(one, depth + 1) for one in list(held.values())[:_LOOKED_AT])
    return False


def cell_of(problem: BaseException) -> int | None:
    """The cell whose code an exception went through first."""
    for file in files(problem.__traceback__):
        if (cell := call_stack.cell_of(file)) is not None:
            return cell
    return None


def behind(problem: BaseException, statements: Sequence[ast.stmt], file: str) -> int | None:
    """The number of the statement behind the one that failed; None where it is none of these."""
    step = problem.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == file and step.tb_frame.f_code.co_name == "<module>":
            number = _statement(statements, step)
            return None if number is None else number + 1
        step = step.tb_next
    return None


def _statement(statements: Sequence[ast.stmt], step: TracebackType) -> int | None:
    """The number of the statement that runs; of several on a line the one at its column, where Python tells that."""
    line, column = step.tb_lineno, (call_stack.position(step) or (None,) * 4)[2]
    found = [number for number, one in enumerate(statements) if one.lineno <= line <= (one.end_lineno or one.lineno)]
    if column is not None:
        found = [number for number in found if statements[number].col_offset <= column] or found
        # The first one of its column: what is put behind a statement (an answer) stands where that one does.
        return max(found, key=lambda number: statements[number].col_offset, default=None)
    return found[0] if found else None


def without_its_data(problem: BaseException, statement: ast.stmt, file: str) -> bool:
    """Put data of unknown content where a part of a simple statement failed, so that the statement can run again.

    `DataLoader(Data("absent"), batch_size=8)` is a loader, of which only the data is not known.

    Returns:
        Whether there is such a part; the statement is changed then.
    """
    value = getattr(statement, "value", None)
    if not isinstance(statement, (ast.Assign, ast.AnnAssign, ast.Expr)) or value is None:
        return False
    if isinstance(problem, BatchNeeded) or (isinstance(problem, NeededError) and problem.need.is_of_step):
        return False
    if (need := chosen.wanted(problem)) is not None and need.why in CHOSEN:
        return False  # what was to be chosen is asked for
    failed = _failed_in(problem, file)
    return failed is not None and _Replacing(failed, SETTINGS if is_of_settings(problem) else UNSEEN).replace(value)


def _failed_in(problem: BaseException, file: str) -> tuple[int | None, ...] | None:
    """First and last line and column of the expression of a cell in which an error arose."""
    step = problem.__traceback__
    while step is not None:
        code = step.tb_frame.f_code
        if code.co_filename == file and code.co_name == "<module>":
            return call_stack.position(step)
        step = step.tb_next
    return None


class _Replacing(ast.NodeTransformer):
    """Puts a name for data of unknown content in the place of the call at a position, or of what a condition there
    chooses (`batch_size=64 if len(rows) > 2000 else 16`)."""

    def __init__(self, place: tuple[int | None, ...], name: str) -> None:
        self._place, self._name = place, name
        self._is_done = False

    def replace(self, value: ast.expr) -> bool:
        """Whether there was such a part below an expression."""
        self.generic_visit(value)
        return self._is_done

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """The call, or what is in it."""
        if (node.lineno, node.end_lineno, node.col_offset, node.end_col_offset) != self._place:
            return self.generic_visit(node)
        return self._replaced(node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        """What is chosen, or what is in it."""
        first, last, begin, end = self._place
        test = node.test
        is_behind = (first, begin) >= (test.lineno, test.col_offset)
        inside = is_behind and (last, end) <= (test.end_lineno, test.end_col_offset)
        return self._replaced(node) if inside else self.generic_visit(node)

    def _replaced(self, node: ast.expr) -> ast.expr:
        self._is_done = True
        return ast.copy_location(ast.Name(self._name, ast.Load()), node)


UNSEEN, SETTINGS = "__unseen__", "__unseen_settings__"
"""The names under which cells find data and settings of unknown content."""
