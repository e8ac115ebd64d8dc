"""Mixed precision: `prepare(amp_configs=…)` for `paddle.Model`; `auto_cast`, `GradScaler` and `decorate` by hand."""

from __future__ import annotations

import ast

from ...domain.messages import Message
from ...domain.notebooks import Place
from ...domain.what_ifs import EstimateRequest
from ..training.precision import read_amp
from .program import Program, RefusedError
from .training_step import Step, step_of


def change(program: Program, request: EstimateRequest) -> None:
    """Have the step computed in mixed precision, or no longer."""
    level, dtype = request.amp, request.amp_dtype or "float16"
    own, _ = read_amp(program.code, program.names, program.reader)
    if own is not None and own.value == level:
        return
    if own is not None and own.value != "off":
        raise RefusedError(_own(str(own.value)))
    if level == "off":
        return
    if program.reader.training.kind == "fit":
        _of_fit(program, str(level))
    else:
        _by_hand(program, str(level), dtype)


def _of_fit(program: Program, level: str) -> None:
    program.only(program.prepares)
    prepare = program.reader.training.prepare
    if prepare is None:
        raise RefusedError(_UNPREPARED)
    given = program.names.argument(prepare, "amp_configs", 3)
    if given is not None:
        program.editable(given)
        program.cell_of(given).replace(given, f'"{level}"')
    else:
        program.add_keyword(prepare, "amp_configs", f'"{level}"')


def _by_hand(program: Program, level: str, dtype: str) -> None:
    step = step_of(program)
    if step.is_scaled:
        raise RefusedError(_own("off"))
    if not step.forward and isinstance(step.loss, ast.Name):
        raise RefusedError(_FORWARD)
    program.lines_alone(*step.forward, step.backward, step.update)
    cell = program.cell_of(step.backward)
    paddle = program.paddle(program.top(step.backward))
    header = f'with {paddle}.amp.auto_cast(level="{level}", dtype="{dtype}"):'
    loss = program.text(step.loss)
    inside: list[str] = []
    if not isinstance(step.loss, ast.Name):
        name = program.fresh("loss")
        inside, loss = [f"    {name} = {loss}"], name
    if step.forward:
        cell.wrap(step.forward, header)
        cell.insert_after(step.forward[-1], inside)
    else:
        cell.insert_before(step.backward, [header, *inside])
    if dtype == "float16":
        _scale(program, step, loss, paddle)
    elif inside:
        cell.replace(step.loss, loss, with_parentheses=True)
    if level == "O2":
        _decorate(program, step, dtype, paddle)


def _scale(program: Program, step: Step, loss: str, paddle: str) -> None:
    """float16 gradients are kept from vanishing by a factor; the update takes it out again."""
    call = step.update.value
    assert isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
    if any(one.attr == "grad" and _is_in_the_way(program, one, step) for one in program.code.of_type(ast.Attribute)):
        raise RefusedError(_READS_GRADIENTS)
    if (clipping := _clips(program)) is not None:
        raise RefusedError(_clipped(program.code.place(clipping)))
    scaler = program.fresh("scaler")
    optimizer = program.text(call.func.value)
    top = program.top(step.backward)
    program.lines_alone(top)
    program.put_above(top, [f"{scaler} = {paddle}.amp.GradScaler()"])
    cell = program.cell_of(step.backward)
    backward = step.backward.value
    assert isinstance(backward, ast.Call)
    cell.replace(step.loss, f"{scaler}.scale({loss})", with_parentheses=True)
    update = program.cell_of(step.update)
    update.replace(step.update, f"{scaler}.step({optimizer})")
    update.insert_after(step.update, [f"{scaler}.update()"])


def _is_in_the_way(program: Program, node: ast.AST, step: Step) -> bool:
    """Whether something may run between backward pass and update: what a cell looks at before or after the training
    does not."""
    top = program.top(node)
    return top is program.top(step.backward) or isinstance(top, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))


def _decorate(program: Program, step: Step, dtype: str, paddle: str) -> None:
    """O2: the parameters themselves are in the low type, and the optimizer keeps float32 copies."""
    made = program.reader.optimizer_call
    statement = program.statement(made) if made is not None else None
    if made is None or not (
        isinstance(statement, ast.Assign) and statement.value is made and len(statement.targets) == 1
    ):
        raise RefusedError(_NO_OPTIMIZER)
    given = program.names.argument(made, "parameters")
    if not (
        isinstance(given, ast.Call)
        and isinstance(given.func, ast.Attribute)
        and given.func.attr == "parameters"
        and program.models.constructor(given.func.value) is not None
    ):
        raise RefusedError(_NO_OPTIMIZER)
    program.lines_alone(statement)
    model, optimizer = program.text(given.func.value), program.text(statement.targets[0])
    cell = program.cell_of(statement)
    name = next((one for one, path in program.code.imports.items() if path == "paddle"), paddle)
    cell.insert_after(
        statement,
        [f'{model}, {optimizer} = {name}.amp.decorate({model}, {optimizer}, level="O2", dtype="{dtype}")'],
    )


def _clips(program: Program) -> ast.Call | None:
    """A call that looks at gradients between backward pass and update."""
    names = ("clip_grad_norm_", "clip_grad_value_")
    return next((call for call in program.code.of_type(ast.Call) if program.names.last(call.func) in names), None)


def _clipped(place: Place) -> Message:
    return Message(
        code="amp_clips",
        text="The loop clips gradients itself (cell {cell}, line {line}), which float16 has multiplied by its scaler's "
        "factor.",
        hint="Give the clipping to the optimizer (grad_clip=), or ask for bfloat16, which needs no factor.",
        params={"cell": place.cell + 1, "line": place.line},
    )


def _own(level: str) -> Message:
    return Message(
        code="amp_own",
        text="The notebook has mixed precision of its own ({level}), which a job is run with as it is.",
        hint="Change the level in the notebook, where auto_cast or amp_configs says it.",
        params={"level": level},
    )


_UNPREPARED = Message(
    code="amp_unprepared",
    text="No model.prepare(…) stands in the cells, which is where paddle.Model is told mixed precision.",
    hint='Call model.prepare in a cell, with amp_configs="O1" in it.',
)
_FORWARD = Message(
    code="amp_forward",
    text="The statements that compute the loss do not stand before its backward pass, so they cannot be put under "
    "auto_cast.",
    hint="Put the forward pass under paddle.amp.auto_cast() in the notebook.",
)
_READS_GRADIENTS = Message(
    code="amp_gradients",
    text="The notebook reads gradients itself, which float16 has multiplied by its scaler's factor.",
    hint="Ask for bfloat16, which needs no factor, or write the scaler into the notebook.",
)
_NO_OPTIMIZER = Message(
    code="amp_no_optimizer",
    text="O2 turns the model's own parameters into the low type, and the cells do not say which model the optimizer "
    "has: no optimizer = …(parameters=model.parameters()) stands in a line of its own.",
    hint='Ask for O1, or write paddle.amp.decorate(model, optimizer, level="O2") into the notebook.',
)
