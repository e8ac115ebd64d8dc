"""A notebook as its changes see it: what trains, the names, and the cells' texts to be edited."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import msgspec

from ...domain.estimates import Among, BatchPlace
from ...domain.messages import Message
from ...domain.notebooks import OTHER_FRAMEWORK, NotebookSource, Place, files_of, with_files
from ..cells import parsed_cells
from ..code import Code
from ..frameworks import other_framework, other_language
from ..names import Names
from ..programs import read_commands
from ..started import started_programs
from ..training.batches import BatchReader
from ..training.loop import TrainingReader
from ..training.models import ModelReader
from . import arguments
from .edits import CellText
from .one_training import seen_by

PARAMETERS, INJECTED = "parameters", "injected-parameters"
"""Tags of cells by the convention of papermill."""


class RefusedError(Exception):
    """A change that cannot be made, with the reason and the next step."""

    def __init__(self, why: Message) -> None:
        super().__init__(why.text)
        self.why = why


class SharedLineError(RefusedError):
    """A change around a statement that shares its line with others.

    Args:
        at: cell, line and column of the statement, as `Code.position` has them.
    """

    def __init__(self, at: tuple[int, int, int]) -> None:
        super().__init__(
            Message(
                code="change_in_one_line",
                text="Several statements stand in one line where the change would go (cell {cell}, line {line}).",
                hint="Write each of them in a line of its own.",
                params={"cell": at[0] + 1, "line": at[1]},
            )
        )
        self.at = at


class Program:
    """The notebook, read; what is edited is seen by the next `Program` that is made of `result()`.

    Args:
        places: numbers that a trace has seen to size the batch, of the notebook as it is.
        among: of several trainings the one that is changed.

    Attributes:
        is_part: only that training is read, and the others go on beside it.
    """

    def __init__(self, source: NotebookSource, places: tuple[BatchPlace, ...] = (), among: Among | None = None) -> None:
        self.source, self.places = source, places
        self._parsed = parsed = tuple(parsed_cells(source.content["cells"]))
        self._trees = [one.tree for one in parsed if one.tree is not None]
        self.magics = [(one.cell.index, magic) for one in parsed for magic in one.magics]
        read, self.is_part = seen_by(parsed, among)
        self.code = Code(read)
        self.names = Names(self.code)
        self.models = ModelReader(self.code, self.names)
        self.reader = TrainingReader(self.code, self.names, self.models)
        self.batches = BatchReader(self.code, self.names, self.reader)
        cells = source.content["cells"]
        self.texts = {one.cell.index: CellText(cells[one.cell.index]["source"], one.cell.masked) for one in parsed}
        self.injected: dict[str, Any] = {}
        """Names that a cell tagged `injected-parameters` is to bind."""
        self.files = files_of(source.content)
        """What files of settings are to hold for the job, by path."""

    @property
    def starts_scripts(self) -> bool:
        """Whether a cell starts a script (`!python train.py`, `!bash run.sh`, `subprocess.run`)."""
        started = read_commands(self._parsed, self.source.path.parent)
        is_any = any(one.kind not in {"write", "folder", "variable"} and not one.text for one in started)
        return is_any or bool(started_programs(self._parsed))

    def in_python(self, *, of_paddle: bool) -> None:
        """Refuse a notebook whose cells are not Python, and where it matters one of another framework's training."""
        if (foreign := other_language(self.source)) is not None:
            raise RefusedError(foreign)
        packages = {path.split(".")[0] for path in (*self.code.imports.values(), *self.code.stars)}
        if of_paddle and (framework := other_framework(packages)):
            raise RefusedError(
                Message(
                    code=OTHER_FRAMEWORK,
                    text="This notebook trains with {framework}; only trainings of Paddle are changed.",
                    hint="Submit it without: it runs as it is.",
                    params={"framework": framework},
                )
            )

    # --- where things stand

    def cell_of(self, node: ast.AST) -> CellText:
        """The text that a node stands in."""
        return self.texts[self.code.cell(node)]

    def text(self, node: ast.expr | ast.stmt) -> str:
        """A node as it was typed."""
        return self.cell_of(node).text(node)

    def statement(self, node: ast.AST) -> ast.stmt:
        """The innermost statement around a node."""
        return next(one for one in (node, *self.code.parents(node)) if isinstance(one, ast.stmt))

    def top(self, node: ast.AST) -> ast.stmt:
        """The outermost statement around a node: one of the cell's own."""
        return [one for one in (node, *self.code.parents(node)) if isinstance(one, ast.stmt)][-1]

    def block(self, statement: ast.stmt) -> list[ast.stmt]:
        """The statements among which one stands."""
        parent = next(self.code.parents(statement))
        for name in ("body", "orelse", "finalbody"):
            block = getattr(parent, name, None)
            if isinstance(block, list) and statement in block:
                return block
        return [statement]

    def calls(self, node: ast.AST) -> Iterator[ast.Call]:
        """The calls in a node, in reading order."""
        return (one for one in ast.walk(node) if isinstance(one, ast.Call))

    def in_loop(self, node: ast.AST) -> bool:
        """Whether a node runs many times: in a loop, or in a function that is called from one."""
        return bool(self.reader.enclosing_loops(node)) or any(
            isinstance(one, ast.While) for one in self.code.parents(node)
        )

    def model_statement(self) -> ast.Assign | None:
        """The statement that gives the trained model its name (`net = Net(…)`, `self.model = build(…)`); else None."""
        made = self.reader.model_call()
        if made is not None and (found := self._binding(made)) is not None:
            return found
        fit, optimizer = self.reader.training.call, self.reader.optimizer_call
        match self.names.argument(optimizer, "parameters") if optimizer is not None else None:
            case ast.Call(func=ast.Attribute(value=model, attr="parameters")) if self.models.constructor(model):
                return self._binding(self.names.origin(model))
        if self.reader.training.kind == "fit" and fit is not None and isinstance(fit.func, ast.Attribute):
            return self._binding(self.names.origin(fit.func.value))
        return self._handed_on() if self.reader.training.kind == "none" else None

    def _handed_on(self) -> ast.Assign | None:
        """The statement that names the model which the cells hand last to what no cell holds: a loop in a module
        (`train(net, loader)`), also in a class of one (`Trainer(epochs=3).fit(net, data)`)."""
        for call in sorted(self.code.of_type(ast.Call), key=self.code.position, reverse=True):
            of = self.names.origin(call.func.value) if isinstance(call.func, ast.Attribute) else None
            path = self.names.qualified(call.func) or (
                self.names.qualified(of.func) if isinstance(of, ast.Call) else ""
            )
            if path and not path.startswith("paddle."):
                for given in (*call.args, *(word.value for word in call.keywords)):
                    statement = self._bound_before(given, call)
                    if statement is not None and self.models.is_layer(statement.value):
                        return statement
        return None

    def _bound_before(self, given: ast.expr, use: ast.Call) -> ast.Assign | None:
        """The last statement before a use that gives a name its value."""
        named = given.id if isinstance(given, ast.Name) else ""
        found = (
            one for one in self.code.of_type(ast.Assign)
            if self.code.position(one) < self.code.position(use) and self.code.scope(one) is self.code.scope(use)
            and len(one.targets) == 1 and isinstance(one.targets[0], ast.Name) and one.targets[0].id == named
        )  # fmt: skip
        return max(found, key=self.code.position, default=None)

    def _binding(self, made: ast.expr) -> ast.Assign | None:
        """The statement that gives what an expression makes its one name."""
        match self.statement(made):
            case ast.Assign(targets=[ast.Name() | ast.Attribute()], value=value) as statement if value is made:
                return statement
        return None

    @cached_property
    def fits(self) -> tuple[ast.Call, ...]:
        """All `fit` calls of `paddle.Model`s."""
        return self.of_high_level("fit")

    @cached_property
    def prepares(self) -> tuple[ast.Call, ...]:
        """All `prepare` calls of `paddle.Model`s."""
        return self.of_high_level("prepare")

    def of_high_level(self, name: str) -> tuple[ast.Call, ...]:
        """All calls of a method of `paddle.Model`s."""
        return tuple(
            call
            for call in self.code.of_type(ast.Call)
            if isinstance(call.func, ast.Attribute)
            and call.func.attr == name
            and self.models.is_high_level(call.func.value)
        )

    def only(self, *calls: tuple[ast.Call, ...]) -> None:
        """Refuse where there are several of a kind: a change of the first would not be one of the others."""
        for kind in calls:
            if len(kind) > 1:
                place = self.code.place(kind[1])
                raise RefusedError(
                    Message(
                        code="change_several_trainings",
                        text="The notebook trains several times (again in cell {cell}, line {line}), and the change "
                        "would be of the first training alone.",
                        hint="Make this change in the notebook itself, or submit each training as a notebook of its "
                        "own.",
                        params={"cell": place.cell + 1, "line": place.line},
                    )
                )

    # --- editing

    def editable(self, *nodes: ast.expr | ast.stmt) -> None:
        """Refuse to edit what does not stand in plain Python."""
        for node in nodes:
            if node not in self._written or self.cell_of(node).is_masked(node):
                raise RefusedError(
                    Message(
                        code="change_in_magic",
                        text="What would have to change stands on a line with a magic command (cell {cell}).",
                        hint="Write that line without the magic.",
                        params={"cell": self.code.cell(node) + 1},
                    )
                )

    def lines_alone(self, *statements: ast.stmt) -> None:
        """Refuse to edit around statements that share a line with others: they are put apart first (`shared_lines`)."""
        self.editable(*statements)
        for statement in statements:
            if not self.cell_of(statement).is_alone(statement):
                raise SharedLineError(self.code.position(statement))

    def add_keyword(self, call: ast.Call, name: str, text: str) -> None:
        """Give a call one more argument by its name, in the layout that the others have."""
        self.editable(call)
        if (spread := self.names.spread(call)) is not None:
            raise RefusedError(
                Message(
                    code="change_in_options",
                    text="The call that would be given {name}= takes **{options}, which may say it already (cell "
                    "{cell}, line {line}).",
                    hint="Give {name}= in the call itself.",
                    params={
                        "name": name,
                        "options": self.names.source(spread),
                        "cell": self.code.cell(call) + 1,
                        "line": call.lineno,
                    },
                )
            )
        arguments.add(self.cell_of(call), call, name, text)

    def put_above(self, statement: ast.stmt, lines: list[str]) -> None:
        """Write lines above one of a cell's own statements, with the usual distance from a function or a class."""
        is_body = isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        self.cell_of(statement).insert_before(statement, [*lines, "", ""] if is_body else lines)

    def fresh(self, name: str) -> str:
        """A name that the notebook does not use: the one wanted, else with a number."""
        number, found = 1, name
        while found in self._used:
            number += 1
            found = f"{name}_{number}"
        self._used.add(found)
        return found

    def paddle(self, before: ast.stmt) -> str:
        """What `paddle` is called; imported above a statement where the notebook has it under no name."""
        for name, path in self.code.imports.items():
            if path == "paddle":
                return name
        self.lines_alone(before)
        self.cell_of(before).insert_before(before, ["import paddle"])
        return "paddle"

    def result(self) -> NotebookSource:
        """The notebook with the edits."""
        cells = [dict(cell) for cell in self.source.content["cells"]]
        for index, text in self.texts.items():
            if text.edits:
                cells[index]["source"] = text.result()
        if self.injected:
            cells = _inject(cells, self.injected)
        content = {**self.source.content, "cells": cells}
        content = with_files(content, self.files) if self.files else content
        return msgspec.structs.replace(self.source, content=content)

    def moved(self, among: Among | None) -> Among | None:
        """Where the trainings stand in `result()`."""
        if among is None:
            return None
        own = self._moved(among.where)
        return msgspec.structs.replace(among, where=own, others=tuple(map(self._moved, among.others)))

    def _moved(self, place: Place) -> Place:
        text = self.texts.get(place.cell)
        line = place.line if text is None else text.moved(place.line)
        fresh = bool(self.injected) and not any(INJECTED in tags(cell) for cell in self.source.content["cells"])
        parameters = self.parameters_cell() if fresh else None
        return Place(place.cell + int(parameters is not None and place.cell > parameters), line)

    def parameters_cell(self) -> int | None:
        """Index of the cell tagged `parameters`; None where there is none."""
        cells = self.source.content["cells"]
        return next((index for index, cell in enumerate(cells) if PARAMETERS in tags(cell)), None)

    @cached_property
    def _written(self) -> set[ast.AST]:
        return set(self.code.nodes)

    @cached_property
    def _used(self) -> set[str]:
        used = set(dir(builtins)) | set(self.code.imports)
        for node in (one for tree in self._trees for one in ast.walk(tree)):
            match node:
                case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
                    used.add(name)
                case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.AsyncFunctionDef(name=name):
                    used.add(name)
        return used


