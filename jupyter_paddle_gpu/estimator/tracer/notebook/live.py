"""A plain training step of live objects: forward, loss, backward, update, clear, under the what-ifs of a notebook.

Every run is a forked process of its own: objects carry what a trace writes on them, and a what-if or a condition on an
unknown value takes several runs.
"""

from __future__ import annotations

import contextlib
import os
import pickle
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import paddle

from ..eager.runtime import Runtime
from ..step.model_inputs import ModelInputs
from ..step.resizing import Resizing
from ..step.steps import StepSeen, StepWatch
from ..undecided.branches import Site
from . import what_ifs
from .cells import stops
from .outcomes import micro
from .traces import traced

Result = dict[str, Any]
Meta = tuple[tuple[int, ...], str]
"""Shape and type."""


class StepFailedError(Exception):
    """The step of the objects as they are fails in the trace, perhaps there alone; the text is what they said."""


class Failure(NamedTuple):
    """How the step of a run failed: type and text, and whether it fails so wherever it runs."""

    text: str
    is_sure: bool


def trace_live(
    model: Any,
    loss: Callable[..., Any] | None = None,
    optimizer: Any = None,
    inputs: Any = None,
    labels: Any = None,
    **options: Any,
) -> Result:
    """Trace a plain training step of live objects.

    Args:
        model: a `paddle.nn.Layer` or a prepared `paddle.Model`.
        loss: called with the outputs and the labels; None takes the mean of the first output.
        optimizer: None takes Adam over the model's parameters.
        inputs, labels: tensors, arrays or (shape, dtype) pairs; the batch size asked for replaces dimension 0.
        options: the what-ifs of `requests.trace_notebook`.

    Returns:
        As for a notebook; `would_stop`, of no cell, where Paddle refuses the step or Python ends it.

    Raises:
        StepFailedError: the step fails as it is, and it is not certain that it would outside of the trace.
    """
    given = [_meta(item) for item in _listed(inputs)]
    request = {"cells": [], **options}
    request["batch_size"] = request.get("batch_size") or next((shape[0] for shape, _ in given if shape), None)
    parts = (model, loss, optimizer, given, [_meta(item) for item in _listed(labels)])

    def trace(scenario: what_ifs.Scenario) -> what_ifs.Run:
        run, taken, seen, failure = _in_fork(lambda: _run(parts, scenario))
        scenario.decisions.taken.update(taken)
        if scenario.probe is not None and seen is not None:
            vars(scenario.probe).update(vars(seen))
        is_plain = scenario.probe is None and scenario.change is None and not scenario.decisions.forced
        if failure is not None and is_plain and not failure.is_sure:
            raise StepFailedError(failure.text)
        if run.result.pop("foresaw_too_little", False):
            learned["differentiates_twice"] = True
        return run

    learned: dict[str, bool] = {}
    result = what_ifs.applied(request, trace)
    if learned:  # the model asks for gradients of gradients: its first forward pass was another
        result = what_ifs.applied({**request, **learned}, trace)
    if result["status"] in {"ok", "would_stop"}:
        result["notes"].append({"code": "live_step", "params": {}})
    return result


_UNKNOWN = {"status": "needs_input"}
Answer = tuple[what_ifs.Run, dict[Site, bool], Any, "Failure | None"]


def _run(parts: Any, scenario: what_ifs.Scenario) -> Answer:
    """One run: what came of it, the decisions it took, what its probe saw, how it failed."""
    model, loss, optimizer, inputs, labels = parts
    network = model
    if isinstance(model, paddle.Model):
        network, loss, optimizer = model.network, loss or model._loss, optimizer or model._optimizer
    size = scenario.request["batch_size"] and micro(scenario.request["batch_size"], scenario.request)
    failure: list[Failure] = []

    def execute(runtime: Runtime) -> None:
        chosen = optimizer or paddle.optimizer.Adam(parameters=network.parameters())
        runtime.of(StepWatch).created(chosen)
        while True:
            batch = [_placeholder(runtime, meta, size) for meta in inputs]
            _step(network, loss, chosen, batch, [_placeholder(runtime, meta, size) for meta in labels])

    def attempt(runtime: Runtime) -> None:
        try:
            with contextlib.suppress(StepSeen):
                execute(runtime)
        except Exception as problem:
            failure.append(Failure(stops.sentence(problem), stops.is_of_notebook(problem, runtime)))

    runtime, result = traced(attempt, scenario, None)
    if failure:
        stop = {"cell": None, "line": None, "error": failure[0].text}
        result = {**result, **({"status": "would_stop", "stop": stop} if failure[0].is_sure else _UNKNOWN)}
    failures = [{"why": "cell_failed", "cell": None, "params": {"problem": one.text}} for one in failure]
    seen = runtime.of(ModelInputs)
    run = what_ifs.Run(result, seen.image, seen.sequence, failures, loads=True)
    return run, scenario.decisions.taken, scenario.probe, failure[0] if failure else None


def _step(network: Any, loss: Any, optimizer: Any, batch: list[Any], targets: list[Any]) -> None:
    outputs = network(*batch)
    first = _listed(outputs)
    value = loss(*first, *targets) if loss is not None else first[0].mean()
    if isinstance(value, (list, tuple)):
        value = paddle.add_n(list(value))
    if value.ndim:
        value = value.mean()
    value.backward()
    optimizer.step()
    optimizer.clear_grad()


def _in_fork(work: Callable[[], Answer]) -> Answer:
    """What `work` returns in a forked child; raises what ended the child otherwise.

    A kernel has many threads, and what they hold when it is forked stays held in the child: one of some two hundred
    traces that a slider asked for ended with signal 11, and a hundred later ones did not. It is forked once more then.
    """
    data, status = _forked(work)
    if not data and status & 127:
        data, status = _forked(work)
    if not data:
        message = f"the process of the trace ended with signal {status & 127}"
        raise StepFailedError(message)
    answer: Answer = pickle.loads(data)
    return answer


def _forked(work: Callable[[], Answer]) -> tuple[bytes, int]:
    """What a child wrote of what `work` returned, and the status with which it ended."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            with os.fdopen(writing, "wb") as pipe:
                pickle.dump(work(), pipe)
        except BaseException as problem:  # whatever it is, it must not go on as a second parent
            os.write(2, f"{type(problem).__name__}: {problem}\n".encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        data = pipe.read()
    return data, os.waitpid(child, 0)[1]


def _listed(value: Any) -> list[Any]:
    if value is None:
        return []
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], str):
        return [value]
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _meta(item: Any) -> Meta:
    """Shape and type of a tensor, an array, or the pair itself."""
    if isinstance(item, tuple):
        shape, dtype = item
    elif isinstance(item, paddle.Tensor):
        shape, dtype = item.shape, str(item.dtype).rsplit(".", 1)[-1]
    else:
        array = np.asarray(item)
        shape, dtype = array.shape, str(array.dtype)
    return tuple(int(size) for size in shape), dtype


def _placeholder(runtime: Runtime, meta: Meta, size: int | None) -> Any:
    shape, dtype = meta
    if size and shape:
        shape = (size, *shape[1:])
    shape, _ = runtime.of(Resizing).arriving(shape, dtype, None)
    return runtime.create("to_tensor", shape, dtype, None, "inputs")
