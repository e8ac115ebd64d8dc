"""Runs a notebook's cells, with answers in place of what the notebook assigns."""

from __future__ import annotations

import ast
import contextlib
import functools
import gc
import io
import linecache
import sys
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ... import call_stack
from ...patches import absent_modules
from ...patches.environment import DownloadNeeded, StaticGraphError
from ...session import Session
from ...step.deadline import Deadline, TimeUp
from ...step.steps import StepSeen, StepWatch
from ...undecided import conversions, variants
from ...undecided.absent_data import AbsentData, Unseen
from ...undecided.descriptions import is_description
from ...undecided.needs import BatchNeeded, Need, NeededError
from ..questions import paths
from ..questions.answers import Answers
from ..questions.candidates import Candidates
from ..questions.wording import OF_DATA, address, assigned_at, line_of, of_need, out_of_time, refused, said, trains
from ..sites import COMMAND, Sites
from ..trainings import Trainings
from . import absorbing, changing, outside, stops, wanting, within
from .loops import LOOP, loop
from .passing import PASSING, Passing, passing
from .programs import Programs
from .shell import Shell, ignore
from .surmises import Surmises

Question = dict[str, Any]
_WORDS = {conversions.Floats: "float", absent_modules.Imports: "import"}
"""A source without the word of one holds nothing for it: to look for a word is quicker than to go through a tree."""


