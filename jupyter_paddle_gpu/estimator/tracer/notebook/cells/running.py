"""Runs a notebook's cells, with answers in place of what the notebook assigns."""

from __future__ import annotations

import ast
import functools
import gc
import linecache
import sys
import traceback
import types
from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any

from ... import call_stack
from ...eager.tensors import Tensors
from ...patches import absent_modules
from ...patches.data import makings
from ...patches.processes.command_lines import Parsers
from ...patches.processes.started_programs import Started, StartedPrograms
from ...session import Session
from ...step.beyond import LATER
from ...step.deadline import Deadline, TimeUp, interrupted, may_interrupt
from ...step.rest import REST
from ...step.steps import StepSeen, StepWatch
from ...undecided import conversions, variants
from ...undecided.absent_data import AbsentData, Unseen
from ...undecided.asking import settings_of
from ...undecided.descriptions import is_description
from .. import late_indices
from ..beyond import late_scalers
from ..evaluations import rounds_behind
from ..outside import answers as outside
from ..outside import lacking, leaving, presumed
from ..outside.surroundings import heard
from ..processes import Begun
from ..questions import paths
from ..questions.answers import Answers
from ..questions.wording import line_of, out_of_time, said
from ..removed import named_in
from ..sites import COMMAND, Sites
from ..trainings import Trainings
from . import absorbing, behind, changing, wanting, within
from .findings import Findings
from .helpers import Helpers
from .loops import Loops
from .passing import InPlace, Passing
from .programs import Programs
from .shell import Shell, Statements, ignore
from .statements import Apart
from .surmises import Surmises
from .untaken import Asked, Given

