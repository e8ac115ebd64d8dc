"""One operator call of the user's program: its arguments, the arrays it makes, the nodes it leaves in the graph."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from paddle.base import core

from .. import call_stack
from ..kernels.registry import rule_of
from ..kernels.rules import Arrays, Meta, Place, Rows, Strides
from ..memory.arrays import ATTRIBUTE, ORIGINAL, Array, State, allocate, new_tensor
from ..memory.dtypes import name_of
from ..memory.ledger import Ledger
from ..memory.values import Drawn, Part, Value, is_random
from ..program.asking import Types
from ..program.inference import Argument
from ..program.templates import Gradient, Step, Template
from ..session import SELECTED
from . import costs, refusals
from .autograd import Node, edge_of
from .dependent_shapes import SHARED, Choices
from .saved_tensors import Hooks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .tensors import Tensors

_TENSOR = core.eager.Tensor
_PLACES = (core.Place, core.CPUPlace, core.CUDAPlace)
_PLAIN = frozenset((bool, int, float, str, type(None)))
"""Types of most arguments that are no tensors; asked first, for a trace encodes a hundred thousand of them."""
_UNCOUNTED = frozenset(("exponential_",))
"""Operators in place, by their names, that leave the version as it is (measured); so do optimizers' own."""
_BELOW_ZERO = "(PreconditionNotMet) The meta data must be valid when call the mutable data function."
"""What Paddle says of a result with fewer elements than none (`DenseTensorMeta::valid`); an even number of sizes below
zero make a valid product."""
_UNKNOWN = -1
"""How the builder writes a size that hangs on numbers: less than that is wrong, but of a convolution."""
_ARGUMENTS = tuple(Argument(i) for i in range(256))


