"""The loss, followed from what the backward pass starts from."""

from __future__ import annotations

import ast
import re

from ...domain.notebooks import Fact
from ..names import MAX_STEPS, Names
from .loop import Training

_METHODS_GIVING_THEMSELVES = frozenset({"astype", "cast", "scale", "mean", "sum"})
_REDUCTIONS = frozenset({"mean", "sum", "add", "add_n", "multiply"})
_CREATORS = frozenset({"zeros", "to_tensor", "full", "zeros_like"})
_IS_LOSS = re.compile(r"loss|cross_entropy|square_error", re.IGNORECASE)


class LossReader:
    """Finds the loss of a training; `layers` are the notebook's own Layer classes."""

    def __init__(self, names: Names, layers: list[str]) -> None:
        self.names = names
        self.layers = layers

    def loss(self, training: Training) -> Fact | None:
        """The loss: given to `prepare`, or what the backward pass starts from."""
        if training.prepare is not None and training.kind == "fit":
            given = self.names.argument(training.prepare, "loss", 1)
        elif training.call is not None and isinstance(training.call.func, ast.Attribute):
            given = training.call.func.value
        else:
            return None
        return self._loss(given) if given is not None else None

    def _loss(self, expression: ast.expr) -> Fact | None:  # noqa: PLR0911, PLR0912 - one arm a form
        for _ in range(MAX_STEPS):
            expression = self.names.origin(expression)
            match expression:
                case ast.Call(func=ast.Attribute(value=value, attr=attr)) if (
                    attr in _METHODS_GIVING_THEMSELVES and not self.names.qualified(value)
                ):
                    expression = self._scaled(expression) or value
                case ast.Call(func=func, args=[first, *_]) if self.names.is_paddle(func, *_REDUCTIONS):
                    inner = self.names.origin(first)
                    if not isinstance(inner, (ast.Call, ast.BinOp)):
                        return self.names.named(expression, self.names.last(func))
                    expression = first
                case ast.Call(func=func) if self.names.is_paddle(func, *_CREATORS):
                    return None  # a sum that starts at zero and grows in a loop
                case ast.Call(func=ast.Call() as maker):  # nn.CrossEntropyLoss()(x, y)
                    return self.names.named(maker, self.names.last(maker.func))
                case ast.Call(func=ast.Name() | ast.Attribute() as func) as call:
                    made = self.names.origin(func)
                    if isinstance(made, ast.Call):
                        inside = self._loss_inside(made)
                        return self.names.named(inside or made, self.names.last((inside or made).func))
                    return self.names.named(call, self.names.last(func))
                case ast.Name(id=name) if name in self.names.code.functions:
                    return self.names.named(expression, name)
                case ast.BinOp(left=left, right=right):
                    expression = right if isinstance(left, ast.Constant) else left
                case ast.UnaryOp(operand=operand):
                    expression = operand
                case ast.Subscript(value=value):
                    expression = value
                case _:
                    return None
        return None

    def _loss_inside(self, model: ast.Call) -> ast.Call | None:
        """The loss that a model computes in its own forward pass and gives back beside its output."""
        node = self.names.code.classes.get(self.names.last(model.func))
        for part in ast.walk(node) if node is not None and node.name in self.layers else ():
            if isinstance(part, ast.Call) and _IS_LOSS.search(self.names.last(part.func)):
                return part
        return None

    def _scaled(self, call: ast.expr) -> ast.expr | None:
        if isinstance(call, ast.Call) and self.names.last(call.func) == "scale" and call.args:  # GradScaler.scale(loss)
            return call.args[0]
        return None
