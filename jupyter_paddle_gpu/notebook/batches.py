"""The batch size of the training, wherever it is given."""

from __future__ import annotations

import ast
import re

from ..domain.notebooks import Fact
from .code import UNKNOWN, Code
from .names import Names
from .training import TrainingReader, iterated_by

_LOADERS = frozenset({"DataLoader", "BatchSampler", "DistributedBatchSampler", "batch"})
_NAME = re.compile(r"^(train_?|global_?)?_?(batch_?size|bs|batch_?sz|batch)$", re.IGNORECASE)
_NOT_TRAINING = re.compile(r"val|test|eval|infer|predict|dev", re.IGNORECASE)


class BatchReader:
    """Finds the batch size: the fit call, the loader that the training loop goes over, a slicing step, a name."""

    def __init__(self, code: Code, names: Names, reader: TrainingReader) -> None:
        self.code = code
        self.names = names
        self.reader = reader

    def batch_size(self) -> Fact | None:
        """The fact, or None where nothing in the notebook speaks of batches."""
        training = self.reader.training
        if training.kind == "none":
            return None
        found = None
        if training.kind == "fit" and training.call is not None:
            found = self._of_fit(training.call)
        elif self.reader.trainer_call is not None:
            found = self.reader.argument_of_trainer("per_device_train_batch_size", 8)
        else:
            found = next((fact for loop in training.loops if (fact := self._of_loop(loop)) is not None), None)
        known = [fact for fact in (found, *self._elsewhere()) if fact is not None]
        return next((fact for fact in known if fact.how != "computed"), known[0] if known else None)

    def _of_fit(self, call: ast.Call) -> Fact | None:
        data = self.names.argument(call, "train_data", 0)
        if data is not None and (fact := self._of_data(data)) is not None:
            return fact  # a loader has its own batch size, and fit then does not look at its argument
        given = self.names.argument(call, "batch_size", 2)
        return self.names.fact(given) if given is not None else self._default(call)

    def _of_loop(self, loop: ast.For) -> Fact | None:
        iterated = iterated_by(loop)
        if isinstance(iterated, ast.Call) and isinstance(iterated.func, ast.Name) and iterated.func.id == "range":
            step = iterated.args[2] if len(iterated.args) == 3 else None
            return self.names.fact(step) if step is not None else self._counted(iterated)
        return self._of_data(iterated)

    def _counted(self, iterated: ast.Call) -> Fact | None:
        """`for i in range(len(x) // batch_size)`."""
        stop = iterated.args[1] if len(iterated.args) > 1 else iterated.args[0] if iterated.args else None
        made = self.names.origin(stop) if stop is not None else None
        for node in ast.walk(made) if made is not None else ():
            if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.FloorDiv, ast.Div)):
                name = node.right
                if _NAME.match(name.id if isinstance(name, ast.Name) else getattr(name, "attr", "")):
                    return self.names.fact(name)
        return None

    def _of_data(self, expression: ast.expr) -> Fact | None:
        made = self.names.origin(expression)
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
        return self.names.fact(given) if given is not None else None

    def _of_loader(self, call: ast.Call) -> Fact | None:
        sampler = self.names.argument(call, "batch_sampler")
        if sampler is not None:
            return self._of_data(sampler)
        given = self._keyword(call)
        if given is None and self.names.last(call.func) == "batch" and len(call.args) > 1:
            given = call.args[1]
        if given is None and self.names.last(call.func) == "DistributedBatchSampler" and len(call.args) > 1:
            given = call.args[1]
        return self.names.fact(given) if given is not None else self._default(call)

    def _of_function(self, call: ast.Call) -> Fact | None:
        """`loader = make_loader(data, batch_size=64)`: what is given, else what its own body says."""
        assert isinstance(call.func, ast.Name)
        for function in self.code.functions[call.func.id][-1:]:
            parameters = [a.arg for a in function.args.args]
            for position, name in enumerate(parameters):
                if _NAME.match(name) and (given := self.names.argument(call, name, position)) is not None:
                    return self.names.fact(given)
            for node in ast.walk(function):
                if isinstance(node, ast.Call) and self._is_loader(node):
                    return self._of_loader(node)
                if isinstance(node, ast.For) and (fact := self._of_loop(node)) is not None:
                    return fact
        return None

    def _elsewhere(self) -> list[Fact | None]:
        """Loaders that no loop could be tied to (those for training first), then variables that are named so."""
        loaders = [c for c in self.code.of_type(ast.Call) if self._is_loader(c)]
        training = [c for c in loaders if not _NOT_TRAINING.search(self._target(c))]
        facts = [self._of_loader(call) for call in training or loaders]
        for (scope, name), values in self.code.bindings.items():
            if scope is None and _NAME.match(name) and values[-1] is not UNKNOWN:
                known = self.names.evaluate(values[-1])
                if known is not None and isinstance(known.value, int) and not isinstance(known.value, bool):
                    fact = self.names.fact(values[-1])
                    facts.append(
                        Fact(value=fact.value, source=fact.source, place=fact.place, how="constant", name=name)
                    )
        # A library's default stands for a loader; it must not hide what the notebook says itself.
        return sorted(facts, key=lambda fact: fact is not None and fact.how == "default")

    def _is_loader(self, call: ast.Call) -> bool:
        return self.names.last(call.func) in _LOADERS and self.names.is_paddle(call.func)

    def _keyword(self, call: ast.Call) -> ast.expr | None:
        return self.names.argument(call, "batch_size")

    def _target(self, call: ast.Call) -> str:
        above = next(self.code.parents(call), None)
        return self.names.source(above.targets[0]) if isinstance(above, ast.Assign) else ""

    def _default(self, call: ast.Call) -> Fact:
        return Fact(value=1, source="", place=self.code.place(call), how="default")
