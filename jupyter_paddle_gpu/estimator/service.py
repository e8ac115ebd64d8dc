"""The room's door: a notebook's facts in, an estimate out.

Blocking, thread-safe; what a person or their notebook did wrong is an answer, not an exception.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from ..domain.changes import NOTHING_SEEN, Seen
from ..domain.devices import Accelerator
from ..domain.errors import PaddleGpuError
from ..domain.estimates import Estimate, Fit, Status
from ..domain.messages import Message
from ..domain.mistakes.stops import Stop
from ..domain.notebooks import CELL_NOT_PYTHON, OTHER_FRAMEWORK, OTHER_LANGUAGE, NotebookFacts
from ..domain.what_ifs import EstimateRequest, asked_in_a_row
from . import answered_files, messages, packages, precision, scripts, trainings, unsupported
from .advice.changed_steps import ChangedSteps, Rewrite, Steps, answering, as_it_is
from .advice.details import Details
from .advice.fitting import TracedOn, fits
from .advice.known import KnownAdvice
from .memory.assemble import Peak, answer, cpu_peak, gpu_peak
from .memory.calibration import Calibration, Key
from .memory.narrowed import narrowed
from .scan import behind_training, scanned
from .sources.fallback import widened
from .sources.traces import Traced, Traces
from .trace import Trace
from .translate import question, without_figure
from .workers.interpreters import Interpreter, find_interpreter
from .workers.outcomes import Greeting
from .workers.settings import WorkerSettings, available_memory

DEFAULT_KERNEL = "python3"
"""The kernel that every installation of ipykernel brings."""


class EstimateSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What an estimator may use.

    Attributes:
        worker: limits and delays of the processes that trace.
        traces_kept: traces that are remembered, so that another device or target is answered at once.
        workers: interpreters that are kept warm at the same time.
        calibration: file of the machine's constants; None is the one in Jupyter's data folder.
        usable_share: part of a card's memory that a process may take when the largest batch is sought: the same that
            policy lets a job plan for, so that a batch that is offered is one that is given a card.
        details_seconds: after this time no further remedy or batch is computed for a request that says no other.
        expecting_bytes: memory that must be available for a worker to start before an estimate is asked for; one
            takes a quarter of that.
    """

    worker: WorkerSettings = WorkerSettings()
    traces_kept: int = 16
    workers: int = 2
    calibration: Path | None = None
    usable_share: float = 0.85
    details_seconds: float = 30.0
    expecting_bytes: int = 1 << 30


