"""What clearing gradients does: fill them with zeros, or give their memory back between two steps."""

from __future__ import annotations

import ast

from ...domain.messages import Message
from ...domain.what_ifs import EstimateRequest
from .program import Program, RefusedError
from .training_step import CLEARING, is_optimizer


def change(program: Program, request: EstimateRequest) -> None:
    """Tell each `clear_grad`; what `paddle.Model.fit` calls is told where the model is."""
    text = repr(bool(request.set_to_zero))
    if program.reader.training.kind == "fit":
        _of_fit(program, text)
        return
    found = [call for call in program.code.of_type(ast.Call) if _clears(program, call)]
    if not found:
        raise RefusedError(_NOWHERE)
    for call in found:
        given = program.names.argument(call, "set_to_zero", 0)
        if given is not None:
            program.editable(given)
            program.cell_of(given).replace(given, text)
        else:
            program.add_keyword(call, "set_to_zero", text)


def _clears(program: Program, call: ast.Call) -> bool:
    match call.func:
        case ast.Attribute(attr=name, value=receiver) if name in CLEARING and name not in program.code.functions:
            # `Layer` has the second alone; a tensor's own `clear_grad` is of no optimizer.
            return is_optimizer(program, receiver) or (
                name == "clear_gradients" and program.models.constructor(receiver) is not None
            )
    return False


def _of_fit(program: Program, text: str) -> None:
    """`fit` clears by `network.clear_gradients()`: the model's own method is told once, before the first step."""
    program.only(program.prepares)
    call = program.reader.training.call
    assert call is not None and isinstance(call.func, ast.Attribute)
    statement = program.statement(call)
    program.lines_alone(statement)
    model = program.text(call.func.value)
    functools = next((name for name, path in program.code.imports.items() if path == "functools"), None)
    program.cell_of(statement).insert_before(
        statement,
        [
            *(["import functools"] if functools is None else []),
            f"{model}.network.clear_gradients = {functools or 'functools'}.partial(",
            f"    {model}.network.clear_gradients, set_to_zero={text}",
            ")",
        ],
    )


_NOWHERE = Message(
    code="clear_grad_nowhere",
    text="No optimizer.clear_grad() stands in the cells, so it cannot be told to free the gradients.",
    hint="Change it in the module that calls it.",
)
