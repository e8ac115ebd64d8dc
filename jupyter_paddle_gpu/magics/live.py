"""Live objects of a kernel to an estimate: a child is forked and traced, so that the kernel itself stays untouched."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ..commands.face import View
from ..commands.views.decision import is_searched
from ..commands.views.estimate import EstimateView
from ..domain.errors import PaddleGpuError
from ..domain.what_ifs import EstimateRequest, for_tracer
from ..estimator.trace import BOTH_KEPT, ON_CPU
from ..estimator.zygote.kernel import confine
from .calls import Calls, calls_of

if TYPE_CHECKING:
    from ..commands.face import Face
    from ..domain.estimates import Estimate

Names = Mapping[str, Any]
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
    batch_size: int | None = None
    """Where the data says none: as the cells have it."""
    described: str = ""
    """A batch in words, where a person was asked for it."""
    assumed: list[str] = []
    """Codes of notes on what was found nowhere."""


def estimate_live(face: Face, names: Names, words: tuple[str, ...], request: EstimateRequest, **job: Any) -> View:
    """The estimate of a step of the named objects, completed from what else there is; `job`: its engine and image.

    Raises:
        PaddleGpuError: `no_such_object`, `no_live_model`, `inputs_unknown`, `live_failed`.
    """
    trace = trace_live(names, words, request)
    estimate, placement = face.services.place_trace(trace, request, **job)
    if not is_searched(placement.decision):
        fits = fits_live(face, names, words, request, (), **job).fits
        _, placement = face.services.place_trace(trace, request, fits=fits, **job)
    return EstimateView(estimate, placement, inside=request.details)


def fits_live(
    face: Face, names: Names, words: tuple[str, ...], request: EstimateRequest, devices: tuple[str, ...], **job: str
) -> Estimate:
    """The largest batch of a step made of the named objects on each device; raises as `estimate_live`."""

    def trace(batch: int | None) -> dict[str, Any]:
        return trace_live(names, words, msgspec.structs.replace(request, batch_size=batch, target="gpu"))

    return face.services.fits_of(trace, request, devices, **job)


def trace_live(
    names: Mapping[str, Any], words: tuple[str, ...], request: EstimateRequest, cells: Iterable[str] = ()
) -> dict[str, Any]:
    """The JSON of the trace of a step made of the named objects; raises as `estimate_live`. Where no target is asked
    for, it is that for a GPU, and holds the one for the CPU.

    Args:
        cells: of the notebook, whether they were executed or not; those that were are known to the kernel.
    """
    objects = collect(names, words, described=str(request.answers.get(words[0], "")), cells=cells)
    # A sample is made by the program's own code: held, in a process that is not the one that traces, for that forks.
    answer = in_child(lambda: _sample(objects), confined=True) if objects.data is not None else {}
    if "error" not in answer:
        sample = answer
        answer = in_child(lambda: _trace(objects, request, sample))
        for kind, asked in _others(request, answer):
            other = in_child(partial(_trace, objects, asked, sample, both_kept=kind == BOTH_KEPT))
            answer |= {kind: other} if "status" in other else {}
    if "unclear" in answer:
        raise _inputs_unknown(words[0])
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


def _others(request: EstimateRequest, answer: dict[str, Any]) -> Iterator[tuple[str, EstimateRequest]]:
    """What is traced besides, by the name that it is sent under: where it will be shown for is decided elsewhere."""
    if request.target is None and "status" in answer:
        yield ON_CPU, msgspec.structs.replace(request, target="cpu")
    if answer.get("dropped_factors"):
        yield BOTH_KEPT, request


def models(names: Mapping[str, Any]) -> list[str]:
    """Names of the models that a kernel holds, the one made last at the end; Paddle is not imported for that."""
    paddle = sys.modules.get("paddle")
    if paddle is None:
        return []
    kinds = (paddle.nn.Layer, paddle.Model)
    own = [(name, item) for name, item in list(names.items()) if not name.startswith("_")]
    # By its type: `isinstance` asks an object for its `__class__`, which makes a lazy one load what it stands for.
    return [name for name, item in own if issubclass(type(item), kinds) and not _is_loss(paddle, item)]


def collect(
    names: Mapping[str, Any], words: tuple[str, ...], *, described: str = "", cells: Iterable[str] = ()
) -> LiveObjects:
    """Sort the named objects into their parts; what was not named is looked for in what the cells call the model with,
    then among all names."""
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
    chosen = LiveObjects(model=None, described=described)
    for word in words:
        _take(paddle, chosen, names[word])
    if chosen.model is None:
        raise PaddleGpuError(
            "no_live_model",
            "“{name}” is no paddle.nn.Layer and no paddle.Model.",
            hint="Name the model first, what goes into it behind it: `model loader`.",
            name=words[0],
        )
    executed = names.get("In")
    texts = (*cells, *(executed if type(executed) is list else ()))
    _complete(paddle, chosen, names, words[0], calls_of(words[0], texts, names))
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


def _complete(paddle: Any, chosen: LiveObjects, names: Mapping[str, Any], name: str, calls: Calls) -> None:
    own = {name: item for name, item in names.items() if not name.startswith("_")}
    network = getattr(chosen.model, "network", chosen.model)
    if isinstance(chosen.model, paddle.Model):
        chosen.loss = chosen.loss or chosen.model._loss
        chosen.optimizer = chosen.optimizer or chosen.model._optimizer
    parameters = {id(parameter) for parameter in network.parameters()}
    if chosen.optimizer is None:
        chosen.optimizer = _first(own, lambda item: _updates(paddle, item, parameters))
    if chosen.loss is None:
        chosen.loss = calls.loss or _first(own, lambda item: _is_loss(paddle, item))
    chosen.batch_size = calls.batch_size
    if chosen.data is None and not chosen.inputs and not chosen.described:
        _feed(paddle, chosen, own, calls)
    if chosen.data is None and not chosen.inputs and not chosen.described:
        raise _inputs_unknown(name)
    chosen.assumed += ["live_no_optimizer"] * (chosen.optimizer is None) + ["live_no_loss"] * (chosen.loss is None)


def _inputs_unknown(name: str) -> PaddleGpuError:
    return PaddleGpuError(
        "inputs_unknown",
        "What goes into the model is not known: there is no DataLoader and no Dataset here.",
        hint="Name a batch behind it: `{name} x y`.",
        status=422,
        name=name,
    )


def _feed(paddle: Any, chosen: LiveObjects, own: Mapping[str, Any], calls: Calls) -> None:
    """What goes in: what `fit` is given, a loader, what the cells call the model with, a data set."""
    kinds = (paddle.io.DataLoader, paddle.io.Dataset)
    if issubclass(type(calls.data), kinds):
        chosen.data = calls.data
        return
    chosen.data = _first(own, lambda item: issubclass(type(item), paddle.io.DataLoader))
    if chosen.data is None and calls.inputs and all(_is_array(paddle, one) for one in (*calls.inputs, *calls.labels)):
        # The loader's last batch may be a short one, so that a loader comes first.
        chosen.inputs, chosen.labels = calls.inputs, calls.labels
    elif chosen.data is None:
        chosen.data = _first(own, lambda item: issubclass(type(item), paddle.io.Dataset))


def _is_array(paddle: Any, item: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return issubclass(type(item), paddle.Tensor) or (numpy is not None and type(item) is numpy.ndarray)


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


def _trace(
    objects: LiveObjects, request: EstimateRequest, sample: dict[str, Any], *, both_kept: bool = False
) -> dict[str, Any]:
    from ..estimator.tracer.notebook.live import trace_live

    inputs, labels, assumed = list(objects.inputs), list(objects.labels), list(objects.assumed)
    size = request.batch_size
    batch = [(tuple(shape), dtype) for shape, dtype in sample.get("parts", ())] or _described(objects.described)
    if not batch and objects.described:
        return {"unclear": objects.described}
    if batch:
        count = _taken(objects.model, len(batch))
        inputs, labels = batch[:count], batch[count:]
    if sample and size is None:
        size = sample["size"] or objects.batch_size
        assumed += ["live_no_batch"] * (size is None)
        size = size or 1
    answer = trace_live(
        objects.model,
        objects.loss,
        objects.optimizer,
        inputs,
        labels,
        **{**for_tracer(request), "batch_size": size, "keeps_factors": both_kept},
    )
    if answer["status"] == "ok":
        answer["notes"] = [*answer["notes"], *({"code": code, "params": {}} for code in assumed)]
    return answer


def _described(text: str) -> list[tuple[tuple[int, ...], str]]:
    from ..estimator.tracer.undecided.descriptions import shapes_of

    return [(shape, dtype) for dtype, shape in shapes_of(text)]


def _sample(objects: LiveObjects) -> dict[str, Any]:
    """`{parts: [[shape, type], …], size}`: a batch by one sample; `size` None where the data says none."""
    loader = objects.data
    dataset = getattr(loader, "dataset", loader)
    sample = dataset[0] if hasattr(type(dataset), "__getitem__") else next(iter(dataset))
    parts = [_shape_of(part) for part in (sample if isinstance(sample, (list, tuple)) else [sample])]
    if loader is not dataset and getattr(loader, "batch_sampler", None) is None:  # the data set makes whole batches
        return {"parts": parts, "size": next((shape[0] for shape, _ in parts if shape), 1)}
    size = getattr(getattr(loader, "batch_sampler", None), "batch_size", None)
    return {"parts": [((size or 1, *shape), dtype) for shape, dtype in parts], "size": int(size) if size else None}


def _shape_of(part: Any) -> tuple[tuple[int, ...], str]:
    import numpy as np
    import paddle

    if isinstance(part, paddle.Tensor):  # one on a device cannot be read in a process that was forked
        return tuple(map(int, part.shape)), str(part.dtype).rsplit(".", 1)[-1]
    array = np.asarray(part)
    return array.shape, str(array.dtype)


def _taken(model: Any, most: int) -> int:
    """How many parts of a batch go into the model; what is left are labels."""
    import inspect

    parameters = inspect.signature(getattr(model, "network", model).forward).parameters.values()
    taken = sum(p.kind == p.POSITIONAL_OR_KEYWORD and p.default is p.empty for p in parameters)
    if any(p.kind == p.VAR_POSITIONAL for p in parameters):  # forward(*inputs) takes all but the label
        taken = max(taken, most - 1)
    return min(max(taken, 1), most)


def in_child(work: Callable[[], dict[str, Any]], *, confined: bool = False) -> dict[str, Any]:
    """What `work` returns in a forked child, or `{error}`; nothing it changes is seen here.

    The child leaves by `_exit`: no exit handler of the kernel runs in it, and a crash is an answer.

    Args:
        confined: whether it may neither write nor start processes nor reach a network, where the system can see to it.
    """
    reading, writing = os.pipe()
    sys.stdout.flush()
    with tempfile.TemporaryDirectory(prefix="paddle-gpu-") as private:
        child = os.fork()
        if child == 0:
            _answer(work, writing, private if confined else "")
        os.close(writing)
        try:
            data = _read(reading, child)
        except BaseException:  # the cell was interrupted: nobody waits for the answer
            os.kill(child, signal.SIGKILL)
            raise
        finally:
            os.close(reading)
            _, status = os.waitpid(child, 0)
    if data:
        return dict(msgspec.json.decode(data))
    return {"error": f"the child ended with signal {status & 127}" if status & 127 else "the child took too long"}


def _answer(work: Callable[[], dict[str, Any]], writing: int, private: str) -> None:
    try:
        # What reaches this process alone by its name is a signal: an interrupt is the kernel's own matter.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        _own_positions()
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)
        try:
            if private:
                confine(private)
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


def _own_positions() -> None:
    """Open anew the files that the kernel has open: reading moves a position that a forked process shares with it."""
    import fcntl  # not on Windows, where no kernel is forked

    folder = Path("/proc/self/fd")
    for link in list(folder.iterdir()) if folder.is_dir() else ():
        number = int(link.name)
        with contextlib.suppress(OSError):  # the listing's own, and what may not be opened again
            if stat.S_ISREG(os.fstat(number).st_mode):
                anew = os.open(link, fcntl.fcntl(number, fcntl.F_GETFL) & (os.O_ACCMODE | os.O_APPEND))
                os.lseek(anew, os.lseek(number, 0, os.SEEK_CUR), os.SEEK_SET)
                os.dup2(anew, number)
                os.close(anew)


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
