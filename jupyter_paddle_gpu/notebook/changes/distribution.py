"""Several processes, one a device: what a loop that is written by hand lacks for that."""

from __future__ import annotations

import ast

import msgspec

from ...domain.messages import Message
from ...domain.what_ifs import EstimateRequest
from ..training.precision import read_distribution, read_processes
from .program import Program, RefusedError

TOLD = frozenset({"devices"})
"""What the tracer is told also where the cells are changed: how many processes there are stands in no cell."""

BEFORE_SAMPLER = 5
"""Positional parameters of `DataLoader` before those that say how its batches are made."""


def change(program: Program, request: EstimateRequest) -> None:
    """Give a loop `init_parallel_env`, `DataParallel` and `DistributedBatchSampler`; `paddle.Model.fit` has them."""
    if not request.devices or request.devices == 1:
        return
    if program.is_part:
        raise RefusedError(_OTHERS)
    own = read_distribution(program.code, program.names, program.reader, program.magics)
    if own is not None and own.value == "launch":
        started = read_processes(program.code, program.names, program.magics)
        if started is not None and started.value != request.devices:
            raise RefusedError(msgspec.structs.replace(_STARTED, params={"count": str(started.value)}))
        return
    if program.reader.training.kind == "fit" or (own is not None and own.value != "none"):
        return
    made = program.reader.model_call()
    statement = program.statement(made) if made is not None else None
    if made is None or not (
        isinstance(statement, ast.Assign) and statement.value is made and isinstance(statement.targets[0], ast.Name)
    ):
        raise RefusedError(_NO_MODEL)
    loader = _loader(program)
    optimizer = program.reader.optimizer_call
    if optimizer is not None and program.code.position(optimizer) < program.code.position(made):
        raise RefusedError(_NO_MODEL)
    methods = _methods(program, statement.targets[0].id)
    if methods:
        raise RefusedError(_used(statement.targets[0].id, methods))
    program.lines_alone(statement)
    model = program.text(statement.targets[0])
    paddle = program.paddle(program.top(statement))
    cell = program.cell_of(statement)
    cell.insert_before(statement, [f"{paddle}.distributed.init_parallel_env()"])
    cell.insert_after(statement, [f"{model} = {paddle}.DataParallel({model})"])
    _sample(program, loader, paddle)


def _loader(program: Program) -> ast.Call:
    """The loader of the loop that trains."""
    found = program.batches.training_loader()
    if found is None:
        raise RefusedError(_NO_LOADER)
    return found


def _sample(program: Program, loader: ast.Call, paddle: str) -> None:
    """Each process gets its part of the data, in batches of the same size."""
    sampling = ("batch_size", "shuffle", "drop_last")
    dataset = program.names.argument(loader, "dataset", 0)
    others = [word for word in loader.keywords if word.arg in ("batch_sampler", "return_list") or word.arg is None]
    if dataset is None or any(word.arg != "return_list" for word in others):
        raise RefusedError(_NO_LOADER)
    if len(loader.args) > BEFORE_SAMPLER:
        raise RefusedError(_NO_LOADER)
    if not isinstance(dataset, (ast.Name, ast.Attribute)):  # made once, for the loader and for its sampler
        statement = program.statement(loader)
        program.lines_alone(statement)
        name = program.fresh("dataset")
        program.cell_of(statement).insert_before(statement, [f"{name} = {program.text(dataset)}"])
    else:
        name = program.text(dataset)
    given = {one: program.names.argument(loader, one) for one in sampling}
    program.editable(loader)
    kept = [name if one is dataset else program.text(one) for one in loader.args]
    kept += [
        f"{word.arg}={name if word.value is dataset else program.text(word.value)}"
        for word in loader.keywords
        if word.arg not in sampling
    ]
    chosen = [f"{one}={program.text(value)}" for one, value in given.items() if value is not None]
    sampler = f"{paddle}.io.DistributedBatchSampler({', '.join([name, *chosen])})"
    if given["batch_size"] is None:
        sampler = sampler[:-1] + ", batch_size=1)"
    kept.append(f"batch_sampler={sampler}")
    program.cell_of(loader).replace(loader, f"{program.text(loader.func)}({', '.join(kept)})")


_KEPT = frozenset(
    {"parameters", "train", "eval", "state_dict", "set_state_dict", "clear_gradients", "named_parameters"}
)
_KEPT |= {"sublayers", "named_sublayers", "forward", "buffers", "set_dict"}
"""What `DataParallel` has as well as the model inside it."""


def _methods(program: Program, name: str) -> str:
    """A method or an attribute of the model's own that the notebook uses by its name."""
    for node in program.code.of_type(ast.Attribute):
        if isinstance(node.value, ast.Name) and node.value.id == name and node.attr not in _KEPT:
            return node.attr
    return ""


def _used(model: str, attribute: str) -> Message:
    return Message(
        code="devices_attribute",
        text="The notebook uses {model}.{attribute}, which paddle.DataParallel does not hand on.",
        hint="Write {model} = paddle.DataParallel({model}) into the notebook and use {model}._layers.{attribute}.",
        params={"model": model, "attribute": attribute},
    )


_STARTED = Message(
    code="devices_started",
    text="The notebook itself starts {count} processes, and a job cannot have it start another number of them.",
    hint="Change the number where the notebook starts them.",
)
_OTHERS = Message(
    code="devices_several_trainings",
    text="The notebook trains several times, and each of the processes would run all of its trainings.",
    hint="Submit the training that is to run on several devices as a notebook of its own.",
)
_NO_MODEL = Message(
    code="devices_no_model",
    text="No model = Net(…) stands in a line of its own before the optimizer, so it cannot be made one that several "
    "processes train.",
    hint="Give the model a name in a cell before the optimizer is made.",
)
_NO_LOADER = Message(
    code="devices_no_loader",
    text="The data does not come from a paddle.io.DataLoader(dataset, batch_size=…) in the cells, so it cannot be "
    "divided among the processes.",
    hint="Load it by a DataLoader, with a DistributedBatchSampler where several processes train.",
)
