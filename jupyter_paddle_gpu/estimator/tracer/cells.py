"""Runs a notebook's cells, with answers in place of what the notebook assigns."""

from __future__ import annotations

import ast
import contextlib
import gc
import io
import linecache
import re
import sys
import types
from typing import Any

from . import frames, steps, unknowns
from .environment import DownloadNeeded
from .loops import LOOP, loop
from .steps import StepSeen

Question = dict[str, Any]


class Answers(ast.NodeTransformer):
    """Binds names to given values wherever they are assigned."""

    def __init__(self, answers: dict[str, Any]) -> None:
        self.answers = answers
        self.used: set[str] = set()

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        """`name = ...`."""
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Name) and node.targets[0].id in self.answers:
            name = node.targets[0].id
            self.used.add(name)
            node.value = ast.copy_location(ast.Constant(self.answers[name]), node.value)
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """`name: int = ...`."""
        if isinstance(node.target, ast.Name) and node.target.id in self.answers and node.value is not None:
            self.used.add(node.target.id)
            node.value = ast.copy_location(ast.Constant(self.answers[node.target.id]), node.value)
        return self.generic_visit(node)


class CellRun:
    """One run of a notebook's cells, up to the end of a training step."""

    def __init__(
        self, cells: list[dict[str, Any]], answers: dict[str, Any], rewriting: tuple[ast.NodeTransformer, ...] = ()
    ) -> None:
        self.cells = cells
        self.answers = answers
        self.rewriting = (Answers(answers), unknowns.Floats(), *rewriting)
        self.finished = False
        self.questions: list[Question] = []
        self.failures: list[Question] = []
        self.trained_in: int | None = None
        """Index of the first cell that trains."""

    @property
    def failure(self) -> Question | None:
        """The first cell that failed for another reason than missing data."""
        return self.failures[0] if self.failures else None

    def run(self) -> None:
        """Execute cell after cell; a cell that fails does not keep the later ones from running."""
        module = types.ModuleType("__main__")
        namespace = module.__dict__
        namespace.update({"__name__": "__main__", **self.answers, "display": _ignore, "get_ipython": Shell})
        namespace.update({LOOP: loop, unknowns.FLOAT: unknowns.float_of})
        outer = sys.modules.get("__main__")
        sys.modules["__main__"] = module
        try:
            for cell in self.cells:
                self._run_cell(cell, namespace)
                if self.trained_in is None and (self.finished or self._has_updated()):
                    self.trained_in = cell["index"]
                if self.finished or self._has_step():
                    break
        finally:
            if outer is not None:
                sys.modules["__main__"] = outer

    def _run_cell(self, cell: dict[str, Any], namespace: dict[str, Any]) -> None:
        name = frames.cell_name(cell["index"])
        source = cell["source"]
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
        try:
            tree = ast.parse(source, name)
            for rewriting in self.rewriting:
                tree = rewriting.visit(tree)
            code = compile(ast.fix_missing_locations(tree), name, "exec")
            with contextlib.redirect_stdout(io.StringIO()):
                exec(code, namespace)
        except StepSeen:
            self.finished = True
        except DownloadNeeded as problem:
            self._ask(cell, problem, "download", {"url": problem.url})
        except (FileNotFoundError, NotADirectoryError) as problem:
            self._ask(cell, problem, "file_missing", {"path": str(problem.filename or problem)})
        except ModuleNotFoundError as problem:
            self._ask(cell, problem, "module_missing", {"module": str(problem.name)})
        except NameError as problem:
            self._fail(cell, problem, "name_missing", {"name": str(getattr(problem, "name", ""))})
        except (Exception, SystemExit) as problem:
            match refused(problem):
                case "network", target:
                    self._ask(cell, problem, "download", {"url": _address(problem) or target})
                case "process", target:
                    self._ask(cell, problem, "program", {"target": target})
                case _:
                    told = {"error": type(problem).__name__, "message": said(problem)}
                    self._fail(cell, problem, "cell_failed", told)

    def _ask(self, cell: dict[str, Any], problem: BaseException, why: str, params: dict[str, Any]) -> None:
        self.questions.append(self._question(cell, problem, why, params))
        if steps.watch is not None:
            steps.watch.asked()
        gc.collect()  # with its data the cell would have run for long; Paddle's optimizers wait for the collector

    def _fail(self, cell: dict[str, Any], problem: BaseException, why: str, params: dict[str, Any]) -> None:
        if not self._has_step():  # what comes behind a training's first steps is no reason to have none
            self.failures.append(self._question(cell, problem, why, params))

    def _has_updated(self) -> bool:
        return steps.watch is not None and steps.watch.updates > 0

    def _has_step(self) -> bool:
        return steps.watch is not None and steps.watch.window is not None

    def _question(self, cell: dict[str, Any], problem: BaseException, why: str, params: dict[str, Any]) -> Question:
        line = _line_of(problem, frames.cell_name(cell["index"]))
        return {
            "name": _assigned_at(cell["source"], line),
            "why": why,
            "params": params,
            "cell": cell["index"],
            "line": line,
            "suggestion": None,
        }


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


def _address(problem: BaseException) -> str | None:
    """The whole address of a request, where the library (requests, httpx) tells it."""
    url = getattr(getattr(problem, "request", None), "url", None)
    return None if url is None else str(url)


def said(problem: BaseException) -> str:
    """An exception's text; of what Paddle's C++ says the summary, without rulers, source files and the failed check."""
    text = str(problem).rpartition("Error Message Summary:")[2].partition("[Hint: ")[0]
    text = re.sub(r"-{5,}|\(at [^()]*\)", " ", text)
    return " ".join(text.split())[:400]


def _line_of(problem: BaseException, name: str) -> int:
    line = getattr(problem, "lineno", None) if isinstance(problem, SyntaxError) else None
    step = problem.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == name:
            line = step.tb_lineno
        step = step.tb_next
    return line or 1


_TEXTS = frozenset(("read", "read_text", "readlines", "split", "splitlines", "strip", "lower", "decode"))


def _assigned_at(source: str, line: int) -> str:
    """The name that the statement at a line assigns, where its value can be given as an answer."""
    try:
        statements = ast.parse(source).body
    except SyntaxError:
        return ""
    for statement in ast.walk(ast.Module(statements, [])):
        if isinstance(statement, ast.Assign) and statement.lineno <= line <= (statement.end_lineno or line):
            target = statement.targets[0]
            if isinstance(target, ast.Name):
                return "" if _is_text(statement.value) else target.id
    return ""


def _is_text(value: ast.expr) -> bool:
    """Whether a value is what a file says, or its lines or words: no answer to be typed, the file is needed."""
    called = value.func if isinstance(value, ast.Call) else None
    return isinstance(called, ast.Attribute) and called.attr in _TEXTS


def _ignore(*args: Any, **kwargs: Any) -> None:
    return None


class Shell:
    """What `get_ipython()` gives: magics and commands are accepted and do nothing."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _ignore
