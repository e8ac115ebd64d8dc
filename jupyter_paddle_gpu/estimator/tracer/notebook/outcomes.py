"""What came of a trace: its trainings' steps, or why there is none, as plain JSON values."""

from __future__ import annotations

import re
from typing import Any

from ..eager.amp import Precision
from ..eager.promotions import Promotions
from ..eager.runtime import Runtime
from ..kernels import gpu_flags
from ..kernels.registry import rule_of
from ..patches.absent_devices import AbsentDevices
from ..patches.absent_modules import AbsentModules
from ..patches.data.files import Splits
from ..patches.data.loaders import Loaders
from ..patches.distributed.process_group import Processes
from ..patches.folders import LookedFor
from ..patches.patch import unplaced
from ..step import batches as step_batches
from ..step.changes import Changes, plain
from ..step.host_memory import HostMemory
from ..step.kept import LITTLE
from ..step.layers import LayerPaths
from ..step.model_inputs import ModelInputs
from ..step.report import described, graph_notes, inputs_of, loss_name, once_each, rows, versions
from ..step.static_graphs import StaticGraphs
from ..step.steps import StepWatch
from ..undecided import absent_data, absent_tensors, settings
from ..undecided.branches import STOP_IF_TOLD
from . import own_notes
from .cells import stops
from .cells.running import CellRun
from .trainings import Trainings

NO_SUCH = "training_unknown"
"""The note by which who asked is refused: there is no training of that number. Nobody reads it as a sentence."""


