"""The room's door: a notebook's facts in, an estimate out.

Blocking, thread-safe; what a person or their notebook did wrong is an answer, not an exception.
"""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import msgspec

from ..domain.devices import Accelerator
from ..domain.errors import PaddleGpuError
from ..domain.estimates import Estimate, EstimateRequest
from ..domain.messages import Message
from ..domain.notebooks import NotebookFacts
from . import messages
from .assemble import Peak, answer, cpu_peak, gpu_peak
from .cache import Cache, trace_key
from .calibration import Calibration, Key
from .details import Details, PeakOf
from .fallback import BATCHES, Measured, fitted
from .interpreters import Interpreter, find_interpreter
from .scan import scanned
from .trace import Trace
from .translate import UNTRACEABLE, note, question
from .worker import Outcome, Worker, WorkerSettings


class EstimateSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What an estimator may use.

    Attributes:
        worker: limits and delays of the processes that trace.
        traces_kept: traces that are remembered, so that another device or target is answered at once.
        workers: interpreters that are kept warm at the same time.
        calibration: file of the machine's constants; None is the one in Jupyter's data folder.
        usable_share: part of a card's memory that a process may take when the largest batch is sought.
        details_seconds: after this time no further remedy or batch is computed for one request.
    """

    worker: WorkerSettings = WorkerSettings()
    traces_kept: int = 16
    workers: int = 2
    calibration: Path | None = None
    usable_share: float = 0.95
    details_seconds: float = 60.0


class Traced(msgspec.Struct, frozen=True):
    """A trace, or none, with the notes on how it came about."""

    trace: Trace | None
    notes: tuple[Message, ...] = ()


class EstimateService:
    """Estimates with one warm worker for each kernel's interpreter."""

    def __init__(self, settings: EstimateSettings | None = None) -> None:
        self.settings = settings or EstimateSettings()
        self.calibration = Calibration(self.settings.calibration)
        self._lock = threading.Lock()
        self._workers: dict[tuple[str, ...], Worker] = {}
        self._traces: Cache[Traced] = Cache(self.settings.traces_kept)

    def estimate(
        self, facts: NotebookFacts, folder: Path, request: EstimateRequest, accelerator: Accelerator | None = None
    ) -> Estimate:
        """What one training step of the notebook takes.

        Args:
            facts: the notebook as it was read; its cells are run up to the first training step in an isolated child.
            folder: the notebook's folder: the child's working directory, which it may read.
            request: answers and what-if.
            accelerator: the card that is meant; None gives a range for any card.
        """
        started = time.monotonic()
        estimate = self._estimate(facts, folder, request, accelerator)
        return msgspec.structs.replace(
            estimate,
            device=accelerator.name if accelerator else request.device,
            target=request.target,
            seconds=round(time.monotonic() - started, 3),
        )

    def of_trace(self, trace: Trace, request: EstimateRequest, accelerator: Accelerator | None = None) -> Estimate:
        """The estimate of a step that somebody else traced (live objects of a kernel)."""
        started = time.monotonic()
        notes, questions = tuple(map(note, trace.notes)), tuple(map(question, trace.questions))
        estimate = Estimate(status=trace.status, evidence=trace.evidence)
        if trace.status == "ok":
            estimate = answer(trace, self._peak(trace, request, accelerator))
        return msgspec.structs.replace(
            estimate,
            notes=notes,
            questions=questions,
            device=accelerator.name if accelerator else request.device,
            target=request.target,
            seconds=round(sum(trace.seconds.values()) + time.monotonic() - started, 3),
        )

    def warm(self, kernel_name: str) -> None:
        """Have the kernel's interpreter ready, so that the first estimate does not wait for `import paddle`."""
        interpreter = find_interpreter(kernel_name)
        if interpreter.paddle_version is not None:
            self._worker(interpreter).start()

    def close(self) -> None:
        """End all workers; no process is left."""
        with self._lock:
            workers, self._workers = list(self._workers.values()), {}
        for worker in workers:
            worker.close()

    def _estimate(
        self, facts: NotebookFacts, folder: Path, request: EstimateRequest, accelerator: Accelerator | None
    ) -> Estimate:
        if not facts.imports_paddle and facts.loop == "none":
            return scanned(facts, "no_model", messages.NO_TRAINING)
        try:
            interpreter = find_interpreter(facts.kernel_name)
        except PaddleGpuError as error:
            return scanned(facts, "needs_input", error.message, messages.SCAN_ONLY)
        if interpreter.paddle_version is None:
            missing = messages.fill(messages.NO_PADDLE, kernel=interpreter.kernel_name, python=interpreter.python)
            return scanned(facts, "needs_input", missing)
        traced = self.trace(facts, folder, request, interpreter, keep=True)
        estimate = self._answer(facts, traced, request, accelerator)
        if not request.details or estimate.status != "ok":
            return estimate
        limit = round(_memory(accelerator) * self.settings.usable_share) if accelerator else None
        peak = self._peak_of(facts, folder, interpreter, accelerator)
        return Details(request, peak, self.settings.details_seconds).add_to(estimate, accelerator, limit)

    def largest_batch(
        self,
        facts: NotebookFacts,
        folder: Path,
        request: EstimateRequest,
        limit: int,
        accelerator: Accelerator | None = None,
    ) -> int | None:
        """The largest batch whose upper bound (`high`) stays within `limit` bytes; None where not even one sample does.

        Raises:
            SearchFailedError: the step could not be traced at a batch size that was needed.
            PaddleGpuError: there is no interpreter to ask.
        """
        peak = self._peak_of(facts, folder, find_interpreter(facts.kernel_name), accelerator)
        return Details(request, peak, self.settings.details_seconds).largest_batch(limit, {})

    def trace(
        self, facts: NotebookFacts, folder: Path, request: EstimateRequest, interpreter: Interpreter, *, keep: bool
    ) -> Traced:
        """The notebook's step under a request, from memory where nothing changed; `keep` remembers it."""
        asked = tracer_request(facts, folder, request)
        key = trace_key(asked, folder, interpreter.python, interpreter.paddle_version or "")
        if (known := self._traces.get(key)) is not None:
            return known
        worker = self._worker(interpreter)
        limits = worker.settings.limits()
        try:
            outcome = worker.request("trace", asked, folder, limits)
        except PaddleGpuError as error:
            return Traced(None, (error.message,))
        if outcome.kind == "answer":
            traced = _read(outcome)
        else:
            traced = Traced(None, (messages.about_outcome(outcome, limits), *messages.about_refusals(outcome)))
        if outcome.kind in ("error", "signal") or _untraceable(traced.trace):
            traced = self._measured(worker, facts, folder, asked) or traced
        if keep and traced.trace is not None:
            self._traces.put(key, traced)
        return traced

    def _measured(self, worker: Worker, facts: NotebookFacts, folder: Path, asked: dict[str, Any]) -> Traced | None:
        """Real tiny steps instead of a trace; None where they fail as well."""
        name = facts.batch_size.name if facts.batch_size else ""
        runs: dict[int, Measured] = {}
        for batch in BATCHES:
            outcome = worker.request("measure", {**asked, "batch_name": name, "measured_batch": batch}, folder)
            if outcome.kind != "answer":
                break
            runs[batch] = msgspec.convert(outcome.value, Measured)
            if not runs[batch].changed:  # every batch size would give this step again
                break
        wanted = asked["batch_size"] or (scanned(facts, "ok").batch_size if not asked["answers"] else None)
        found = fitted(runs, wanted)
        return Traced(*found) if found else None

    def _answer(
        self, facts: NotebookFacts, traced: Traced, request: EstimateRequest, accelerator: Accelerator | None
    ) -> Estimate:
        trace = traced.trace
        if trace is None:
            return scanned(facts, "needs_input", *traced.notes, messages.SCAN_ONLY)
        notes = (*traced.notes, *map(note, trace.notes))
        questions = tuple(map(question, trace.questions))
        if trace.status == "no_model":
            return msgspec.structs.replace(
                scanned(facts, "no_model", messages.NO_TRAINING, *notes), questions=questions
            )
        if trace.status == "needs_input":
            return msgspec.structs.replace(scanned(facts, "needs_input", *notes), questions=questions)
        estimate = answer(trace, self._peak(trace, request, accelerator))
        return msgspec.structs.replace(estimate, questions=questions, notes=notes)

    def _peak(self, trace: Trace, request: EstimateRequest, accelerator: Accelerator | None) -> Peak:
        if request.target == "cpu":
            return cpu_peak(trace)
        key = Key(accelerator.name, "", trace.paddle_version) if accelerator else None
        return gpu_peak(trace, accelerator, self.calibration, key=key)

    def _peak_of(
        self, facts: NotebookFacts, folder: Path, interpreter: Interpreter, accelerator: Accelerator | None
    ) -> PeakOf:
        def peak(asked: EstimateRequest) -> Peak | None:
            trace = self.trace(facts, folder, asked, interpreter, keep=False).trace
            return self._peak(trace, asked, accelerator) if trace and trace.status == "ok" else None

        return peak

    def _worker(self, interpreter: Interpreter) -> Worker:
        identity = (*interpreter.command, interpreter.python, interpreter.paddle_version or "")
        with self._lock:
            worker = self._workers.pop(identity, None) or Worker(interpreter, self.settings.worker)
            self._workers[identity] = worker  # the one used last stands last
            surplus = [self._workers.pop(key) for key in list(self._workers)[: -self.settings.workers]]
        for old in surplus:
            old.close()
        return worker


