"""Live objects of a kernel to an estimate: a child is forked and traced, so that the kernel itself stays untouched."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from ..commands.face import View
from ..commands.views.estimate import EstimateView
from ..domain.errors import PaddleGpuError
from ..domain.what_ifs import EstimateRequest, for_tracer

if TYPE_CHECKING:
    from ..commands.face import Face
    from ..domain.estimates import Estimate

TRACE_SECONDS = 120.0
"""Longest time for the child; a trace takes a second."""


class LiveObjects(msgspec.Struct):
    """The parts of a training step that were found in a kernel."""

    model: Any
    loss: Any = None
    optimizer: Any = None
    inputs: tuple[Any, ...] = ()
    labels: tuple[Any, ...] = ()
    data: Any = None


def estimate_live(face: Face, names: Mapping[str, Any], words: tuple[str, ...], request: EstimateRequest) -> View:
    """The estimate of a step made of the named objects, completed from what else the kernel has.

    Raises:
        PaddleGpuError: `no_such_object`, `no_live_model`, `inputs_unknown`, `live_failed`.
    """
    estimate, placement = face.services.place_trace(trace_live(names, words, request), request)
    return EstimateView(estimate, placement, inside=request.details)


def fits_live(
    face: Face, names: Mapping[str, Any], words: tuple[str, ...], request: EstimateRequest, devices: tuple[str, ...]
) -> Estimate:
    """The largest batch of a step made of the named objects on each device; raises as `estimate_live`."""

    def trace(batch: int | None) -> dict[str, Any]:
        return trace_live(names, words, msgspec.structs.replace(request, batch_size=batch))

    return face.services.fits_of(trace, request, devices)


def trace_live(names: Mapping[str, Any], words: tuple[str, ...], request: EstimateRequest) -> dict[str, Any]:
    """The JSON of the trace of a step made of the named objects; raises as `estimate_live`."""
    objects = collect(names, words)
    answer = in_child(lambda: _trace(objects, request))
    if "error" in answer:
        raise PaddleGpuError(
            "live_failed",
            "The step of {name} could not be traced: {reason}",
            hint="Run one step in a cell to see the error, or name what goes into it: `{name} loader`.",
            status=422,
            name=words[0],
            reason=answer["error"],
        )
    return answer


def models(names: Mapping[str, Any]) -> list[str]:
    """Names of the models that a kernel holds, the one made last at the end; Paddle is not imported for that."""
    paddle = sys.modules.get("paddle")
    if paddle is None:
        return []
    kinds = (paddle.nn.Layer, paddle.Model)
    own = [(name, item) for name, item in list(names.items()) if not name.startswith("_")]
    # By its type: `isinstance` asks an object for its `__class__`, which makes a lazy one load what it stands for.
    return [name for name, item in own if issubclass(type(item), kinds) and not _is_loss(paddle, item)]


def collect(names: Mapping[str, Any], words: tuple[str, ...]) -> LiveObjects:
    """Sort the named objects into their parts; what was not named is looked for among all names."""
    paddle = sys.modules.get("paddle")
    missing = [word for word in words if word not in names]
    if missing or paddle is None:
        raise PaddleGpuError(
            "no_such_object",
            "There is no notebook and no live object “{name}”.",
            hint="Run the cell that makes it first, or give a path that ends with .ipynb.",
            status=404,
            name=(missing or words)[0],
        )
    chosen = LiveObjects(model=None)
    for word in words:
        _take(paddle, chosen, names[word])
    if chosen.model is None:
        raise PaddleGpuError(
            "no_live_model",
            "“{name}” is no paddle.nn.Layer and no paddle.Model.",
            hint="Name the model first, what goes into it behind it: `model loader`.",
            name=words[0],
        )
    _complete(paddle, chosen, names, words[0])
    return chosen


def _take(paddle: Any, chosen: LiveObjects, item: Any) -> None:
    if isinstance(item, paddle.Model) or (isinstance(item, paddle.nn.Layer) and chosen.model is None):
        chosen.model = item
    elif isinstance(item, paddle.optimizer.Optimizer):
        chosen.optimizer = item
    elif isinstance(item, (paddle.io.DataLoader, paddle.io.Dataset)):
        chosen.data = item
    elif isinstance(item, paddle.Tensor) or hasattr(item, "__array__"):
        if chosen.inputs:
            chosen.labels = (*chosen.labels, item)
        else:
            chosen.inputs = (item,)
    elif callable(item):
        chosen.loss = item
    else:
        raise PaddleGpuError(
            "unusable_object",
            "An object of type {type} is no part of a training step.",
            hint="Name a model and, where they are not found, a loader, a loss and an optimizer.",
            type=type(item).__name__,
        )


def _complete(paddle: Any, chosen: LiveObjects, names: Mapping[str, Any], name: str) -> None:
    own = {name: item for name, item in names.items() if not name.startswith("_")}
    network = getattr(chosen.model, "network", chosen.model)
    if isinstance(chosen.model, paddle.Model):
        chosen.loss = chosen.loss or chosen.model._loss
        chosen.optimizer = chosen.optimizer or chosen.model._optimizer
    parameters = {id(parameter) for parameter in network.parameters()}
    if chosen.optimizer is None:
        chosen.optimizer = _first(own, lambda item: _updates(paddle, item, parameters))
    if chosen.loss is None:
        chosen.loss = _first(own, lambda item: _is_loss(paddle, item))
    if chosen.data is None and not chosen.inputs:
        chosen.data = _first(own, lambda item: issubclass(type(item), paddle.io.DataLoader)) or _first(
            own, lambda item: issubclass(type(item), paddle.io.Dataset)
        )
    if chosen.data is None and not chosen.inputs:
        raise PaddleGpuError(
            "inputs_unknown",
            "What goes into the model is not known: there is no DataLoader and no Dataset here.",
            hint="Name a batch behind it: `{name} x y`.",
            status=422,
            name=name,
        )


def _first(names: Mapping[str, Any], wanted: Callable[[Any], bool]) -> Any:
    for item in list(names.values()):
        with contextlib.suppress(Exception):  # objects of other libraries may answer anything with an error
            if wanted(item):
                return item
    return None


def _updates(paddle: Any, item: Any, parameters: set[int]) -> bool:
    if not issubclass(type(item), paddle.optimizer.Optimizer):
        return False
    return any(id(parameter) in parameters for parameter in item._parameter_list or ())


def _is_loss(paddle: Any, item: Any) -> bool:
    return issubclass(type(item), paddle.nn.Layer) and type(item).__module__.startswith("paddle.nn.layer.loss")


# In the child


def _trace(objects: LiveObjects, request: EstimateRequest) -> dict[str, Any]:
    from ..estimator.tracer.notebook.live import trace_live

    inputs, labels = list(objects.inputs), list(objects.labels)
    size = request.batch_size
    if objects.data is not None:
        inputs, labels, found = _batch(objects)
        size = size or found
    return trace_live(
        objects.model,
        objects.loss,
        objects.optimizer,
        inputs,
        labels,
        **{**for_tracer(request), "batch_size": size},
    )


def _batch(objects: LiveObjects) -> tuple[list[Any], list[Any], int]:
    """Shapes of a batch from one sample, its parts split into inputs and labels by how many the model takes."""
    import inspect

    import numpy as np

    loader = objects.data
    dataset = getattr(loader, "dataset", loader)
    sample = dataset[0] if hasattr(type(dataset), "__getitem__") else next(iter(dataset))
    parts = [np.asarray(part) for part in (sample if isinstance(sample, (list, tuple)) else [sample])]
    size = int(getattr(getattr(loader, "batch_sampler", None), "batch_size", None) or 1)
    batch = [((size, *part.shape), str(part.dtype)) for part in parts]
    network = getattr(objects.model, "network", objects.model)
    parameters = inspect.signature(network.forward).parameters.values()
    taken = sum(p.kind == p.POSITIONAL_OR_KEYWORD and p.default is p.empty for p in parameters)
    if any(p.kind == p.VAR_POSITIONAL for p in parameters):  # forward(*inputs) takes all but the label
        taken = max(taken, len(batch) - 1)
    count = min(max(taken, 1), len(batch))
    return batch[:count], batch[count:], size


def in_child(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What `work` returns in a forked child, or `{error}`; nothing it changes is seen here.

    The child leaves by `_exit`: no exit handler of the kernel runs in it, and a crash is an answer.
    """
    reading, writing = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        _answer(work, writing)
    os.close(writing)
    try:
        data = _read(reading, child)
    finally:
        os.close(reading)
        _, status = os.waitpid(child, 0)
    if data:
        answer: dict[str, Any] = msgspec.json.decode(data)
        return answer
    return {"error": f"the child ended with signal {status & 127}" if status & 127 else "the child took too long"}


def _answer(work: Callable[[], dict[str, Any]], writing: int) -> None:
    try:
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)
        try:
            data = msgspec.json.encode(work())
        except BaseException as error:  # whatever user code does is an answer
            kind = type(error).__name__
            said = str(error) if kind == "StepFailedError" else f"{kind}: {error}"  # which quotes another error
            data = msgspec.json.encode({"error": said[:500]})
        view = memoryview(data)
        while view:
            view = view[os.write(writing, view) :]
    finally:
        os._exit(0)


def _read(reading: int, child: int) -> bytes:
    parts: list[bytes] = []
    deadline = time.monotonic() + TRACE_SECONDS
    while True:
        ready, _, _ = select.select([reading], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            os.kill(child, signal.SIGKILL)
            return b""
        part = os.read(reading, 1 << 20)
        if not part:
            return b"".join(parts)
        parts.append(part)
