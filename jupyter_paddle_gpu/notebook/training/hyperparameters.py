"""Numbers that people vary from run to run and that stand in a call: a learning rate, a dropout, epochs."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from ...domain.variables import Role
from ..code import UNKNOWN, Code
from ..names import LIBRARIES, MAX_STEPS, Names
from .loop import TrainingReader, iterated_by


class Argument(NamedTuple):
    """An argument that is a hyperparameter.

    Attributes:
        paths: of the calls; one with a dot at its end means all that lies in that module, one with a dot at its
            beginning what is called so in a library on Paddle.
        keyword: what the call names it.
        position: its place among arguments without a name; None: people give it by its name.
        name: what it is offered as.
        role: what it is to the training.
    """

    paths: tuple[str, ...]
    keyword: str
    position: int | None
    name: str
    role: Role = ""


_OPTIMIZERS, _SCHEDULES = "paddle.optimizer.", "paddle.optimizer.lr."
_BY_RATE = tuple(
    _SCHEDULES + name
    for name in (
        "CosineAnnealingDecay", "CosineAnnealingWarmRestarts", "ExponentialDecay", "InverseTimeDecay", "LambdaDecay",
        "LinearLR", "LinearWarmup", "MultiStepDecay", "MultiplicativeDecay", "NaturalExpDecay", "PolynomialDecay",
        "ReduceOnPlateau", "StepDecay",
    )
)  # fmt: skip
_LAYERS = tuple(f"paddle.nn.{name}" for name in ("TransformerEncoderLayer", "TransformerDecoderLayer"))
_RECURRENT = tuple(f"paddle.nn.{name}" for name in ("LSTM", "GRU", "SimpleRNN"))
_DROPOUTS = tuple(
    f"paddle.nn.{name}" for name in ("Dropout", "Dropout2D", "Dropout3D", "AlphaDropout", "FeatureAlphaDropout")
)
_OF_FUNCTION = tuple(f"paddle.nn.functional.{name}" for name in ("dropout", "dropout2d", "dropout3d", "alpha_dropout"))
_TRAINER = (".TrainingArguments",)

ARGUMENTS = (
    Argument((_OPTIMIZERS,), "learning_rate", 0, "learning_rate", "learning_rate"),
    Argument(_BY_RATE, "learning_rate", 0, "learning_rate", "learning_rate"),
    Argument((_SCHEDULES + "NoamDecay",), "learning_rate", 2, "learning_rate", "learning_rate"),
    Argument((_SCHEDULES + "OneCycleLR",), "max_learning_rate", 0, "max_learning_rate", "learning_rate"),
    Argument((_SCHEDULES + "CyclicLR",), "max_learning_rate", 1, "max_learning_rate", "learning_rate"),
    Argument(_TRAINER, "learning_rate", None, "learning_rate", "learning_rate"),
    Argument(_TRAINER, "num_train_epochs", None, "epochs", "epochs"),
    Argument((_OPTIMIZERS,), "weight_decay", None, "weight_decay"),
    Argument((_OPTIMIZERS + "Lamb",), "lamb_weight_decay", 1, "weight_decay"),
    Argument(("paddle.regularizer.L2Decay", "paddle.regularizer.L1Decay"), "coeff", 0, "weight_decay"),
    Argument(_TRAINER, "weight_decay", None, "weight_decay"),
    Argument((_OPTIMIZERS + "Momentum",), "momentum", 1, "momentum"),
    Argument((_OPTIMIZERS + "RMSProp",), "momentum", 3, "momentum"),
    Argument((_OPTIMIZERS,), "beta1", None, "beta1"),
    Argument((_OPTIMIZERS,), "beta2", None, "beta2"),
    Argument((_SCHEDULES,), "gamma", None, "gamma"),
    Argument((_SCHEDULES,), "warmup_steps", None, "warmup_steps"),
    Argument(("paddle.nn.ClipGradByGlobalNorm", "paddle.nn.ClipGradByNorm"), "clip_norm", 0, "clip_norm"),
    Argument(_DROPOUTS, "p", 0, "dropout"),
    Argument(_OF_FUNCTION, "p", 1, "dropout"),
    Argument(_LAYERS, "dropout", 3, "dropout"),
    Argument(("paddle.nn.MultiHeadAttention",), "dropout", 2, "dropout"),
    Argument(("paddle.nn.Transformer",), "dropout", 5, "dropout"),
    Argument(_RECURRENT, "dropout", 5, "dropout"),
    Argument(("paddle.nn.CrossEntropyLoss", "paddle.nn.functional.cross_entropy"), "label_smoothing", None,
             "label_smoothing"),
)  # fmt: skip
"""All of them; positions are held against Paddle's own signatures by a test."""


