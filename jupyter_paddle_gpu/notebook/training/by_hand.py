"""Trainings without an optimizer: the notebook reads gradients and writes `w = w - rate * w.grad` out itself."""

from __future__ import annotations

import ast

from ..code import Code

_CLEARED = frozenset(("clear_gradient", "clear_grad", "clear_gradients"))
_WRITTEN = frozenset(("set_value", "set_tensor", "copy_", "subtract_", "sub_", "add_", "assign"))
_READ = frozenset(("grad", "gradient"))


def updates_by_hand(code: Code) -> bool:
    """Whether the notebook reads gradients, and clears them or takes something off what it trains.

    One that only shows what a gradient is (`print(x.grad)`) does neither.
    """
    reads = any(attribute.attr in _READ for attribute in code.of_type(ast.Attribute))
    return reads and (
        any(isinstance(call.func, ast.Attribute) and call.func.attr in _CLEARED | _WRITTEN
            for call in code.of_type(ast.Call))
        or any(isinstance(change.op, ast.Sub) for change in code.of_type(ast.AugAssign))
        or any(_takes_off(assignment) for assignment in code.of_type(ast.Assign))
    )  # fmt: skip


def _takes_off(assignment: ast.Assign) -> bool:
    """`w = w - …`, also within a call: `params[i] = paddle.to_tensor(params[i] - rate * gradient)`."""
    targets = {ast.unparse(target) for target in assignment.targets}
    return any(
        isinstance(part, ast.BinOp) and isinstance(part.op, ast.Sub) and ast.unparse(part.left) in targets
        for part in ast.walk(assignment.value)
    )
