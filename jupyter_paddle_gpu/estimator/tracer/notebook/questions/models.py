"""The models that a program holds at one moment, and what of them data comes to."""

from __future__ import annotations

import gc
from functools import cached_property
from typing import Any

import paddle
from paddle.base.framework import EagerParamBase

from ...undecided.running_code import frames


class Models:
    """Found among all objects of the process, once: to go through them takes as long as a few thousand operations."""

    @cached_property
    def _all(self) -> list[Any]:
        return [one for one in gc.get_objects() if isinstance(one, (paddle.nn.Layer, paddle.Model))]

    @cached_property
    def wrapped(self) -> list[Any]:
        """Each `paddle.Model`."""
        return [one for one in self._all if isinstance(one, paddle.Model)]

    @cached_property
    def outer(self) -> list[Any]:
        """Layers that are part of no other, the largest first."""
        layers = [one for one in self._all if isinstance(one, paddle.nn.Layer)]
        inner = {id(part) for layer in layers for part in layer.sublayers()}
        models = [layer for layer in layers if id(layer) not in inner]
        return sorted(models, key=lambda layer: -sum(int(one.size) for one in layer.parameters()))

    @cached_property
    def _leaves(self) -> list[list[Any]]:
        """The layers with weights of each model, in their order; the largest model first."""
        found = []
        for model in self.outer:
            leaves = [one for one in model.sublayers(include_self=True) if not one._sub_layers and one.parameters()]
            leaves += [one for one in model.sublayers(include_self=True) if hasattr(one, "input_size")]
            if leaves:
                found.append(leaves)
        return found

    @cached_property
    def first(self) -> list[Any]:
        """The layers that the data comes to, of the largest models."""
        return [_first(leaves) for leaves in self._leaves[:3]]

    @cached_property
    def by_hand(self) -> list[int]:
        """How many rows the first matrix has that running code trains without a layer, which data is multiplied by."""
        held = [value for frame in frames() for value in list(frame.f_locals.values())]
        parts = [part for value in held for part in (value if isinstance(value, (list, tuple)) else (value,))]
        own = (one for one in parts if isinstance(one, paddle.Tensor) and not isinstance(one, EagerParamBase))
        trained = (one for one in own if not one.stop_gradient and one.is_leaf)
        return [int(one.shape[0]) for one in trained if len(one.shape) == 2][:1]

    @property
    def takes_ids(self) -> bool:
        """Whether one of them is an embedding."""
        return any(type(layer).__name__ == "Embedding" for layer in self.first)

    @property
    def last_widths(self) -> list[int]:
        """How wide the linear layers are that the largest models end with."""
        return [int(one[-1].weight.shape[-1]) for one in self._leaves[:2] if type(one[-1]).__name__ == "Linear"]


def _first(leaves: list[Any]) -> Any:
    """The layer that the data comes to: an embedding that was made behind the recurrent layer which it feeds, or the
    one that was made first."""
    width = getattr(leaves[0], "input_size", None)
    feeding = (one for one in leaves if type(one).__name__ == "Embedding" and one.parameters()[0].shape[-1] == width)
    return next(feeding, leaves[0])
