"""What a question says: where a cell stopped, what was wanted there, and the name that an answer could stand for."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ... import call_stack
from ...step.deadline import Deadline
from ...undecided.needs import Need
from ..sites import COMMAND, Sites, name_of
from ..syntax import nodes

TRAINS = (COMMAND, "backward(", ".fit(", "minimize(", "train_batch(", ".train(", "Executor(")
"""Without any of these nothing trains, unless a module does it."""
_MODE, _STEP = ".train(", ".step("
"""What sets a mode as well as it trains, and what updates."""
OF_DATA = frozenset(("download", "file_missing", "program", "module_missing"))
"""Questions that say what of the data was looked for."""


def trains(sources: Iterable[str], sites: Sites) -> bool:
    """Whether anything in the code may train; a function `train` of its own that holds no part of a step does not."""
    whole = list(sources)
    called = [re.sub(r"\bdef \w+\(", "", source) for source in whole]  # what is called, not what is defined
    words = {word for word in (*TRAINS, _STEP) if any(word in source for source in called)}
    is_mode = words == {_MODE} and (sites.is_idle("train") or _is_of_layers("\n".join(whole)))
    return bool(words - {_STEP}) and not is_mode


def _is_of_layers(text: str) -> bool:
    """Whether each `net.train()` sets a mode: that of a layer whose class stands in the code, or one that the same
    function has evaluate before (`net.eval()`)."""
    layers = "|".join(re.findall(r"\bclass\s+(\w+)\s*\([^)]*\bLayer\b", text)) or "(?!)"
    nets = set(re.findall(rf"\b(\w+)\s*=\s*(?:{layers})\(", text))
    functions = re.split(r"(?m)^(?=\s*(?:def|class) )", text)
    calls = [(one.group(1), one.group(2), part[: one.start()]) for part in functions
             for one in re.finditer(r"(\w+)\.train\(\s*([^)\s]?)", part)]  # fmt: skip
    return all(
        not given and (name in nets or re.search(rf"\b{name}\.eval\(\s*\)", before)) for name, given, before in calls
    )


def of_need(need: Need, file: str, candidates: list[tuple[Any, str]], cells: Iterable[str]) -> dict[str, Any]:
    """The question for something that the step needs of data that is not here.

    Args:
        file: what was looked for and not found.
        candidates: what the answer may be, each with where that comes from.
        cells: sources that show which names hold a batch while the notebook runs.
    """
    told = {name: said for name, said in (("sizes", need.sizes), ("part", need.part)) if said}
    return {
        "holders": holders(need.name, cells) if need.kind == "batch" else [],
        "name": need.name, "kind": need.kind, "why": need.why, "params": {"file": file, **told, **dict(need.module)},
        "cell": need.cell, "line": need.line, "suggestion": None, "candidates": candidates,
    }  # fmt: skip


def in_module(problem: BaseException, why: str, params: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a question with the module of the program's own, and its line, where an error was raised."""
    inside = call_stack.module(problem)
    if inside and why in {"file_missing", "path_missing"}:
        return {**params, **inside}
    if inside and "message" in params:
        place = f" ({inside['beside']}, line {inside['inner']})"
        return {**params, "message": params["message"].removesuffix(place) + place}
    return params


def out_of_time(deadline: Deadline, cell: int) -> dict[str, Any]:
    """The question where the time was over, by the number that the program waited for."""
    at = next((line for file, line, _ in deadline.stopped if file == call_stack.cell_name(cell)), 1)
    found = {"kind": "value", "why": "time_up", "params": {}, "cell": cell, "line": at, "suggestion": None}
    return {"name": deadline.waits_for(), **found}


def given_up_at(cell: int = 1, line: int = 1) -> dict[str, Any]:
    """The same where a program that lacks data ran for too long before its first step."""
    place = {"cell": cell - 1, "line": line}
    return {"name": "", "kind": "value", "why": "time_up", "params": {}, **place, "suggestion": None}


def holders(loader: str, cells: Iterable[str]) -> list[str]:
    """Names that hold the parts of one batch once the notebook's own loop over a loader has run: `x` and `y` of
    `for step, (x, y) in enumerate(loader()):`."""
    for source in cells:
        for node in nodes(source):
            if not isinstance(node, ast.For):
                continue
            is_counted = isinstance(node.iter, ast.Call) and name_of(node.iter) == "enumerate"
            if any(isinstance(part, ast.Name) and part.id == loader for part in ast.walk(node.iter)):
                target = node.target
                if is_counted and isinstance(target, ast.Tuple) and len(target.elts) == 2:
                    target = target.elts[1]
                parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
                if all(isinstance(part, ast.Name) for part in parts):
                    return [part.id for part in parts if isinstance(part, ast.Name)]
    return []


def refused(problem: BaseException | None) -> tuple[str, str] | None:
    """(what, of what) an estimate refused below an exception: libraries raise their own ones over it."""
    seen: list[BaseException] = []
    while problem is not None and problem not in seen:
        found: tuple[str, str] | None = getattr(problem, "refused", None)
        if found is not None:
            return found
        seen.append(problem)
        problem = problem.__cause__ or problem.__context__
    return None


def address(problem: BaseException) -> str | None:
    """The whole address of a request, where the library (requests, httpx) tells it."""
    url = getattr(getattr(problem, "request", None), "url", None)
    return None if url is None else str(url)


