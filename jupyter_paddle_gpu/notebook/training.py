"""Where a notebook trains: the fit call or the backward pass, its loops, optimiser, model and loss."""

from __future__ import annotations

import ast
import re
from typing import Literal, NamedTuple

from ..domain.notebooks import Fact, LayerFact
from .code import Code, Function
from .names import MAX_STEPS, Names

OPTIMIZERS = frozenset(
    {"SGD", "Momentum", "Adam", "AdamW", "Adamax", "Adagrad", "Adadelta", "RMSProp", "Lamb", "LBFGS", "NAdam", "RAdam"}
    | {"Rprop", "ASGD", "LarsMomentum", "Ftrl"}
)
_WRAPPERS = frozenset({"Model", "DataParallel", "distributed_model", "to_static", "decorate", "distributed_optimizer"})
"""Of Paddle: what takes a model (or an optimiser) as its first argument and gives it back in another form."""
_METHODS_GIVING_THEMSELVES = frozenset({"to", "cuda", "cpu", "float", "half", "astype", "scale", "mean", "sum"})
_REDUCTIONS = frozenset({"mean", "sum", "add", "add_n", "multiply"})
_CREATORS = frozenset({"zeros", "to_tensor", "full", "zeros_like"})
_IS_LOSS = re.compile(r"loss|cross_entropy|square_error", re.IGNORECASE)
_EPOCH_NAMES = ("epoch", "pass", "episode")


class Training(NamedTuple):
    """The place of the training.

    Attributes:
        kind: as in `NotebookFacts.loop`.
        call: the fit call, or the backward call of a hand-written step.
        loops: loops around it, innermost first, through the functions that hold it.
        prepare: the `paddle.Model.prepare` call, where there is one.
    """

    kind: Literal["fit", "custom", "none"]
    call: ast.Call | None
    loops: tuple[ast.For, ...]
    prepare: ast.Call | None


