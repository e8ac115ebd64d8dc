"""One trace: its session is made, the program is run in it, what came of it is reported, and the session is closed."""

from __future__ import annotations

import contextlib
import gc
import importlib
import io
import time
import traceback
import warnings
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import paddle

from ..eager.amp import Precision
from ..eager.counted import Counted
from ..eager.loss_scaling import Scalers
from ..eager.runtime import Runtime
from ..patches.data.compared import Compared
from ..patches.data.loaders import Loaders
from ..patches.devices import DeviceNames
from ..patches.distributed.process_group import Processes
from ..patches.distributed.sharding import TaskFlows
from ..patches.plots import Lengths
from ..patches.processes.child_processes import ChildProcesses
from ..patches.table import installed
from ..patches.tensor_methods import real
from ..program.asking import Types
from ..program.inference import Inference
from ..session import entered
from ..step import resizing
from ..step.changes import Changes
from ..step.host_memory import HostMemory
from ..step.steps import StepWatch
from ..undecided import running_code
from ..undecided.absent_data import AbsentData
from .beyond import gathered, late_scalers, written
from .cells import behind
from .cells.running import CellRun
from .outcomes import outcome_of, step_kept
from .what_ifs import Scenario

_inference = Inference()
"""Templates of operator calls: the one thing that traces of a process share."""

_LATE = ("paddle.optimizer.fusion_utils", "paddle.distributed.auto_parallel.fully_shard_fusion")
"""What Paddle imports with an optimizer's first update, where it has it: once a process instead of in each trace."""


def prepare() -> tuple[str, ...]:
    """Put the patches into their places, once a process; they pass everything on until a trace runs.

    Returns:
        What this Paddle has no place for, by name.
    """
    _import_late_modules()
    return installed()


@cache
def _import_late_modules() -> None:
    for name in _LATE:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


def traced(
    execute: Callable[[Runtime], None], scenario: Scenario, run: CellRun | None, *, rounds: int = 0
) -> tuple[Runtime, dict[str, Any]]:
    """The trace of a program, and the session that it was made in, which is over.

    Args:
        execute: runs the program.
        scenario: what is asked.
        run: None where it is not a notebook.
        rounds: epochs behind the first one that are looked at, as an evaluation may keep tensors.
    """
    started = time.perf_counter()
    prepare()
    runtime = _session(scenario, run, rounds)
    foresaw = runtime.differentiates_twice
    kept: list[dict[str, Any]] = []
    if run is not None and run.follows_rest:
        _follow(runtime, run, scenario, kept)
    collecting = gc.isenabled()
    gc.disable()
    try:
        try:
            with entered(runtime), warnings.catch_warnings(), _quiet(), _own_names():
                warnings.simplefilter("ignore")
                execute(runtime)
        finally:
            if collecting:
                gc.enable()
        cells_done = time.perf_counter()
        if scenario.request.get("beyond"):
            return runtime, {"beyond": runtime.of(StepWatch).beyond.told(runtime.ledger, runtime.target)}
        result = kept.pop() if kept else outcome_of(runtime, run, scenario.request)
        if run is not None and run.behind is not None:
            result["behind"] = run.behind
        if run is not None and run.found.stop is not None and run.found.is_between:
            result["is_between"] = True
    finally:
        runtime.close()
    if runtime.counted is not None:
        result["counted"] = sorted(runtime.counted.follows)
    result["reached"] = runtime.ledger.now
    result["foresaw_too_little"] = runtime.differentiates_twice and not foresaw and runtime.target == "gpu"
    result["sent"], result["made"] = runtime.of(Processes).sent, runtime.of(Processes).made
    result["is_spread"] = runtime.of(Compared).is_spread
    result["dropped_factors"] = runtime.dropped_factors
    result["seconds"] = {"cells": cells_done - started, "report": time.perf_counter() - cells_done}
    return runtime, result


def _batch(asked: Any) -> Any:
    """Which of a loader's batches of different shapes is traced."""
    return tuple(map(tuple, asked)) if isinstance(asked, list) else asked


def _counted(asked: dict[str, Any] | None) -> Counted | None:
    return None if asked is None else Counted(asked["size"], asked["wanted"], map(tuple, asked["places"]))


