"""Where the notebook's code stands that runs now: its cell and line, and what the statement there does."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType, FrameType

from .. import call_stack

TRAINING = frozenset(("backward", "minimize", "train_batch", "clear_grad", "clear_gradients"))
"""Methods by whose calls a loop trains."""


def frames() -> Iterator[FrameType]:
    """The frames of cells that run, the innermost first."""
    frame = call_stack.caller()
    while frame is not None:
        if call_stack.is_cell(frame.f_code.co_filename):
            yield frame
        frame = frame.f_back


def place() -> tuple[int | None, int | None]:
    """Cell and line that run."""
    for frame in frames():
        if (cell := call_stack.cell_of(frame.f_code.co_filename)) is not None:
            return cell, frame.f_lineno
    return None, None


def is_trained_on() -> bool:
    """Whether the notebook's running code is directly in a loop that trains: a reader that such a loop goes through has
    loops of its own, of which nobody is to know anything."""
    frame = next(frames(), None)
    if frame is None:
        return False
    line = frame.f_lineno
    nodes = _nodes("".join(linecache.getlines(frame.f_code.co_filename)))
    loops = [node for node in nodes if isinstance(node, ast.For) and node.lineno <= line <= (node.end_lineno or line)]
    return any(getattr(one, "attr", "") in TRAINING for loop in loops for one in ast.walk(loop))


@lru_cache(maxsize=64)
def _nodes(source: str) -> tuple[ast.AST, ...]:
    """All nodes of a source; none where it is no Python."""
    try:
        return tuple(ast.walk(ast.parse(source)))
    except SyntaxError:
        return ()


def paddle_asks() -> bool:
    """Whether Paddle's own code stands between the notebook and what is needed."""
    frame = call_stack.caller()
    while frame is not None and not call_stack.is_cell(frame.f_code.co_filename):
        if frame.f_code.co_filename.startswith(call_stack.PADDLE):
            return True
        frame = frame.f_back
    return False


def layer_asks() -> bool:
    """Whether a layer's `forward` stands between the notebook and what is needed: it is a tensor then."""
    frame = call_stack.caller()
    while frame is not None and not call_stack.is_cell(frame.f_code.co_filename):
        if frame.f_code.co_name == "forward" and frame.f_code.co_filename.startswith(call_stack.PADDLE):
            return True
        frame = frame.f_back
    return False


def assigned() -> str:
    """The name or attribute that the running statement of the notebook assigns; empty where it assigns none."""
    target = _target()
    return target.id if isinstance(target, ast.Name) else getattr(target, "attr", "")


def kept() -> str:
    """The attribute of an object that the running statement assigns; empty where it assigns none."""
    target = _target()
    return target.attr if isinstance(target, ast.Attribute) else ""


def _target() -> ast.expr | None:
    """What the running statement of the notebook assigns first."""
    for frame in frames():
        line = frame.f_lineno
        for node in _nodes("".join(linecache.getlines(frame.f_code.co_filename))):
            if isinstance(node, ast.Assign) and node.lineno <= line <= (node.end_lineno or line):
                return node.targets[0]
        return None
    return None


def makes_a_tensor(value: ast.expr | None) -> bool:
    """Whether an expression makes a tensor of numbers."""
    return isinstance(value, ast.Call) and getattr(value.func, "attr", "") == "to_tensor"


def tensors_kept(code: CodeType) -> Iterator[str]:
    """The attributes to which a method of the program's binds tensors that it makes of numbers."""
    nodes = _nodes("".join(linecache.getlines(code.co_filename)))
    first, last = code.co_firstlineno, max((line for _, _, line in code.co_lines() if line), default=0)
    for node in nodes:
        if isinstance(node, ast.Assign) and first <= node.lineno <= last and makes_a_tensor(node.value):
            yield from (target.attr for target in node.targets if isinstance(target, ast.Attribute))
