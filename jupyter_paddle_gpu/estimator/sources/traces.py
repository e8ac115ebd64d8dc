"""Where traces come from: memory, a warm worker, or real tiny steps where tracing fails."""

from __future__ import annotations

import logging
import threading
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ...devices.makers.registry import keeps_factors, makers
from ...domain.decoding import convert, decode
from ...domain.descriptions import is_description
from ...domain.devices import Accelerator
from ...domain.errors import PaddleGpuError
from ...domain.estimates import BatchPlace
from ...domain.messages import Message
from ...domain.notebooks import CodeCell, NotebookFacts, Printed
from ...domain.what_ifs import WHAT_IFS, EstimateRequest, for_tracer
from .. import messages
from ..scan import scanned
from ..trace import Trace
from ..translate import FAULT, UNTRACEABLE
from ..workers.interpreters import Interpreter
from ..workers.libraries import imported
from ..workers.outcomes import Outcome
from ..workers.settings import WorkerSettings
from ..workers.worker import Worker
from .batches import differs, with_others
from .cache import Cache, folder_state, trace_key, tree_state
from .commands import with_commands
from .fallback import BATCHES, LARGER_BATCHES, Measured, fitted
from .programs import Program, moved, program
from .selftest import Trust, examine

_logger = logging.getLogger(__name__)
OTHER_LANGUAGES = frozenset(("bash", "sh", "script", "cmd", "perl", "ruby", "html", "HTML", "svg", "latex", "markdown"))
OTHER_LANGUAGES |= {"javascript", "js", "writefile", "file"}
"""Cell magics whose cells hold no Python."""

REFUSED = tuple(row.name for row in WHAT_IFS if row.real_steps == "refuse")
"""What-ifs that no real step of the notebook as it is stands for."""
LEFT_OUT = tuple(row.name for row in WHAT_IFS if row.traced and row.real_steps == "leave_out")
"""What-ifs that real steps of the notebook as it is know nothing of."""


class Traced(msgspec.Struct, frozen=True):
    """A trace, or none, with the notes on how it came about.

    Attributes:
        printed: what the notebook's saved outputs said, where the trace hangs on it; None: it is the same with others.
    """

    trace: Trace | None
    notes: tuple[Message, ...] = ()
    printed: Printed | None = None


class Counts(NamedTuple):
    """What counts `size` samples at some places, and is to count `wanted` where the step needs it."""

    size: int
    wanted: int
    places: tuple[BatchPlace, ...]


