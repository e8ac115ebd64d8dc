"""Activations of a model's repeated blocks computed again in the backward pass instead of being kept."""

from __future__ import annotations

import ast

from ...domain.messages import Message
from ...domain.what_ifs import EstimateRequest
from .program import Program, RefusedError

_HELPER = '''\
def {name}(model):
    """Have the repeated blocks of a model computed again in the backward pass, instead of keeping what they hold."""
    from paddle.distributed.fleet.utils import recompute

    running = []  # a block inside another one is computed again with that

    def changed(block, forward):
        def once(*args, **kwargs):
            running.append(block)
            try:
                return forward(*args, **kwargs)
            finally:
                running.pop()

        def again(*args, **kwargs):
            learns = any(not getattr(arg, "stop_gradient", True) for arg in args)
            if running or not block.training or not learns:
                return forward(*args, **kwargs)
            return recompute(once, *args, **kwargs)

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
    if not request.recompute:
        return
    if any(program.names.last(call.func) == "recompute" for call in program.code.of_type(ast.Call)):
        raise RefusedError(_OWN)
    statement, model = _made(program)
    program.lines_alone(statement)
    top = program.top(statement)
    program.lines_alone(top)
    name = program.fresh("recompute_blocks")
    program.cell_of(top).insert_before(top, ["", "", *_HELPER.format(name=name).split("\n"), ""])
    program.cell_of(statement).insert_after(statement, [f"{name}({model})"])


def _made(program: Program) -> tuple[ast.stmt, str]:
    """The statement that binds the model that is trained, and what it is called there."""
    made = program.reader.model_call()
    if made is not None:
        for node in (made, *program.code.parents(made)):
            if isinstance(node, ast.Call) and program.models.is_model(node):
                statement = program.statement(node)
                if isinstance(statement, ast.Assign) and statement.value is node:
                    return statement, program.text(statement.targets[0]) + ".network"
            if isinstance(node, ast.Assign) and node.value is made and _is_name(node):
                return node, program.text(node.targets[0])
            if isinstance(node, ast.stmt):
                break
    raise RefusedError(_NOWHERE)


def _is_name(statement: ast.Assign) -> bool:
    return len(statement.targets) == 1 and isinstance(statement.targets[0], (ast.Name, ast.Attribute))


_OWN = Message(
    code="recompute_own",
    text="The notebook recomputes activations itself.",
    hint="Choose the layers in the notebook, where it calls recompute.",
)
_NOWHERE = Message(
    code="recompute_nowhere",
    text="No model = Net(…) stands in a line of its own in the cells, so its blocks cannot be changed there.",
    hint="Give the model a name in a cell before it is trained.",
)