_ROUNDS = 8
"""Of a loop, after which a statement that was passed by in each of them is passed by without a look at its error."""
_WORDS = {conversions.Conversions: "t(", absent_modules.Imports: "import", leaving.Returns: "return"}
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
        in_loops: whether loops that do not train go on without data, round by round.
        catches: whether the program's own `except` has errors of files that are not here.
        asked: what is asked for by the names of answers.
        built_in: names that rewritten code finds among the built-ins of each process.
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
        in_loops: bool = False,
        catches: bool = True,
        asked: Asked | None = None,
        built_in: Collection[str] = (),
    ) -> None:
        self.cells = cells
        self._session, self._statements = Session(), Statements()
        self._asked = asked or Asked()
        self.answers = Given(answers, self._asked)
        self._absorbs_within, self._follows, self._in_loops = absorbs, follows, in_loops
        self._rounds_passed = Counter[tuple[Any, ...] | None]()
        """Statements that were passed by, by file, line and error."""
        self._plain = {name: value for name, value in answers.items() if not is_description(value)}
        """Answers that are values; the others describe data."""
        known = [*(cell["source"] for cell in cells), *(beside or {}).values()]
        own = outside.argument_names(known) if self._plain else ()
        given = outside.OutsideAnswers(Given(self._plain, self._asked))
        told = (Answers(self._plain, own), given, paths.Paths(self._plain, (*own, *paths.bound(known))))
        self.sites = sites or Sites(cells)
        self.rewriting = (
            *(told if self._plain else ()),
            conversions.Conversions(),
            absent_modules.Imports(),
            leaving.Returns(self.sites),
            *rewriting,
        )
        if absorbs:
            self.rewriting = (*within.rewriting(self.sites, in_loops=in_loops), Apart(), *self.rewriting)
        if not catches:
            self.rewriting = (presumed.Handlers(), *self.rewriting)
        helpers = Helpers.of(cells, self._plain if absorbs else None)
        self.found = Findings(cells, self.sites, beside or {}, helpers.imported_only(cells))
        self.found.looked_up = self._asked.variables
        self.begun = Begun(self.found.sources, built_in)
        self.trainings = trainings
        self._passing = Passing(self.sites) if trainings is not None else None
        self._programs = Programs(
            self._run_script, self._names, self._program_failed, helpers, self.begun, passing=self._passing
        )
        self.in_place = InPlace(self._rewritten, self._names_in_place, self._programs.written, self.sites.beside)
        self.finished = False
        self.trained_in: int | None = None
        """Index of the first cell that trains."""
        self._updated_in: int | None = None
        self._running: int | None = None
        self.follows_rest = self.has_rest = self.goes_on = False
        """Whether what is behind the step in its epoch is followed, whether the code has anything there, and whether
        cells behind it are followed as well."""
        self.failed = ""
        """What was said as the only training ended, whose batch is described: nothing behind it tells more."""
        self.behind: dict[str, Any] | None = None
        """Where the job would end behind the step, in its epoch."""

    @property
    def _absent(self) -> absent_modules.AbsentModules:
        return self._session.of(absent_modules.AbsentModules)

    @property
    def _data(self) -> AbsentData:
        return self._session.of(AbsentData)

    @property
    def _deadline(self) -> Deadline:
        return self._session.of(Deadline)

    def run(self, session: Tensors) -> None:
        """Execute cell after cell; a cell that fails does not keep the later ones from running."""
        self._session = session
        self.found.begin(session)
        module = types.ModuleType("__main__")
        namespace = module.__dict__
        session.put(AbsentData(
            answers=self.answers, code="\n".join(self.found.sources), namespace=namespace, looks=self.found.looked,
            missed=self.found.missed,
            is_lazy=self._absorbs_within, follows=self._follows, is_published=self.found.is_published,
        ))  # fmt: skip
        session.put(StartedPrograms(self._started, None if self._passing is None else self.in_place.of_file))
        namespace.update({**self._names(), "display": ignore, "get_ipython": Shell})
        namespace[COMMAND] = functools.partial(self._programs.command, namespace)
        outer = sys.modules.get("__main__")
        sys.modules["__main__"] = module
        try:
            environment = outside.environment(self._plain, list(self.found.sources))
            parsers = outside.arguments(self.answers, session.of(Parsers))
            with environment, parsers, self._asked.of_environment(), self._programs.installed(namespace):
                self._run_cells(namespace)
        finally:
            self._asked.sources.update(dict.fromkeys(self.found.sources))
            if outer is not None:
                sys.modules["__main__"] = outer
            for cell in self.cells:
                linecache.cache.pop(call_stack.cell_name(cell["index"]), None)

    def _run_cells(self, namespace: dict[str, Any]) -> None:
        for cell in self.cells:
            unanswered = self._asked_for()
            updates = self._session.of(StepWatch).updates
            self._run_cell(cell, namespace)
            if self._asked_for() > unanswered:
                gc.collect()  # the cell would have run for long; Paddle's optimizers wait for the collector
            self._updated_in = cell["index"] if self._session.of(StepWatch).updates > updates else self._updated_in
            if self.trained_in is None and (self.finished or self._has_updated()):
                self.trained_in = cell["index"]
            is_stopped = self.found.stop is not None or bool(self.failed) or self.found.lacks_package
            if self.finished or self._session.of(StepWatch).window is not None or is_stopped:
                break
        watch = self._session.of(StepWatch)
        if watch.rest.is_on and self.goes_on and may_interrupt():
            self._run_behind(namespace)
        if watch.beyond.is_on and watch.beyond.behind and may_interrupt():
            self._run_beyond(namespace)

    def _run_behind(self, namespace: dict[str, Any]) -> None:
        """Follow the cells behind the one that trains, as far as they are quickly gone through."""
        rest = self._session.of(StepWatch).rest
        for cell in (one for one in self.cells if one["index"] > (self._running or 0)):
            if self.finished or rest.is_over or cell.get("hides") or not behind.is_short(cell["source"]):
                break
            with interrupted(REST.seconds, StepSeen):
                self._run_cell(cell, namespace)

    def _run_beyond(self, namespace: dict[str, Any]) -> None:
        """Follow the cells behind the one that trains for what they take, up to the first that ends otherwise."""
        asked = self._asked_for()
        for cell in (one for one in self.cells if one["index"] > (self._running or 0)):
            has_ended = self.found.stop is not None or bool(self.failed) or self._asked_for() > asked
            if self.finished or has_ended or cell.get("hides"):
                break
            with interrupted(LATER.seconds, StepSeen):
                self._run_cell(cell, namespace)

    def _asked_for(self) -> int:
        return len(self.found.questions) + len(self.found.failures)

    def settle(self) -> None:
        """The step is known: what comes now in the cell that runs is behind it."""
        self.trained_in = self._running if self.trained_in is None else self.trained_in
        self._updated_in = self._running

    def _run_cell(self, cell: dict[str, Any], namespace: dict[str, Any]) -> None:
        self._running = cell["index"]
        name = call_stack.cell_name(cell["index"])
        source = cell["source"]
        namespace[absent_modules.IMPORTED] = functools.partial(self._absent.imported, cell["index"])
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
        try:
            tree = self._rewritten(source, name, cell["index"])
            with heard(self._session):
                self._execute(cell, tree, namespace)
        except BaseException as problem:
            self._stopped(cell, problem)
            if not self.sites.are_several and self._data.used and not absorbing.is_of_data(problem):
                held = self.sites.at(cell["index"], line_of(problem, name))
                self.failed = "" if held is None else said(problem)
        if self._deadline.stopped and not self.finished:
            self.finished = True
            if not self._has_updated():
                self.found.ask(out_of_time(self._deadline, cell["index"]))
            elif self._session.of(StepWatch).trainings:
                self._session.note("trainings_cut")

    def _rewritten(self, source: str, name: str, cell: int, line: int | None = None) -> Any:
        tree: ast.AST = ast.parse(source, name)
        if self._passing is not None:
            tree = self._passing.of_cell(cell, line).visit(tree)
        for rewriting in self.rewriting:
            if isinstance(rewriting, within.Within):
                rewriting.is_script = line is not None
            if _WORDS.get(type(rewriting), "") in source:
                tree = rewriting.visit(tree)
        return ast.fix_missing_locations(tree)

    def _names(self, file: str = "") -> dict[str, Any]:
        """What a namespace begins with: the notebook's, or that of a script."""
        own = {"__file__": file} if file else {}
        unseen = {absorbing.UNSEEN: Unseen(), absorbing.SETTINGS: settings_of(Unseen())}
        return {"__name__": "__main__", **self._plain, **own, **unseen}

    def _names_in_place(self, cell: int) -> dict[str, Any]:
        return {**self._names(), absent_modules.IMPORTED: functools.partial(self._absent.imported, cell)}

    def _run_script(self, source: str, file: str, namespace: dict[str, Any], cell: int, line: int) -> None:
        namespace[absent_modules.IMPORTED] = functools.partial(self._absent.imported, cell)
        exec(compile(self._rewritten(source, file, cell, line), file, "exec", dont_inherit=True), namespace)

    def _started(self, asked: Started) -> int:
        """A program that the code starts which runs now."""
        sources = self._programs.sources_of(asked)
        self.found.learn(sources)
        watch = self._session.of(StepWatch)
        if not watch.rounds and (rounds := rounds_behind([{"source": source} for source in sources])):
            watch.rounds = rounds
            if not any(isinstance(one, Loops) for one in self.rewriting):
                self.rewriting = (*self.rewriting, Loops())
        return self._programs.started(*call_stack.place(), asked)

    def _program_failed(self, cell: int, line: int, file: str, problem: BaseException, ends: bool) -> None:
        if not self._is_over(problem):
            own = next(one for one in self.cells if one["index"] == cell)
            self.found.program_failed(own, line, file, problem, ends=ends)

    def _execute(self, cell: dict[str, Any], tree: ast.Module, namespace: dict[str, Any]) -> None:
        """Run a cell; it goes on behind a statement that data keeps from running which is not here. What a statement
        makes of such data, as far as its code says it, is looked at before the next one runs."""
        name = call_stack.cell_name(cell["index"])
        filled: list[ast.stmt] = []
        surmises = Surmises(self._session, self.sites, self.answers, is_on=self._follows)
        while tree.body:
            own = tree.body[:1] if self._follows else tree.body
            before = surmises.before(own[0], namespace)
            try:
                self._statements.run(own, name, namespace)
                known, done = surmises.of(own[0], namespace, before, failed=False), len(own)
                if self._follows:
                    makings.remember_statement(own[0], namespace, before, name)
            except BaseException as problem:
                rest = absorbing.behind(problem, own, name)
                if rest is not None and not self._lacks_data(problem, own[rest - 1] in filled):
                    rest = None
                if rest is None or self._deadline.stopped or self._session.of(StepWatch).rest.is_on:
                    raise
                if (error := named_in(problem)) is not None:
                    raise error from None
                statement = own[rest - 1]
                if statement not in filled or absorbing.is_of_data(problem):  # else: what it lacks is told already
                    self._stopped(cell, problem)
                absorbing.forget_written(problem)
                known = {} if absorbing.is_of_step(problem) else surmises.of(statement, namespace, before, failed=True)
                again = not known and absorbing.without_its_data(problem, statement, name)
                if not again:
                    changing.bind_unseen(statement, namespace, self._data, problem, before if rest == 1 else {})
                    if self._follows:
                        makings.remember_statement(statement, namespace, before if rest == 1 else {}, name)
                    changing.leave_open(statement, namespace, problem)
                filled += [statement] * again
                done = rest - again
            namespace.update(known)
            tree = ast.Module(tree.body[done:], [])

    def _lacks_data(self, problem: BaseException, is_filled: bool) -> bool:
        """Whether a statement ends for want of data.

        Args:
            is_filled: whether data of unknown content stands in it already: what cannot take it
                (`eval(open(path).read())`) says so in its own words.
        """
        is_its_own = isinstance(problem, Exception) and not self._session.is_refusal(problem)
        return absorbing.is_of_data(problem) or (is_filled and is_its_own and not absorbing.is_of_types(problem))

    def absorbs(self, problem: BaseException) -> bool:
        """Whether a statement within a function is passed by: data keeps it from running that is not here. Of one in a
        loop that was passed by in many rounds nobody asks again."""
        place = wanting.place_of(problem) if self._in_loops else None
        if place is not None and self._rounds_passed[place] >= _ROUNDS and not self._deadline.stopped:
            return True
        is_refusal = absorbing.is_refusal(problem, self._session)
        if self._deadline.stopped or is_refusal or not absorbing.may_be_passed(problem):
            return False
        if (error := named_in(problem)) is not None:
            raise error
        index = absorbing.cell_of(problem) if variants.present() is None else None  # what is made up tells nothing
        for cell in (one for one in self.cells if one["index"] == index):
            self._stopped(cell, problem)
        self._data.pass_by(wanting.of(problem))
        self._rounds_passed[place] += 1
        return True

    def _stopped(self, cell: dict[str, Any], problem: BaseException) -> None:
        if self._is_over(problem):
            if self.follows_rest:
                sources = {one["index"]: one["source"] for one in self.cells}
                late_indices.look(self._session, problem, sources)
                late_scalers.look(self._session, traceback.walk_tb(problem.__traceback__), sources)
            return
        watch = self._session.of(StepWatch)
        # Where the loops have fewer epochs than are looked at, the step is known as they end.
        if watch.rest.is_on or (self.follows_rest and _is_through(watch)):
            self.behind = self.found.behind(cell, problem)
            self.finished = True
        elif not lacking.ends_in_order(problem):
            self.found.ended(cell, problem)

    def _is_over(self, problem: BaseException) -> bool:
        """Whether the trace ends here: its step was seen, or its time is up (`stopped` tells, also where the program
        caught it)."""
        self.finished = self.finished or isinstance(problem, StepSeen)
        return isinstance(problem, StepSeen | TimeUp)

    def is_cut(self) -> bool:
        """Whether the last cell that trains ended with an error: its training is not through."""
        trains = self.trained_in if self._updated_in is None else self._updated_in
        return self.found.stop is not None and (trains is None or self.found.stop["cell"] <= trains)

    def place(self) -> dict[str, int] | None:
        """Where the training stands that ended the program; None where no code of the notebook tells."""
        cell = self.trained_in if self._updated_in is None else self._updated_in
        own = [site.line for site in self.sites.all if site.cell == cell]
        return None if cell is None else {"cell": cell, "line": own[0] if own else 1}

    def _has_updated(self) -> bool:
        return self._session.of(StepWatch).updates > 0


def _is_through(watch: StepWatch) -> bool:
    """Whether the only training has come to its end by itself, and a whole step of it was seen."""
    return watch.has_window() and watch.loops == 0 and watch.ended is None
