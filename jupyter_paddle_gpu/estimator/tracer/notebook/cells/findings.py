"""What a run of cells found missing, what failed in it, and where the job would end."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from ... import call_stack
from ...eager.tensors import Tensors
from ...patches import absent_modules
from ...patches.data.communities import AbsentConfigurationError
from ...patches.data.loaders import Loaders
from ...patches.environment import DownloadNeeded
from ...patches.processes.command_lines import Parsers
from ...session import NotFollowedError, Session
from ...step.static_graphs import StaticGraphs
from ...step.steps import StepWatch
from ...undecided import settings
from ...undecided.absent_data import AbsentData, Unseen
from ...undecided.descriptions import is_description
from ...undecided.needs import BatchNeeded, Need, NeededError
from ...undecided.running_code import place
from ..dead import of_command_line, settled, without
from ..outside import asking, choosing, distributions, lacking, leaving, looked_for, presumed
from ..outside.answers import bound_to
from ..outside.surroundings import Spoken
from ..questions import documented, paths, wording
from ..questions.candidates import Candidates
from ..questions.corpora import published
from ..questions.trying.ends import end_of
from ..questions.wording import OF_DATA, address, assigned_at, in_module, line_of, of_need, refused, said, trains
from ..reached import reached
from ..removed import is_removed
from ..sites import Sites
from . import absorbing, behind, stops, wanting

Question = dict[str, Any]
_LEARNS = re.compile(r"\.(learn|fit|train|pretrain|finetune)\(")
"""Calls by which libraries train."""


class Findings:
    """What is asked of a person, and what ended a cell.

    Args:
        cells: list of {index, source}.
        sites: where they may train.
        beside: sources by path of what they run and import.
        imported: those that are no programs.
    """

    def __init__(
        self, cells: list[dict[str, Any]], sites: Sites, beside: Mapping[str, str], imported: Iterable[str] = ()
    ) -> None:
        self._imported = frozenset(imported)
        self._cells, self._sites = cells, sites
        self._session = Session()
        self.sources = (*(cell["source"] for cell in cells), *beside.values())
        """All of the code, as far as it is known before it runs."""
        self.by_number = {cell["index"] + 1: cell["source"] for cell in cells}
        """The code of each cell by the number that people read."""
        self.candidates = Candidates(cells, tuple(beside.values()))
        self.questions: list[Question] = []
        self.late_questions: list[Question] = []
        """Those of cells behind a training that was seen."""
        self.failures: list[Question] = []
        """Cells that failed for another reason than missing data."""
        self.paths: dict[str, Question] = {}
        """Files and folders that were looked for and are not here, by the name that a person says where they are by."""
        self.stop: dict[str, Any] | None = None
        """Where the job would end with an error: cell, line and the error."""
        self.is_between = self.forgives = False
        """Whether a training that was left comes before it; whether errors there are taken for those of rounds that
        were left out."""
        self.is_for_want = False  # see `presumed`
        self.end: dict[str, Any] | None = None  # the first error, see `ends`
        self.is_refused = False
        """Whether Paddle raises that error, of shapes, types or attributes."""
        self.stop_if_told: dict[str, Any] | None = None
        """The same, as if what stands for unknown sizes and numbers were known."""
        self._is_known_to_optimize = any(map(_optimizes, self.sources))
        self.starts_a_training = False
        """Whether a program that may train was started."""
        self.looked_up: Collection[str] = ()
        """Environment variables that anything has looked for."""
        self._command: tuple[int, str, int] | None = None
        """Of a program that has just failed: the line that runs it, and file and line where it failed."""
        self._ends = False  # whether the cell ends with it
        self.program_stop: dict[str, Any] | None = None
        """Where the first program that a cell runs would end with an error, behind which the notebook goes on."""

    def begin(self, session: Tensors) -> None:
        """Tell which session the cells run in."""
        self._session, self.candidates.ledger, self.candidates.note = session, session.ledger, session.note

    def learn(self, sources: Iterable[str]) -> None:
        """More of the code is known: a program starts it."""
        new = [source for source in sources if source not in self.sources]
        self.sources = (*self.sources, *new)
        self.starts_a_training = self.starts_a_training or trains(new, self._sites)
        self._is_known_to_optimize = self._is_known_to_optimize or any(map(_optimizes, new))

    @property
    def speaks_of_optimizers(self) -> bool:
        """Whether any of the code says so: then a training that makes none is by hand."""
        return self._is_known_to_optimize

    @property
    def _absent(self) -> absent_modules.AbsentModules:
        return self._session.of(absent_modules.AbsentModules)

    @property
    def _data(self) -> AbsentData:
        return self._session.of(AbsentData)

    def program_failed(
        self, cell: dict[str, Any], line: int, file: str, problem: BaseException, *, ends: bool = False
    ) -> None:
        """A program's error ends that program alone, but for one with which a cell of the shell `ends`; told at the
        line that runs the program."""
        self._command, self._ends = (line, Path(file).name, line_of(problem, file)), ends
        self.ended(cell, problem)
        self._command, self._ends = None, False

    def ended(self, cell: dict[str, Any], problem: BaseException) -> None:
        """Keep what it means that a cell ended by an exception.

        Raises:
            BaseException: the exception itself, where it is no error (an interrupt).
        """
        if self._session.of(StaticGraphs).refuses(problem):
            self._session.refused(problem)
        match problem:
            case DownloadNeeded():
                self._ask(cell, problem, "download", {"url": problem.url})
            case NeededError() | BatchNeeded():
                wanting.ask(problem, self._data)
                self._session.of(StepWatch).asked()
            case _ if self._session.of(StaticGraphs).explains(problem):
                self._session.of(StepWatch).asked()
            case _ if (path := looked_for.absent_path(problem)) is not None:
                if option := documented.in_place_of(path, self._session.of(Parsers).last):
                    own = {"name": option[0], "candidates": option[1]}
                    self.ask({**self._question(cell, problem, "argument_absent", {"path": path}), **own})
                    return
                self._ask(cell, problem, "file_missing", {"path": path})
                here = self._question(cell, problem, "path_missing", {})
                paths.remember(self.paths, here, path, self.sources, self._data.namespace)
            case _ if not absent_modules.is_gone(problem) and (module := absent_modules.missing(problem)) is not None:
                self._ask_module(self._question(cell, problem, "module_missing", {"module": module}))
            case _ if (package := distributions.missing(problem)) is not None:
                self._ask_module(self._question(cell, problem, "module_missing", {"module": package, "is_package": 1}))
            case NameError() if not (isinstance(problem, UnboundLocalError) or self._is_option(problem)):
                if self._absent.is_starred:
                    self.ask_absent()
                self._fail(cell, problem, "name_missing", {"name": str(getattr(problem, "name", ""))})
            case Exception() | SystemExit():
                self._failed(cell, problem)
            case _:
                raise problem

    def behind(self, cell: dict[str, Any], problem: BaseException) -> dict[str, Any] | None:
        """Where the job would end behind a step that is known, with the shapes that were given there; None where that
        is not sure."""
        is_known = stops.ends_cell(problem) and not cell.get("may_fail") and not self._data.needs
        if not is_known or not behind.is_sure(problem, self._session, self.sources):
            return None
        line = line_of(problem, call_stack.cell_name(cell["index"]))
        stop = stops.stop(cell["index"], line, problem, self._session.of(Loaders))
        return {"stop": stop, "given": behind.given(problem)}

    def _is_option(self, problem: BaseException) -> bool:
        """Whether a name is bound only where an option is given."""
        return bool(lacking.unbound(problem, self._session.of(Parsers)))

    def _asks_outside(self, cell: dict[str, Any], problem: BaseException) -> bool:
        """Whether a cell ended for want of a variable, an argument or a person's input, which are asked for."""
        here = self._question(cell, problem, "", {})
        found = asking.lacks(problem, cell, here, self._session, self.looked_up)
        found = asking.of_program(found, self._session.of(Parsers), self.sources, is_started=self._command is not None)
        statement = lacking.failing(problem, cell["source"], here["line"])
        for lack in found:
            self.ask({**here, **asking.question(lack, statement, self._session, self.sources)})
        return bool(found)

    def _failed(self, cell: dict[str, Any], problem: BaseException) -> None:
        if isinstance(problem, AbsentConfigurationError):
            self._fail(cell, problem, "configuration_unseen", {"name": problem.name})
            return
        if self._asks_outside(cell, problem):
            return
        if usage := lacking.usage_of(problem):
            self.ended(cell, usage)
            return
        if (handled := lacking.behind_exit(problem)) is not None:
            self.ended(cell, handled)
            return
        params = {"error": type(problem).__name__, "message": said(problem)}
        match refused(problem):
            case "network", target:
                self._ask(cell, problem, "download", {"url": address(problem) or target})
            case "process", target:
                self._ask(cell, problem, "program", {"target": target})
            case _ if absent_modules.AbsentModule.__name__ in str(problem):
                self.ask_absent()
            case _ if absorbing.is_of_data(problem) and not absorbing.is_refusal(problem, self._session):
                self._session.of(StepWatch).asked()
            case _ if operator := stops.only_on_gpus(problem, self._session):
                self._fail(cell, problem, "operator_of_gpus", {"operator": operator})
            case _ if isinstance(problem, NotFollowedError):
                self._fail(cell, problem, "operator_unfollowed", {"operator": str(problem)})
            case _ if isinstance(problem, SystemExit) and (last := self._session.of(Spoken).last):
                self._fail(cell, problem, "ends_itself", {**params, "said": last})
            case _:
                self._fail(cell, problem, "cell_failed", params)

    def ask_absent(self) -> None:
        """Ask for every module that was passed by, where it is imported."""
        for module, at in self._absent.needed().items():
            cell, line = at or (None, None)
            where = {"cell": cell, "line": line}
            self._ask_module({"kind": "value", "why": "module_missing", "params": {"module": module}, **where})

    def _ask_module(self, question: Question) -> None:
        """Ask once for each module; nothing that could be typed stands for one."""
        if all(one["params"].get("module") != question["params"]["module"] for one in self.questions):
            self.ask({**question, "name": "", "suggestion": None})

    @property
    def lacks_package(self) -> bool:
        """Whether a cell ended for want of a package that it asks for by its name: the job ends there."""
        return any(map(_is_of_package, self.questions))

    def forget_questions(self) -> None:
        """Nothing trains: all that is told is which package the program does not do without."""
        self.questions = list(filter(_is_of_package, self.questions))

    def forget_files(self, *, hides: bool = False) -> None:
        """A step was reached without the data that was looked for, or none is looked for: it is no question any more.

        Args:
            hides: whether no step was reached, so that one may stand behind what is absent.
        """
        settings.look_behind(self._data.namespace, (cell["source"] for cell in self._cells))
        absent = [one for one in self.questions if one["why"] in OF_DATA and not _is_of_package(one)]
        if absent:
            self.questions = [one for one in self.questions if one not in absent]
            answers = self._data.answers
            is_answered = not all(is_description(answers[name]) for name in answers)  # `values` would count as taking
            files = [one for one in absent if is_answered and not hides and settings.is_file(one["params"].get("path"))]
            first = (files or absent)[0]
            wanted = next((str(next(iter(one["params"].values()))) for one in (first, *absent) if one["params"]), "")
            at = {"cell": (first["cell"] or 0) + 1, "line": first["line"] or 0}
            more = {"hides": 1} if hides and wanted else self._in_jobs(str(first["params"]["path"])) if files else {}
            self._session.note("data_absent", **at, wanted=wanted, **more)

    def _in_jobs(self, path: str) -> dict[str, Any]:
        """What a job has of answers for what stands in a file that is not here."""
        told = self._session.of(settings.AbsentFiles).as_data()
        given = next((one for one in told if one["kind"] and one["path"] == os.path.realpath(path)), None)
        return {"answered": 1} if given is None else {"answered": 1, "given": 1, "lacks": ", ".join(given["lacks"])}

    @property
    def trains(self) -> bool:
        """Whether anything in the code that is ever come to may train, or what a module that is not here was handed."""
        if self._absent.trains:
            return True
        cells = [cell["source"] for cell in self._cells]
        beside = [source for source in self.sources if source not in cells]
        if not trains(self.sources, self._sites):
            return False
        given = of_command_line(self.sources, self._session.of(Parsers).given)
        seen = {name: value for name, value in self._data.namespace.items() if not isinstance(value, Unseen)}
        known = settled(self.sources, {**given, **self._data.answers, **seen})
        asked = {one["name"] for one in self.questions if one["why"] in choosing.OUTSIDE}
        asked |= bound_to(asked, self.sources)
        return trains(reached(cells, beside, without(known, asked), self._imported), self._sites)

    def ask_to_train(self) -> None:
        """The program ended in order and trained nothing, though it holds a training: ask for what has it train."""
        if not (self.failures or self.questions) and trains(self.sources, self._sites):
            asked = list(choosing.questions(self._session.of(Parsers), self._cells, self.sources))
            for question in asked or leaving.questions(self._session, self.sources):
                self.ask(question)

    @property
    def lacks_its_library(self) -> bool:
        """Whether a library that the code has train something (`agent.learn(batch)`, `solver.train()`) ended with a
        module that is not here."""
        lacks = any(one["why"] == "module_missing" for one in self.questions)
        return lacks and not self.trains and any(map(_LEARNS.search, self.sources))

    def ask_needs(self) -> None:
        """Ask for what the step needs of data that is not here, in place of its files."""
        if not self.trains:
            if not self.lacks_its_library:
                self.forget_files(hides=True)  # a lesson on data, where nothing trains, or a training elsewhere
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
            self.ask(of_need(need, need.file or looked_for, candidates, [cell["source"] for cell in self._cells]))

    def is_published(self, need: Need) -> bool:
        """Whether a number is a published one of the data that the code names."""
        return any(is_whole for _, is_whole in published(need, "\n".join(self.sources)))

    def looked(self, need: Need) -> None:
        """The program looked at data that is not here: keep what stands around it, for suggestions."""
        self.candidates.look(need, {**self._data.namespace, **call_stack.names()})

    def missed(self, path: str) -> None:
        """The program goes on without a file that is not here."""
        here: Question = {"kind": "value", "name": "", "suggestion": None, "params": call_stack.module()}
        here["cell"], here["line"] = place()
        self.ask({**here, "why": "file_missing", "params": {"path": path, **here["params"]}})
        paths.remember(self.paths, {**here, "why": "path_missing"}, path, self.sources, self._data.namespace)

    def _ask(self, cell: dict[str, Any], problem: BaseException, why: str, params: dict[str, Any]) -> None:
        self.ask(self._question(cell, problem, why, params))

    def ask(self, question: Question) -> None:
        """Ask once; what cells behind a training that was seen ask is kept apart."""
        watch = self._session.of(StepWatch)
        asked, question = self.late_questions if watch.trainings else self.questions, self.candidates.held_for(question)
        if question not in asked:
            asked.append(question)
        watch.asked()

    def _fail(self, cell: dict[str, Any], problem: BaseException, why: str, params: dict[str, Any]) -> None:
        question = self._question(cell, problem, why, params)
        stop = stops.stop(cell["index"], question["line"], problem, self._session.of(Loaders))
        self.end = self.end or end_of(problem, stop, self._session, *stops.of_code(problem))
        self.is_for_want = presumed.is_for_want(problem)
        if self._command is not None:
            stop |= {"raised": None, "file": self._command[1], "file_line": self._command[2], "ends": self._ends}
        if self._ends_the_job(cell, problem):
            self.stop, self.is_between = stop, self._is_behind_rounds(problem)
            self.is_refused = self._session.is_refusal(problem) and not is_removed(problem)
        elif self._command is not None and self.program_stop is None and self._ends_its_program(cell, problem):
            self.program_stop = stop
        elif self._ends_the_job(cell, problem, told=True):
            self.stop_if_told = self.stop_if_told or stop
        if not self._has_step():  # what comes behind a training's first steps is no reason to have none
            self.failures.append(question)

    def _ends_the_job(self, cell: dict[str, Any], problem: BaseException, *, told: bool = False) -> bool:
        """Whether the notebook, run from its first cell, ends here: nothing before it was missing or passed by."""
        goes_on = (self._command is not None and not self._ends) or cell.get("may_fail")  # behind a program of its own
        return not goes_on and self._ends_its_program(cell, problem, told=told)

    def _ends_its_program(self, cell: dict[str, Any], problem: BaseException, *, told: bool = False) -> bool:
        """Whether the program that runs, the notebook or one that it starts, ends here: nothing before it was missing
        or passed by."""
        passed_by = any(one.get("hides") for one in self._cells if one["index"] <= cell["index"])
        asked = [*self.questions, *self.late_questions, *self.failures]
        is_of_data = all(one["why"] in OF_DATA for one in asked) and stops.is_certain(problem, self._session)
        hangs_on_data = bool(self._data.passed) and not stops.is_by_type(problem)  # helpers pass by what nobody asks
        # Whatever is missing before it, a cell that is no Python ends the job, if nothing before it does.
        is_first = is_of_data or stops.is_unreadable(problem) or not (asked or hangs_on_data)
        if self._is_behind_rounds(problem) and not passed_by:
            is_so = not (told or self.forgives) and behind.is_sure(problem, self._session, self.sources)
        else:
            is_so = stops.is_of_notebook(problem, self._session, passed_by=passed_by, told=told)
        return is_first and is_so

    def _is_behind_rounds(self, problem: BaseException) -> bool:
        """Whether it may hang on the rounds that were left out of a training before it."""
        return self._session.of(StepWatch).trainings > 0 and not isinstance(problem, (SyntaxError, ImportError))

    def _has_step(self) -> bool:
        return (watch := self._session.of(StepWatch)).has_window() or watch.trainings > 0

    def _question(self, cell: dict[str, Any], problem: BaseException, why: str, params: dict[str, Any]) -> Question:
        own = call_stack.cell_name(cell["index"])
        line, column = line_of(problem, own), wording.column_of(problem, own)
        if self._command is not None:
            line, file, inner = self._command
            if "message" in params:
                params = {**params, "message": f"{params['message']} ({file}, line {inner})"}
        name = assigned_at(cell["source"], line, [one["source"] for one in self._cells], column)
        place = {"cell": cell["index"], "line": line, "params": in_module(problem, why, params)}
        return {"kind": "value", "name": name, "why": why, **place, "suggestion": None}


def _is_of_package(question: Question) -> bool:
    return bool(question["params"].get("is_package"))


def _optimizes(source: str) -> bool:
    return "optim" in source.lower()
