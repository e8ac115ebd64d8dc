"""What may go into a live model: an array of the kernel that fits its first layer, what the cells make, else a batch of
an assumed size.

Read by attributes alone: a method of the program's own would run.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .calls import parsed

BATCH, LENGTH, SIDE, SMALL_SIDE = 32, 128, 224, 28
"""What is assumed of samples, of a sequence, and of pictures with and without colours."""
_RANKS = {"1D": (3, LENGTH), "2D": (4, SIDE), "3D": (5, SIDE)}
"""Dimensions of what a convolution takes, and the size of each side."""
_GREY = 1
_MAKERS = frozenset(("rand", "randn", "randint", "zeros", "ones", "full", "empty", "normal", "uniform", "InputSpec"))
"""Calls that are given the shape of what they make."""


def suggested(model: Any, names: Mapping[str, Any], cells: Iterable[str] = ()) -> tuple[str, str] | None:
    """A batch in words and where it comes from; None where the first layer does not tell.

    Args:
        names: the kernel's.
        cells: the sources of the notebook's code cells.
    """
    layer = _first(attributes(model).get("network", model), set())
    taken = None if layer is None else _taken(layer)
    if taken is None:
        return None
    dtype, shape, axis = taken

    def fits(found: tuple[int, ...]) -> bool:
        return len(found) == len(shape) and (axis is None or found[axis] == shape[axis])

    for name, value in list(names.items()):
        held = None if name.startswith("_") else _shape(value, dtype)
        if held is not None and fits(held):
            return _text(dtype, held), "kernel"
    made = next((one for cell in cells for one in _made_in(cell, names) if fits(one)), None)
    return (_text(dtype, shape), "assumed") if made is None else (_text(dtype, made), "cells")


def _made_in(cell: str, names: Mapping[str, Any]) -> Iterator[tuple[int, ...]]:
    """Shapes that calls of a cell make arrays of: `paddle.rand([BATCH, 512])`, `np.random.rand(128, 512)`."""
    tree = parsed(cell)
    for call in () if tree is None else ast.walk(tree):
        if not isinstance(call, ast.Call) or getattr(call.func, "attr", getattr(call.func, "id", "")) not in _MAKERS:
            continue
        given = [*call.args, *(one.value for one in call.keywords if one.arg in {"shape", "size"})]
        for sides in (*(one.elts for one in given if isinstance(one, (ast.List, ast.Tuple))), given):
            sizes = [_size(side, names) for side in sides]
            if sizes and all(sizes):
                yield tuple(sizes)


def _size(node: ast.expr, names: Mapping[str, Any]) -> int:
    """A number in a shape, by its name too, a batch's where it is left open; 0 where it is none."""
    match node:
        case ast.Constant(value=None) | ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=1)):
            return BATCH
        case ast.Constant(value=int() as size):
            return size
        case ast.Name(id=name):
            found = names.get(name)
            return found if type(found) is int else 0
    return 0


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