def _follow(runtime: Runtime, run: CellRun, scenario: Scenario, kept: list[dict[str, Any]]) -> None:
    """Have the rest of the epoch followed behind the step; the answer is kept as it is with the step."""
    watch = runtime.of(StepWatch)

    def keep() -> None:
        run.settle()
        frames = reversed(list(traceback.walk_stack(None)))
        late_scalers.look(runtime, frames, {one["index"]: one["source"] for one in run.cells})
        kept.append(outcome_of(runtime, run, scenario.request))

    watch.rest.keep, watch.rest.is_any = keep, run.has_rest
    watch.rest.fixes = partial(behind.fixes, run.found.sources)
    watch.rest.may_write = partial(written.may_write, run.found.sources)
    has_data = partial(_has_data, runtime)
    runtime.of(Lengths).unlike = partial(gathered.unlike, tuple(run.found.sources), has_data=has_data)
    watch.rest.is_open = runtime.of(Scalers).are_open
    watch.rest.later = scenario.request.get("later") or 0
    scenario.decisions.ends, scenario.decisions.is_behind = watch.next_epoch, lambda: watch.rest.is_on
    scenario.decisions.is_turned = bool(watch.rest.later)


def _has_data(runtime: Runtime) -> bool:
    """Whether nothing that was read so far stands for data that is not here."""
    return not runtime.of(AbsentData).used and "data_absent" not in runtime.notes


def _session(scenario: Scenario, run: CellRun | None, rounds: int) -> Runtime:
    """What a run begins with; what it does not name here, floors make when they first ask for it."""
    request = scenario.request
    runtime = Runtime(_inference, request.get("target") or "gpu")
    runtime.evaluate = real
    runtime.keeps_factors |= bool(request.get("keeps_factors"))
    runtime.counted = _counted(request.get("counts"))
    runtime.resize = partial(resizing.arguments, runtime) if scenario.change else None
    # Known from the first forward pass on: it is what is differentiated twice.
    says_so = run is not None and any("create_graph" in source for source in run.found.sources)
    runtime.differentiates_twice = says_so or bool(request.get("differentiates_twice"))
    processes = ChildProcesses(runtime)

    def is_by_hand() -> bool:
        speaks = run is None or run.found.speaks_of_optimizers
        return not (speaks and running_code.may_make_an_optimizer())

    watch = StepWatch(
        runtime, scenario.probe, rounds=rounds, checks=(processes.check,),
        is_by_hand=is_by_hand,
    )  # fmt: skip
    runtime.before_call = watch.check
    if asked := request.get("beyond"):
        watch.beyond.is_asked, watch.beyond.is_whole, watch.rounds = True, rounds > 0, 0
        watch.beyond.around, watch.beyond.behind = asked["around"], asked["behind"]
        watch.beyond.trainings = asked["trainings"]
    if run is not None and run.trainings is not None:
        run.trainings.step = partial(step_kept, runtime, request)
        run.trainings.may_grow = lambda: watch.garbage.is_growing
        watch.ended, watch.is_wanted = run.trainings.ended, run.trainings.is_wanted
    accumulation = max(1, request.get("accumulation") or 1)
    runtime.put(
        scenario.decisions,
        scenario.otherwise if request.get("later") else scenario.choices,
        watch,
        processes,
        Processes(request.get("devices"), request.get("processes"), request.get("received"), request.get("stage")),
        TaskFlows(),
        DeviceNames(frozenset(request.get("device_names") or ())),
        HostMemory(),
        Precision(request.get("amp"), request.get("amp_dtype") or "float16"),
        Types(low_as_float32=runtime.target != "cpu" or request.get("amp") in {"O1", "O2"}),
        Changes(accumulation, request.get("recompute"), request.get("set_to_zero"), ended=watch.has_window),
        Loaders(request.get("batch_size"), accumulation, wanted=_batch(request.get("batch"))),
        resizing.Resizing(scenario.change),
    )
    return runtime


@contextlib.contextmanager
def _own_names() -> Any:
    """Names of parameters (`ParamAttr(name="words")`) count for this run alone: Paddle refuses one that was used."""
    owner = paddle.base.unique_name
    before = owner.dygraph_parameter_name_checker
    owner.dygraph_parameter_name_checker = type(before)()
    try:
        yield
    finally:
        owner.dygraph_parameter_name_checker = before


@contextlib.contextmanager
def _quiet() -> Any:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        yield
