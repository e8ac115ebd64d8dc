"""The batch size of the training, wherever it is given."""

from __future__ import annotations

import ast
import re
from typing import NamedTuple

from ...domain.notebooks import Fact
from ..code import UNKNOWN, Code
from ..names import Names
from .loop import TrainingReader, in_step, iterated_by, within

_LOADERS = frozenset({"DataLoader", "BatchSampler", "DistributedBatchSampler", "batch"})
_NAME = re.compile(r"^(train_?|global_?)?_?(batch_?size|bs|batch_?sz|batch)$", re.IGNORECASE)
OF_TRAINER = "per_device_train_batch_size"
"""What PaddleNLP's `TrainingArguments` call it."""
_NOT_TRAINING = re.compile(r"val|test|eval|infer|predict|dev", re.IGNORECASE)


class Batch(NamedTuple):
    """The batch size and where it stands.

    Attributes:
        given: the expression that says it; None where a library's default stands for it, or not it alone.
        call: the call that could be told another one by `keyword`, where nothing is given.
    """

    fact: Fact
    given: ast.expr | None = None
    call: ast.Call | None = None
    keyword: str = "batch_size"


class BatchReader:
    """Finds the batch size: the fit call, the loader that the training loop goes over, a slicing step, a name."""

    def __init__(self, code: Code, names: Names, reader: TrainingReader) -> None:
        self.code = code
        self.names = names
        self.reader = reader

    def batch_size(self) -> Fact | None:
        """The fact, or None where nothing in the notebook speaks of batches."""
        found = self.batch()
        return found.fact if found is not None else None

    def batch(self) -> Batch | None:
        """The fact with its place in the code."""
        training = self.reader.training
        if training.kind == "none":
            return None
        found = None
        if training.kind == "fit" and training.call is not None:
            found = self._of_fit(training.call)
        elif self.reader.trainer_call is not None:
            found = self._of_trainer()
        else:
            found = next((fact for loop in training.loops if (fact := self._of_loop(loop)) is not None), None)
        known = [fact for fact in (found, *self._elsewhere()) if fact is not None]
        return next((one for one in known if one.fact.how != "computed"), known[0] if known else None)

    def training_loader(self) -> ast.Call | None:
        """The `DataLoader` that the training loop goes over or takes batches from by `next`, or that a loop in a module
        is given; None without any."""
        taken = [call.args[0] for call in self.code.of_type(ast.Call) if self._is_iter(call)]
        for iterated in [*map(iterated_by, self.reader.training.loops), *taken]:
            if (made := self._loader(iterated)) is not None:
                return made
        return self._only_loader() if self.reader.training.kind == "none" else None

    def loaders_in_step(self) -> list[ast.Call]:
        """The `DataLoader`s that the training loop goes over beside the first (`zip(labeled, unlabeled)`)."""
        found = (self._loader(one) for loop in self.reader.training.loops for one in in_step(loop))
        return [one for one in found if one is not None]

    def batches_in_step(self) -> list[Batch]:
        """What those say of their batches."""
        found = (self._of_data(one) for loop in self.reader.training.loops for one in in_step(loop))
        return [one for one in found if one is not None]

    def _loader(self, iterated: ast.expr) -> ast.Call | None:
        made = self._made(iterated)
        if isinstance(made, ast.Call) and isinstance(made.func, ast.Name):  # a function that makes it
            made = self.names.origin(next(iter(self.names.returned(made.func.id)), made))
        is_one = isinstance(made, ast.Call) and self._is_loader(made) and self.names.last(made.func) == "DataLoader"
        return made if is_one and isinstance(made, ast.Call) else None

    def _is_iter(self, call: ast.Call) -> bool:
        """Whether a call is `iter(loader)` of what is not for tests."""
        is_iter = isinstance(call.func, ast.Name) and call.func.id == "iter" and bool(call.args)
        return is_iter and not _NOT_TRAINING.search(self._target(call) + self.names.source(call.args[0]))

    def of_hidden_loop(self) -> Batch | None:
        """Of a loop that stands in a module: what the one loader of the cells says that is not for tests."""
        loader = self._only_loader() if self.reader.training.kind == "none" else None
        return None if loader is None else self._of_loader(loader)

    def _only_loader(self) -> ast.Call | None:
        calls = [one for one in self.code.of_type(ast.Call) if self._is_loader(one)]
        found = [one for one in calls if not _NOT_TRAINING.search(self._target(one))]
        is_one = len(found) == 1 and self.names.last(found[0].func) == "DataLoader"
        return found[0] if is_one else None

    def _of_trainer(self) -> Batch | None:
        fact = self.reader.argument_of_trainer(OF_TRAINER, 8)
        given = self.reader.given_to_trainer(OF_TRAINER)
        return Batch(fact, given, self.reader.arguments_of_trainer(), OF_TRAINER) if fact is not None else None

    def _of_fit(self, call: ast.Call) -> Batch | None:
        data = self.names.argument(call, "train_data", 0)
        if data is not None and (fact := self._of_data(data)) is not None:
            return fact  # a loader has its own batch size, and fit then does not look at its argument
        given = self.names.argument(call, "batch_size", 2)
        return self._fact(given) if given is not None else self._default(call)

    def _of_loop(self, loop: ast.For) -> Batch | None:
        iterated = iterated_by(loop)
        if isinstance(iterated, ast.Call) and isinstance(iterated.func, ast.Name) and iterated.func.id == "range":
            step = iterated.args[2] if len(iterated.args) == 3 else None
            if isinstance(step, ast.Constant):
                return Batch(self.names.fact(step))  # slices end by a number of their own
            return self._fact(step) if step is not None else self._counted(iterated)
        return self._of_data(iterated)

    def _counted(self, iterated: ast.Call) -> Batch | None:
        """`for i in range(len(x) // batch_size)`."""
        stop = iterated.args[1] if len(iterated.args) > 1 else iterated.args[0] if iterated.args else None
        made = self.names.origin(stop) if stop is not None else None
        for node in ast.walk(made) if made is not None else ():
            if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.FloorDiv, ast.Div)):
                name = node.right
                if _NAME.match(name.id if isinstance(name, ast.Name) else getattr(name, "attr", "")):
                    return self._fact(name)
        return None

    def _made(self, expression: ast.expr) -> ast.expr:
        made = self.names.origin(expression)
        return made if (inner := within(made)) is made else self.names.origin(inner)

    def _of_data(self, expression: ast.expr) -> Batch | None:
        made = self._made(expression)
        if isinstance(made, ast.Subscript):
            made = self.names.origin(made.value)
        if not isinstance(made, ast.Call):
            return None
        if isinstance(made.func, ast.Name) and made.func.id in self.code.functions:
            return self._of_function(made)
        if self._is_loader(made):
            return self._of_loader(made)
        given = self._keyword(made)
        if given is None and made.args and isinstance(made.func, ast.Attribute):
            return None
        return self._fact(given) if given is not None else None

    def _of_loader(self, call: ast.Call) -> Batch | None:
        sampler = self.names.argument(call, "batch_sampler")
        if sampler is not None:
            return self._of_data(sampler)
        given = self._keyword(call)
        if given is None and self.names.last(call.func) == "batch" and len(call.args) > 1:
            given = call.args[1]
        if given is None and self.names.last(call.func) == "DistributedBatchSampler" and len(call.args) > 1:
            given = call.args[1]
        return self._fact(given) if given is not None else self._default(call)

    def _of_function(self, call: ast.Call) -> Batch | None:
        """`loader = make_loader(data, batch_size=64)`: what is given, else what its own body says."""
        assert isinstance(call.func, ast.Name)
        for function in self.code.functions[call.func.id][-1:]:
            parameters = [a.arg for a in function.args.args]
            for position, name in enumerate(parameters):
                if _NAME.match(name) and (given := self.names.argument(call, name, position)) is not None:
                    return self._fact(given)
            for node in ast.walk(function):
                if isinstance(node, ast.Call) and self._is_loader(node):
                    return self._of_loader(node)
                if isinstance(node, ast.For) and (fact := self._of_loop(node)) is not None:
                    return fact
        return None

    def _elsewhere(self) -> list[Batch | None]:
        """Loaders that no loop could be tied to (those for training first), then variables that are named so."""
        loaders = [c for c in self.code.of_type(ast.Call) if self._is_loader(c)]
        training = [c for c in loaders if not _NOT_TRAINING.search(self._target(c))]
        facts = [self._of_loader(call) for call in training or loaders]
        for (scope, name), values in self.code.bindings.items():
            if scope is None and _NAME.match(name) and values[-1] is not UNKNOWN:
                known = self.names.evaluate(values[-1])
                if known is not None and isinstance(known.value, int) and not isinstance(known.value, bool):
                    fact = self.names.fact(values[-1])
                    named = Fact(value=fact.value, source=fact.source, place=fact.place, how="constant", name=name)
                    facts.append(Batch(named, values[-1]))
        # A library's default stands for a loader; it must not hide what the notebook says itself.
        return sorted(facts, key=lambda one: one is not None and one.fact.how == "default")

    def _is_loader(self, call: ast.Call) -> bool:
        return self.names.last(call.func) in _LOADERS and self.names.is_paddle(call.func)

    def _keyword(self, call: ast.Call) -> ast.expr | None:
        return self.names.argument(call, "batch_size")

    def _target(self, call: ast.Call) -> str:
        above = next(self.code.parents(call), None)
        return self.names.source(above.targets[0]) if isinstance(above, ast.Assign) else ""

    def _fact(self, given: ast.expr) -> Batch:
        return Batch(self.names.fact(given), given)

    def _default(self, call: ast.Call) -> Batch:
        return Batch(Fact(value=1, source="", place=self.code.place(call), how="default"), call=call)
