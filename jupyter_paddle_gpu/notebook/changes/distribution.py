"""Several processes, one a device: what a loop that is written by hand lacks for that."""

from __future__ import annotations

import ast

import msgspec

from ...domain.messages import Message
from ...domain.notebooks import Place
from ...domain.what_ifs import EstimateRequest
from ..code import Function
from ..names import MAX_STEPS
from ..training.precision import read_distribution, read_processes
from . import divided_fit, sampling
from .program import Program, RefusedError
from .training_step import is_optimizer


def change(program: Program, request: EstimateRequest) -> None:
    """Give a loop `init_parallel_env`, `DataParallel` and `DistributedBatchSampler`; `fit` has the first two."""
    if not request.devices or request.devices == 1:
        return
    own = read_distribution(program.code, program.names, program.reader, program.magics)
    if own is not None and own.value == "launch":
        started = read_processes(program.code, program.names, program.magics)
        if started is not None and started.value != request.devices:
            raise RefusedError(msgspec.structs.replace(_STARTED, params={"count": str(started.value)}))
        return
    if own is not None and own.value != "none":
        return
    if program.is_part:
        raise RefusedError(_OTHERS)
    if program.reader.training.kind == "fit":
        divided_fit.change(program)
        return
    updates = _updated(program)
    if len(updates) > 1:
        raise RefusedError(_several(program.code.place(updates[1])))
    statement, optimizer = program.model_statement(), program.reader.optimizer_call
    if statement is None:
        raise RefusedError(_NO_MODEL)
    loader = _loader(program)
    if optimizer is not None and _is_before(program, optimizer, statement):
        raise RefusedError(_NO_MODEL)
    if optimizer is not None and (other := _beside(program, optimizer, statement)):
        raise RefusedError(_also(program.text(statement.targets[0]), other))
    methods = _methods(program, statement)
    if methods:
        raise RefusedError(_used(program.text(statement.targets[0]), methods))
    program.lines_alone(statement)
    model = program.text(statement.targets[0])
    paddle = program.paddle(program.top(statement))
    cell = program.cell_of(statement)
    cell.insert_before(statement, [f"{paddle}.distributed.init_parallel_env()"])
    cell.insert_after(statement, [f"{model} = {paddle}.DataParallel({model})"])
    sampling.divide(program, loader, paddle)


def _loader(program: Program) -> ast.Call:
    """The loader of the loop that trains."""
    found = program.batches.training_loader()
    if found is None:
        raise RefusedError(sampling.NO_LOADER)
    return found


_KEPT = frozenset(
    {"parameters", "train", "eval", "state_dict", "set_state_dict", "clear_gradients", "named_parameters"}
)
_KEPT |= {"sublayers", "named_sublayers", "forward", "buffers", "set_dict"}
"""What `DataParallel` has as well as the model inside it."""


def _is_before(program: Program, optimizer: ast.Call, model: ast.Assign) -> bool:
    """Whether the optimizer is made before the model has its name."""
    if program.code.scope(optimizer) is program.code.scope(model):
        return program.code.position(optimizer) < program.code.position(model)
    return _reached(program, optimizer) < _reached(program, model)


def _reached(program: Program, node: ast.AST, depth: int = MAX_STEPS) -> tuple[int, int, int]:
    """Where the notebook comes to a node first: within a function, where that is called first."""
    function = next((one for one in program.code.parents(node) if isinstance(one, Function)), None)
    calls = program.code.calls_of(function) if function is not None and depth else []
    return min((_reached(program, call, depth - 1) for call in calls), default=program.code.position(node))


def _methods(program: Program, model: ast.Assign) -> str:
    """A method or an attribute of the model's own that the notebook uses by its name, or by that of an object which it
    is given to (`self.model`)."""
    for node in program.code.of_type(ast.Attribute):
        is_it = _called(node.value) == _called(model.targets[0]) or program.names.origin(node.value) is model.value
        if is_it and node.attr not in _KEPT:
            return node.attr
    return ""


def _updated(program: Program) -> list[ast.Call]:
    """The first update of each of the notebook's optimizers, where it is written by hand."""
    found: dict[str, ast.Call] = {}
    for call in program.code.of_type(ast.Call):
        match call.func:
            case ast.Attribute(attr="step" | "minimize", value=receiver) if is_optimizer(program, receiver):
                found.setdefault(program.names.source(receiver), call)
    return list(found.values())


def _beside(program: Program, optimizer: ast.Call, model: ast.Assign) -> str:
    """What else than the model the optimizer is given the parameters of."""
    given = program.names.argument(optimizer, "parameters")
    if given is None:
        return ""
    name = given.id if isinstance(given, ast.Name) else None
    expressions = [program.names.origin(given)]
    for node in program.code.nodes:
        match node:
            case (
                ast.AugAssign(target=ast.Name(id=found), value=more)
                | ast.Call(func=ast.Attribute(attr="extend", value=ast.Name(id=found)), args=[more])
            ) if found == name:
                expressions.append(more)
    for node in (one for expression in expressions for one in ast.walk(expression)):
        match node:
            case ast.Call(func=ast.Attribute(attr="parameters", value=owner)) if not _is_of(program, owner, model):
                return program.names.source(owner)
    return ""


def _is_of(program: Program, part: ast.expr, model: ast.Assign) -> bool:
    """Whether something is the model, or a part of it."""
    while True:
        if _called(part) == _called(model.targets[0]) or program.names.origin(part) is model.value:
            return True
        if not isinstance(part, (ast.Attribute, ast.Subscript)):
            return False
        part = part.value


def _called(expression: ast.expr) -> tuple[type[ast.expr], str]:
    """What an object's name is, or the attribute that holds it, whatever the object around it is called."""
    match expression:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return type(expression), name
    return type(expression), ""


def _also(model: str, other: str) -> Message:
    return Message(
        code="devices_several_models",
        text="The optimizer trains {other} beside {model}, and only one model can be made one that several processes "
        "train.",
        hint="Put both into one Layer, or give each of them paddle.DataParallel in the notebook.",
        params={"model": model, "other": other},
    )


def _several(place: Place) -> Message:
    return Message(
        code="devices_several_optimizers",
        text="The notebook has several optimizers (the next one in cell {cell}, line {line}), and which models several "
        "processes would train cannot be read.",
        hint="Give each model paddle.DataParallel in the notebook, and the loader a DistributedBatchSampler.",
        params={"cell": place.cell + 1, "line": place.line},
    )


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
