"""Places that a tensor's numbers do not have, where the code says place and tensor (`net.weight.numpy()[7]`,
`net.weight.tolist()[0][3]`): they hang on its shape alone, whatever its numbers are."""

from __future__ import annotations

import ast
import linecache
import traceback
from types import FrameType
from typing import Any

import numpy as np
import paddle

from ... import call_stack
from ...session import CUT, SELECTED, SIZES, Session
from ..syntax import nodes

_NUMBERS = frozenset(("numpy", "tolist"))
"""Methods that give a tensor's numbers in its shape."""


def is_beyond(problem: BaseException, session: Session) -> bool:
    """Whether a line of a cell asks for such a place, and nothing made up tells how many there are."""
    if not isinstance(problem, IndexError) or problem.__traceback__ is None:
        return False
    steps = traceback.walk_tb(problem.__traceback__)
    own = [(frame, line) for frame, line in steps if not frame.f_code.co_filename.startswith(call_stack.TRACER)]
    frame, line = own[-1] if own else (problem.__traceback__.tb_frame, 0)
    file = frame.f_code.co_filename
    if call_stack.cell_of(file) is None or not session.assumed.isdisjoint((SIZES, SELECTED, CUT)):
        return False
    return any(
        isinstance(node, ast.Subscript) and node.lineno <= line <= (node.end_lineno or line) and _is_beyond(node, frame)
        for node in nodes("".join(linecache.getlines(file)))
    )


def _is_beyond(node: ast.Subscript, frame: FrameType) -> bool:
    places = list[int]()
    held: ast.expr = node
    while isinstance(held, ast.Subscript):
        given = _numbers(held.slice)
        if given is None:
            return False
        places, held = [*given, *places], held.value
    shape = _shape(held, frame)
    return shape is not None and any(not -size <= at < size for at, size in zip(places, shape, strict=False))


def _numbers(node: ast.expr) -> list[int] | None:
    """The whole numbers that stand in an index."""
    try:
        found = ast.literal_eval(node)
    except (ValueError, TypeError):
        return None
    given = list(found) if isinstance(found, tuple) else [found]
    return given if all(type(one) is int for one in given) else None


def _shape(node: ast.expr, frame: FrameType) -> list[int] | None:
    """The shape of a tensor's numbers, or of an array that a name holds."""
    match node:
        case ast.Call(func=ast.Attribute(value=tensor, attr=method), args=[], keywords=[]) if method in _NUMBERS:
            held = value(tensor, {**frame.f_globals, **frame.f_locals})
            return list(held.shape) if isinstance(held, paddle.Tensor) else None
        case ast.Name(id=name):
            array = frame.f_locals.get(name, frame.f_globals.get(name))
            return list(array.shape) if isinstance(array, np.ndarray) else None
    return None


def value(node: ast.expr, names: dict[str, Any]) -> Any:
    """What a dotted name is."""
    if isinstance(node, ast.Attribute):
        return getattr(value(node.value, names), node.attr, None)
    return names.get(node.id) if isinstance(node, ast.Name) else None