class CellRun:
    """One run of a notebook's cells, up to the end of the last training's step.

    Args:
        cells: list of {index, source}.
        sites: where they may train.
        beside: sources by path of what they run and import.
        trainings: keeps what is seen, where there may be several; None: the program ends with the first one's step.
        absorbs: whether functions and the loop that trains go on without data as well (`within`).
        follows: whether batches of data that is not here are looked for in the program's own code then.
    """

    def __init__(
        self,
        cells: list[dict[str, Any]],
        answers: dict[str, Any],
        rewriting: tuple[ast.NodeTransformer, ...] = (),
        *,
        sites: Sites | None = None,
        beside: Mapping[str, str] | None = None,
        trainings: Trainings | None = None,
        absorbs: bool = False,
        follows: bool = False,
    ) -> None:
        self.cells = cells
        self._session = Session()
        self.answers = answers
        self._absorbs_within, self._follows = absorbs, follows
        self._plain = {name: value for name, value in answers.items() if not is_description(value)}
        """Answers that are values; the others describe data."""
        self.rewriting = (
            *(
                (Answers(self._plain), outside.OutsideAnswers(self._plain), paths.Paths(self._plain))
                if self._plain
                else ()
            ),
            conversions.Floats(),
            absent_modules.Imports(),
            *rewriting,
        )
        self.sites = sites or Sites(cells)
        if absorbs:
            self.rewriting = (*within.rewriting(self.sites), *self.rewriting)
        self.sources = (*(cell["source"] for cell in cells), *(beside or {}).values())
        """All of the code, as far as it is known before it runs."""
        self.candidates = Candidates(cells, tuple((beside or {}).values()))
        self._programs = Programs(self._run_script, self._names, self._program_failed)
        self.trainings = trainings
        self._passing = Passing(self.sites) if trainings is not None else None
        self.finished = False
        self.questions: list[Question] = []
        self.late_questions: list[Question] = []
        """Those of cells behind a training that was seen."""
        self.failures: list[Question] = []
        """Cells that failed for another reason than missing data."""
        self.paths: dict[str, Question] = {}
        """Files and folders that were looked for and are not here, by the name that a person says where they are by."""
        self.trained_in: int | None = None
        """Index of the first cell that trains."""
        self._updated_in: int | None = None
        self.stop: dict[str, Any] | None = None
        self.stop_if_told: dict[str, Any] | None = None
        """Where the job would end with an error: cell, line and the error."""
        self.is_refused = False
        """Whether Paddle raises that error, of shapes, types or attributes."""
        self._command: tuple[int, str] | None = None
        """Of a program that has just failed: the line that runs it, and where it failed."""

    @property
    def _absent(self) -> absent_modules.AbsentModules:
        return self._session.of(absent_modules.AbsentModules)

    @property
    def _data(self) -> AbsentData:
        return self._session.of(AbsentData)

    @property
    def _deadline(self) -> Deadline:
        return self._session.of(Deadline)

    def run(self, session: Session) -> None:
        """Execute cell after cell; a cell that fails does not keep the later ones from running."""
        self._session = session
        module = types.ModuleType("__main__")
        namespace = module.__dict__
        session.put(AbsentData(
            answers=self.answers, namespace=namespace, looks=self._looked, is_lazy=self._absorbs_within,
            follows=self._follows,
        ))  # fmt: skip
        namespace.update({**self._names(), "display": ignore, "get_ipython": Shell})
        namespace[COMMAND] = functools.partial(self._programs.command, namespace)
        outer = sys.modules.get("__main__")
        sys.modules["__main__"] = module
        try:
            with outside.environment(self._plain, list(self.sources)), self._programs.installed(namespace):
                self._run_cells(namespace)
        finally:
            if outer is not None:
                sys.modules["__main__"] = outer
            for cell in self.cells:
                linecache.cache.pop(call_stack.cell_name(cell["index"]), None)

    def _run_cells(self, namespace: dict[str, Any]) -> None:
        for cell in self.cells:
            unanswered = len(self.questions) + len(self.failures)
            updates = self._session.of(StepWatch).updates
            self._run_cell(cell, namespace)
            if len(self.questions) + len(self.failures) > unanswered:
                gc.collect()  # the cell would have run for long; Paddle's optimizers wait for the collector
            self._updated_in = cell["index"] if self._session.of(StepWatch).updates > updates else self._updated_in
            if self.trained_in is None and (self.finished or self._has_updated()):
                self.trained_in = cell["index"]
            if self.finished or self._session.of(StepWatch).window is not None or self.stop is not None:
                break

    def _run_cell(self, cell: dict[str, Any], namespace: dict[str, Any]) -> None:
        name = call_stack.cell_name(cell["index"])
        source = cell["source"]
        namespace[absent_modules.IMPORTED] = functools.partial(self._absent.imported, cell["index"])
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
        try:
            tree = self._rewritten(source, name, cell["index"])
            with contextlib.redirect_stdout(io.StringIO()):
                self._execute(cell, tree, namespace)
        except BaseException as problem:
            self._stopped(cell, problem)
        if self._deadline.stopped and not self.finished:
            self.finished = True
            if not self._has_updated():
                self._asked(out_of_time(self._deadline, cell["index"]))
            elif self._session.of(StepWatch).trainings:
                self._session.note("trainings_cut")

    def _rewritten(self, source: str, name: str, cell: int, line: int | None = None) -> Any:
        tree: ast.AST = ast.parse(source, name)
        if self._passing is not None:
            tree = self._passing.of_cell(cell, line).visit(tree)
        for rewriting in self.rewriting:
            if _WORDS.get(type(rewriting), "") in source:
                tree = rewriting.visit(tree)
        return ast.fix_missing_locations(tree)

    def _names(self, file: str = "") -> dict[str, Any]:
        """What a namespace begins with: the notebook's, or that of a script."""
        own = {"__file__": file} if file else {}
        found = {LOOP: loop, PASSING: passing, conversions.FLOAT: conversions.float_of, absorbing.UNSEEN: Unseen()}
        return {"__name__": "__main__", **self._plain, **own, **found, **within.NAMES, within.ABSORBS: self._absorbs}

    def _run_script(self, source: str, file: str, namespace: dict[str, Any], cell: int, line: int) -> None:
        namespace[absent_modules.IMPORTED] = functools.partial(self._absent.imported, cell)
        exec(compile(self._rewritten(source, file, cell, line), file, "exec"), namespace)

    def _program_failed(self, cell: int, line: int, file: str, problem: BaseException) -> None:
        """A program's error ends that program alone; it is told of at the line that runs the program."""
        self._command = (line, f"{Path(file).name}, line {line_of(problem, file)}")
        self._stopped(next(one for one in self.cells if one["index"] == cell), problem)
        self._command = None

    def _execute(self, cell: dict[str, Any], tree: ast.Module, namespace: dict[str, Any]) -> None:
        """Run a cell; it goes on behind a statement that data keeps from running which is not here. What a statement
        makes of such data, as far as its code says it, is looked at before the next one runs."""
        name = call_stack.cell_name(cell["index"])
        surmises = Surmises(self._session, self.sites, self.answers, is_on=self._follows)
        while tree.body:
            own = tree.body[:1] if self._follows else tree.body
            before = surmises.before(own[0], namespace)
            try:
                exec(compile(ast.Module(own, []), name, "exec"), namespace)
                known, done = surmises.of(own[0], namespace, before, failed=False), len(own)
            except BaseException as problem:
                rest = absorbing.behind(problem, own, name) if absorbing.is_of_data(problem) else None
                if rest is None or self._deadline.stopped:
                    raise
                self._stopped(cell, problem)
                absorbing.forget_written(problem)
                statement = own[rest - 1]
                known = {} if absorbing.is_of_step(problem) else surmises.of(statement, namespace, before, failed=True)
                again = not known and absorbing.without_its_data(problem, statement, name)
                if not again:
                    absorbing.bind_unseen(statement, namespace, self._data, problem)
                    changing.leave_open(statement, namespace)
                done = rest - again
            namespace.update(known)
            tree = ast.Module(tree.body[done:], [])

    def _absorbs(self, problem: BaseException) -> bool:
        """Whether a statement within a function is passed by: data keeps it from running that is not here."""
        is_refusal = absorbing.is_refusal(problem, self._session)
        if self._deadline.stopped or is_refusal or not absorbing.may_be_passed(problem):
            return False
        index = absorbing.cell_of(problem) if variants.present() is None else None  # what is made up tells nothing
        for cell in (one for one in self.cells if one["index"] == index):
            self._stopped(cell, problem)
        self._data.pass_by(wanting.of(problem))
        return True

    def _stopped(self, cell: dict[str, Any], problem: BaseException) -> None:
        """What it means that a cell ended by an exception."""
        match problem:
            case StepSeen():
                self.finished = True
            case TimeUp():
                pass  # `stopped` tells, also where the program caught it
            case DownloadNeeded():
                self._ask(cell, problem, "download", {"url": problem.url})
            case NeededError() | BatchNeeded():
                self._session.of(StepWatch).asked()
            case StaticGraphError():
                self._asked({**self._question(cell, problem, "static_graph", {}), "name": ""})
            case _ if (path := absorbing.absent_path(problem)) is not None:
                self._ask(cell, problem, "file_missing", {"path": path})
                here = self._question(cell, problem, "path_missing", {})
                paths.remember(self.paths, here, path, self.sources, self._data.namespace)
            case _ if (module := absent_modules.missing(problem)) is not None:
                self._ask_module(self._question(cell, problem, "module_missing", {"module": module}))
            case NameError():
                if self._absent.is_starred:
                    self.ask_absent()
                self._fail(cell, problem, "name_missing", {"name": str(getattr(problem, "name", ""))})
            case Exception() | SystemExit():
                self._failed(cell, problem)
            case _:
                raise problem

    def _asks_outside(self, cell: dict[str, Any], problem: BaseException) -> bool:
        """Whether a cell ended for want of an environment variable, an argument or a person's input, which are asked
        for."""
        question = self._question(cell, problem, "", {})
        found = [
            *(("environment", "environment_missing", name)
              for name in outside.environment_of(problem, cell["source"], question["line"])),
            *(("value", "argument_missing", name) for name in outside.arguments_of(problem)),
        ]  # fmt: skip
        if outside.awaits_input(problem):
            found.append(("value", "input_missing", question["name"] or outside.INPUT))
        for kind, why, name in found:
            self._asked({**question, "kind": kind, "why": why, "name": name})
        return bool(found)

    def _failed(self, cell: dict[str, Any], problem: BaseException) -> None:
        if self._asks_outside(cell, problem):
            return
        match refused(problem):
            case "network", target:
                self._ask(cell, problem, "download", {"url": address(problem) or target})
            case "process", target:
                self._ask(cell, problem, "program", {"target": target})
            case _ if absent_modules.AbsentModule.__name__ in str(problem):
                self.ask_absent()
            case _ if absorbing.is_of_data(problem) and not absorbing.is_refusal(problem, self._session):
                self._session.of(StepWatch).asked()
            case _:
                params = {"error": type(problem).__name__, "message": said(problem)}
                self._fail(cell, problem, "cell_failed", params)

    def ask_absent(self) -> None:
        """Ask for every module that was passed by, where it is imported."""
        for module, place in self._absent.needed().items():
            cell, line = place or (None, None)
            self._ask_module(
                {"kind": "value", "why": "module_missing", "params": {"module": module}, "cell": cell, "line": line}
            )

    def _ask_module(self, question: Question) -> None:
        """Ask once for each module; nothing that could be typed stands for one."""
        if all(one["params"].get("module") != question["params"]["module"] for one in self.questions):
            self._asked({**question, "name": "", "suggestion": None})

    def forget_files(self) -> None:
        """A step was reached without the data that was looked for: it is no question any more."""
        absent = [one for one in self.questions if one["why"] in OF_DATA]
        if absent:
            self.questions = [one for one in self.questions if one["why"] not in OF_DATA]
            wanted = next((str(next(iter(one["params"].values()))) for one in absent if one["params"]), "static")
            self._session.note("data_absent", line=absent[0]["line"] or 0, wanted=wanted)

    @property
    def trains(self) -> bool:
        """Whether anything in the code may train, or what a module that is not here was handed."""
        return trains(self.sources, self.sites) or self._absent.trains

    def ask_needs(self) -> None:
        """Ask for what the step needs of data that is not here, in place of its files."""
        if not self.trains:
            self.forget_files()  # a lesson on data, where nothing trains
            return
        needs = list(self._data.needs.values())
        if not needs:
            return
        files = [one["params"] for one in [*self.questions, *self.late_questions] if one["why"] in OF_DATA]
        looked_for = next((str(next(iter(one.values()))) for one in files if one), "")
        self.questions = [one for one in self.questions if one["why"] not in OF_DATA]
        self.late_questions = [one for one in self.late_questions if one["why"] not in OF_DATA]
        for need in needs:
            candidates = self.candidates.of(need, self._data.namespace)
            self._asked(of_need(need, looked_for, candidates, [cell["source"] for cell in self.cells]))

    def _looked(self, need: Need) -> None:
        self.candidates.look(need, self._data.namespace)

    def _ask(self, cell: dict[str, Any], problem: BaseException, why: str, params: dict[str, Any]) -> None:
        self._asked(self._question(cell, problem, why, params))

    def _asked(self, question: Question) -> None:
        watch = self._session.of(StepWatch)
        asked, question = self.late_questions if watch.trainings else self.questions, self.candidates.held_for(question)
        if question not in asked:
            asked.append(question)
        watch.asked()

    def _fail(self, cell: dict[str, Any], problem: BaseException, why: str, params: dict[str, Any]) -> None:
        question = self._question(cell, problem, why, params)
        stop = stops.stop(cell["index"], question["line"], problem)
        if self._ends_the_job(cell, problem):
            self.stop = stop
            self.is_refused = self._session.is_refusal(problem) and not stops.is_removed(problem)
        elif self._ends_the_job(cell, problem, told=True):
            self.stop_if_told = self.stop_if_told or stop
        if not self._has_step():  # what comes behind a training's first steps is no reason to have none
            self.failures.append(question)

    def _ends_the_job(self, cell: dict[str, Any], problem: BaseException, *, told: bool = False) -> bool:
        """Whether the notebook, run from its first cell, ends here: nothing before it was missing or passed by."""
        goes_on = self._command is not None or cell.get("may_fail")  # behind a program of its own
        passed_by = any(one.get("hides") for one in self.cells if one["index"] <= cell["index"])
        asked = [*self.questions, *self.late_questions, *self.failures]
        is_of_data = all(one["why"] in OF_DATA for one in asked) and stops.is_certain(problem, self._session)
        is_first = not goes_on and (not asked or is_of_data)
        return is_first and stops.is_of_notebook(problem, self._session, passed_by=passed_by, told=told)

    def is_cut(self) -> bool:
        """Whether the last cell that trains ended with an error: its training is not through."""
        trains = self.trained_in if self._updated_in is None else self._updated_in
        return self.stop is not None and (trains is None or self.stop["cell"] <= trains)

    def place(self) -> dict[str, int] | None:
        """Where the training stands that ended the program; None where no code of the notebook tells."""
        cell = self.trained_in if self._updated_in is None else self._updated_in
        own = [site.line for site in self.sites.all if site.cell == cell]
        return None if cell is None else {"cell": cell, "line": own[0] if own else 1}

    def _has_updated(self) -> bool:
        return self._session.of(StepWatch).updates > 0

    def _has_step(self) -> bool:
        watch = self._session.of(StepWatch)
        return watch.window is not None or watch.trainings > 0

    def _question(self, cell: dict[str, Any], problem: BaseException, why: str, params: dict[str, Any]) -> Question:
        line = line_of(problem, call_stack.cell_name(cell["index"]))
        if self._command is not None:
            line, inside = self._command
            params = {**params, "message": f"{params['message']} ({inside})"} if "message" in params else params
        name = assigned_at(cell["source"], line, [one["source"] for one in self.cells])
        place = {"cell": cell["index"], "line": line}
        return {"kind": "value", "name": name, "why": why, "params": params, **place, "suggestion": None}