def _memory(accelerator: Accelerator) -> int:
    return accelerator.usable_bytes or accelerator.memory_bytes


def tracer_request(facts: NotebookFacts, folder: Path, request: EstimateRequest) -> dict[str, Any]:
    """What the tracer is asked: the cells as they can be run, and what is to be different."""
    return {
        "cells": [
            {"index": cell.index, "source": cell.source}
            for cell in facts.cells
            if cell.cell_magic not in OTHER_LANGUAGES
        ],
        "folder": str(folder),
        "answers": dict(request.answers),
        "batch_size": request.batch_size,
        "amp": request.amp,
        "amp_dtype": request.amp_dtype,
        "accumulation": request.accumulation,
        "recompute": request.recompute,
        "set_to_zero": request.set_to_zero,
        "target": request.target,
    }


OTHER_LANGUAGES = frozenset(
    (
        "bash",
        "sh",
        "script",
        "cmd",
        "html",
        "HTML",
        "javascript",
        "js",
        "svg",
        "latex",
        "markdown",
        "perl",
        "ruby",
        "writefile",
    )
)
"""Cell magics whose cells hold no Python."""


def _untraceable(trace: Trace | None) -> bool:
    return trace is not None and any(question.why in UNTRACEABLE for question in trace.questions)


def _read(outcome: Outcome) -> Traced:
    refused = messages.about_refusals(outcome)
    try:
        return Traced(msgspec.convert(outcome.value, Trace), refused)
    except msgspec.ValidationError as error:
        return Traced(None, (messages.fill(messages.UNREADABLE, reason=str(error)), *refused))
