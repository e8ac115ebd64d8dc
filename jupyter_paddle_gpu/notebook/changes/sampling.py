"""A loader's data divided among the processes that train together."""

from __future__ import annotations

import ast

import msgspec

from ...domain.messages import Message
from . import arguments
from .program import Program, RefusedError

BEFORE_SAMPLER = 5
"""Positional parameters of `DataLoader` before those that say how its batches are made."""


def divide(program: Program, loader: ast.Call, paddle: str) -> None:
    """Each process gets its part of the data, in batches of the same size."""
    if (own := _own_sampler(program, loader)) is not None:
        program.editable(own)
        program.cell_of(own).replace(own.func, f"{paddle}.io.DistributedBatchSampler")
        return
    sampling = ("batch_size", "shuffle", "drop_last")
    dataset = program.names.argument(loader, "dataset", 0)
    if (spread := next((word.value for word in loader.keywords if word.arg is None), None)) is not None:
        place = program.code.place(loader)
        told = {"options": program.names.source(spread), "cell": place.cell + 1, "line": place.line}
        raise RefusedError(msgspec.structs.replace(_OF_OPTIONS, params=told))
    if dataset is None or any(word.arg == "batch_sampler" for word in loader.keywords):
        raise RefusedError(NO_LOADER)
    if len(loader.args) > BEFORE_SAMPLER:
        raise RefusedError(NO_LOADER)
    if _is_stream(program, dataset):
        raise RefusedError(OF_A_STREAM)
    if not isinstance(dataset, (ast.Name, ast.Attribute)):  # made once, for the loader and for its sampler
        statement = program.statement(loader)
        program.lines_alone(statement)
        name = program.fresh("dataset")
        program.cell_of(statement).insert_before(statement, [f"{name} = {program.text(dataset)}"])
    else:
        name = program.text(dataset)
    program.editable(loader)
    cell = program.cell_of(loader)
    if name != program.text(dataset):
        cell.replace(dataset, name)
    given = {word.arg: word for word in loader.keywords}
    chosen = [given[one] for one in sampling if one in given]
    words = [name, *(f"{one.arg}={program.text(one.value)}" for one in chosen)]
    if "batch_size" not in given:
        words.append("batch_size=1")
    sampler = f"{paddle}.io.DistributedBatchSampler({', '.join(words)})"
    if not chosen:
        program.add_keyword(loader, "batch_sampler", sampler)
        return
    arguments.replace(cell, chosen[0], f"batch_sampler={sampler}")
    for one in chosen[1:]:
        arguments.remove(cell, one)


def _own_sampler(program: Program, loader: ast.Call) -> ast.Call | None:
    """The `BatchSampler(dataset, batch_size=…)` that a loader is given, which one for several processes can stand for;
    a sampler within it chooses samples in its own way."""
    given = program.names.argument(loader, "batch_sampler")
    made = program.names.origin(given) if given is not None else None
    if not isinstance(made, ast.Call) or program.names.last(made.func) != "BatchSampler":
        return None
    words = {word.arg for word in made.keywords}
    return made if len(made.args) + ("dataset" in words) == 1 and None not in words and "sampler" not in words else None


def _is_stream(program: Program, dataset: ast.expr) -> bool:
    """Whether a data set has no places, only an order: an `IterableDataset` of the notebook's."""
    names = program.names
    made = names.origin(dataset)
    kinds = {one.name: one for one in program.code.of_type(ast.ClassDef)}
    kind = kinds.get(names.last(made.func)) if isinstance(made, ast.Call) else None
    return kind is not None and any(names.last(base) == "IterableDataset" for base in kind.bases)


_OF_OPTIONS = Message(
    code="devices_options",
    text="The loader takes **{options} (cell {cell}, line {line}), which says how its batches are made, so that no "
    "sampler for several processes can be put in that place.",
    hint="Give batch_size=, shuffle= and drop_last= in the call itself.",
)
OF_A_STREAM = Message(
    code="devices_stream",
    text="The data is an IterableDataset, which gives its samples one behind the other, so that no sampler can divide "
    "it among the processes.",
    hint="Have its __iter__ give each process its own part, by paddle.distributed.get_rank().",
)
NO_LOADER = Message(
    code="devices_no_loader",
    text="The data does not come from a paddle.io.DataLoader(dataset, batch_size=…) in the cells, so it cannot be "
    "divided among the processes.",
    hint="Load it by a DataLoader, with a DistributedBatchSampler where several processes train.",
)