_STAND_FOR = {
    "UnknownReal": "numpy.float64", "UnknownFloat": "float", "Draw": "float", "UnknownInt": "int",
    "UnknownInteger": "numpy.int64", "UnknownArray": "numpy.ndarray", "Fed": "paddle.base.libpaddle.DenseTensor",
    "Object of type UnknownArray": "Object of type ndarray",
}  # fmt: skip
"""Types of stand-ins, as Python names them, and what a job has in their place."""
_STAND_INS = re.compile(rf"\b({'|'.join(sorted(_STAND_FOR, key=len, reverse=True))})\b")


def said(problem: BaseException) -> str:
    """An exception's text; of what Paddle's C++ says the summary, without rulers, source files and the failed check."""
    # Of a cell that does not parse, the place is told beside it, with cells counted as people do.
    whole = problem.msg if isinstance(problem, SyntaxError) and module_of(problem) is None else str(problem)
    text = whole.rpartition("Error Message Summary:")[2].partition("[Hint: ")[0]
    text = re.sub(r"-{5,}|\(at [^()]*\)|\[operator < \w+ > error\]", " ", text)
    text = _STAND_INS.sub(lambda found: _STAND_FOR[found[0]], text)
    return " ".join(text.split())[:400]


def module_of(problem: SyntaxError) -> str | None:
    """The file that does not parse; None: it is a cell, or text that was made as the program ran."""
    return problem.filename if problem.filename and Path(problem.filename).is_file() else None


def line_of(problem: BaseException, name: str) -> int:
    """The line of a file at which an exception left it."""
    line = getattr(problem, "lineno", None) if isinstance(problem, SyntaxError) else None
    step = problem.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == name:
            line = step.tb_lineno
        step = step.tb_next
    return line or 1


def column_of(problem: BaseException, name: str) -> int | None:
    """The column from 0, in bytes, at which it left that line; None where Python does not know it (before 3.11)."""
    column, step = None, problem.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == name:
            column = (call_stack.position(step) or (None,) * 4)[2]
        step = step.tb_next
    return column


_NUMBERS = frozenset(("len", "int", "float", "bool", "round", "abs", "max", "min", "sum", "prod", "input", "str"))
_ENTRIES = frozenset(("get", "getenv", "item"))
_SIZE = re.compile(r"(?i)(^|_)(n|num|nums|len|length|count|dims?|sizes?|width|height|classes|depth|steps)(_|$)|size$")
"""Names of numbers."""
_GOES_THROUGH = frozenset(("len", "enumerate", "zip", "list", "iter", "next", "sorted", "map"))
"""Functions whose arguments are no plain values."""


def assigned_at(source: str, line: int, cells: Iterable[str], column: int | None = None) -> str:
    """The name that the statement at a line assigns, where a value that can be typed would do for it.

    Args:
        source: the cell.
        line: where it stopped.
        cells: all cells, which show what the name is used for.
        column: where it stopped within the line, if that is known: several statements may stand there.
    """
    at = (line, column or 0)
    for statement in nodes(source):
        if isinstance(statement, ast.Assign) and statement.lineno <= line <= (statement.end_lineno or line):
            end = (statement.end_lineno or line, statement.end_col_offset or 0)
            if column is not None and not (statement.lineno, statement.col_offset) <= at < end:
                continue
            target = statement.targets[0]
            if isinstance(target, ast.Name):
                if not _can_be_typed(statement.value, target.id) or any(
                    _is_object(target.id, node) for cell in cells for node in nodes(cell)
                ):
                    return ""
                return target.id
    return ""


def _can_be_typed(value: ast.expr, name: str) -> bool:
    """Whether a value is a number or an entry of a configuration. Nobody types arrays, data sets and lists of files:
    for those, and for what a text file says, only the file helps."""
    match value:
        case ast.Call(func=ast.Name(id=called)):
            can = called in _NUMBERS or (called.islower() and _SIZE.search(name) is not None)
        case ast.Call(func=ast.Attribute(attr=called)):
            can = called in _ENTRIES or called in _NUMBERS
        case ast.BinOp(left=left, right=right):
            can = _can_be_typed(left, name) and _can_be_typed(right, name)
        case ast.Subscript(value=ast.Call(func=ast.Attribute(attr=called))):
            can = not called.startswith("read_")  # a table's column
        case ast.Subscript(slice=index):
            can = not isinstance(index, ast.Slice)
        case ast.Attribute(value=of):
            can = isinstance(of, ast.Name)
        case _:
            can = isinstance(value, (ast.Compare, ast.UnaryOp, ast.Constant, ast.Name))
    return can


def _is_object(name: str, node: ast.AST) -> bool:
    """Whether a name is used there as something that nobody can type: its attributes, its items, what it does."""
    used: list[ast.expr] = []
    if isinstance(node, (ast.Attribute, ast.Subscript)):
        used = [node.value]
    elif isinstance(node, (ast.For, ast.comprehension)):
        used = [node.iter]
    elif isinstance(node, ast.Call):
        goes_through = isinstance(node.func, ast.Name) and node.func.id in _GOES_THROUGH
        used = [node.func, *(node.args if goes_through else [])]
    return any(isinstance(one, ast.Name) and one.id == name for one in used)
