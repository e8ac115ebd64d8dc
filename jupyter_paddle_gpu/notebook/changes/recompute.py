"""Activations of a model's repeated blocks computed again in the backward pass instead of being kept, or kept again."""

from __future__ import annotations

import ast

from ...domain.messages import Message
from ...domain.what_ifs import EstimateRequest
from ..training.precision import read_distribution
from .program import Program, RefusedError

HELPER = "recompute_blocks"
"""What the function is called that a notebook gets, unless it has one of that name."""
_HELPER = '''\
def {name}(model):
    """Have the repeated blocks of a model computed again in the backward pass, instead of keeping what they hold."""
    from paddle.distributed.fleet.utils import recompute

    running = []  # a block inside another one is computed again with that

    def changed(block, forward):
        counting = [one for one in block.sublayers(include_self=True) if hasattr(one, "_momentum")]

        def again(*args, **kwargs):
            learns = any(not getattr(arg, "stop_gradient", True) for arg in args)
            if running or not block.training or not learns:
                return forward(*args, **kwargs)
            counted = []  # statistics of a batch norm see each batch once

            def once(*args, **kwargs):
                running.append(block)
                momenta = [one._momentum for one in counting]
                for one in counted:
                    one._momentum = 1.0
                try:
                    return forward(*args, **kwargs)
                finally:
                    running.pop()
                    for one, momentum in zip(counting, momenta):
                        one._momentum = momentum
                    counted[:] = counting

            return recompute(once, *args{hooks}, **kwargs)

        return again

    for parent in model.sublayers(include_self=True):
        children = list(parent.children())
        for child in children:
            if list(child.children()) and sum(type(other) is type(child) for other in children) > 1:
                child.forward = changed(child, child.forward)
'''
"""Which blocks these are is the tracer's own rule (`estimator.tracer.step.changes`), so that both find the same."""


def change(program: Program, request: EstimateRequest) -> None:
    """Put the helper above the cell that makes the model, and call it behind that."""
    if request.recompute is False:
        _keep(program)
        return
    if any(program.names.last(call.func) == "recompute" for call in program.code.of_type(ast.Call)):
        raise RefusedError(_OWN)
    program.only(program.prepares)
    statement, model = _made(program)
    program.lines_alone(statement)
    top = program.top(statement)
    program.lines_alone(top)
    name = program.fresh(HELPER)
    helper = _HELPER.format(name=name, hooks=", use_reentrant=False" if _are_several(program, request) else "")
    program.cell_of(top).insert_before(top, ["", "", *helper.split("\n"), ""])
    program.cell_of(statement).insert_after(statement, [f"{name}({model})"])


def _are_several(program: Program, request: EstimateRequest) -> bool:
    """Whether several processes may train: `DataParallel` refuses gradients that a `PyLayer`'s own pass gives."""
    own = read_distribution(program.code, program.names, program.reader, program.magics)
    return (request.devices or 1) > 1 or (own is not None and own.value != "none")


def _keep(program: Program) -> None:
    """Make a plain call of each call of Paddle's `recompute`; whatever else has to do with it is not understood."""
    calls = [call for call in program.code.of_type(ast.Call) if program.names.is_paddle(call.func, "recompute")]
    own: set[ast.AST] = {one for call in calls for one in ast.walk(call.func)}
    if any(_names_it(node) for node in program.code.nodes if node not in own):
        raise RefusedError(_OTHERWISE)
    for call in calls:
        inner = [one for argument in call.args for one in program.calls(argument)]
        if not call.args or isinstance(call.args[0], ast.Starred) or any(one in calls for one in inner):
            raise RefusedError(_OTHERWISE)
        program.editable(call)
        function, *rest = call.args
        named = [one for one in call.keywords if one.arg not in _OPTIONS]
        words = [program.text(one) for one in rest]
        words += [(f"{one.arg}=" if one.arg else "**") + program.text(one.value) for one in named]
        name = program.text(function)
        plain = isinstance(function, (ast.Name, ast.Attribute, ast.Call, ast.Subscript))
        program.cell_of(call).replace(call, f"{name if plain else f'({name})'}({', '.join(words)})")


def _names_it(node: ast.AST) -> bool:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.keyword(arg=str(name)):
            return "recompute" in name
        case ast.Constant(value=str(text)):
            return text in ("recompute", "use_recompute", "enable_recompute")  # a key of a configuration
    return False


_OPTIONS = ("preserve_rng_state", "use_reentrant", "offload_indices")
"""Keywords of Paddle's `recompute` that its function does not get."""


def _made(program: Program) -> tuple[ast.stmt, str]:
    """The statement that binds the model that is trained, and what it is called there."""
    made = program.reader.model_call()
    if made is not None:
        for node in (made, *program.code.parents(made)):
            if isinstance(node, ast.Call) and program.models.is_model(node):
                statement = program.statement(node)
                if isinstance(statement, ast.Assign) and statement.value is node:
                    return statement, program.text(statement.targets[0]) + ".network"
            if isinstance(node, ast.stmt):
                break
    if (found := program.model_statement()) is None:
        raise RefusedError(_NOWHERE)
    is_high_level = isinstance(found.value, ast.Call) and program.models.is_model(found.value)
    return found, program.text(found.targets[0]) + (".network" if is_high_level else "")


_OWN = Message(
    code="recompute_own",
    text="The notebook recomputes activations itself.",
    hint="Choose the layers in the notebook, where it calls recompute.",
)
_OTHERWISE = Message(
    code="recompute_otherwise",
    text="The notebook recomputes activations by something else than plain calls of Paddle's recompute.",
    hint="Take that out of a copy of the notebook, and submit the copy.",
)
_NOWHERE = Message(
    code="recompute_nowhere",
    text="No model = Net(…) stands in a line of its own in the cells, so its blocks cannot be changed there.",
    hint="Give the model a name in a cell before it is trained.",
)