class Traces:
    """Traces of notebooks, with one warm worker for each interpreter. Thread-safe.

    Args:
        settings: of the workers.
        workers: interpreters that are kept warm at the same time.
        kept: traces that are remembered.
    """

    def __init__(self, settings: WorkerSettings, *, workers: int, kept: int) -> None:
        self._settings = settings
        self._most_workers = workers
        self._lock = threading.Lock()
        self._workers: dict[tuple[str, ...], Worker] = {}
        self._trusts: dict[tuple[str, ...], Trust] = {}
        self._known: Cache[Traced] = Cache(kept)
        self._alike: Cache[tuple[Program, Traced]] = Cache(kept)

    def worker(self, interpreter: Interpreter) -> Worker:
        """The interpreter's worker; the one unused for longest makes room for a new one."""
        with self._lock:
            worker = self._workers.pop(_identity(interpreter), None) or Worker(interpreter, self._settings)
            self._workers[_identity(interpreter)] = worker  # the one used last stands last
            surplus = [self._workers.pop(key) for key in list(self._workers)[: -self._most_workers]]
        for old in surplus:
            old.close()
        return worker

    @property
    def workers(self) -> tuple[Worker, ...]:
        """The workers that are kept, the one used last at the end."""
        with self._lock:
            return tuple(self._workers.values())

    def close(self) -> None:
        """End all workers; no process is left."""
        with self._lock:
            workers, self._workers = list(self._workers.values()), {}
        for worker in workers:
            worker.close()

    def trace(
        self,
        facts: NotebookFacts,
        folder: Path,
        request: EstimateRequest,
        interpreter: Interpreter,
        *,
        keep: bool = True,
        seeks_batch: bool = False,
        counts: Counts | None = None,
        accelerator: Accelerator | None = None,
    ) -> Traced:
        """The notebook's step under a request, from memory where nothing changed.

        Args:
            keep: whether it is remembered.
            seeks_batch: whether it is told where the cells may hold what sizes the batch (`Trace.batch_candidates`).
            counts: what may count the samples of a batch; which of it does is told (`Trace.counted`).
            accelerator: the card that is meant.
        """
        elsewhere = {str((folder / one.folder / one.path).parent) for one in facts.commands if one.kind != "write"}
        states = [folder_state(Path(one)) for one in sorted(elsewhere - {str(folder)})]
        states += [tree_state(folder)] if facts.is_script else []
        asked = {**tracer_request(facts, folder, request), "alone": not keep, "elsewhere": states}
        asked |= {"seeks_batch": True} if seeks_batch else {}
        asked |= {"keeps_factors": True} if keeps_factors(accelerator) else {}
        if counts is not None:
            lines = [(one.cell, one.line) for one in counts.places]
            asked["counts"] = {"size": counts.size, "wanted": counts.wanted, "places": lines}
        written = program(asked["cells"])
        key, alike = (
            trace_key({**asked, "cells": cells}, folder, interpreter.python, interpreter.paddle_version or "")
            for cells in (written.exact, written.loose)
        )
        known = self._known.get(key) or self._elsewhere(alike, written)
        if known is not None and known.printed in (None, facts.printed):
            return known
        try:
            traced = self._ask(facts, folder, asked, interpreter)
        except PaddleGpuError as error:
            return Traced(None, (error.message,))
        if keep and traced.trace is not None:
            if _hangs_on_outputs(traced.trace):
                traced = msgspec.structs.replace(traced, printed=facts.printed)
            self._known.put(key, traced)
            self._alike.put(alike, (written, traced))
        return traced

    def _elsewhere(self, alike: bytes, written: Program) -> Traced | None:
        """The trace of the same program whose lines stood at other places."""
        known = self._alike.get(alike)
        if known is None or known[1].trace is None:
            return None
        trace = moved(known[1].trace, known[0], written)
        return None if trace is None else Traced(trace, known[1].notes, known[1].printed)

    def _ask(self, facts: NotebookFacts, folder: Path, asked: dict[str, Any], interpreter: Interpreter) -> Traced:
        worker = self.worker(interpreter)
        trust = self._trusts.get(_identity(interpreter)) or examine(worker, folder)
        self._trusts[_identity(interpreter)] = trust
        remarks = trust.notes
        if not trust.traces and (found := self._measured(worker, facts, folder, asked)):
            return Traced(found.trace, (*remarks, *found.notes))
        limits = worker.settings.limits()
        libraries = imported(cell["source"] for cell in asked["cells"])
        # What was printed changes no figure, only what is suggested: it is no part of the key.
        timed = {
            **asked,
            "printed": msgspec.to_builtins(facts.printed),
            "installs": bool(facts.requirements),
            "wall_seconds": limits.wall_seconds,
            "cpu_seconds": limits.cpu_seconds,
            "waiting_seconds": limits.waiting_seconds,
        }
        outcome = worker.request("trace", timed, folder, limits, libraries=libraries)
        traced = (
            _read(outcome) if outcome.kind == "answer" else Traced(None, (messages.about_outcome(outcome, limits),))
        )
        if traced.trace is not None and differs(traced.trace, asked["target"], outcome.cpu_seconds):

            def again(batch: object) -> Trace | None:
                found = worker.request("trace", {**timed, "batch": batch}, folder, limits, libraries=libraries)
                return _read(found).trace if found.kind == "answer" else None

            traced = msgspec.structs.replace(traced, trace=with_others(traced.trace, again, asked["target"]))
        if outcome.kind in ("error", "signal") or _untraceable(traced.trace):
            traced = self._measured(worker, facts, folder, asked) or traced
        questions = traced.trace.questions if traced.trace else ()
        # A question with a name says what is missing; what was written has not stopped it.
        went_on = traced.trace is not None and all(question.name for question in questions)
        refused = messages.about_refusals(outcome, (question.why for question in questions), went_on=went_on)
        return Traced(traced.trace, (*remarks, *traced.notes, *refused))

    def _measured(self, worker: Worker, facts: NotebookFacts, folder: Path, asked: dict[str, Any]) -> Traced | None:
        """Real tiny steps instead of a trace; None where they fail as well, or where nobody knows the batch size that
        the answer would be for, or what the data looks like."""
        answers = asked["answers"]
        if any(asked[name] is not None for name in REFUSED) or any(map(is_description, answers.values())):
            return None
        name = facts.batch_size.name if facts.batch_size else ""
        runs: dict[int, Measured] = {}
        batches = list(BATCHES)
        for batch in batches:
            outcome = worker.request("measure", {**asked, "batch_name": name, "measured_batch": batch}, folder)
            if outcome.kind != "answer":
                break
            runs[batch] = convert(outcome.value, Measured)
            if not runs[batch].changed:  # every batch size would give this step again
                break
            if not runs[batch].sees_phases and batch == BATCHES[0]:
                batches += LARGER_BATCHES
        wanted = asked["batch_size"] or answers.get(name) or scanned(facts, "ok").batch_size
        if name and not isinstance(wanted, int):
            return None  # its name was bound to the sizes that are measured: what it is by itself is not known
        found = fitted(runs, wanted)
        if not found:
            return None
        trace, notes = found
        left_out = [name for name in LEFT_OUT if asked[name] is not None]
        return Traced(trace, (*notes, messages.NOT_MEASURED.filled(names=", ".join(left_out))) if left_out else notes)