def tags(cell: dict[str, Any]) -> list[str]:
    """A cell's tags."""
    found = (cell.get("metadata") or {}).get("tags")
    return [tag for tag in found if isinstance(tag, str)] if isinstance(found, list) else []


def _inject(cells: list[dict[str, Any]], values: dict[str, Any]) -> list[dict[str, Any]]:
    """The cells with values bound in a cell tagged `injected-parameters`, behind the one tagged `parameters`.

    One that is there already is gone on with: what it binds stays unless it is bound anew.
    """
    lines = [f"{name} = {value!r}" for name, value in values.items()]
    existing = next((index for index, cell in enumerate(cells) if INJECTED in tags(cell)), None)
    if existing is not None:
        kept = [line for line in cells[existing]["source"].split("\n") if line.split("=")[0].strip() not in values]
        cells[existing] = {**cells[existing], "source": "\n".join([*kept, *lines])}
        return cells
    place = next(index for index, cell in enumerate(cells) if PARAMETERS in tags(cell)) + 1
    cell: dict[str, Any] = {
        "cell_type": "code",
        "id": "injected-parameters",
        "metadata": {"tags": [INJECTED]},
        "source": "\n".join(["# Parameters", *lines]),
        "outputs": [],
        "execution_count": None,
    }
    return [*cells[:place], cell, *cells[place:]]
