"""Where a notebook trains: the fit call or the backward pass, its loops, optimiser and model."""

from __future__ import annotations

import ast
from typing import Literal, NamedTuple

from ...domain.notebooks import Fact
from ..code import Code, Function
from ..names import LIBRARIES, MAX_STEPS, Names
from .by_hand import updates_by_hand
from .models import ModelReader

OPTIMIZERS = frozenset(
    {"SGD", "Momentum", "Adam", "AdamW", "Adamax", "Adagrad", "Adadelta", "RMSProp", "Lamb", "LBFGS", "NAdam", "RAdam"}
    | {"Rprop", "ASGD", "LarsMomentum", "Ftrl"}
)
_EPOCH_NAMES = ("epoch", "pass", "episode")


class Training(NamedTuple):
    """The place of the training.

    Attributes:
        kind: as in `NotebookFacts.loop`.
        call: the fit call, the backward call of a hand-written step, or the `train()` of a library's trainer; None of a
            static graph.
        loops: loops around it, innermost first, through the functions that hold it.
        prepare: the `paddle.Model.prepare` call, where there is one.
    """

    kind: Literal["fit", "custom", "static", "none"]
    call: ast.Call | None
    loops: tuple[ast.For, ...]
    prepare: ast.Call | None


class TrainingReader:
    """Reads the training facts out of a `Code`."""

    def __init__(self, code: Code, names: Names, models: ModelReader) -> None:
        self.code = code
        self.names = names
        self.models = models
        self._loops: dict[ast.AST, list[ast.For]] = {}
        self.training = self._training()
        self.trainer_call = self._trainer(self.training.call) if self.training.call is not None else None
        self.optimizer_call = self._optimizer_call()

    # --- facts

    def optimizer(self) -> Fact | None:
        """The optimiser's class."""
        if (call := self.optimizer_call) is not None:
            return self.names.named(call, self.names.last(call.func))
        if self.trainer_call is not None:
            return Fact(value="AdamW", source="", place=self.code.place(self.trainer_call), how="default")
        return None

    def optimizers(self) -> frozenset[str]:
        """The classes of all that the code makes."""
        return frozenset(self.names.last(call.func) for call in self.code.of_type(ast.Call) if self.is_optimizer(call))

    def model(self) -> Fact | None:
        """What is trained: the model given to `paddle.Model`, or whose parameters the optimiser got."""
        if (call := self.model_call()) is not None:
            return self.names.named(call, self.names.last(call.func))
        call = self.optimizer_call
        given = self.names.argument(call, "parameters") if call is not None else None
        owner = self.code.owner(given) if given is not None else None
        if given is not None and owner is not None and "self.parameters()" in self.names.source(given):
            return self.names.named(owner, owner.name)
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
        if self.trainer_call is not None:
            candidates.append(self.names.argument(self.trainer_call, "model", 0))
        candidates += [c.args[0] for c in self.code.of_type(ast.Call) if c.args and self.models.is_model(c)]
        for candidate in candidates:
            if candidate is not None and (made := self.models.constructor(candidate)) is not None:
                return made
        trained = frozenset(self.models.layers) - self.models.losses()
        built = (c for c in self.code.of_type(ast.Call) if self._name_of_class(c) in trained)
        outside = [c for c in built if (o := self.code.owner(c)) is None or o.name not in self.models.layers]
        return outside[-1] if outside and self.training.kind != "none" else None

    def _name_of_class(self, call: ast.Call) -> str:
        """The class of which a call makes an object, also one of a module; empty where it may be a method."""
        is_named = isinstance(call.func, ast.Name) or bool(self.names.qualified(call.func))
        return self.names.last(call.func) if is_named else ""

    def epochs(self) -> Fact | None:
        """Passes over the data: `fit(epochs=…)`, or the outermost counting loop around a hand-written step."""
        if self.training.kind == "fit" and self.training.call is not None:
            given = self.names.argument(self.training.call, "epochs", 3)
            if given is not None:
                return self.names.fact(given)
            return Fact(value=1, source="", place=self.code.place(self.training.call), how="default")
        if self.trainer_call is not None:
            return self.argument_of_trainer("num_train_epochs", 3)
        loop = self.loop_of_epochs()
        stop = range_stop(loop) if loop is not None else None
        return self.names.fact(stop) if stop is not None else None

    def loop_of_epochs(self) -> ast.For | None:
        """The counting loop around a hand-written step whose turns are epochs."""
        if self.training.kind == "fit" or self.trainer_call is not None:
            return None
        counting = [loop for loop in self.training.loops if range_stop(loop) is not None]
        named = [one for one in counting if any(n in self.names.source(one.target).lower() for n in _EPOCH_NAMES)]
        chosen = named[:1] or (counting[-1:] if len(self.training.loops) > 1 else [])
        return chosen[0] if chosen else None

    def argument_of_trainer(self, name: str, default: int) -> Fact | None:
        """What a trainer's `TrainingArguments` say; None where there is no trainer, or none that reading can follow."""
        made = self.arguments_of_trainer()
        if made is None:
            return None
        value = self.names.argument(made, name)
        if value is None:
            return Fact(value=default, source="", place=self.code.place(made), how="default")
        return self.names.fact(value)

    def arguments_of_trainer(self) -> ast.Call | None:
        """The call that makes a trainer's `TrainingArguments`."""
        given = self.names.argument(self.trainer_call, "args", 2) if self.trainer_call is not None else None
        made = self.names.origin(given) if given is not None else None
        return made if isinstance(made, ast.Call) else None

    def given_to_trainer(self, name: str) -> ast.expr | None:
        """The expression that a trainer's `TrainingArguments` are given under a name."""
        made = self.arguments_of_trainer()
        return self.names.argument(made, name) if made is not None else None

    # --- following

    def enclosing_loops(self, node: ast.AST) -> list[ast.For]:
        """`for` loops around a node, innermost first, going on at the call of the function that holds it."""
        found: list[ast.For] = []
        for above in self.code.parents(node):
            if isinstance(above, ast.For):
                found.append(above)
            elif isinstance(above, Function):
                return found + self._loops_around_calls(above)
        return found

    def _loops_around_calls(self, function: Function) -> list[ast.For]:
        """Of all calls of a function, the longest way out; each function is followed once."""
        if function not in self._loops:
            self._loops[function] = []  # what calls itself in a circle has no further loops
            ways = [self.enclosing_loops(call) for call in self.code.calls_of(function)]
            self._loops[function] = max(ways, key=len, default=[])
        return self._loops[function]

    # --- finding

    def _training(self) -> Training:
        fits, backwards, trainers, steps = [], [], [], False
        for call in self.code.of_type(ast.Call):
            if not isinstance(call.func, ast.Attribute):
                continue
            match call.func.attr:
                case "fit" if self.models.is_high_level(call.func.value):
                    fits.append(call)
                case "backward" | "train_batch":
                    backwards.append(call)
                case "step" | "minimize":
                    steps = True
                case "train" if self._trainer(call) is not None:
                    trainers.append(call)
        if not steps:
            by_hand = updates_by_hand(self.code)
            backwards = [
                call
                for call in [*backwards, *self._gradients_taken()]
                if self.names.last(call.func) == "train_batch" or (by_hand and self.enclosing_loops(call))
            ]
        prepare = next((c for c in self.code.of_type(ast.Call) if self._is_prepare(c)), None)
        first = min([*fits, *backwards, *trainers], key=self.code.position, default=None)
        if first is None:
            return Training("static" if self._builds_a_graph() else "none", None, (), prepare)
        return Training("fit" if first in fits else "custom", first, tuple(self.enclosing_loops(first)), prepare)

    def _trainer(self, train: ast.Call) -> ast.Call | None:
        """The call that made the `Trainer` (PaddleNLP's, or a class of the notebook's own on it) of a `train()`."""
        made = self.names.origin(train.func.value) if isinstance(train.func, ast.Attribute) else None
        if not isinstance(made, ast.Call):
            return None
        kind: ast.expr = made.func
        for _ in range(MAX_STEPS):
            path = self.names.qualified(kind)
            if path.split(".")[0] in LIBRARIES:
                return made if path.endswith("Trainer") else None
            if not isinstance(kind, ast.Name) or not (bases := getattr(self.code.classes.get(kind.id), "bases", [])):
                return None
            kind = bases[0]
        return None

    def _builds_a_graph(self) -> bool:
        """Whether an executor runs a program that an optimizer or `append_backward` was added to."""
        calls = {self.names.last(call.func) for call in self.code.of_type(ast.Call)}
        executors = (call for call in self.code.of_type(ast.Call) if self.names.is_paddle(call.func, "Executor"))
        return not calls.isdisjoint(("minimize", "append_backward")) and any(executors)

    def _gradients_taken(self) -> list[ast.Call]:
        return [call for call in self.code.of_type(ast.Call) if self.names.qualified(call.func) == "paddle.grad"]

    def _optimizer_call(self) -> ast.Call | None:
        calls = [c for c in self.code.of_type(ast.Call) if self.is_optimizer(c)]
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
                case ast.Call() as call if self.is_optimizer(call):
                    return call
                case ast.Call(args=[first, *_]) as call if self.models.wraps(call):
                    expression = first
                case ast.Call(func=ast.Name(id=name)) if self.names.returned(name):
                    expression = self.names.returned(name)[0]
                case ast.Subscript(value=ast.Call() as call, slice=ast.Constant(value=1)) if self.models.wraps(call):
                    given = self.names.argument(call, "optimizers", 1)
                    if given is None:
                        return None
                    expression = given
                case _:
                    return None
        return None

    # --- telling

    def _is_prepare(self, call: ast.Call) -> bool:
        return (
            isinstance(call.func, ast.Attribute)
            and call.func.attr == "prepare"
            and self.models.is_high_level(call.func.value)
        )

    def is_optimizer(self, call: ast.Call) -> bool:
        """Whether a call makes one of Paddle's optimizers."""
        name = self.names.last(call.func)
        return self.names.is_paddle(call.func) and (name in OPTIMIZERS or name.removesuffix("Optimizer") in OPTIMIZERS)