class TrainingReader:
    """Reads the training facts out of a `Code`."""

    def __init__(self, code: Code, names: Names) -> None:
        self.code = code
        self.names = names
        self.layers = self._layers()
        self.training = self._training()
        self.optimizer_call = self._optimizer_call()

    # --- facts

    def layer_facts(self) -> tuple[LayerFact, ...]:
        """The notebook's own Layer classes."""
        return tuple(LayerFact(name=name, place=self.code.place(self.code.classes[name])) for name in self.layers)

    def optimizer(self) -> Fact | None:
        """The optimiser's class."""
        call = self.optimizer_call
        return self._named(call, self.names.last(call.func)) if call is not None else None

    def model(self) -> Fact | None:
        """What is trained: the model given to `paddle.Model`, or whose parameters the optimiser got."""
        if (call := self.model_call()) is not None:
            return self._named(call, self.names.last(call.func))
        call = self.optimizer_call
        given = self.names.argument(call, "parameters") if call is not None else None
        owner = self.code.owner(given) if given is not None else None
        if given is not None and owner is not None and "self.parameters()" in self.names.source(given):
            return self._named(owner, owner.name)
        if given is not None:  # there is a model, but code makes it in a way that reading cannot follow
            return Fact(value=None, source=self.names.source(given), place=self.code.place(given), how="computed")
        return None

    def model_call(self) -> ast.Call | None:
        """The call that builds the trained model."""
        candidates: list[ast.expr | None] = []
        if self.training.kind == "fit" and self.training.call and isinstance(self.training.call.func, ast.Attribute):
            candidates.append(self.training.call.func.value)
        if self.optimizer_call is not None:
            candidates.append(self.names.argument(self.optimizer_call, "parameters"))
        candidates += [c.args[0] for c in self.code.of_type(ast.Call) if c.args and self._is_model(c)]
        for candidate in candidates:
            if candidate is not None and (made := self.constructor(candidate)) is not None:
                return made
        built = (c for c in self.code.of_type(ast.Call) if isinstance(c.func, ast.Name) and c.func.id in self.layers)
        outside = [c for c in built if (o := self.code.owner(c)) is None or o.name not in self.layers]
        return outside[-1] if outside and self.training.kind != "none" else None

    def loss(self) -> Fact | None:
        """The loss: given to `prepare`, or what the backward pass starts from."""
        if self.training.prepare is not None and self.training.kind == "fit":
            given = self.names.argument(self.training.prepare, "loss", 1)
        elif self.training.call is not None and isinstance(self.training.call.func, ast.Attribute):
            given = self.training.call.func.value
        else:
            return None
        return self._loss(given) if given is not None else None

    def epochs(self) -> Fact | None:
        """Passes over the data: `fit(epochs=…)`, or the outermost counting loop around a hand-written step."""
        if self.training.kind == "fit" and self.training.call is not None:
            given = self.names.argument(self.training.call, "epochs", 3)
            if given is not None:
                return self.names.fact(given)
            return Fact(value=1, source="", place=self.code.place(self.training.call), how="default")
        counting = [(loop, stop) for loop in self.training.loops if (stop := range_stop(loop)) is not None]
        named = [c for c in counting if any(n in self.names.source(c[0].target).lower() for n in _EPOCH_NAMES)]
        chosen = named[:1] or (counting[-1:] if len(self.training.loops) > 1 else [])
        return self.names.fact(chosen[0][1]) if chosen else None

    # --- following

    def constructor(self, expression: ast.expr) -> ast.Call | None:  # noqa: PLR0912 - one arm a form
        """The call that makes a model, seen through wrappers, `.parameters()` and functions that return one."""
        for _ in range(MAX_STEPS):
            expression = self.names.origin(expression)
            match expression:
                case ast.Call(func=ast.Attribute(value=value, attr="parameters" | "sublayers" | "train" | "network")):
                    expression = value
                case ast.Call() as call if self._wraps(call):
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
                case ast.Subscript(value=value):
                    expression = value
                case ast.ListComp(elt=element):
                    expression = element
                case _:
                    return None
        return None

    def enclosing_loops(self, node: ast.AST, seen: tuple[Function, ...] = ()) -> list[ast.For]:
        """`for` loops around a node, innermost first, going on at the call of the function that holds it."""
        found: list[ast.For] = []
        for above in self.code.parents(node):
            if isinstance(above, ast.For):
                found.append(above)
            elif isinstance(above, Function):
                calls = self.code.calls_of(above) if above not in seen else []
                further = [self.enclosing_loops(call, (*seen, above)) for call in calls]
                return found + max(further, key=len, default=[])
        return found

    # --- finding

    def _layers(self) -> list[str]:
        layers: list[str] = []
        for _ in range(len(self.code.classes)):  # a base may be defined in a later cell
            more = [
                name
                for name, node in self.code.classes.items()
                if name not in layers
                and any(
                    self.names.is_paddle(base, "Layer", "Sequential", "LayerList", "HybridBlock")
                    or self.names.qualified(base).startswith(("paddle.vision.models.", "paddle.nn."))
                    or (isinstance(base, ast.Name) and base.id in layers)
                    for base in node.bases
                )
            ]
            if not more:
                break
            layers += more
        return sorted(layers, key=lambda name: self.code.position(self.code.classes[name]))

    def _training(self) -> Training:
        fits, backwards, steps = [], [], False
        for call in self.code.of_type(ast.Call):
            if not isinstance(call.func, ast.Attribute):
                continue
            match call.func.attr:
                case "fit" if self._is_high_level(call.func.value):
                    fits.append(call)
                case "backward" | "train_batch":
                    backwards.append(call)
                case "step" | "minimize":
                    steps = True
        if not steps:
            backwards = [call for call in backwards if self.names.last(call.func) == "train_batch"]
        prepare = next((c for c in self.code.of_type(ast.Call) if self._is_prepare(c)), None)
        first = min([*fits, *backwards], key=self.code.position, default=None)
        if first is None:
            return Training("none", None, (), prepare)
        return Training("fit" if first in fits else "custom", first, tuple(self.enclosing_loops(first)), prepare)

    def _optimizer_call(self) -> ast.Call | None:
        calls = [c for c in self.code.of_type(ast.Call) if self._is_optimizer(c)]
        if self.training.prepare is not None and self.training.kind == "fit":
            given = self.names.argument(self.training.prepare, "optimizer", 0)
            made = self._made_optimizer(given) if given is not None else None
            if made is not None:
                return made
        for call in self.code.of_type(ast.Call):  # the one that steps first, where there are several (GAN)
            if isinstance(call.func, ast.Attribute) and call.func.attr in ("step", "minimize"):
                arguments = [call.args[0]] if call.args and call.func.attr == "step" else []  # scaler.step(optimizer)
                for expression in [*arguments, call.func.value]:
                    made = self._made_optimizer(expression)
                    if made in calls:
                        return made
        return calls[0] if calls else None

    def _made_optimizer(self, expression: ast.expr) -> ast.Call | None:
        for _ in range(MAX_STEPS):
            match self.names.origin(expression):
                case ast.Call() as call if self._is_optimizer(call):
                    return call
                case ast.Call(args=[first, *_]) as call if self._wraps(call):
                    expression = first
                case ast.Call(func=ast.Name(id=name)) if self.names.returned(name):
                    expression = self.names.returned(name)[0]
                case ast.Subscript(value=ast.Call() as call, slice=ast.Constant(value=1)) if self._wraps(call):
                    given = self.names.argument(call, "optimizers", 1)
                    if given is None:
                        return None
                    expression = given
                case _:
                    return None
        return None

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
                        return self._named(expression, self.names.last(func))
                    expression = first
                case ast.Call(func=func) if self.names.is_paddle(func, *_CREATORS):
                    return None  # a sum that starts at zero and grows in a loop
                case ast.Call(func=ast.Call() as maker):  # nn.CrossEntropyLoss()(x, y)
                    return self._named(maker, self.names.last(maker.func))
                case ast.Call(func=ast.Name() | ast.Attribute() as func) as call:
                    made = self.names.origin(func)
                    if isinstance(made, ast.Call):
                        inside = self._loss_inside(made)
                        return self._named(inside or made, self.names.last((inside or made).func))
                    return self._named(call, self.names.last(func))
                case ast.Name(id=name) if name in self.code.functions:
                    return self._named(expression, name)
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
        node = self.code.classes.get(self.names.last(model.func))
        for part in ast.walk(node) if node is not None and node.name in self.layers else ():
            if isinstance(part, ast.Call) and _IS_LOSS.search(self.names.last(part.func)):
                return part
        return None

    def _scaled(self, call: ast.expr) -> ast.expr | None:
        if isinstance(call, ast.Call) and self.names.last(call.func) == "scale" and call.args:  # GradScaler.scale(loss)
            return call.args[0]
        return None

    # --- telling

    def _is_model(self, call: ast.Call) -> bool:
        return self.names.qualified(call.func) in ("paddle.Model", "paddle.hapi.Model", "paddle.hapi.model.Model")

    def _is_prepare(self, call: ast.Call) -> bool:
        return (
            isinstance(call.func, ast.Attribute)
            and call.func.attr == "prepare"
            and self._is_high_level(call.func.value)
        )

    def _is_high_level(self, receiver: ast.expr) -> bool:
        made = self.names.origin(receiver)
        if isinstance(made, ast.Call) and isinstance(made.func, ast.Name):
            returned = self.names.returned(made.func.id)
            made = self.names.origin(returned[0]) if returned else made
        if isinstance(made, ast.Call):
            return self._is_model(made)
        # A parameter that nobody gives, or an unknown name: high-level when the notebook uses that interface at all.
        return isinstance(made, ast.Name) and any(self._is_model(call) for call in self.code.of_type(ast.Call))

    def _is_optimizer(self, call: ast.Call) -> bool:
        name = self.names.last(call.func)
        return self.names.is_paddle(call.func) and (name in OPTIMIZERS or name.removesuffix("Optimizer") in OPTIMIZERS)

    def _wraps(self, call: ast.Call) -> bool:
        name = self.names.last(call.func)
        return name in _WRAPPERS and (self.names.is_paddle(call.func) or name.startswith("distributed_"))

    def _makes_layer(self, call: ast.Call) -> bool:
        name = self.names.last(call.func)
        if isinstance(call.func, ast.Name) and name in self.code.classes:
            return True
        return name[:1].isupper() or bool(self.names.qualified(call.func))

    def _first(self, call: ast.Call, *keywords: str) -> ast.expr | None:
        return next((value for key in keywords if (value := self.names.argument(call, key)) is not None), None)

    def _named(self, node: ast.AST, value: str) -> Fact:
        source = value if isinstance(node, ast.ClassDef) else self.names.source(node)
        return Fact(value=value, source=source, place=self.code.place(node), how="literal")


def range_stop(loop: ast.For) -> ast.expr | None:
    """The number of turns' upper end of `for … in range(…)` (also through tqdm, enumerate and the like)."""
    iterated = iterated_by(loop)
    if isinstance(iterated, ast.Call) and isinstance(iterated.func, ast.Name) and iterated.func.id == "range":
        arguments = iterated.args
        return arguments[0] if len(arguments) == 1 else arguments[1] if arguments else None
    return None


def iterated_by(loop: ast.For) -> ast.expr:
    """What a loop goes over, without `enumerate`, `tqdm`, `zip` and calls of no argument (`loader()`)."""
    expression = loop.iter
    while isinstance(expression, ast.Call):
        name = _last(expression.func)
        if name in ("enumerate", "tqdm", "trange", "zip", "list", "iter", "notebook_tqdm", "track") and expression.args:
            expression = expression.args[0]
        elif not expression.args and not expression.keywords and name != "range":
            expression = expression.func
        else:
            break
    return expression


def _last(expression: ast.expr) -> str:
    """The last component of a dotted name."""
    match expression:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""
