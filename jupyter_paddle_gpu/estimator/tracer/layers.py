"""The model's own tree: which layer each operation belongs to, and what hangs on each node."""

from __future__ import annotations

from typing import Any

import paddle

from . import amp, entries, sharding, whatif
from .dtypes import SIZE, name_of
from .interception import current

_installed = False


class LayerPaths:
    """Dotted paths of layers, relative to the outermost layer that was called."""

    def __init__(self) -> None:
        self.roots: list[Any] = []
        self._paths: dict[int, str] = {}
        self._depth = 0
        self.batch: list[tuple[tuple[int, ...], str]] = []
        """Shapes and types of the tensors that the last trained model was called with."""

    def enter(self, layer: Any) -> str:
        """The path of a layer that is called now."""
        if id(layer) not in self._paths:
            if self._depth and self._paths.get(id(layer)) is None:
                return ""
            self._add_root(layer)
        self._depth += 1
        return self._paths[id(layer)]

    def leave(self) -> None:
        """The call is over."""
        self._depth -= 1

    @property
    def has_batch(self) -> bool:
        """Whether the step's batch was seen."""
        return bool(self.batch)

    @property
    def is_outside(self) -> bool:
        """Whether no layer is being called."""
        return self._depth == 0

    def _add_root(self, root: Any) -> None:
        has_parameters = bool(list(root.parameters()))
        prefix = ""
        if has_parameters:
            if self.roots:
                prefix = f"{type(root).__name__.lower()}_{len(self.roots)}"
            self.roots.append(root)
        self._paths[id(root)] = prefix
        for name, layer in root.named_sublayers():
            self._paths.setdefault(id(layer), f"{prefix}.{name}" if prefix else name)

    def main(self) -> Any:
        """The layer with most parameters among those called from outside."""
        return max(self.roots, key=_numel, default=None)

    def tree(self) -> list[list[Any]]:
        """Rows (path, class name, own parameters, their bytes), each layer once."""
        rows, seen = [], set()
        for root in self.roots:
            for layer in (root, *root.sublayers()):
                if id(layer) in seen:
                    continue
                seen.add(id(layer))
                own = [p for p in layer._parameters.values() if p is not None]
                size = sum(int(p.size) * SIZE[name_of(p.dtype)] for p in own)
                rows.append([self._paths.get(id(layer), ""), type(layer).__name__, sum(int(p.size) for p in own), size])
        return rows


def _numel(layer: Any) -> int:
    return sum(int(p.size) for p in layer.parameters())


def parameters_of(roots: list[Any]) -> tuple[int, int]:
    """(all, trainable) numbers of elements of the distinct parameters of several layers.

    All is what `Layer.parameters()` gives, which includes the running mean and variance of a normalisation (as
    `paddle.summary`'s "Total params" does); trainable ones have `stop_gradient` False.
    """
    distinct = {id(p): p for root in roots for p in root.parameters()}
    total = sum(int(p.size) for p in distinct.values())
    return total, sum(int(p.size) for p in distinct.values() if not p.stop_gradient)


paths = LayerPaths()
"""The paths of the running trace."""


def begin() -> LayerPaths:
    """Start a run's paths."""
    global paths  # noqa: PLW0603
    paths = LayerPaths()
    return paths


def install() -> None:
    """Follow calls of layers, once a process."""
    global _installed  # noqa: PLW0603
    if _installed:
        return
    _installed = True
    layer_type = paddle.nn.Layer
    original = layer_type.__call__

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        runtime = current()
        if runtime is None or isinstance(self, sharding.WRAPPERS):
            return original(self, *args, **kwargs)
        outer = runtime.ledger.layer
        known = paths
        if known.is_outside and self._sub_layers:
            amp.before_model(runtime, self)
            whatif.choose_blocks(self)
            if self.training and not known.has_batch:
                known.batch = [(tuple(a.shape), name_of(a.dtype)) for a in args if isinstance(a, paddle.Tensor)]
        is_outside = known.is_outside
        path = known.enter(self)
        if is_outside and any(self is root for root in known.roots):
            entries.entries.called(self, (args, kwargs))
        elif isinstance(self, paddle.nn.Conv1D):
            entries.entries.convolved(self, args)
        runtime.ledger.layer = path or outer
        depth_entered = id(self) in known._paths
        try:
            return whatif.forward(self, original, args, kwargs)
        finally:
            if depth_entered:
                known.leave()
            runtime.ledger.layer = outer

    layer_type.__call__ = call
