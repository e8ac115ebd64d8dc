"""One trace: its session is made, the program is run in it, what came of it is reported, and the session is closed."""

from __future__ import annotations

import contextlib
import gc
import io
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

from ..eager.amp import Precision
from ..eager.runtime import Runtime
from ..patches.absent_modules import AbsentModules
from ..patches.child_processes import ChildProcesses
from ..patches.data_loader import Loaders
from ..patches.patch import unplaced
from ..patches.process_group import Processes
from ..patches.sharding import TaskFlows
from ..patches.table import installed
from ..patches.tensor_methods import real
from ..program.inference import Inference
from ..session import entered
from ..step import resizing
from ..step.changes import Changes
from ..step.host_memory import HostMemory
from ..step.layers import LayerPaths
from ..step.model_inputs import ModelInputs
from ..step.report import described, inputs_of, loss_name, once_each, rows, versions
from ..step.steps import StepWatch, plain
from ..undecided import absent_data
from .cells import CellRun
from .what_ifs import Scenario

_inference = Inference()
"""Templates of operator calls: the one thing that traces of a process share."""


def prepare() -> tuple[str, ...]:
    """Put the patches into their places, once a process; they pass everything on until a trace runs.

    Returns:
        What this Paddle has no place for, by name.
    """
    return installed()


def micro(size: int, request: dict[str, Any]) -> int:
    """The micro-batch of an accumulated step."""
    return max(1, size // max(1, request.get("accumulation") or 1))


def traced(
    execute: Callable[[Runtime], None], scenario: Scenario, run: CellRun | None, *, evaluates: bool = False
) -> tuple[Runtime, dict[str, Any]]:
    """The trace of a program, and the session that it was made in, which is over.

    Args:
        execute: runs the program.
        scenario: what is asked.
        run: None where it is not a notebook.
        evaluates: whether an evaluation may keep tensors: it is followed into the epoch behind it.
    """
    started = time.perf_counter()
    prepare()
    runtime = _session(scenario, run, evaluates)
    collecting = gc.isenabled()
    gc.disable()
    try:
        try:
            with entered(runtime), warnings.catch_warnings(), _quiet():
                warnings.simplefilter("ignore")
                execute(runtime)
        finally:
            if collecting:
                gc.enable()
        cells_done = time.perf_counter()
        result = _result(runtime, run, scenario.request)
    finally:
        runtime.close()
    result["seconds"] = {"cells": cells_done - started, "report": time.perf_counter() - cells_done}
    return runtime, result


def _session(scenario: Scenario, run: CellRun | None, evaluates: bool) -> Runtime:
    """What a run begins with; what it does not name here, floors make when they first ask for it."""
    request = scenario.request
    runtime = Runtime(_inference, request.get("target") or "gpu")
    runtime.evaluate = real
    runtime.resize = partial(resizing.arguments, runtime) if scenario.change else None
    processes = ChildProcesses(runtime)
    by_hand = run is not None and not any("optim" in cell["source"].lower() for cell in run.cells)
    watch = StepWatch(runtime, scenario.probe, evaluates=evaluates, is_by_hand=by_hand, checks=(processes.check,))
    runtime.before_call = watch.check
    accumulation = max(1, request.get("accumulation") or 1)
    runtime.put(
        scenario.decisions,
        scenario.choices,
        watch,
        processes,
        Processes(request.get("devices"), request.get("processes")),
        TaskFlows(),
        HostMemory(),
        Precision(request.get("amp"), request.get("amp_dtype") or "float16"),
        Changes(accumulation, bool(request.get("recompute")), request.get("set_to_zero"), ended=watch.has_window),
        Loaders(request.get("batch_size"), accumulation),
        resizing.Resizing(scenario.change),
    )
    return runtime


def _result(runtime: Runtime, run: CellRun | None, request: dict[str, Any]) -> dict[str, Any]:
    watch, changes = runtime.of(StepWatch), runtime.of(Changes)
    loaders, inputs_seen, processes = runtime.of(Loaders), runtime.of(ModelInputs), runtime.of(Processes)
    window = watch.last_window()
    if run is not None and window is not None:
        run.forget_files()
    questions = [] if run is None else list(run.questions)
    absent_data.note_used(runtime)
    notes = [{"code": code, "params": params} for code, params in runtime.notes.items()]
    for name, problem in runtime.ledger.faults.items():
        notes.append({"code": "rule_failed", "params": {"op": name, "problem": problem}})
    if names := unplaced():
        notes.append({"code": "unpatched_library", "params": {"names": ", ".join(names)}})
    if window is None:
        if run is not None:
            run.ask_needs()
            questions = list(run.questions)
        if run is not None and run.failure is not None and not questions:
            questions.append(run.failure)
        if run is not None and not questions:
            run.ask_absent()
            questions = list(run.questions)
        summed = changes.accumulation
        if run is not None and not questions and summed > 1 and changes.attempts:
            notes.append({"code": "too_few_steps", "params": {"asked": request["accumulation"]}})
            return {"status": "needs_input", "questions": [], "notes": notes, **versions()}
        status = "needs_input" if questions else "no_model"
        return {"status": status, "questions": questions, "notes": notes, **versions()}
    absent = runtime.of(AbsentModules).modules
    if absent:
        notes.append({"code": "modules_passed_by", "params": {"modules": ", ".join(absent)}})
    if watch.window is None:
        notes.append({"code": "few_steps", "params": {}})
    called = runtime.of(LayerPaths).of_step(window, watch.parameters())
    trained = watch.elements()
    storages, operations = rows(runtime.ledger, window, called.path)
    arrived = inputs_of(runtime.ledger, window)
    inputs = once_each([described(record) for record in arrived], changes.accumulation)
    inputs = inputs or [f"{dtype}{list(shape)}" for shape, dtype in called.batch]
    sizes = [shape[0] for shape, _ in called.batch if shape] or loaders.seen_batch_sizes[:1]
    asked = request.get("batch_size")
    if asked and sizes and sizes[0] != micro(asked, request):
        notes.append({"code": "batch_size_kept", "params": {"asked": asked, "found": sizes[0]}})
    return {
        "status": "ok",
        "evidence": "trace",
        **versions(),
        "model": called.model,
        "batch_size": sizes[0] if sizes else None,
        "own_batch_size": next(iter(loaders.own_batch_sizes), None),
        "optimizer": " + ".join(type(plain(optimizer)).__name__ for optimizer in watch.optimizers) or None,
        "loss": loss_name(runtime.ledger),
        "amp": runtime.of(Precision).level_of_run,
        "distribution": processes.kind,
        "devices": processes.size if processes.kind else None,
        "parameters": called.parameters or trained,
        "trainable_parameters": called.trainable or trained,
        "inputs": inputs,
        "shared_memory": loaders.shared_memory(),
        "host": runtime.of(HostMemory).fields(runtime.ledger),
        "image_size": inputs_seen.image,
        "sequence_length": None if inputs_seen.sequence is None else inputs_seen.sequence.length,
        "operations": operations,
        "storages": storages,
        "layers": called.tree,
        "questions": questions,
        "notes": notes,
    }


@contextlib.contextmanager
def _quiet() -> Any:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        yield
