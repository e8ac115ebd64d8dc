"""The way in: a notebook (or live objects) to a traced training step, as plain JSON values."""

from __future__ import annotations

import contextlib
import gc
import io
import os
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..eager import (
    amp,
    interception,
    overrides,  # noqa: F401 - registers its operators
    pylayers,
    saved_tensors,
)
from ..eager.runtime import Runtime
from ..patches import (
    absent_modules,
    child_processes,
    data_loader,
    datasets,
    entry_points,
    environment,
    pretrained,
    process_group,
    sharding,
    tensor_methods,
)
from ..program.inference import Inference
from ..step import changes, deadline, host_memory, layers, model_inputs, resizing, steps
from ..step.report import inputs_of, loss_name, once_each, rows, shown, versions
from ..undecided import random_numbers, tensor_values
from . import what_ifs
from .cells import CellRun
from .evaluations import keeps_results
from .literals import Sizes
from .loops import Loops

_inference = Inference()


def prepare() -> None:
    """Install the traced runtime's wrappers; pass-through until a trace runs. Cheap, once a process."""
    interception.install()
    tensor_methods.install()
    tensor_values.install()
    random_numbers.install()
    entry_points.install()
    pylayers.install()
    saved_tensors.install()
    amp.install()
    steps.install()
    layers.install()
    data_loader.install()
    environment.install()
    pretrained.install()
    child_processes.install()
    sharding.install()
    datasets.install()
    model_inputs.install()


def trace_notebook(request: dict[str, Any]) -> dict[str, Any]:
    """Trace the training step of a notebook, several times where a condition's value is not known (see `branches`).

    Args:
        request: `cells` (list of {index, source}, masked sources), `folder`, `answers`, and the what-ifs `batch_size`,
            `amp`, `amp_dtype`, `accumulation`, `recompute`, `set_to_zero`, `target`. `wall_seconds` and `cpu_seconds`
            are the time that it may take.

    Returns:
        The JSON shape of `estimator.trace.Trace`. Everything that can go wrong in the user's code is in `questions`
        and `notes`.
    """
    with deadline.limited(request.get("wall_seconds") or 0, request.get("cpu_seconds") or 0):
        return what_ifs.granted(request, _run)


def _run(wish: what_ifs.Wish) -> what_ifs.Run:
    """One run of a notebook."""
    request, change = wish.request, wish.change
    answers = dict(request.get("answers") or {})
    size = request.get("batch_size")
    if size:
        size = micro(size, request)
        answers.update({name: size for name in what_ifs.BATCH_SIZE_NAMES if _assigns(request["cells"], name)})
    source = "\n".join(cell["source"] for cell in request["cells"])
    names = Sizes(change, source) if change is not None and wish.binds_names else None
    evaluates = keeps_results(request["cells"])
    loops = Loops() if evaluates or (request.get("accumulation") or 1) > 1 else None
    run = CellRun(request["cells"], answers, tuple(one for one in (names, loops) if one is not None))

    def execute() -> None:
        with _working_in(request.get("folder")):
            run.run()

    result = traced(execute, request, run, wish, evaluates=evaluates)
    seen = model_inputs.entries
    return what_ifs.Run(
        result, seen.image, seen.sequence, run.failures, bool(data_loader.seen_batch_sizes), run.trained_in
    )