def _hangs_on_outputs(trace: Trace) -> bool:
    """Whether what was printed may have changed it: what is suggested, a stop with that, and what was assumed."""
    return trace.status != "ok" or any(note.code == "answers_assumed" for note in trace.notes)


def _ends(cell: CodeCell) -> bool:
    """Whether a line of another language is known to end the cell with an error."""
    return any(line.strip("#\t ") for line in cell.source.split("\n"))


def tracer_request(facts: NotebookFacts, folder: Path, request: EstimateRequest) -> dict[str, Any]:
    """What the tracer is asked: the cells as they can be run, and what is to be different."""
    run = {command.cell for command in facts.commands}
    cells = [cell for cell in facts.cells if cell.cell_magic not in OTHER_LANGUAGES or cell.index in run or _ends(cell)]
    return {
        "cells": [
            {
                "index": cell.index,
                "source": with_commands(cell, facts.commands),
                "hides": cell.hides,
                "may_fail": cell.may_fail,
                **({"typed": cell.typed} if cell.index in run else {}),
            }
            for cell in cells
        ],
        "folder": str(folder),
        "files": facts.files,
        "answers": dict(request.answers),
        "held": dict(request.held),
        "environment": dict(request.environment),
        "processes": facts.processes.value if facts.processes else None,
        "device_names": sorted({maker.set_device for maker in makers().rows.values()}),
        **for_tracer(request),
    }


def _identity(interpreter: Interpreter) -> tuple[str, ...]:
    return (*interpreter.command, interpreter.python, interpreter.paddle_version or "")


def _untraceable(trace: Trace | None) -> bool:
    return trace is not None and any(question.why in UNTRACEABLE for question in trace.questions)


def _read(outcome: Outcome) -> Traced:
    try:
        trace = decode(outcome.raw, Trace)
        for note in trace.notes:
            if FAULT in note.params:
                _logger.error("A trace failed in part (%s):\n%s", note.code, note.params[FAULT])
        if trace.host is not None:
            host = msgspec.structs.replace(trace.host, grown=outcome.grown)
            trace = msgspec.structs.replace(trace, host=host)
        return Traced(trace)
    except msgspec.DecodeError as error:
        return Traced(None, (messages.UNREADABLE.filled(reason=str(error)),))
