"""One run of a program: each operator takes its memory and gives it back as in Paddle's executor, without data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..eager import costs
from ..kernels.rules import Arrays, Meta, Place
from ..memory.arrays import Array, allocate, contiguous_strides
from ..memory.ledger import Ledger
from . import gpu_operators, rebuilding
from .low_precision import stood_for
from .lowering import Instruction, Lowered, NotFollowedError

_SHAPES = frozenset(("shape", "shape64"))
_SELECTS = "masked_select"
"""Its result is as long as a mask says, which nobody computes: all is taken."""
_FEW = 32
"""More numbers are no shape."""
Environment = dict[int, Array]


class Variables:
    """What a scope holds by name: parameters, states of optimizers, what was fed and fetched last."""

    def __init__(self) -> None:
        self._by_scope: dict[int, tuple[Any, dict[str, Array]]] = {}

    def of(self, scope: Any) -> dict[str, Array]:
        """The variables of a scope."""
        return self._by_scope.setdefault(id(scope), (scope, {}))[1]


class Run:
    """The run of a lowered program."""

    def __init__(self, ledger: Ledger, lowered: Lowered, variables: dict[str, Array], target: str) -> None:
        self._ledger, self._lowered, self._variables, self._target = ledger, lowered, variables, target
        self._environment: Environment = {}
        self.assumed: set[str] = set()
        """Operators of which the largest result was taken."""
        self._known: dict[int, Any] = {}
        """Numbers of small results that hang on shapes alone, as arrays of numpy."""
        self._names: dict[int, list[str]] = {slot: [] for slot in lowered.passing}
        for name, slot in (
            *lowered.given.items(),
            *((label, slot) for kept in lowered.kept.values() for slot, label, _ in kept),
        ):
            if slot in self._names:
                self._names[slot].append(name)

    def run(self, missing: Callable[[str], Exception]) -> list[Array]:
        """Run all operators; what was fetched is the result.

        Args:
            missing: what is raised for a variable that the scope does not hold.

        Raises:
            NotFollowedError: a shape hangs on numbers.
        """
        for name, slot in self._lowered.given.items():
            array = self._variables.get(name)
            if array is None:
                raise missing(name)
            self._environment[slot] = array
        for index, one in enumerate(self._lowered.instructions):
            self._run(one)
            for slot, name, kind in self._lowered.kept.get(index, ()):
                self._keep(slot, name, kind)
            for slot in one.frees:
                self._drop(slot)
        return [self._fetch(place, slot) for place, slot in enumerate(self._lowered.fetched)]

    def _drop(self, slot: int) -> None:
        """The numbers go, the shape stays; what a run is fed with goes from the scope, too."""
        array = self._environment[slot]
        self._environment[slot] = Array(None, array.shape, array.strides, array.dtype)
        for name in self._lowered.fed:
            if self._lowered.given[name] == slot:
                self._variables.pop(name, None)
        for name in self._names.get(slot, ()):
            self._variables[name] = self._environment[slot]

    def _run(self, one: Instruction) -> None:
        step = one.step
        with self._ledger.during(one.phase):
            operation = self._ledger.begin(step.name)
            operands = [[self._environment[slot] for slot in slots] for slots in step.takes]
            metas = self._metas(one, operands)
            results: Arrays = []
            for index, slots in enumerate(step.gives):
                made = []
                for position, slot in enumerate(slots):
                    array = self._result(one, Place(index, position, metas[slot]), operands)
                    if slot in self._lowered.gradients and array.storage is not None:
                        array.storage.record.kind = "gradients"
                    self._environment[slot] = array
                    made.append(array)
                results.append(made)
            costs.account(self._ledger, operation, step, operands, results)
            if (told := gpu_operators.costs(step, one.operation, operands, results)) is not None:
                operation.flops, (operation.workspace_low, operation.workspace_high) = told
            self._learn(one, results)
            del operands, results
            self._ledger.finish(operation)

    def _result(self, one: Instruction, place: Place, operands: Arrays) -> Array:
        step, rule, meta, more = one.step, one.step.rule, place.meta, 0
        try:
            if rule.shares is not None and (shared := rule.shares(step.attrs, operands, place)) is not None:
                return shared
            if rule.result is not None:
                meta = rule.result(step.attrs, operands, place) or meta
            if rule.surplus is not None and place.result == 0:
                more = rule.surplus(step.attrs, operands, [])
        except Exception as problem:
            self._ledger.failed(step.name, problem)
        shape, dtype = meta
        if any(size < 0 for size in shape):
            if rule.sized_here:
                shape = tuple(max(size, 0) for size in shape)
            else:
                raise NotFollowedError(step.name)
        written = one.writes.get(place.result)
        if written is not None and operands[written]:
            source = operands[written][0]
            same = source.shape == shape and source.dtype == dtype
            return source if same else source.view(shape, contiguous_strides(shape), dtype)
        return allocate(self._ledger, shape, dtype, step.name, more)

    def _metas(self, one: Instruction, operands: Arrays) -> dict[int, Meta]:
        """Shape and type of each result: as the program says, or, where that leaves a size open, as it is built with
        what it gets in this run."""
        metas, step = self._lowered.metas, one.step
        told = {slot: metas[slot] for slots in step.gives for slot in slots}
        is_open = any(size < 0 for shape, _ in told.values() for size in shape) or any(
            array.shape != metas[slot][0]
            for slots, arrays in zip(step.takes, operands, strict=True)
            for slot, array in zip(slots, arrays, strict=True)
        )
        if not is_open:
            return told
        told.update(self._selected(one, operands) if step.name == _SELECTS else _of_gradients(one, operands))
        if all(size >= 0 for shape, _ in told.values() for size in shape):
            return told
        given: list[Any] = []
        for index, (operand, slots) in enumerate(zip(step.operands, step.takes, strict=True)):
            name = step.operand_names[index]
            if name in step.attrs and not slots:
                given.append(("value", step.attrs[name]))
            elif isinstance(operand, int) and operand in self._known and index:
                given.append(("value", self._known[operand].tolist()))
            elif operand is None:
                given.append(None)
            else:
                found = [(array.shape, array.dtype) for array in operands[index]]
                given.append(found if isinstance(operand, tuple) else found[0])
        key = str(given)
        inferred = one.inferred.get(key)
        if inferred is None:
            try:
                meant = stood_for(given, self._lowered.low)
                inferred = stood_for(rebuilding.results(one.operation, meant), self._lowered.low, back=True)
                one.inferred[key] = inferred
            except rebuilding.CannotRebuildError as problem:
                raise NotFollowedError(step.name) from problem
        for operand, meta in zip(step.results, inferred, strict=True):
            if isinstance(operand, tuple):
                told.update(zip(operand, meta, strict=True))
            elif operand is not None and meta is not None:
                told[operand] = meta
        return told

    def _selected(self, one: Instruction, operands: Arrays) -> dict[int, Meta]:
        """All of what a mask selects from."""
        self.assumed.add(one.step.name)
        slots = [slot for slots in one.step.gives for slot in slots]
        return {slot: ((operands[0][0].numel,), self._lowered.metas[slot][1]) for slot in slots}

    def _learn(self, one: Instruction, results: Arrays) -> None:
        """Keep the numbers of shapes, and of what is made of nothing else: they decide other shapes."""
        step = one.step
        if step.name in _SHAPES:
            shape = self._environment[step.takes[0][0]].shape
            self._known[step.gives[0][0]] = np.array(shape, results[0][0].dtype)
            return
        if step.name == "full" and "int" in results[0][0].dtype and results[0][0].numel <= _FEW:
            array = results[0][0]
            self._known[step.gives[0][0]] = np.full(array.shape, step.attrs["value"], array.dtype)
            return
        if not any(slot in self._known for slots in step.takes for slot in slots):
            return
        if any(array.numel > _FEW for group in results for array in group):
            return
        given: list[Any] = []
        for name, operand, slots in zip(step.operand_names, step.operands, step.takes, strict=True):
            if not slots:
                given.append(("value", step.attrs[name]) if name in step.attrs else None)
            elif all(slot in self._known for slot in slots):
                found = [self._known[slot] for slot in slots]
                given.append(found if isinstance(operand, tuple) else found[0])
            else:
                return
        try:
            made = rebuilding.computed(one.operation, given)
        except rebuilding.CannotRebuildError:
            return
        self._known.update(zip((slot for slots in step.gives for slot in slots), made, strict=False))

    def _keep(self, slot: int, name: str, kind: str) -> None:
        array = self._environment[slot]
        if kind and array.storage is not None:
            array.storage.record.kind = kind
        self._variables[name] = array

    def _fetch(self, place: int, slot: int) -> Array:
        """A copy for the caller: on a CPU in Paddle's allocator, kept until the next one; else on the host."""
        array = self._environment[slot]
        operation = self._ledger.begin("fetch")
        copy = array
        if self._target == "cpu":
            copy = allocate(self._ledger, array.shape, array.dtype, "fetch")
            self._variables[f"fetch{place}"] = copy
        operation.bytes_moved = 2 * array.nbytes
        self._ledger.finish(operation)
        return copy


def _of_gradients(one: Instruction, operands: Arrays) -> dict[int, Meta]:
    """What is the gradient of an operand (`input_grad` of `input`) is as large as it."""
    step, found = one.step, dict[int, Meta]()
    for name, slots in zip(one.operation.get_output_names(), step.gives, strict=False):
        source = name.removesuffix("_grad")
        if source == name or source not in step.operand_names:
            continue
        arrays = operands[step.operand_names.index(source)]
        if len(arrays) == len(slots):
            found.update((slot, (array.shape, array.dtype)) for slot, array in zip(slots, arrays, strict=True))
    return found