class Call:
    """The run of a template on the states of its tensor arguments."""

    def __init__(self, runtime: Tensors, template: Template, tensors: list[Any], states: list[State]) -> None:
        self.runtime, self.template = runtime, template
        self.ledger: Ledger = runtime.ledger
        self.tensors, self.states = tensors, states
        self.environment: dict[int, Array] = {slot: state.array for slot, state in enumerate(states)}
        self.nodes: dict[int, tuple[Node, int]] = {}
        self.shapes: dict[int, Meta] = {}
        self.counts_writes = False

    def run(self, name: str, values: Value | None) -> Any:
        """Execute the steps; the result has the structure the operator returns."""
        known = rule_of(name).value
        if values is None and known is not None:
            values = known([state.array for state in self.states])
        if self.template.is_dynamic:
            self._find_shapes(name, values)
        self.counts_writes = name.endswith("_") and name not in _UNCOUNTED and self.ledger.phase != "update"
        for step in self.template.steps:
            self._run(step)
        self.template.is_checked = True
        result = self._wrap(self.template.returned, values, ())
        choice = rule_of(name.rstrip("_")).choice
        if choice is not None:
            self.runtime.of(Choices).follow(choice, self.states, result, self.template.number)
        return result

    def _find_shapes(self, name: str, values: Value | None) -> None:
        """Shapes that hang on values: computed where those are known, else of the largest (`dependent_shapes`)."""
        if values is not None and self.runtime.evaluate is not None:
            drawn = Drawn(values, _elements) if is_random(values) else values
            _match(self.template.returned, self.runtime.evaluate(drawn), self.shapes)
            return
        rule = rule_of(name)
        if rule.is_convolution or self._is_below_zero():  # a kernel larger than its map, a pool to -3 (`_result`)
            return
        if rule.rows is not None and self._count_rows(rule.rows):
            return
        most = max((state.array.numel for state in self.states), default=1)
        largest, classes = self.runtime.of(Choices).taken(most, self.states)
        told = call_stack.told()
        self.runtime.assumed.add(SELECTED)
        if classes:
            self.runtime.note(SHARED, op=name, classes=classes, **told)
        else:
            self.runtime.note("unknown_shape_line" if told else "unknown_shape", op=name, **told)
        for slot, (shape, dtype) in self.template.metas.items():
            if any(size < 0 for size in shape):
                known = 1 if rule.row_each else prod(size for size in shape if size > 0)
                self.shapes[slot] = (tuple(max(1, largest // known) if s < 0 else s for s in shape), dtype)

    def _is_below_zero(self) -> bool:
        """Whether a size was counted below zero, which hangs on no numbers."""
        return any(size < _UNKNOWN for shape, _ in self.template.metas.values() for size in shape)

    def _count_rows(self, rows: Rows) -> bool:
        """Rows that hang on the model, as many as an operand says that does not."""
        evaluate = self.runtime.evaluate
        if evaluate is None:
            return False

        def counted(value: Value, count: Callable[[Any], int]) -> int:
            return count(evaluate(Drawn(value, count) if is_random(value) else value))

        found = rows([state.array for state in self.states], counted)
        if found is None:
            return False
        for slot, (shape, dtype) in self.template.metas.items():
            if any(size < 0 for size in shape):
                self.shapes[slot] = tuple(found if size < 0 else size for size in shape), dtype
        return True

    def _run(self, step: Step) -> None:
        operation = self.ledger.begin(step.name)
        rule = step.rule
        if rule.strides is Strides.LAID_OUT and rule.view is None:
            self._lay_out(step, range(len(step.operands)))
        elif rule.lays_out and not self.runtime.reads_by_brackets:
            self._lay_out(step, rule.lays_out)
        environment, metas = self.environment, self.template.metas
        operands = [[environment[slot] for slot in slots if slot in environment] for slots in step.takes]
        if (rule.refuses is not None or rule.reads_as) and not self.runtime.of(Types).is_exported:
            refusals.check(self.runtime, rule, step.attrs, operands, types=not self.template.is_checked)
        if step.gradient is not None and step.inplace:
            self._keep_overwritten(step, step.gradient)
        results: list[list[Array]] = []
        for index, slots in enumerate(step.gives):
            made = []
            for position, slot in enumerate(slots):
                array = environment[slot] = self._result(step, Place(index, position, metas[slot]), slot, operands)
                made.append(array)
            results.append(made)
        costs.account(self.ledger, operation, step, operands, results)
        if self.counts_writes:
            for place in step.inplace.values():
                for array in operands[place]:
                    array.count_write()
        if step.gradient is not None:
            self._record(step, step.gradient)
        self.ledger.finish(operation)

    def _lay_out(self, step: Step, places: Iterable[int]) -> None:
        overwritten = step.inplace.values()
        for index in places:
            if index in overwritten:
                continue
            for slot in step.takes[index]:
                array = self.environment.get(slot)
                if array is not None and array.storage is not None and not array.is_contiguous:
                    laid_out = allocate(self.ledger, array.shape, array.dtype, "contiguous")
                    laid_out.value = array.value
                    self.environment[slot] = laid_out

    def _keep_overwritten(self, step: Step, gradient: Gradient) -> None:
        """What an in-place operator overwrites is copied first where its gradient reads it (`multiply_`)."""
        for slot in written_over(step, gradient):
            if slot in gradient.saved:
                array = self.environment[slot]
                self.environment[slot] = allocate(self.ledger, array.shape, array.dtype, "assign")

    def _result(self, step: Step, place: Place, slot: int, operands: Arrays) -> Array:
        """One result, by the kernel's rule; where that fails, what the program builder says is allocated."""
        rule, attrs, more = step.rule, step.attrs, 0
        meta = self.shapes.get(slot) or place.meta
        try:
            if rule.shares is not None and (shared := rule.shares(attrs, operands, place)) is not None:
                return shared
            if rule.result is not None:
                meta = rule.result(attrs, operands, place) or meta
            overwritten = step.inplace.get(place.result)
            if overwritten is not None and operands[overwritten]:
                source = operands[overwritten][0]
                if meta == (source.shape, source.dtype):
                    if source.storage is None:  # nothing was in it yet, as in what `create_variable` makes
                        source.storage = allocate(self.ledger, *meta, step.name).storage
                    return source
                if meta[1] == source.dtype:
                    return rule_of(step.name.rstrip("_")).view_over(source, meta, attrs) or source
            if rule.view is not None and operands and operands[0]:
                view = rule.view_over(operands[0][0], meta, attrs)
                if view is not None:
                    return view
            if rule.surplus is not None and place.result == 0:
                more = rule.surplus(attrs, operands, [])
        except Exception as problem:
            self.ledger.failed(step.name, problem)
        shape, dtype = meta
        if shape and min(shape) < 0:
            if prod(shape) < 0 and (rule.is_convolution or min(shape) < _UNKNOWN):
                raise self.runtime.refused(RuntimeError(_BELOW_ZERO))
            shape = tuple(max(size, 0) for size in shape)
        return allocate(self.ledger, shape, dtype, step.name, more)

    def _record(self, step: Step, gradient: Gradient) -> None:
        """Leave a node in the graph: what its gradient kernels read, and where its gradients go."""
        absent = (slot for slot in gradient.beside if slot >= self.template.arguments or self._has_place(slot))
        gradient = gradient.without(frozenset(absent)) if gradient.beside else gradient
        saved, shapes = {}, {}
        dropped = _dropped(step, gradient) if step.rule.drops_wanted and not self.runtime.keeps_factors else None
        self.runtime.dropped_factors |= dropped is not None
        for slot in gradient.reads:
            array = self.environment.get(slot)
            if array is None:
                continue
            if slot in gradient.saved and slot != dropped:
                saved[slot] = array
            else:
                shapes[slot] = Array(None, array.shape, array.strides, array.dtype)
        saved = self.runtime.of(Hooks).pack(saved, self.tensors)
        node = Node(gradient, saved, shapes, self.ledger.layer)
        node.leaves = [self.states[slot] for slot in saved if slot < self.template.arguments and self._is_leaf(slot)]
        for slot in gradient.outgoing:
            if slot in self.nodes:
                node.edges[slot] = self.nodes[slot]
            elif slot < self.template.arguments:
                node.edges[slot] = edge_of(self.states[slot], self.tensors[slot])
        for index, slots in enumerate(step.gives):
            for slot in slots:
                if index in step.inplace and gradient.incoming.get(slot) not in gradient.passed:
                    continue  # a statistic that is brought up to date beside the result: batch_norm's running mean
                self.nodes[slot] = (node, slot)  # whole numbers too: `topk`'s indices keep the graph as its values do

    def _is_leaf(self, slot: int) -> bool:
        return self.states[slot].node is None and not self.tensors[slot].stop_gradient

    def _has_place(self, slot: int) -> bool:
        return refusals.has_place(self.runtime, self.tensors[slot])

    def _wrap(self, structure: Any, values: Value | None, path: tuple[int, ...]) -> Any:
        if isinstance(structure, (list, tuple)):
            return type(structure)(self._wrap(item, values, (*path, i)) for i, item in enumerate(structure))
        if structure is None:
            return None
        array = self.environment[structure]
        target = self.template.overwritten(structure)
        value = None if values is None else (Part(values, path) if path else values)
        if target is None:
            if value is not None:
                array.value = value
            tensor = new_tensor(array, stop_gradient=structure not in self.nodes)
            state = tensor.__dict__[ATTRIBUTE]
        else:
            tensor, state = self.tensors[target], self.states[target]
            state.writes += 1
            array.value = value
            if array.dtype != state.array.dtype:  # `cast_`
                ORIGINAL["_share_underline_tensor_to"](new_tensor(array), tensor)
            elif array.shape != state.array.shape:
                tensor.get_tensor()._set_dims(list(array.shape))
            state.array = array
        if structure in self.nodes:
            state.node, state.slot = self.nodes[structure]
            if tensor.stop_gradient:
                tensor.stop_gradient = False
        return tensor


def encode(node: Any, tensors: list[Any]) -> tuple[Any, Any]:
    """(the arguments with `Argument`s for tensors, which are collected; a hashable key)."""
    if type(node) in _PLAIN:
        return node, node
    if isinstance(node, _TENSOR):
        tensors.append(node)
        place = len(tensors) - 1  # more are the samples of a large batch, put together by `paddle.stack`
        return (_ARGUMENTS[place] if place < len(_ARGUMENTS) else Argument(place)), "T"
    if isinstance(node, (list, tuple)):
        made, key = list(node), list(node)
        for place, item in enumerate(node):
            if type(item) not in _PLAIN:
                made[place], key[place] = encode(item, tensors)
        return (made if isinstance(node, list) else tuple(made)), tuple(key)
    if isinstance(node, dict):
        encoded = {name: encode(item, tensors) for name, item in node.items()}
        return {k: v[0] for k, v in encoded.items()}, tuple((k, v[1]) for k, v in encoded.items())
    if isinstance(node, _PLACES):
        return node, "place"
    return node, node


def values_of(node: Any, states: list[State]) -> Any:
    """Encoded arguments with known values in place of tensors."""
    if isinstance(node, Argument):
        return states[node.index].array.value
    if isinstance(node, (list, tuple)):
        return type(node)(values_of(item, states) for item in node)
    if isinstance(node, dict):
        return {key: values_of(item, states) for key, item in node.items()}
    return node


def overwritten_too(template: Template, wants: list[bool]) -> list[bool]:
    """To which tensors a gradient flows when a result that wants one is written over a tensor that did not.

    Eager mode lets the tensor want gradients before it asks where they go (PassStopGradient of an in-place operator):
    `out = paddle.zeros(...)`, `out[0] = y` leave a gradient at `out`.
    """
    over = {slot for step in template.steps if step.gradient for slot in written_over(step, step.gradient)}
    return [want or slot in over for slot, want in enumerate(wants)]


def _dropped(step: Step, gradient: Gradient) -> int | None:
    """The operand of two that alone wants a gradient."""
    first, second = step.operands[:2]
    wanted = [slot for slot in (first, second) if isinstance(slot, int) and slot in gradient.outgoing]
    return wanted[0] if len(wanted) == 1 and not step.inplace else None


def written_over(step: Step, gradient: Gradient) -> list[int]:
    """Slots that a result with a gradient of its own is written over, statistics not among them."""
    pairs = ((step.operands[operand], step.results[index]) for index, operand in step.inplace.items())
    return [
        source
        for source, result in pairs
        if isinstance(source, int) and isinstance(result, int) and gradient.incoming.get(result) in gradient.taken
    ]


def _elements(result: Any) -> int:
    """Elements of all results of an operator."""
    if isinstance(result, (list, tuple)):
        return sum(map(_elements, result))
    return int(prod(result.shape)) if isinstance(result, _TENSOR) else 0


def _match(structure: Any, result: Any, found: dict[int, Meta]) -> None:
    if isinstance(structure, (list, tuple)):
        for part, value in zip(structure, result, strict=False):
            _match(part, value, found)
    elif structure is not None:
        found[structure] = (tuple(result.shape), name_of(result.dtype))
