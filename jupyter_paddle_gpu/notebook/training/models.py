"""Models: the notebook's own Layer classes, and the call that builds what an expression stands for."""

from __future__ import annotations

import ast
import re

from ...domain.notebooks import LayerFact
from ..code import Code
from ..names import MAX_STEPS, Names

_WRAPPERS = frozenset({"Model", "DataParallel", "distributed_model", "to_static", "decorate", "distributed_optimizer"})
"""Of Paddle: what takes a model (or an optimiser) as its first argument and gives it back in another form."""
_IS_LOSS = re.compile(r"(Loss|Criterion|Entropy)\d*$")
_METHODS_GIVING_MODELS = frozenset({"parameters", "sublayers", "train", "network"})
_METHODS_GIVING_THEMSELVES = frozenset({"to", "cuda", "cpu", "float", "half", "astype"})


class ModelReader:
    """Answers what a model is in a `Code`.

    Attributes:
        layers: names of the notebook's own Layer classes, in the order of the notebook.
    """

    def __init__(self, code: Code, names: Names) -> None:
        self.code = code
        self.names = names
        self.layers = self._layers()

    def layer_facts(self) -> tuple[LayerFact, ...]:
        """The notebook's own Layer classes."""
        return tuple(LayerFact(name=name, place=self.code.place(self.code.classes[name])) for name in self.layers)

    def losses(self) -> frozenset[str]:
        """Which of them compute a loss, by their names or those of what they are derived from."""
        classes = ((name, self.code.classes[name].bases) for name in self.layers)
        return frozenset(
            name for name, bases in classes if any(map(_IS_LOSS.search, (name, *map(self.names.last, bases))))
        )

    def constructor(self, expression: ast.expr) -> ast.Call | None:  # noqa: PLR0912 - one arm a form
        """The call that makes a model, seen through wrappers, `.parameters()` and functions that return one."""
        for _ in range(MAX_STEPS):
            expression = self.names.origin(expression)
            match expression:
                case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr in _METHODS_GIVING_MODELS:
                    expression = value
                case ast.Call() as call if self.wraps(call):
                    given = call.args[0] if call.args else self._first(call, "network", "layers", "models", "model")
                    if given is None:
                        return None
                    expression = given
                case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr in _METHODS_GIVING_THEMSELVES:
                    expression = value
                case ast.Call(func=ast.Name(id=name)) if name in self.code.functions and name not in self.code.classes:
                    returned = self.names.returned(name)
                    if not returned:
                        return None
                    expression = returned[0]
                case ast.Call() as call:
                    return call if self._makes_layer(call) else None
                case ast.Attribute(value=value, attr="network"):
                    expression = value
                case ast.List(elts=[first, *_]) | ast.BinOp(left=first):
                    expression = first
                case ast.Dict(keys=[ast.Constant(value="params"), *_], values=[value, *_]):  # a group of parameters
                    expression = value
                case ast.Subscript(value=value):
                    expression = value
                case ast.ListComp(elt=element):
                    expression = element
                case _:
                    return None
        return None

    def is_layer(self, expression: ast.expr) -> bool:
        """Whether an expression makes a layer that computes no loss: of Paddle's classes or of the notebook's own, also
        of those that are derived from a module's and use Paddle's layers."""
        made = self.constructor(expression)
        if made is None:
            return False
        name, module = self.names.last(made.func), self.names.qualified(made.func).rpartition(".")[0]
        is_paddles = module == "paddle.nn" and not name.startswith("ClipGrad")
        is_own = name in self.layers or self._is_of_module(name)
        is_any = is_own or is_paddles or module.startswith("paddle.vision.models")
        return is_any and not _IS_LOSS.search(name) and name not in self.losses()

    def _is_of_module(self, name: str) -> bool:
        """Whether a class of the notebook is derived from one of a module that is not Paddle's, or from such a one
        here, and layers of Paddle stand in it."""
        chain = [name]
        for one in chain:
            node = self.code.classes.get(one)
            chain += (
                [base.id for base in node.bases if isinstance(base, ast.Name) and base.id not in chain] if node else []
            )
        nodes = [node for one in chain if (node := self.code.classes.get(one)) is not None]
        bases = [self.names.qualified(base) for node in nodes for base in node.bases]
        parts = (part for node in nodes for part in ast.walk(node) if isinstance(part, ast.Attribute))
        is_derived = any(path and not path.startswith("paddle.") for path in bases)
        return is_derived and any(self.names.qualified(part).startswith("paddle.nn.") for part in parts)

    def is_high_level(self, receiver: ast.expr) -> bool:
        """Whether an expression is a `paddle.Model`, whose `fit` and `prepare` are meant."""
        made = self.names.origin(receiver)
        if isinstance(made, ast.Call) and isinstance(made.func, ast.Name):
            returned = self.names.returned(made.func.id)
            made = self.names.origin(returned[0]) if returned else made
        if isinstance(made, ast.Call):
            return self.is_model(made)
        # A parameter that nobody gives, or an unknown name: high-level when the notebook uses that interface at all.
        return isinstance(made, ast.Name) and any(self.is_model(call) for call in self.code.of_type(ast.Call))

    def is_model(self, call: ast.Call) -> bool:
        """Whether a call makes a `paddle.Model`."""
        return self.names.qualified(call.func) in ("paddle.Model", "paddle.hapi.Model", "paddle.hapi.model.Model")

    def wraps(self, call: ast.Call) -> bool:
        """Whether a call gives its first argument back in another form."""
        name = self.names.last(call.func)
        return name in _WRAPPERS and (self.names.is_paddle(call.func) or name.startswith("distributed_"))

    def _makes_layer(self, call: ast.Call) -> bool:
        name = self.names.last(call.func)
        if isinstance(call.func, ast.Name) and name in self.code.classes:
            return True
        qualified = self.names.qualified(call.func)
        if qualified.startswith("paddle.") and qualified.count(".") == 1 and name.islower():
            return False  # `paddle.randn`: a tensor that is trained without a layer
        return name[:1].isupper() or bool(qualified)

    def _first(self, call: ast.Call, *keywords: str) -> ast.expr | None:
        return next((value for key in keywords if (value := self.names.argument(call, key)) is not None), None)

    def _layers(self) -> list[str]:
        layers: set[str] = set()
        for _ in range(MAX_STEPS):  # a base may be defined in a later cell
            more = {
                name
                for name, node in self.code.classes.items()
                if name not in layers and any(self._is_layer(base, layers) for base in node.bases)
            }
            if not more:
                break
            layers |= more
        found = (name for name in self.code.classes if name in layers)  # a module's stand where it is imported
        return sorted(found, key=lambda name: self.code.position(self.code.classes[name]))

    def _is_layer(self, base: ast.expr, layers: set[str]) -> bool:
        if isinstance(base, ast.Name) and base.id in layers:
            return True
        path = self.names.qualified(base)
        return path.startswith(("paddle.vision.models.", "paddle.nn.")) or self.names.is_paddle(base, "Layer")
