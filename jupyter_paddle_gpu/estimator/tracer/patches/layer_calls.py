"""Calls of layers are followed: which layer runs, and what models are called with from outside."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import paddle
from paddle.distributed import fleet

from ..eager import amp
from ..eager.tensors import Tensors
from ..step.changes import Changes
from ..step.layers import LayerPaths
from ..step.model_inputs import ModelInputs
from ..step.static_graphs import StaticGraphs
from .distributed.sharding import WRAPPERS
from .patch import Patch

RECOMPUTE_OPTIONS = ("preserve_rng_state", "use_reentrant", "offload_indices")
"""Keywords of fleet's `recompute` that its function does not get."""


def _call(runtime: Tensors, original: Callable[..., Any], layer: Any, *args: Any, **kwargs: Any) -> Any:
    """`Layer.__call__`."""
    if runtime.builds_graph:
        with runtime.of(StaticGraphs).building(layer):
            return original(layer, *args, **kwargs)
    if isinstance(layer, WRAPPERS):
        return original(layer, *args, **kwargs)
    outer = runtime.ledger.layer
    known, changes = runtime.of(LayerPaths), runtime.of(Changes)
    is_outside = known.is_outside
    if is_outside and layer._sub_layers:
        amp.before_model(runtime, layer)
        changes.choose_blocks(layer)
    path = known.enter(layer)
    if is_outside and path:
        known.called(layer, path, runtime.ledger.now, (*args, *kwargs.values()))
    if is_outside and known.is_root(layer):
        runtime.of(ModelInputs).called(layer, (args, kwargs))
    elif isinstance(layer, paddle.nn.Conv1D):
        runtime.of(ModelInputs).convolved(layer, args)
    runtime.ledger.layer = path or outer
    try:
        return changes.forward(layer, original, args, kwargs)
    finally:
        if path is not None:
            known.leave()
        runtime.ledger.layer = outer


def _transform(runtime: Tensors, original: Callable[..., Any], x: Any, *args: Any, **kwargs: Any) -> Any:
    """`paddle.signal.stft`, which layers of spectrograms call: what is transformed so is sound."""
    runtime.of(ModelInputs).heard(tuple(x.shape))
    return original(x, *args, **kwargs)


def _recompute(
    runtime: Tensors, original: Callable[..., Any], function: Callable[..., Any], *args: Any, **kwargs: Any
) -> Any:
    """fleet's `recompute`: a plain call where activations are to be kept."""
    if runtime.of(Changes).recompute is not False:
        return original(function, *args, **kwargs)
    return function(*args, **{name: value for name, value in kwargs.items() if name not in RECOMPUTE_OPTIONS})


def _recompute_hybrid(runtime: Tensors, original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """fleet's `recompute_hybrid(context, function, …)`: the same for parallel trainings."""
    if runtime.of(Changes).recompute is not False:
        return original(*args, **kwargs)
    _, function, *rest = args
    return function(*rest, **kwargs)


def patches() -> Iterator[Patch]:
    """Layers, what recomputes them, and the function that tells sound."""
    yield Patch(fleet.recompute, "recompute", _recompute, everywhere=True)
    yield Patch(fleet.recompute, "recompute_hybrid", _recompute_hybrid, everywhere=True)
    yield Patch(paddle.nn.Layer, "__call__", _call)
    yield Patch(paddle.signal, "stft", _transform)