def micro(size: int, request: dict[str, Any]) -> int:
    """The micro-batch of an accumulated step."""
    return max(1, size // max(1, request.get("accumulation") or 1))


def traced(
    execute: Callable[[], None],
    request: dict[str, Any],
    run: CellRun | None,
    wish: what_ifs.Wish,
    *,
    evaluates: bool = False,
) -> dict[str, Any]:
    """The trace of a program.

    Args:
        run: None where it is not a notebook.
        evaluates: whether an evaluation may keep tensors: it is followed into the epoch behind it.
    """
    started = time.perf_counter()
    prepare()
    runtime = Runtime(_inference)
    runtime.evaluate = tensor_methods.real
    watch, paths = steps.begin(runtime, wish.probe), layers.begin()
    absent_modules.begin()
    child_processes.begin()
    model_inputs.begin()
    resizing.begin(wish.change)
    runtime.resize = resizing.arguments if wish.change else None
    watch.evaluates = evaluates
    watch.is_by_hand = run is not None and not any("optim" in cell["source"].lower() for cell in run.cells)
    data_loader.batch_size_override = request.get("batch_size")
    data_loader.target = request.get("target") or "gpu"
    data_loader.seen_batch_sizes.clear()
    data_loader.handed_over.clear()
    data_loader.abandoned.clear()
    host_memory.begin()
    sharding.begin(request.get("devices"), request.get("processes"), data_loader.target)
    amp.begin(request.get("amp"), request.get("amp_dtype"), data_loader.target)
    changes.begin(request.get("accumulation"), request.get("recompute"), request.get("set_to_zero"))
    data_loader.divided_by = changes.changes.accumulation
    changes.changes.ended = lambda: watch.window is not None
    collecting = gc.isenabled()
    gc.disable()
    try:
        with interception.tracing(runtime), warnings.catch_warnings(), _quiet():
            warnings.simplefilter("ignore")
            execute()
    finally:
        if collecting:
            gc.enable()
    cells_done = time.perf_counter()
    result = _result(runtime, watch, paths, run, request)
    result["seconds"] = {"cells": cells_done - started, "report": time.perf_counter() - cells_done}
    return result


def _result(
    runtime: Runtime, watch: steps.StepWatch, paths: layers.LayerPaths, run: CellRun | None, request: dict[str, Any]
) -> dict[str, Any]:
    window = watch.last_window()
    questions = [] if run is None else list(run.questions)
    notes = [{"code": code, "params": params} for code, params in runtime.notes.items()]
    for name, problem in runtime.ledger.faults.items():
        notes.append({"code": "rule_failed", "params": {"op": name, "problem": problem}})
    if window is None:
        if run is not None and run.failure is not None and not questions:
            questions.append(run.failure)
        if run is not None and not questions:
            run.ask_absent()
            questions = list(run.questions)
        summed = changes.changes.accumulation
        if run is not None and not questions and summed > 1 and changes.changes.attempts:
            notes.append({"code": "too_few_steps", "params": {"asked": request["accumulation"]}})
            return {"status": "needs_input", "questions": [], "notes": notes, **versions()}
        status = "needs_input" if questions else "no_model"
        return {"status": status, "questions": questions, "notes": notes, **versions()}
    if absent_modules.modules:
        notes.append({"code": "modules_passed_by", "params": {"modules": ", ".join(absent_modules.modules)}})
    if watch.window is None:
        notes.append({"code": "few_steps", "params": {}})
    called = paths.of_step(window, watch.parameters())
    trained = watch.elements()
    storages, operations = rows(runtime.ledger, window, called.path)
    arrived = inputs_of(runtime.ledger, window)
    inputs = once_each([shown(record) for record in arrived], changes.changes.accumulation)
    inputs = inputs or [f"{dtype}{list(shape)}" for shape, dtype in called.batch]
    sizes = [shape[0] for shape, _ in called.batch if shape] or data_loader.seen_batch_sizes[:1]
    asked = request.get("batch_size")
    if asked and sizes and sizes[0] != micro(asked, request):
        notes.append({"code": "batch_size_kept", "params": {"asked": asked, "found": sizes[0]}})
    return {
        "status": "ok",
        "evidence": "trace",
        **versions(),
        "model": called.model,
        "batch_size": sizes[0] if sizes else None,
        "optimizer": " + ".join(type(steps.plain(optimizer)).__name__ for optimizer in watch.optimizers) or None,
        "loss": loss_name(runtime.ledger),
        "amp": amp.seen_level(),
        "distribution": process_group.current.kind,
        "devices": process_group.current.size if process_group.current.kind else None,
        "parameters": called.parameters or trained,
        "trainable_parameters": called.trainable or trained,
        "inputs": inputs,
        "shared_memory": data_loader.shared_memory(),
        "host": host_memory.seen.told(runtime.ledger),
        "image_size": model_inputs.entries.image,
        "sequence_length": None if model_inputs.entries.sequence is None else model_inputs.entries.sequence.length,
        "operations": operations,
        "storages": storages,
        "layers": called.tree,
        "questions": questions,
        "notes": notes,
    }


def _assigns(cells: list[dict[str, Any]], name: str) -> bool:
    return any(line.replace(" ", "").startswith(f"{name}=") for cell in cells for line in cell["source"].splitlines())


@contextlib.contextmanager
def _working_in(folder: str | None) -> Any:
    before = Path.cwd()
    if folder:
        os.chdir(folder)
        sys.path.insert(0, folder)
    try:
        yield
    finally:
        os.chdir(before)
        if folder and folder in sys.path:
            sys.path.remove(folder)


@contextlib.contextmanager
def _quiet() -> Any:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        yield