class EstimateService:
    """Estimates of notebooks; `calibration` holds the machine's constants, `traces` the workers."""

    def __init__(self, settings: EstimateSettings | None = None) -> None:
        self.settings = settings or EstimateSettings()
        self.calibration = Calibration(self.settings.calibration)
        self.traces = Traces(self.settings.worker, workers=self.settings.workers, kept=self.settings.traces_kept)
        self._advice = KnownAdvice(self.settings.traces_kept)
        self._beginning: list[threading.Thread] = []

    def estimate(
        self,
        facts: NotebookFacts,
        folder: Path,
        request: EstimateRequest,
        accelerator: Accelerator | None = None,
        rewrite: Rewrite | None = None,
        *,
        devices: int = 1,
        host_bytes: int | None = None,
        seen: Seen = NOTHING_SEEN,
    ) -> Estimate:
        """What one training step of the notebook takes.

        Args:
            facts: the notebook as it was read; its cells are run up to the first training step in an isolated child.
            folder: the notebook's folder: the child's working directory, which it may read.
            request: answers and what-if.
            accelerator: the card that is meant; None gives a range for any card.
            rewrite: puts what-ifs into the cells as a job will have them; None leaves all of them to the tracer.
            devices: how many there are to train together on, for advice.
            host_bytes: what a job may have of the machine's memory: on the CPU the details are made for that.
            seen: what earlier estimates of this code have found.
        """
        rewrite = rewrite or as_it_is(facts)
        estimate = self._estimate(
            facts, folder, request, accelerator, rewrite, devices=devices, host_bytes=host_bytes, seen=seen
        )
        estimate = msgspec.structs.replace(estimate, **_device(request, accelerator), target=request.target or "gpu")
        return scripts.said(estimate) if facts.is_script else estimate

    def of_trace(self, trace: Trace, request: EstimateRequest, accelerator: Accelerator | None = None) -> Estimate:
        """The estimate of a step that was traced elsewhere, such as of live objects in a kernel."""
        nothing = NotebookFacts(kernel_name="", language="python", cells=(), imports_paddle=True, loop="custom")
        estimate = self._answer(nothing, Traced(trace), request, accelerator)
        return msgspec.structs.replace(
            estimate,
            live=True,
            **_device(request, accelerator),
            target=request.target or "gpu",
            seconds=round(sum(trace.seconds.values()), 3),
        )

    def observe(self, estimate: Estimate, measured: int, *, cuda: str = "", paddle: str = "", job: str = "") -> bool:
        """Learn from a finished job on `estimate.device`: `measured` bytes are what the driver showed for it.

        Args:
            job: its id, by which it counts once; empty: every call counts.

        Returns:
            Whether there was something new to learn.
        """
        if estimate.terms and estimate.device:
            key = Key(estimate.device, cuda, paddle or estimate.paddle_version or "")
            # A data folder that cannot be written must not fail the job that has just ended well.
            with contextlib.suppress(OSError):
                return self.calibration.observe(key, estimate.terms, measured, job=job)
        return False

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
        kernel = find_interpreter(facts.kernel_name)
        changed = ChangedSteps(self.traces, folder, kernel, as_it_is(facts), accelerator=accelerator)
        steps = Steps(changed, lambda trace, asked: self.peak(trace, asked, accelerator))
        return Details(request, steps, self.settings.details_seconds).largest_batch(limit, {})

    def fits(
        self,
        facts: NotebookFacts,
        folder: Path,
        request: EstimateRequest,
        accelerators: Sequence[Accelerator],
    ) -> tuple[Fit, ...]:
        """The largest batch on each accelerator whose upper bound (`high`) stays within what may be used there.

        Raises:
            PaddleGpuError: there is no interpreter to ask, or the batch cannot be changed (`batch_unknown`).
        """
        interpreter = find_interpreter(facts.kernel_name)

        def trace(on: Accelerator, batch: int) -> Trace | None:
            asked = msgspec.structs.replace(request, batch_size=batch)
            return answering(self.traces.trace(facts, folder, asked, interpreter, keep=False, accelerator=on).trace)

        return self.fits_of(trace, request, accelerators)

    def fits_of(
        self, trace: TracedOn, request: EstimateRequest, accelerators: Sequence[Accelerator]
    ) -> tuple[Fit, ...]:
        """The same for steps that are traced elsewhere, such as of live objects; `trace` gives one at a batch size."""

        def high(one: Trace, accelerator: Accelerator) -> int:
            return self.peak(one, request, accelerator).high

        return fits(trace, high, accelerators, self.settings.usable_share)

    def warm(self, kernel_name: str) -> None:
        """Have the kernel's interpreter ready, so that the first estimate does not wait for `import paddle`.

        Raises `PaddleGpuError` where there is no such kernel or its Python does not start.
        """
        interpreter = find_interpreter(kernel_name)
        if interpreter.paddle_version is not None:
            self.traces.worker(interpreter).start()

    def greeting(self, kernel_name: str) -> Greeting:
        """What the kernel's worker says of its Paddle, and of what a trace replaces there.

        Raises `PaddleGpuError` where there is no such kernel or its Python does not start.
        """
        return self.traces.worker(find_interpreter(kernel_name)).start()

    def expect(self, kernel_name: str) -> None:
        """An estimate may be asked for soon: `begin`, unless memory is scarce."""
        if available_memory() >= self.settings.expecting_bytes:
            self.begin(kernel_name)

    def begin(self, kernel_name: str) -> None:
        """Where no worker runs yet, have the kernel's start while the caller reads on.

        What hinders it shows at the estimate.
        """
        if self.traces.workers:
            return

        def start() -> None:
            with contextlib.suppress(PaddleGpuError):
                interpreter = find_interpreter(kernel_name)
                if interpreter.paddle_version is not None:
                    self.traces.worker(interpreter).begin()

        thread = threading.Thread(target=start, name="estimator-begins", daemon=True)
        thread.start()  # before it is known: `close` joins what is known, and cannot join what has not started
        self._beginning = [thread, *(one for one in self._beginning if one.is_alive())]

    def close(self) -> None:
        """End all workers; no process is left."""
        for thread in self._beginning:
            thread.join()
        self.traces.close()

    def _estimate(
        self,
        facts: NotebookFacts,
        folder: Path,
        request: EstimateRequest,
        accelerator: Accelerator | None,
        rewrite: Rewrite,
        *,
        devices: int,
        host_bytes: int | None,
        seen: Seen,
    ) -> Estimate:
        started = time.monotonic()
        if not facts.imports_paddle and facts.loop == "none":
            is_read = not any(one.code in (OTHER_LANGUAGE, OTHER_FRAMEWORK) for one in facts.problems)
            return scanned(facts, "no_model", *([messages.NO_TRAINING] if is_read else []))
        try:
            interpreter, replaced = _interpreter(facts)
        except PaddleGpuError as error:
            return scanned(facts, "unsupported", error.message, messages.SCAN_ONLY)
        if interpreter.paddle_version is None:
            missing = messages.NO_PADDLE.filled(kernel=interpreter.kernel_name, python=interpreter.python)
            return scanned(facts, "no_paddle", missing)
        changed = ChangedSteps(self.traces, folder, interpreter, rewrite, seen, accelerator=accelerator)
        as_written = trainings.as_written(request)
        traces: list[Trace | None] = []

        def asked(request: EstimateRequest) -> tuple[Estimate, NotebookFacts]:
            traced, read = changed.trace(trainings.plain(request))
            traces.append(traced.trace)
            return self._answer(read, traced, request, accelerator), read

        estimate, read = asked(request)
        is_known = changed.among is not None
        if not is_known and len(estimate.trainings) > 1 and trainings.of_figure(request) != as_written:
            # What is changed belongs to one of them: which, the notebook as it is tells.
            changed.among = trainings.among(asked(as_written)[0])
            if changed.among is not None:
                changed.places = changed.found = ()  # of whichever had that size
                estimate, read = asked(request)
        elif not is_known:
            changed.among = trainings.among(estimate)
        own_data = trainings.of_own_data(as_written)
        if estimate.status == "would_stop" and trainings.of_figure(request) != own_data:
            estimate = _by_what_is_changed(estimate, asked(own_data)[0], request)
        facts = read
        estimate = msgspec.structs.replace(
            _with_run(estimate, facts, request),
            notes=(*replaced, *estimate.notes),
            batch_from=changed.found or changed.places,
            among=changed.among,
            seconds=round(time.monotonic() - started, 3),  # of the figure; advice takes as long as there is some
        )
        if not request.details or estimate.status != "ok" or estimate.evidence != "trace":
            return estimate  # real steps for every remedy would take minutes
        name, limit = "CPU", host_bytes if request.target == "cpu" else None
        if accelerator is not None:
            name, limit = accelerator.name, int(_memory(accelerator) * self.settings.usable_share)
        one = changed.among.id if changed.among is not None else estimate.training
        meant = msgspec.structs.replace(request, training=one) if len(estimate.trainings) > 1 else request
        steps = Steps(changed, lambda trace, asked: self.peak(trace, asked, accelerator))
        seconds = request.details_seconds or self.settings.details_seconds
        details, checked = Details(meant, steps, seconds), accelerator is None or accelerator.checked
        hangs_on = (facts, msgspec.structs.replace(meant, details_seconds=None), accelerator, limit, devices)
        return self._advice.of(
            traces, hangs_on, estimate, lambda: details.add_to(estimate, name, limit, devices, checked=checked)
        )

    def _answer(
        self, facts: NotebookFacts, traced: Traced, request: EstimateRequest, accelerator: Accelerator | None
    ) -> Estimate:
        trace = traced.trace
        if trace is None:
            return scanned(facts, "unsupported", *traced.notes, messages.SCAN_ONLY)
        if request.training is not None and (refusal := trainings.refusal(trace, request.training)) is not None:
            raise refusal
        questions = (*map(question, unsupported.asked(trace)), *answered_files.asked(trace))
        absent = packages.of_trace(trace)

        def peak(one: Trace) -> Peak:
            return self.peak(one, request, accelerator)

        choice = trainings.chosen(trace, request, peak)
        told = precision.told(trainings.notes_of(trace, choice), accelerator)
        notes = (*unsupported.obstacles(trace), *traced.notes, *told)
        if choice is not None:
            # Where no loader told the batch size, what was asked for or read stands.
            batch = choice.trace.batch_size or request.batch_size
            if batch is None and len(choice.trainings) == 1:
                batch = scanned(facts, "ok").batch_size
            estimate = choice.on(answer(choice.trace, choice.peak), batch)
            notes = (*notes, *choice.notes, *narrowed(estimate.terms), *choice.peak.notes)
            estimate = msgspec.structs.replace(estimate, questions=questions, notes=notes, packages=absent)
            given, stop = answered_files.of_trace(trace), _told(trace, facts, behind=True)
            return widened(msgspec.structs.replace(estimate, settings=given, stop=stop))
        if trace.status == "no_model":
            notes = notes if trace.says_why else (messages.NO_TRAINING, *notes)
        status: Status = trace.status
        if status == "needs_input" and not questions:
            status = "no_package" if any(one.is_needed for one in absent) else "unsupported"
        found = scanned(facts, status, *map(without_figure, notes))
        if trace.stop is not None:  # that a cell is no Python is said by the stop there
            notes = tuple(one for one in found.notes if one.code != CELL_NOT_PYTHON)
            found = msgspec.structs.replace(found, notes=notes)
        return msgspec.structs.replace(
            found, questions=questions, packages=absent, stop=_told(trace, facts, behind=False)
        )

    def peak(self, trace: Trace, request: EstimateRequest, accelerator: Accelerator | None) -> Peak:
        """What a traced step takes on a request's target."""
        if request.target == "cpu":
            return cpu_peak(trace)
        release = request.release or trace.paddle_version
        key = Key(accelerator.name, "", release) if accelerator else None
        return gpu_peak(trace, accelerator, self.calibration, key=key, release=request.release)


