"""Layers behind `paddle.jit.to_static`: their gradients are all made before the first of them is kept.

Paddle runs such a layer's backward pass as one program, whose results are the gradients of all of its parameters
(`run_program_op_node.h`); beside them the old ones are still there, where `clear_grad` has kept them.
"""

from __future__ import annotations

import weakref
from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

import paddle
from paddle.jit.dy2static.program_translator import ProgramTranslator


class Group(NamedTuple):
    """Parameters whose gradients are kept together.

    Attributes:
        key: of the layer.
        size: how many of its parameters learn.
    """

    key: Hashable
    size: int


class Compiled:
    """The layers of a program that are compiled."""

    def __init__(self) -> None:
        self._layers: list[weakref.ref[Any]] = []

    def add(self, layer: Any) -> None:
        """A layer is behind `to_static`."""
        if not any(known() is layer for known in self._layers):
            self._layers.append(weakref.ref(layer))

    def groups(self) -> dict[int, Group]:
        """By a parameter's identity the group that it belongs to; of a layer in another one the outer one's. None
        where compiling is switched off (`paddle.jit.enable_to_static(False)`)."""
        found: dict[int, Group] = {}
        if not self._layers or not ProgramTranslator().enable_to_static:
            return found
        for known in self._layers:
            layer = known()
            if layer is None:
                continue
            learning = [id(one) for one in layer.parameters() if not one.stop_gradient]
            group = Group(id(layer), len(learning))
            for one in learning:
                if one not in found or found[one].size < group.size:
                    found[one] = group
        return found


_MORE = (
    "(InvalidArgument) The size of tensors and tensor_names should be equal, but got tensors size: {given}, "
    "tensor_names size: {named}."
)
"""What a program says that is given more tensors than it has inputs for."""


def too_many(specs: Any, given: Iterable[Any]) -> Exception | None:
    """What a program says that is one whole, where it is called with more tensors than it has inputs for."""
    count = sum(isinstance(one, paddle.Tensor) for one in given)
    if not isinstance(specs, (list, tuple)) or count <= len(specs):
        return None
    return ValueError(_MORE.format(given=count, named=len(specs)))


def lacking(problem: Exception) -> Exception | None:
    """What is said of an attribute that a tensor of a program does not have either, or of a name of no module."""
    name = getattr(problem, "name", None)
    if isinstance(problem, AttributeError) and isinstance(getattr(problem, "obj", None), paddle.Tensor):
        is_there = isinstance(name, str) and hasattr(paddle.pir.Value, name)
        said = f"'paddle.base.libpaddle.pir.Value' object has no attribute '{name}'"
        return None if is_there else AttributeError(said)
    return NameError(str(problem)) if type(problem) is NameError else None
