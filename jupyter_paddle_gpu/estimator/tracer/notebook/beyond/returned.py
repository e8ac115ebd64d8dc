"""Keys and places that what Paddle's own code returns does not have (`model.evaluate(data)["accuracy"]`,
`model.predict(data)[1]`): they hang on how a model was prepared, not on how many rounds its loops had."""

from __future__ import annotations

import ast
import linecache
import traceback
from collections.abc import Iterable
from types import FrameType, ModuleType
from typing import Any

import paddle

from ... import call_stack
from .. import contents
from ..syntax import nodes


def lacks(problem: BaseException, sources: Iterable[str]) -> bool:
    """Whether an error is one of a key or a place that such a result does not have."""
    if not isinstance(problem, (KeyError, IndexError)) or problem.__traceback__ is None:
        return False
    *_, (frame, line) = traceback.walk_tb(problem.__traceback__)
    file = frame.f_code.co_filename
    if call_stack.cell_of(file) is None:
        return False
    own = nodes("".join(linecache.getlines(file)))
    read = [one for one in own if isinstance(one, ast.Subscript) and isinstance(one.ctx, ast.Load)]
    near = [one for one in read if one.lineno <= line <= (one.end_lineno or line) and _may_fail(one, problem)]
    everything = [node for source in sources for node in nodes(source)]
    if len(near) == 1 and isinstance(near[0].value, ast.Call):
        return _is_paddles(near[0].value.func, frame) and not _may_be_saved(near[0].value, problem, everything)
    return any(_is_of_paddles(one, problem, frame, everything) for one in near)


def _may_be_saved(made: ast.Call, problem: BaseException, everything: list[ast.AST]) -> bool:
    """Whether it reads what was saved (`paddle.load`) and late rounds may have put there what is looked for: a key that
    the code gives anything, places of a list always."""
    if getattr(made.func, "attr", "") != "load":
        return False
    return not isinstance(problem, KeyError) or _is_put(problem.args[0], everything)


def _is_put(key: object, everything: list[ast.AST]) -> bool:
    """Whether the code may put something under a key: `said["epoch"] = 3`, `dict(epoch=3)`, `said[name] = 3`."""
    for node in everything:
        match node:
            case ast.Subscript(ctx=ast.Store(), slice=ast.Constant(value=name)) if name != key:
                pass
            case ast.Subscript(ctx=ast.Store()):
                return True
            case ast.Dict(keys=keys) if any(isinstance(one, ast.Constant) and one.value == key for one in keys):
                return True
            case ast.keyword(arg=name) if name == key:
                return True
    return False


def _may_fail(node: ast.Subscript, problem: BaseException) -> bool:
    """Whether it may be the one that fails: of keys the one that is told, of places any."""
    if isinstance(problem, IndexError):
        return not isinstance(node.slice, ast.Slice)
    return isinstance(node.slice, ast.Constant) and (node.slice.value,) == problem.args


def _is_of_paddles(node: ast.Subscript, problem: BaseException, frame: FrameType, everything: list[ast.AST]) -> bool:
    """Whether a name holds such a result, which has no such key or place."""
    place = node.slice.value if isinstance(node.slice, ast.Constant) else None
    if not isinstance(place, (str, int)):
        return False
    if not isinstance(node.value, ast.Name):
        return False
    name = node.value.id
    held: Any = frame.f_locals.get(name, frame.f_globals.get(name))
    made = contents.made(name, everything, place if isinstance(place, str) else None)
    is_made = bool(made) and all(
        isinstance(one, ast.Call) and _is_paddles(one.func, frame) and not _may_be_saved(one, problem, everything)
        for one in made
    )
    return is_made and (
        type(held) is dict and place not in held
        if isinstance(problem, KeyError)
        else type(held) in (list, tuple) and isinstance(place, int) and not -len(held) <= place < len(held)
    )


def _is_paddles(called: ast.expr, frame: FrameType) -> bool:
    """Whether it is a method of one of Paddle's objects, or a function of one of its modules. What functions of tensors
    return may hang on what loops have gathered."""
    if not isinstance(called, ast.Attribute):
        return False
    owner = _value(called.value, frame)
    if isinstance(owner, ModuleType):
        home = str(getattr(vars(owner).get(called.attr), "__module__", ""))
        return owner.__name__.partition(".")[0] == "paddle" and not home.startswith("paddle.tensor")
    if owner is None or isinstance(owner, (paddle.Tensor, type)) or called.attr in getattr(owner, "__dict__", ()):
        return False
    home = next((kind.__module__ for kind in type(owner).__mro__ if called.attr in vars(kind)), "")
    return home.partition(".")[0] == "paddle"


def _value(node: ast.expr, frame: FrameType) -> Any:
    """What a name, or an attribute of one, holds; nothing is called for it."""
    match node:
        case ast.Name(id=name):
            return frame.f_locals.get(name, frame.f_globals.get(name))
        case ast.Attribute(value=value, attr=attr):
            owner = _value(value, frame)
            return vars(owner).get(attr) if hasattr(owner, "__dict__") else None
    return None
