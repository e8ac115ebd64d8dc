"""What the cells write out of what a model takes: an `InputSpec` of a `paddle.Model`, the shape of a summary."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from ... import syntax
from ...sites import name_of
from ..hints import Hints, Shape
from ..numbers import CELLS

Array = tuple[str, Shape]
Sourced = tuple[str, str, Shape]


def specified(size: int, found: Hints) -> Iterator[Sourced]:
    """What a `paddle.Model` is specified to take."""
    for model in found.models.wrapped:
        for spec in getattr(model, "_inputs", None) or ():
            if (one := specification(spec, size)) is not None:
                yield CELLS, *one


def summarised(size: int, found: Hints) -> Iterator[Sourced]:
    """What `paddle.summary(net, (1, 3, 224, 224))` and its like call the model with."""
    for node in syntax.walk(found.tree):
        if not (isinstance(node, ast.Call) and name_of(node.func) in {"summary", "flops"}):
            continue
        for given in (*node.args, *(word.value for word in node.keywords if word.arg in {"input_size", "input"})):
            shape = _literal_shape(given)
            if len(shape) > 1:
                for dtype in ("int64", "float32") if found.models.takes_ids and len(shape) == 2 else ("float32",):
                    yield CELLS, dtype, (size, *shape[1:])


def _literal_shape(node: ast.expr) -> Shape:
    """The sizes of a shape that is written out; a leading one that is not written counts as 1."""
    if not isinstance(node, (ast.Tuple, ast.List)) or len(node.elts) < 2:
        return ()
    sizes = [one.value if isinstance(one, ast.Constant) else None for one in node.elts]
    known = [value for value in sizes[1:] if type(value) is int and value > 0]
    return (1, *known) if len(known) == len(sizes) - 1 else ()


def specification(spec: Any, size: int) -> Array | None:
    """What an `InputSpec` says, where it says all but the batch size."""
    shape = getattr(spec, "shape", None)
    if not shape or any(side in {None, -1} for side in shape[1:]):
        return None
    return str(spec.dtype).rpartition(".")[2].lower(), (size, *map(int, shape[1:]))
