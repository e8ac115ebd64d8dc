"""The step of a training that is written by hand: forward, backward, update, clearing, as statements of the cells."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from ...domain.messages import Message
from .program import Program, RefusedError

CLEARING = ("clear_grad", "clear_gradients")


@dataclass
class Step:
    """One training step.

    Attributes:
        backward: the statement `loss.backward()`; `loss` is what stands before the dot.
        updates: statements `optimizer.step()` and `optimizer.minimize(loss)`, also of a scaler.
        is_scaled: whether a scaler of the notebook's own updates.
        clears: statements `optimizer.clear_grad()`.
        forward: statements before the backward pass, from the first that calls a model on.
    """

    backward: ast.Expr
    loss: ast.expr
    updates: list[ast.Expr] = field(default_factory=list)
    clears: list[ast.Expr] = field(default_factory=list)
    forward: list[ast.stmt] = field(default_factory=list)
    is_scaled: bool = False

    @property
    def update(self) -> ast.Expr:
        """The one update."""
        return self.updates[0]


def step_of(program: Program) -> Step:
    """The step of the training.

    Raises:
        RefusedError: it is not written in the cells in a form that can be followed.
    """
    call = program.reader.training.call
    statement = program.statement(call) if call is not None else None
    if call is None or not isinstance(call.func, ast.Attribute) or call.func.attr != "backward":
        raise RefusedError(_HIDDEN)
    if not (isinstance(statement, ast.Expr) and statement.value is call):
        raise RefusedError(_HIDDEN)
    others = [
        one
        for one in program.code.of_type(ast.Call)
        if one is not call and isinstance(one.func, ast.Attribute) and one.func.attr == "backward"
    ]
    if others:
        raise RefusedError(_several(program, others[0]))
    if not program.in_loop(call):
        raise RefusedError(_NO_LOOP)
    step = Step(statement, call.func.value)
    block = program.block(statement)
    for other in _around(program, statement):
        match other.value:
            case ast.Call(func=ast.Attribute(attr="step" | "minimize", value=receiver), args=args) if any(
                is_optimizer(program, one) for one in (receiver, *args[:1])
            ):
                step.updates.append(other)
                step.is_scaled = not is_optimizer(program, receiver)
            case ast.Call(func=ast.Attribute(attr=name, value=receiver)) if name in CLEARING and not (
                _is_own_method(program, name)
            ):
                step.clears.append(other)
    if len(step.updates) != 1:
        raise RefusedError(_HIDDEN if not step.updates else _several(program, step.updates[1]))
    if not set(_loops(program, step.update)) <= set(_loops(program, statement)):
        raise RefusedError(_several(program, step.update))  # for each of some optimizers
    step.forward = _forward(program, step, block[: block.index(statement)])
    return step


def _loops(program: Program, node: ast.AST) -> list[ast.AST]:
    return [one for one in program.code.parents(node) if isinstance(one, (ast.For, ast.While))]


def _around(program: Program, statement: ast.stmt) -> list[ast.Expr]:
    """Expression statements of the function or the loop that the step stands in, in reading order."""
    scope = program.code.scope(statement)
    found = [one for one in program.code.of_type(ast.Expr) if program.code.scope(one) is scope]
    if scope is None:
        top = program.top(statement)
        found = [one for one in found if program.top(one) is top]
    return found


def is_optimizer(program: Program, receiver: ast.expr) -> bool:
    """Whether an expression is an optimizer: made as one, or called so (`opt`, `self.optimizer`)."""
    made = program.names.origin(receiver)
    if isinstance(made, ast.Call) and program.reader.is_optimizer(made):
        return True
    for loop in program.code.parents(receiver):  # for optimizer in (first, second)
        match loop:
            case ast.For(target=ast.Name(id=one), iter=several) if (
                isinstance(receiver, ast.Name) and receiver.id == one
            ):
                listed = program.names.origin(several)
                elements = listed.elts if isinstance(listed, (ast.Tuple, ast.List)) else []
                return bool(elements) and all(is_optimizer(program, element) for element in elements)
    name = receiver.attr if isinstance(receiver, ast.Attribute) else getattr(receiver, "id", "")
    return "optim" in name.lower() or name.lower() in ("opt", "adam", "sgd")


def _is_own_method(program: Program, name: str) -> bool:
    return name in program.code.functions


def _forward(program: Program, step: Step, before: list[ast.stmt]) -> list[ast.stmt]:
    """The statements that the loss comes from, those between them included."""
    needed = _read(step.loss)
    first: int | None = None
    for number in range(len(before) - 1, -1, -1):
        bound = _bound(before[number])
        if not bound & needed:
            continue
        if _calls_something(program, before[number]):
            first = number
        needed |= _read(before[number])
    forward = before[first:] if first is not None else []
    while forward and forward[0] in step.clears:
        forward = forward[1:]
    return forward


_PREPARING = frozenset(
    {"to_tensor", "cast", "reshape", "unsqueeze", "squeeze", "transpose", "astype", "array", "randint", "randn", "rand"}
    | {"next", "iter", "int", "float", "list", "tuple", "cuda", "cpu", "numpy", "item", "zeros", "ones", "arange"}
)
"""Calls that only bring data into its form."""


def _calls_something(program: Program, statement: ast.stmt) -> bool:
    return any(program.names.last(call.func) not in _PREPARING for call in program.calls(statement))


def _read(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}


def _bound(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}


_HIDDEN = Message(
    code="change_step_hidden",
    text="The training step is not written in the cells as loss.backward() and optimizer.step(), so it cannot be "
    "changed there.",
    hint="Change it in the module that holds it, or write the loop in a cell.",
)
_NO_LOOP = Message(
    code="change_no_loop",
    text="The training step does not stand in a loop, so there is nothing to change from one step to the next.",
    hint="Write the steps as a loop over the data.",
)


def _several(program: Program, other: ast.AST) -> Message:
    place = program.code.place(other)
    return Message(
        code="change_several_steps",
        text="Several backward passes or updates are written by hand (the next one in cell {cell}, line {line}), and "
        "which of them belong together cannot be read.",
        hint="Make this change in the notebook itself.",
        params={"cell": place.cell + 1, "line": place.line},
    )