def micro(size: int, request: dict[str, Any]) -> int:
    """The micro-batch of an accumulated step."""
    return max(1, size // max(1, request.get("accumulation") or 1))


def outcome_of(runtime: Runtime, run: CellRun | None, request: dict[str, Any]) -> dict[str, Any]:
    """What came of the run: the training that is asked for, with the others in `others`, or why there is none."""
    watch = runtime.of(StepWatch)
    trainings = None if run is None else run.trainings
    window = None if trainings is not None and trainings.is_over else watch.last_window()
    if not trainings and runtime.of(absent_data.AbsentData).hides_the_step:
        return _nothing(runtime, run, request)
    if run is not None and run.is_cut():
        if not trainings:
            return _stopped(runtime, run)
        window = None
    if trainings is not None and (window is not None or len(trainings)):
        assert run is not None
        if window is not None:
            place = run.place()
            at = None if place is None else (place["cell"], place["line"])
            trainings.keep(at, None if at is None else trainings.sites.at(*at))
        result = trainings.chosen()
        if result is None:
            return _unseen(runtime, run, trainings)
    elif window is not None:
        result = {**_step(runtime, request, window), "id": "1", "where": None if run is None else run.place()}
    else:
        return _nothing(runtime, run, request)
    if run is not None:
        run.found.forget_files()
        if result.get("unreached"):
            run.found.ask_needs()
    if (where := runtime.of(StaticGraphs).where) is not None:
        runtime.note("static_graph_beside", cell=where[0] + 1, line=where[1])
    shared, own = _shared(runtime, run, has_figure=True), _own_notes(run, result)
    if run is not None and result.get("unreached"):
        shared["questions"] += run.found.late_questions
    runtime.put(result.pop("seen"))
    others = [
        {
            **{name: one[name] for name in one.keys() - {"seen"}},
            **shared,
            "notes": [],
            "own_notes": _own_notes(run, one),
        }
        for one in result.get("others", ())
    ]
    stop = None if run is None else _cast(runtime) or run.found.stop or _ended(runtime)
    notes = [*shared["notes"], *own]
    return {**result, **shared, "notes": notes, "own_notes": own, "others": others, "stop": stop}


def _unseen(runtime: Runtime, run: CellRun, trainings: Trainings) -> dict[str, Any]:
    """The answer where the training that was asked for was not seen, or fewer than are wanted: what it hangs on."""
    if trainings.asked is not None:
        runtime.note(NO_SUCH, asked=trainings.asked, seen=len(trainings))
    run.found.ask_needs()
    shared = _shared(runtime, run)
    shared["questions"] += run.found.late_questions
    return {"status": "needs_input", **shared, **versions()}


def _own_notes(run: CellRun | None, result: dict[str, Any]) -> list[dict[str, Any]]:
    """What is told of one training alone."""
    own: list[dict[str, Any]] = result["own_notes"]
    return own if run is None else own_notes.told(own, run.found.failures, run.found.by_number, result)


def _cast(runtime: Runtime) -> dict[str, Any] | None:
    """Where the program would end for types that Paddle takes together no more, although its step was followed."""
    first = runtime.of(Promotions).first
    if first is None:
        return None
    return {
        **stops.stop(first.cell, first.line, first.problem, runtime.of(Loaders)),
        "file": first.file,
        "file_line": first.file_line,
    }


def _ended(runtime: Runtime) -> dict[str, Any] | None:
    """Where the notebook would end for want of a device or of samples, although its step could be followed."""
    asked = runtime.of(AbsentDevices).asked
    return (
        stops.late(runtime.of(Loaders))
        if asked is None
        else {**stops.stop(asked.cell, asked.line, asked.problem, runtime.of(Loaders)), "device": asked.device}
    )


def _stopped(runtime: Runtime, run: CellRun) -> dict[str, Any]:
    """The answer where the notebook ends with an error before a training is through. The failure stays beside it, for
    where another way through the program trains this one tells nothing."""
    shared = _shared(runtime, run)
    shared["is_refusal"], shared["is_for_want"] = run.found.is_refused, run.found.is_for_want
    shared["end"] = run.found.end
    return {**shared, "status": "would_stop", "stop": run.found.stop, "questions": run.found.failures[:1], **versions()}


def _nothing(runtime: Runtime, run: CellRun | None, request: dict[str, Any]) -> dict[str, Any]:
    """The answer where no step was seen."""
    watch, changes, graphs = runtime.of(StepWatch), runtime.of(Changes), runtime.of(StaticGraphs)
    if run is not None:
        run.found.ask_needs()
        run.found.ask_to_train()
    is_open = run is not None and bool(run.found.questions or run.found.failures)
    if graphs.where is not None and (graphs.is_on or not is_open):
        runtime.note("static_graph", cell=graphs.where[0] + 1, line=graphs.where[1])
        return {"status": "static_graph", **_shared(runtime, run), "questions": [], **versions()}
    if run is not None and run.found.program_stop is not None and not run.found.questions:
        run.found.stop = run.found.program_stop
        return _stopped(runtime, run)
    may_train = run is not None and (
        run.found.trains or run.found.lacks_its_library or _may_learn_elsewhere(runtime, run)
    )
    if run is not None and not may_train:
        run.found.forget_questions()
    is_of_data = run is not None and not run.found.trains and "data_absent" in runtime.notes
    if run is not None and run.found.failures and not run.found.questions and not is_of_data:
        run.found.questions.append(run.found.failures[0])
    if run is not None and not run.found.questions and may_train:
        run.found.ask_absent()
    shared = _shared(runtime, run)
    questions, notes = shared["questions"], shared["notes"]
    if run is not None and not questions and changes.accumulation > 1 and changes.attempts:
        notes.append({"code": "too_few_steps", "params": {"asked": request["accumulation"]}})
        return {"status": "needs_input", "questions": [], "notes": notes, **versions()}
    status = "needs_input" if questions else "no_model"
    found = {"status": status, "questions": questions, "notes": notes, **versions()}
    found["absent_modules"], found["looked_for"] = shared["absent_modules"], shared["looked_for"]
    if run is not None:
        found["paths"], found["starts"] = list(run.found.paths.values()), run.found.starts_a_training
        found["is_idle"], found["failed"] = not run.found.trains, run.failed
        found["is_for_want"], found["end"] = run.found.is_for_want, run.found.end
    if status == "no_model" and watch.known and (unused := watch.gradients.unused()):
        notes.append(unused)
    if run is not None and run.found.stop_if_told is not None:
        found[STOP_IF_TOLD] = run.found.stop_if_told
    return found


_LEARNS = re.compile(r"\.(learn|fit|train|pretrain|finetune)\((?!\s*\))")
"""Calls by which libraries train what they are given."""


def _may_learn_elsewhere(runtime: Runtime, run: CellRun) -> bool:
    """Whether a library that is not here may hold the training: `agent.learn(batch)` of one with agents of its own."""
    return bool(_absent(runtime)) and any(map(_LEARNS.search, run.found.sources))


def _shared(runtime: Runtime, run: CellRun | None, *, has_figure: bool = False) -> dict[str, Any]:
    """What is told of the whole run."""
    absent_tensors.note_used(runtime, has_figure=has_figure)
    notes = [{"code": code, "params": params} for code, params in runtime.notes.items()]
    for name, problem in runtime.ledger.faults.items():
        notes.append({"code": "rule_failed", "params": {"op": name, "problem": problem}})
    if names := unplaced():
        notes.append({"code": "unpatched_library", "params": {"names": ", ".join(names)}})
    return {
        "questions": [] if run is None else list(run.found.questions),
        "notes": notes,
        "absent_modules": _absent(runtime),
        "looked_for": [] if has_figure else list(runtime.of(LookedFor).absent),
        "settings": runtime.of(settings.AbsentFiles).as_data() if has_figure else [],
        "shared_memory": runtime.of(Loaders).shared_memory(),
        "host": runtime.of(HostMemory).fields(runtime.ledger),
    }


def _absent(runtime: Runtime) -> list[dict[str, Any]]:
    """Modules that were passed by, with the place of their import; a game that stands in is told of by its own note."""
    game = runtime.notes.get("environment_stand_in", {}).get("module")
    absent = runtime.of(AbsentModules)
    places = {name: place or (None, None) for name, place in absent.modules.items() if name != game}
    told = {
        name: {"parts": ", ".join(absent.parts.get(name, ())), "is_wanted": name in absent.wanted} for name in places
    }
    return [{"module": name, "cell": cell, "line": line, **told[name]} for name, (cell, line) in places.items()]


def step_kept(runtime: Runtime, request: dict[str, Any]) -> tuple[dict[str, Any], frozenset[int]]:
    """The step that is seen now, and the numbers of what trains; what is told of single steps begins anew."""
    watch = runtime.of(StepWatch)
    window = watch.last_window()
    assert window is not None
    result = _step(runtime, request, window)
    loaders = runtime.of(Loaders)
    loaders.seen_batch_sizes.clear()
    loaders.own_batch_sizes.clear()
    loaders.in_step.clear()
    loaders.within.clear()
    runtime.put(ModelInputs())
    return result, watch.numbers()


def _step(runtime: Runtime, request: dict[str, Any], window: tuple[int, int]) -> dict[str, Any]:
    """What is told of one training's step."""
    watch, changes, graphs = runtime.of(StepWatch), runtime.of(Changes), runtime.of(StaticGraphs)
    loaders, inputs_seen, processes = runtime.of(Loaders), runtime.of(ModelInputs), runtime.of(Processes)
    notes: list[dict[str, Any]] = []
    if absent := [one["module"] for one in _absent(runtime)]:
        notes.append({"code": "modules_passed_by", "params": {"modules": ", ".join(absent)}})
    if watch.window is None:
        notes.append({"code": own_notes.FEW_STEPS, "params": {}})
    if not processes.kind:  # where several train together, gradients lie in buffers that stay
        notes += watch.gradients.notes()
    notes += runtime.of(Splits).notes(processes.size if processes.kind else 1)
    batches = loaders.batches(watch.updates)
    notes += [*loaders.notes(), *step_batches.notes(batches), *watch.kept.notes()]
    waits = watch.garbage.waiting(min(watch.numbers(), default=0))
    if waits >= LITTLE:
        notes.append({"code": "waits_for_collector", "params": {"size": waits}})
    called = runtime.of(LayerPaths).of_step(window, watch.parameters())
    notes += graph_notes(runtime.ledger, window, called.batch)
    trained = watch.elements()
    storages, operations = rows(runtime.ledger, window, called.path)
    arrived = inputs_of(runtime.ledger, window)
    inputs = once_each([described(record) for record in arrived], changes.accumulation)
    inputs = inputs or [f"{dtype}{list(shape)}" for shape, dtype in called.batch]
    sizes = [shape[0] for shape, _ in called.batch or graphs.fed if shape] or loaders.seen_batch_sizes[:1]
    asked = request.get("batch_size")
    fed = loaders.fed(watch.updates)
    if asked and sizes and micro(asked, request) not in (sizes[0], fed):
        notes.append({"code": "batch_size_kept", "params": {"asked": asked, "found": sizes[0]}})
    if changes.recompute and not changes.blocks:
        notes.append({"code": "nothing_recomputed", "params": {}})
    return {
        "status": "ok",
        "evidence": "trace",
        **versions(),
        "allocator_flags": gpu_flags.of_allocator(runtime.ledger),
        "model": called.model or graphs.model,
        "batch_size": sizes[0] if sizes else None,
        "steps_per_epoch": loaders.steps_per_epoch(watch.updates),
        "batches_ahead": loaders.ahead,
        "batches": batches or step_batches.of_loop(runtime, window, called.path),
        "begins_whole": graphs.has_run,
        "fed_batch_size": fed,
        "own_batch_size": next(iter(loaders.own_batch_sizes), None),
        "optimizer": " + ".join(type(plain(optimizer)).__name__ for optimizer in watch.optimizers) or None,
        "convolves": any(rule_of(name).is_convolution for name in {row[0] for row in operations}),
        "loss": loss_name(runtime.ledger, watch.began),
        "amp": runtime.of(Precision).level_of_run,
        "distribution": processes.kind,
        "devices": processes.size if processes.kind else None,
        "parameters": called.parameters or trained,
        "trainable_parameters": called.trainable or trained,
        "inputs": inputs,
        "image_size": inputs_seen.image,
        "sequence_length": None if inputs_seen.sequence is None else inputs_seen.sequence.length,
        "operations": operations,
        "storages": storages,
        "layers": called.tree,
        "extra": {"waiting": waits} if waits >= LITTLE else {},
        "own_notes": notes,
        "seen": inputs_seen,
    }