class Given(NamedTuple):
    """A number in the code that a call takes for a hyperparameter.

    Attributes:
        node: where it stands: in the call, or where a function's argument, a dictionary or an attribute has it from.
        call: what takes it, as a reader calls it (`AdamW`, `for epoch in range(…)`).
    """

    name: str
    role: Role
    node: ast.expr
    call: str


class HyperparameterReader:
    """Finds what the table names, in reading order; nothing of the notebook runs."""

    def __init__(self, code: Code, names: Names, reader: TrainingReader) -> None:
        self.code, self.names, self.reader = code, names, reader

    def given(self) -> tuple[Given, ...]:
        """Each number once, wherever names lead to it; what is computed is none."""
        found: dict[ast.expr, Given] = {}
        for call in self.code.of_type(ast.Call):
            for row, expression in self._arguments(call):
                for node in self._numbers(expression):
                    found.setdefault(node, Given(row.name, row.role, node, self.names.last(call.func)))
        for node, called in self._epochs():
            found.setdefault(node, Given("epochs", "epochs", node, called))
        return tuple(sorted(found.values(), key=lambda one: self.code.position(one.node)))

    def _arguments(self, call: ast.Call) -> Iterator[tuple[Argument, ast.expr]]:
        path = self.names.qualified(call.func)
        for row in ARGUMENTS:
            if path and any(_is_of(path, wanted) for wanted in row.paths):
                expression = self.names.argument(call, row.keyword, row.position)
                if expression is not None:
                    yield row, expression

    def _epochs(self) -> Iterator[tuple[ast.expr, str]]:
        for call in self.code.of_type(ast.Call):
            if isinstance(call.func, ast.Attribute) and call.func.attr == "fit":
                given = self.names.argument(call, "epochs", 3)
                if given is not None and self.reader.models.is_high_level(call.func.value):
                    yield from ((node, "fit") for node in self._numbers(given))
        loop = self.reader.loop_of_epochs()
        # The end of `range(1, 4)` is not the number of epochs.
        counted = iterated_by(loop) if loop is not None else None
        if loop is not None and isinstance(counted, ast.Call) and len(counted.args) == 1:
            yield from (
                (node, f"for {self.names.source(loop.target)} in range(…)") for node in self._numbers(counted.args[0])
            )

    def _numbers(self, expression: ast.expr) -> Iterator[ast.expr]:
        """The numbers that an expression may stand for, followed through names; nothing where one way is unknown."""
        found: dict[ast.expr, None] = {}
        seen: set[ast.expr] = set()
        pending = [expression]
        while pending and len(seen) < MAX_STEPS:
            one = pending.pop(0)
            if one in seen:
                continue
            seen.add(one)
            steps = self.names.steps(one)
            if any(step is UNKNOWN for step in steps):
                return
            if steps:
                pending += steps
            elif isinstance(one, ast.Constant) and type(one.value) in (int, float) and not self._is_option(one):
                found[one] = None
        yield from found

    def _is_option(self, node: ast.expr) -> bool:
        """Whether it is the default of an option of a command line, which the command's words come before."""
        above = next((one for one in self.code.parents(node) if isinstance(one, ast.Call)), None)
        return above is not None and self.names.last(above.func) == "add_argument"


def _is_of(path: str, wanted: str) -> bool:
    if wanted.startswith("."):
        return path.endswith(wanted) and path.split(".")[0] in LIBRARIES
    # What lies directly in a module: a schedule is no optimizer though its path begins as theirs do.
    return path == wanted or (wanted.endswith(".") and path.rpartition(".")[0] + "." == wanted)
