"""What may go into a live model: an array of the kernel that fits its first layer, else a batch of an assumed size.

Read by attributes alone: a method of the program's own would run.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

BATCH, LENGTH, SIDE, SMALL_SIDE = 32, 128, 224, 28
"""What is assumed of samples, of a sequence, and of pictures with and without colours."""
_RANKS = {"1D": (3, LENGTH), "2D": (4, SIDE), "3D": (5, SIDE)}
"""Dimensions of what a convolution takes, and the size of each side."""
_GREY = 1


def suggested(model: Any, names: Mapping[str, Any]) -> tuple[str, str] | None:
    """A batch in words and where it comes from; None where the first layer does not tell."""
    layer = _first(attributes(model).get("network", model), set())
    taken = None if layer is None else _taken(layer)
    if taken is None:
        return None
    dtype, shape, axis = taken
    for name, value in list(names.items()):
        held = None if name.startswith("_") else _shape(value, dtype)
        if held is not None and len(held) == len(shape) and (axis is None or held[axis] == shape[axis]):
            return _text(dtype, held), "kernel"
    return _text(dtype, shape), "assumed"


def attributes(thing: Any) -> dict[str, Any]:
    """What an object holds, as it is."""
    found: dict[str, Any] = object.__getattribute__(thing, "__dict__")
    return found


def _first(layer: Any, seen: set[int]) -> Any:
    """The layer that was made first of those with weights, or a recurrent one."""
    own = attributes(layer)
    seen.add(id(layer))
    if "input_size" in own or any(one is not None for one in own.get("_parameters", {}).values()):
        return layer
    parts = [one for one in own.get("_sub_layers", {}).values() if one is not None and id(one) not in seen]
    return next((found for found in (_first(one, seen) for one in parts) if found is not None), None)


def _taken(layer: Any) -> tuple[str, tuple[int, ...], int | None] | None:
    """Type and shape of what a layer takes, and the axis whose size it fixes."""
    own, kind = attributes(layer), type(layer).__name__
    weight = own.get("_parameters", {}).get("weight")
    if "input_size" in own:
        return "float32", (BATCH, LENGTH, int(own["input_size"])), -1
    if kind == "Linear" and weight is not None:
        return "float32", (BATCH, int(weight.shape[0])), -1
    if kind == "Embedding":
        return "int64", (BATCH, LENGTH), None
    if kind.startswith("Conv") and kind[-2:] in _RANKS and "_in_channels" in own:
        rank, side = _RANKS[kind[-2:]]
        channels = int(own["_in_channels"])
        side = SMALL_SIDE if channels == _GREY and side == SIDE else side
        return "float32", (BATCH, channels, *[side] * (rank - 2)), 1
    return None


def _shape(value: Any, dtype: str) -> tuple[int, ...] | None:
    """That of an array or a tensor of a type, a parameter left out; None of anything else."""
    paddle, numpy = sys.modules.get("paddle"), sys.modules.get("numpy")
    is_array = numpy is not None and type(value) is numpy.ndarray
    if not is_array and (paddle is None or type(value) is not paddle.Tensor):
        return None
    return tuple(int(size) for size in value.shape) if str(value.dtype).rpartition(".")[2] == dtype else None


def _text(dtype: str, shape: tuple[int, ...]) -> str:
    return f"{dtype}[{','.join(map(str, shape))}]"
