"""What a step wants that is not known: tensors of unknown content that a layer or an operator was given."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from types import FrameType

from ... import call_stack
from ...undecided.absent_data import AbsentData, Unseen
from ...undecided.asking import chosen_by
from ...undecided.needs import Need, type_of
from ...undecided.running_code import TRAINING
from . import absorbing


def of(problem: BaseException) -> Iterator[Need]:
    """What the code of a loop that trains handed to Paddle when it failed, by the names that the loop has for it."""
    step, found, place = problem.__traceback__, None, (-1, 0)
    of_loop = place
    while step is not None:
        file = step.tb_frame.f_code.co_filename
        if (cell := call_stack.cell_of(file)) is not None:
            place = cell, step.tb_lineno
        if call_stack.is_cell(file) and _trains(step.tb_frame, step.tb_lineno):
            found, of_loop = step, place
        step = step.tb_next
    if found is None or not any(file.startswith(call_stack.PADDLE) for file in absorbing.files(found)):
        return
    frame = found.tb_frame
    names = {**frame.f_globals, **frame.f_locals}
    indices = _indices(frame, found.tb_lineno)
    for name in _in_order(frame, found.tb_lineno, absorbing.loaded(frame, found)):
        value = names.get(name)
        if isinstance(value, Unseen) and (wants := chosen_by(value)) is not None:
            yield replace(wants, is_of_step=True)
        elif isinstance(value, Unseen) and not value.__dict__["_is_asked"] and not name.startswith("_"):
            yield Need(name, "batch", "tensor_unseen", *of_loop, is_index=name in indices, dtype=type_of(value))


def ask(problem: BaseException, data: AbsentData) -> None:
    """Ask for what a statement wants that trains and is not passed by: `loss_of(net(x), y).backward()`."""
    if data.is_lazy and not data.wants_numbers:
        for need in of(problem):
            data.need(need)


def place_of(problem: BaseException) -> tuple[str, int, type]:
    """Where in the program an error arose, and what kind of error it is."""
    step, file, line = problem.__traceback__, "", 0
    while step is not None:
        if call_stack.is_cell(step.tb_frame.f_code.co_filename):
            file, line = step.tb_frame.f_code.co_filename, step.tb_lineno
        step = step.tb_next
    return file, line, type(problem)


def _in_order(frame: FrameType, line: int, names: frozenset[str]) -> list[str]:
    """Names in the order in which a statement comes to them: what stands first keeps it from the others."""
    places = {name: (line + len(names), 0) for name in names}
    for node in absorbing.nodes_of(frame):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names and node.lineno >= line:
            places[node.id] = min(places[node.id], (node.lineno, node.col_offset))
    return sorted(names, key=lambda name: (places[name], name))


def _indices(frame: FrameType, line: int) -> frozenset[str]:
    """Names by which a line of a frame takes parts of something: `chosen` of `rows[chosen]`."""
    parts = (node for node in absorbing.nodes_of(frame) if isinstance(node, ast.Subscript))
    taken = (one.slice for one in parts if one.lineno <= line <= (one.end_lineno or line))
    return frozenset(one.id for one in taken if isinstance(one, ast.Name))


def _trains(frame: FrameType, line: int) -> bool:
    """Whether a line of a frame stands directly in a loop that trains."""
    loops = [node for node in absorbing.nodes_of(frame) if isinstance(node, (ast.For, ast.While))
             and node.lineno <= line <= (node.end_lineno or line)]  # fmt: skip
    return any(getattr(one, "attr", "") in TRAINING for loop in loops for one in ast.walk(loop))
