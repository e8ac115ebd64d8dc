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
from . import divided_fit, recompute, sampling
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
    paddle = _wrap(program, statement, optimizer)
    for one in dict.fromkeys((loader, *program.batches.loaders_in_step())):
        sampling.divide(program, one, paddle)


def _wrap(program: Program, statement: ast.Assign, optimizer: ast.Call | None) -> str:
    """Make the model one that several processes train; what `paddle` is called."""
    model = program.text(statement.targets[0])
    before = _wrapped_before(program, statement, optimizer)
    wrapped = before or statement
    if own_use := _own_use(program, statement, wrapped):
        raise RefusedError(_used(model, own_use))
    program.lines_alone(statement, wrapped)
    for copied in _meant_itself(program, statement, wrapped):
        program.editable(copied)
        program.cell_of(copied).replace(copied, f"{program.text(copied)}._layers")
    paddle = program.paddle(program.top(statement))
    program.cell_of(statement).insert_before(statement, [f"{paddle}.distributed.init_parallel_env()"])
    line = f"{model} = {paddle}.DataParallel({model})"
    if before is None:
        program.cell_of(statement).insert_after(statement, [line])
    else:
        program.cell_of(before).insert_before(before, [line])
    return paddle


def _loader(program: Program) -> ast.Call:
    """The loader of the loop that trains."""
    found = program.batches.training_loader()
    if found is None:
        raise RefusedError(sampling.NO_LOADER)
    return found


_KEPT = frozenset(
    {"parameters", "train", "eval", "state_dict", "set_state_dict", "clear_gradients", "named_parameters"}
)
_KEPT |= {"sublayers", "named_sublayers", "forward", "buffers", "set_dict", "apply", "to"}
"""What `DataParallel` has as well as the model inside it."""
_LOOKS = frozenset(("print", "str", "repr", "display", "summary", "flops"))
"""Calls that look at a model and keep nothing of it."""


def _is_before(program: Program, use: ast.expr, statement: ast.stmt) -> bool:
    """Whether something, as the optimizer's call, comes before a statement."""
    if program.code.scope(use) is program.code.scope(statement):
        return program.code.position(use) < program.code.position(statement)
    return _reached(program, use) < _reached(program, statement)


def _reached(program: Program, node: ast.AST, depth: int = MAX_STEPS) -> tuple[int, int, int]:
    """Where the notebook comes to a node first: within a function, where that is called first."""
    function = next((one for one in program.code.parents(node) if isinstance(one, Function)), None)
    calls = program.code.calls_of(function) if function is not None and depth else []
    return min((_reached(program, call, depth - 1) for call in calls), default=program.code.position(node))


_TELLS = frozenset(("shape", "in_features", "out_features", "weight", "bias", "dtype"))
"""What tells of a layer and is none: it may be kept under a name of its own."""
_PREPARES = _KEPT | {"load_dict", "astype", "add_sublayer"}
"""Methods that make a model ready: they are called on the model itself before several processes train it."""


def _wrapped_before(program: Program, model: ast.Assign, optimizer: ast.Call | None) -> ast.stmt | None:
    """The optimizer's statement, up to which a model may be made ready (`net.fc = nn.Linear(512, 10)`, parameters that
    are frozen: `DataParallel` takes those that train then). None where they do not stand in one block, or the model is
    handed on between them, so that it is wrapped where it is made."""
    if optimizer is None:
        return None
    statement = program.statement(optimizer)
    above, beside = (next(program.code.parents(one)) for one in (model, statement))
    if above is not beside and not (isinstance(above, ast.Module) and isinstance(beside, ast.Module)):
        return None
    begin, end = program.code.position(model), program.code.position(statement)
    for node in program.code.nodes:
        if isinstance(node, (ast.Name, ast.Attribute)) and begin < program.code.position(node) < end:
            is_target = any(node is one for one in ast.walk(model))
            if not is_target and _is_model(program, node, model) and not _makes_ready(program, node):
                return None
    return statement


def _makes_ready(program: Program, use: ast.expr) -> bool:
    """Whether a use of the model's name hands neither it nor a layer of it on: `net.fc = …`, `net.train()`,
    `net.fc.weight.shape[0]`, `for p in net.parameters()`."""
    last = ""
    for above in program.code.parents(use):
        match above:
            case ast.Attribute(value=value, attr=name) if value is use:
                use, last = above, name
            case ast.Subscript(value=value) if value is use:
                use = above
            case ast.Call(func=called) if called is use:
                return last in _PREPARES
            case ast.Call(func=called, args=given) if use in given:
                name = program.names.last(called)
                return name in _MEANS_ITSELF | _LOOKS or name.startswith(recompute.HELPER)
            case _:
                is_stored = isinstance(getattr(use, "ctx", None), ast.Store)
                return bool(last) and (is_stored or last in _TELLS)
    return False


def _own_use(program: Program, model: ast.Assign, wrapped: ast.stmt) -> str:
    """What of the model's own the notebook uses by its name, or by that of an object which it is given to
    (`self.model`), once it is wrapped: `.encode` of a method or an attribute, `[0]` of a layer in it that is called."""
    use: ast.expr
    for node in program.code.nodes:
        match node:
            case ast.Attribute(value=owner, attr=name) if name not in _KEPT and _is_model(program, owner, model):
                use, own = node, f".{name}"
            case ast.Call(func=ast.Subscript(value=owner, slice=index)) if _is_model(program, owner, model):
                use, own = node, f"[{ast.unparse(index)}]"
            case _:
                continue
        is_early = program.code.scope(use) is program.code.scope(wrapped) and _is_before(program, use, wrapped)
        if wrapped is model or not is_early:
            return own
    return ""


_MEANS_ITSELF = frozenset(("copy", "deepcopy", "isinstance", "len", "type"))
"""Calls that a `DataParallel` around the model would fail or answer otherwise: it has no copy and no length."""


def _meant_itself(program: Program, model: ast.Assign, wrapped: ast.stmt) -> list[ast.expr]:
    """Where the notebook means the model inside (`ema = copy.deepcopy(net)`, `net[0].weight`)."""
    found = [
        call.args[0]
        for call in program.code.of_type(ast.Call)
        if call.args and program.names.last(call.func) in _MEANS_ITSELF
    ]
    found += [one.value for one in program.code.of_type(ast.Subscript)]
    found += [one.iter for one in program.code.nodes if isinstance(one, (ast.For, ast.comprehension))]
    return [one for one in found if _is_model(program, one, model) and not _is_before(program, one, wrapped)]


def _is_model(program: Program, expression: ast.expr, model: ast.Assign) -> bool:
    return _called(expression) == _called(model.targets[0]) or program.names.origin(expression) is model.value


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
        if _is_model(program, part, model):
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


def _used(model: str, own: str) -> Message:
    return Message(
        code="devices_attribute",
        text="The notebook uses {use}, which paddle.DataParallel does not hand on.",
        hint="Write {model} = paddle.DataParallel({model}) into the notebook and use {inner}.",
        params={"model": model, "use": f"{model}{own}", "inner": f"{model}._layers{own}"},
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