def range_stop(loop: ast.For) -> ast.expr | None:
    """The number of turns' upper end of `for … in range(…)` (also through tqdm, enumerate and the like)."""
    iterated = iterated_by(loop)
    if isinstance(iterated, ast.Call) and isinstance(iterated.func, ast.Name) and iterated.func.id == "range":
        arguments = iterated.args
        return arguments[0] if len(arguments) == 1 else arguments[1] if arguments else None
    return None


_AROUND = frozenset(("enumerate", "tqdm", "trange", "zip", "list", "iter", "notebook_tqdm", "track"))
"""Calls that give what they are given first, one behind the other."""


def within(expression: ast.expr) -> ast.expr:
    """What a bar or a counter goes over that has a name (`bar = tqdm(loader)`)."""
    while isinstance(expression, ast.Call) and _last(expression.func) in _AROUND and expression.args:
        expression = expression.args[0]
    return expression


def in_step(loop: ast.For) -> list[ast.expr]:
    """What a loop goes over beside the first (`zip(labeled, unlabeled)`)."""
    expression = loop.iter
    while isinstance(expression, ast.Call) and expression.args and (name := _last(expression.func)) in _AROUND:
        if name == "zip":
            return expression.args[1:]
        expression = expression.args[0]
    return []


def iterated_by(loop: ast.For) -> ast.expr:
    """What a loop goes over, without `enumerate`, `tqdm`, `zip` and calls of no argument (`loader()`)."""
    expression = loop.iter
    while isinstance(expression, ast.Call):
        name = _last(expression.func)
        if name in _AROUND and expression.args:
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
