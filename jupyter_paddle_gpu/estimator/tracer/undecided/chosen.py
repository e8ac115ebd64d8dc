"""For want of which setting a statement failed: a text by which it looks something up (`table[config["act"]]`,
`getattr(paddle.optimizer, config["name"])`), or one by which something was to be chosen that it is handed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from traceback import walk_tb
from types import FrameType
from typing import Any

from .. import call_stack
from ..session import current
from .absent_data import AbsentData, Unseen
from .asking import chosen_by, is_setting, key_of
from .needs import CHOSEN, Need, usual_of, with_default
from .settings import SAME, running, value_of


def wanted(problem: BaseException) -> Need | None:
    """The number or the setting for want of which an error ended a statement; None where it was something else."""
    need: Need | None = getattr(problem, "need", None)
    session = current()
    if session is None or (need is not None and (need.kind == "value" or need.why in CHOSEN)):
        return need
    data, steps = session.of(AbsentData), [one for one in walk_tb(problem.__traceback__) if _is_programs(one[0])]
    for frame, line in reversed(steps):
        for value, options in _looked_up(running(frame, line), frame):
            if (key := key_of(value)) and (name := data.part_name(value)):
                cell, at = _place(steps)
                return Need(
                    name, "value", "choice_unseen", cell, at, is_of_step=False, key=key, usual=usual_of(value),
                    options=options,
                )  # fmt: skip
    return next((one for frame, line in reversed(steps) for one in _handed(frame, line)), None)


def _place(steps: list[tuple[FrameType, int]]) -> tuple[int | None, int | None]:
    """Cell and line of the innermost of the cells' frames."""
    places = ((call_stack.cell_of(frame.f_code.co_filename), line) for frame, line in reversed(steps))
    return next((one for one in places if one[0] is not None), (None, None))


def from_settings(problem: BaseException) -> bool:
    """Whether what a statement that failed would have bound comes of a file of settings."""
    frames = [one for one in walk_tb(problem.__traceback__) if call_stack.is_cell(one[0].f_code.co_filename)]
    return any(is_setting(value) or value.__dict__.get("_is_settings") for one in frames[-1:] for value in _named(*one))


def _is_programs(frame: FrameType) -> bool:
    return not frame.f_code.co_filename.startswith(call_stack.TRACER)


def _named(frame: FrameType, line: int) -> Iterator[Unseen]:
    """What a statement has in its hands of unknown content, by names."""
    names = {**frame.f_globals, **frame.f_locals} if call_stack.is_cell(frame.f_code.co_filename) else {}
    found = (names.get(one.id) for one in running(frame, line) if isinstance(one, ast.Name))
    return (one for one in found if type(one) is Unseen)


def _handed(frame: FrameType, line: int) -> Iterator[Need]:
    """The settings for want of which something was not chosen that a statement is handed."""
    return (need for need in map(chosen_by, _named(frame, line)) if need is not None)


def _looked_up(nodes: list[ast.AST], frame: FrameType) -> Iterator[tuple[Unseen, tuple[str, ...]]]:
    """Values of unknown content by which a statement looks something up, each with what there is."""
    for node in nodes:
        match node:
            case (
                ast.Subscript(value=table, slice=key)
                | ast.Call(func=ast.Attribute(value=table, attr="get"), args=[key, *_])
            ):
                options = _keys(table, frame)
            case ast.Call(func=ast.Name(id="getattr"), args=[held, key, *_]):
                options = _names(value_of(held, frame))
            case _:
                continue
        value = _setting(key, frame)
        if options and value is not None:
            yield value, options


def _setting(node: ast.expr, frame: FrameType) -> Unseen | None:
    match node:
        case ast.Call(func=ast.Attribute(value=inner, attr=method), args=[]) if method in SAME:
            return _setting(inner, frame)
        case ast.Call(func=ast.Attribute(value=inner, attr="get"), args=[ast.Constant() as key, *rest]):
            found = _setting(ast.copy_location(ast.Subscript(inner, key, ast.Load()), node), frame)
            said = rest[0].value if rest and isinstance(rest[0], ast.Constant) else None
            return None if found is None else with_default(found, said)
    value = value_of(ast.fix_missing_locations(node), frame)
    return value if type(value) is Unseen else None


def _keys(table: ast.expr, frame: FrameType) -> tuple[str, ...]:
    match table:
        case ast.Dict(keys=keys):
            return tuple(one.value for one in keys if isinstance(one, ast.Constant) and isinstance(one.value, str))
        case ast.Call(func=ast.Name(id="globals" | "locals" | "vars"), args=[]):
            own = {**frame.f_globals, **frame.f_locals}
            return tuple(name for name, one in own.items() if isinstance(one, type) and call_stack.is_own(one))
    found = value_of(table, frame)
    return tuple(one for one in found if isinstance(one, str)) if isinstance(found, dict) else ()


def _names(holder: Any) -> tuple[str, ...]:
    """The classes and functions of a module, or the methods of an object."""
    return tuple(name for name in dir(holder) if not name.startswith("_") and callable(getattr(holder, name, None)))
