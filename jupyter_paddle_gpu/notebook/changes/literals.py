"""Another value of a hyperparameter that stands in a call, where no variable holds it: `Adam(learning_rate=1e-3)`."""

from __future__ import annotations

import ast
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec

from ...domain.estimates import BatchPlace
from ...domain.messages import Message
from ...domain.notebooks import FactValue, NotebookSource
from ...domain.variables import COUNTS, Role, Variable, role_of, several_meant
from ..training.hyperparameters import Given, HyperparameterReader
from .program import INJECTED, PARAMETERS, Program, RefusedError, tags


class Written(NamedTuple):
    """What of the answers stands in the cells now.

    Attributes:
        names: of the answers, as they were asked for.
        says: the same in words.
        places: where the numbers stand now that a trace has seen to size the batch.
    """

    names: frozenset[str]
    says: tuple[Message, ...]
    places: tuple[BatchPlace, ...]


Spot = tuple[int, int, int]
"""Cell, line, and the byte of the line."""


class Calls(NamedTuple):
    """The hyperparameters of a notebook by what takes them.

    Attributes:
        variables: those that stand in a call, as they are offered.
        roles: of variables that a call takes, whatever they are called.
        places: of the numbers that a job's copy may have otherwise.
    """

    variables: tuple[Variable, ...]
    roles: Mapping[str, Role]
    places: frozenset[Spot]


def read_calls(source: NotebookSource) -> Calls:
    """What `literals` finds in a notebook, for those who only read; nothing in one that cannot be read."""
    try:
        program = Program(source)
        given = _given(program)
        found = literals(program, given)
        roles = {name: one.role for one in given if one.role and (name := variable_of(program, one.node))}
        batch = program.batches.batch()
    except RecursionError:
        return Calls((), {}, frozenset())
    variables = tuple(
        Variable(name=name, value=one.node.value, role=one.role, cell=program.code.cell(one.node), call=one.call)
        for name, one in found.items()
        if isinstance(one.node, ast.Constant) and isinstance(one.node.value, (int, float))
    )
    nodes = [one.node for one in found.values()]
    if batch is not None and batch.given is not None and not batch.fact.name:
        nodes.append(program.names.origin(batch.given))
    return Calls(variables, roles, frozenset((program.code.cell(one), one.lineno, one.col_offset) for one in nodes))


def _given(program: Program) -> tuple[Given, ...]:
    return HyperparameterReader(program.code, program.names, program.reader).given()


def literals(program: Program, given: Iterable[Given]) -> dict[str, Given]:
    """By the name under which each is offered: `learning_rate`, of several in a notebook with the place
    (`learning_rate@5`: cell 5; `dropout@4:8`: its line 8). What a variable holds has the variable's name already."""
    found = [one for one in given if not variable_of(program, one.node) and _is_plain(program, one.node)]
    often = Counter(one.name for one in found)
    in_cell = Counter((one.name, program.code.cell(one.node)) for one in found)
    in_line = Counter((one.name, program.code.place(one.node)) for one in found)
    named: dict[str, Given] = {}
    for one in found:
        place = program.code.place(one.node)
        key = one.name
        own = program.code.bindings.get((None, one.name), [one.node])
        if often[one.name] > 1 or own != [one.node]:
            key += f"@{place.cell + 1}"
            key += f":{place.line}" if in_cell[one.name, place.cell] > 1 else ""
            key += f":{one.node.col_offset + 1}" if in_line[one.name, place] > 1 else ""
        named[key] = one
    return named


def variable_of(program: Program, node: ast.expr) -> str:
    """The variable of the notebook's own namespace that a number stands for, and no other value ever; else empty."""
    statement = next(program.code.parents(node), None)
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)) if not name.startswith(
            "_"
        ):
            cell = program.source.content["cells"][program.code.cell(node)]
            once = len(program.code.bindings.get((None, name), ())) == 1
            is_parameter = not {PARAMETERS, INJECTED}.isdisjoint(tags(cell))
            is_own = isinstance(next(program.code.parents(statement), None), ast.Module)
            return name if is_own and (once or is_parameter) else ""
    return ""


def change(program: Program, answers: Mapping[str, FactValue]) -> Written:
    """Write those answers that name a number in a call in its place.

    Raises:
        RefusedError: several are meant, or the value is none of its kind.
    """
    known = literals(program, _given(program))
    meant = {name: key for name in answers if (key := _meant(program, known, name)) is not None}
    says, edited = [], []
    for name, key in meant.items():
        one, value = known[key], answers[name]
        _check(key, one, value)
        assert isinstance(one.node, ast.Constant)
        if value == one.node.value and type(value) is type(one.node.value):
            continue
        program.cell_of(one.node).replace(one.node, repr(value))
        edited.append((one.node, repr(value)))
        says.append(Message(code="literal", text="with {name} {value}", params={"name": key, "value": str(value)}))
    places = tuple(_moved(program, place, edited) for place in program.places)
    if edited and not all(_is_number_at(program, place) for place in program.places):
        places = ()  # found in a copy whose line had another length
    return Written(frozenset(meant), tuple(says), places)


def _meant(program: Program, known: Mapping[str, Given], name: str) -> str | None:
    """Under which name a number is offered that somebody means; None where a variable or nothing is meant."""
    if name in known:
        return name
    if (None, name) in program.code.bindings:
        return None
    role = role_of(name)
    several = [key for key, one in known.items() if name == one.name or (role and role == one.role)]
    if len(several) > 1:
        raise RefusedError(several_meant(name, several))
    return several[0] if several else None


def _check(key: str, one: Given, value: FactValue) -> None:
    is_number = type(value) in (int, float) and math.isfinite(value)  # type: ignore[arg-type]
    is_count = one.role in COUNTS
    if is_number and not (is_count and (not isinstance(value, int) or value < 1)):
        return
    params = {"name": key, "value": str(value)[:100]}
    raise RefusedError(
        Message(code="literal_count", text="“{name}” is a whole number above 0, and “{value}” is none.", params=params)
        if is_count
        else Message(code="literal_number", text="“{name}” is a number, and “{value}” is none.", params=params)
    )


def _is_plain(program: Program, node: ast.expr) -> bool:
    """Whether it can be edited: not on a line with a magic."""
    try:
        program.editable(node)
    except RefusedError:
        return False
    return True


def _is_number_at(program: Program, place: BatchPlace) -> bool:
    line = program.texts[place.cell].source.split("\n")[place.line - 1].encode()
    if place.how == "keyword":
        return line[place.column : place.column + 1] in {b")", b","}
    return line[place.column : place.end].isdigit()


def _moved(program: Program, place: BatchPlace, edited: list[tuple[ast.Constant, str]]) -> BatchPlace:
    """A number's place in its line, after others in the line were written."""
    by = sum(
        len(text) - (node.end_col_offset - node.col_offset)
        for node, text in edited
        if node.end_col_offset is not None
        and (program.code.cell(node), node.lineno) == (place.cell, place.line)
        and node.end_col_offset <= place.column
    )
    return msgspec.structs.replace(place, column=place.column + by, end=place.end + by) if by else place