def _told(trace: Trace, facts: NotebookFacts, *, behind: bool) -> Stop | None:
    """Where the notebook would end, with the sentence that says so."""
    stop = trace.stop or (behind_training(trace, facts) if behind else None)
    return None if stop is None else stop.told(behind=behind, is_script=facts.is_script)


def _by_what_is_changed(estimate: Estimate, written: Estimate, request: EstimateRequest) -> Estimate:
    """An estimate that stops, with what was asked named where the notebook as it is written does not stop."""
    changed = asked_in_a_row(request)
    if estimate.stop is None or changed is None or written.status != "ok":
        return estimate
    stop = msgspec.structs.replace(estimate.stop, changed=changed)
    return msgspec.structs.replace(estimate, stop=stop.told(behind=False))


def _interpreter(facts: NotebookFacts) -> tuple[Interpreter, tuple[Message, ...]]:
    """The interpreter to ask, and a note where it is not the notebook's own.

    A notebook from elsewhere often names a kernel of its author's machine; this machine's Python can still say what
    the training takes.
    """
    try:
        return find_interpreter(facts.kernel_name), ()
    except PaddleGpuError as error:
        if error.code != "no_such_kernel" or facts.language != "python":
            raise
        own = find_interpreter(DEFAULT_KERNEL)
        return own, (messages.OTHER_KERNEL.filled(kernel=facts.kernel_name, used=own.kernel_name),)


def _with_run(estimate: Estimate, facts: NotebookFacts, request: EstimateRequest) -> Estimate:
    """With the length of the whole run, where one training's epochs can be read or were answered."""
    fact = facts.epochs
    if fact is None or len(estimate.trainings) > 1:
        return estimate
    epochs = request.answers.get(fact.name or fact.source, fact.value)
    if not isinstance(epochs, int) or isinstance(epochs, bool) or epochs < 1:
        return estimate
    steps = None if estimate.steps_per_epoch is None else epochs * estimate.steps_per_epoch
    return msgspec.structs.replace(estimate, epochs=epochs, steps=steps)


def _memory(accelerator: Accelerator) -> int:
    return accelerator.usable_bytes or accelerator.memory_bytes


def _device(request: EstimateRequest, accelerator: Accelerator | None) -> dict[str, Any]:
    """What an estimate says of the device that it is for."""
    if accelerator is None:
        return {"device": request.device}
    return {"device": accelerator.name, "device_checked": accelerator.checked}
