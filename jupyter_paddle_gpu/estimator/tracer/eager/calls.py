"""One operator call of the user's program: its arguments, the arrays it makes, the nodes it leaves in the graph."""

from __future__ import annotations

from itertools import zip_longest
from math import prod
from typing import TYPE_CHECKING, Any

from paddle import _C_ops
from paddle.base import core

from .. import call_stack
from ..kernels import costs, dependent_shapes
from ..kernels.odd_results import INDEX_LAID_OUT, STRIDES_KEPT, forward_array, forward_meta, surplus
from ..kernels.templates import Gradient, Meta, Operand, Step, Template, slots_of
from ..kernels.views import RULES as VIEWS
from ..kernels.views import view_of
from ..memory.arrays import ORIGINAL, Array, State, allocate, known_state, new_tensor
from ..memory.dtypes import FLOATING, name_of
from ..memory.ledger import Ledger
from ..memory.values import Computed, Drawn, Part, Value, is_random
from ..program.inference import Argument
from .autograd import Node, edge_of, needed_slots
from .saved_tensors import hooks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .runtime import Runtime

_TENSOR = core.eager.Tensor
_PLACES = (core.Place, core.CPUPlace, core.CUDAPlace)
_PLAIN = frozenset((bool, int, float, str, type(None)))
"""Types of most arguments that are no tensors; asked first, for a trace encodes a hundred thousand of them."""
_ARGUMENTS = [Argument(i) for i in range(256)]


class Call:
    """The run of a template on the states of its tensor arguments."""

    def __init__(self, runtime: Runtime, template: Template, tensors: list[Any], states: list[State]) -> None:
        self.runtime, self.template = runtime, template
        self.ledger: Ledger = runtime.ledger
        self.tensors, self.states = tensors, states
        self.environment: dict[int, Array] = {slot: state.array for slot, state in enumerate(states)}
        self.nodes: dict[int, tuple[Node, int]] = {}
        self.shapes: dict[int, Meta] = {}

    def run(self, name: str, values: Value | None) -> Any:
        """Execute the steps; the result has the structure the operator returns."""
        # Of the tensor that another is expanded to, the shape counts: whoever asks for the numbers can have them.
        if values is None and name == "expand_as" and self.states[0].array.value is not None:
            values = Computed(_C_ops.expand, (self.states[0].array.value, list(self.states[1].array.shape)), {})
        if self.template.is_dynamic:
            self._find_shapes(name, values)
        for step in self.template.steps:
            self._run(step)
        result = self._wrap(self.template.returned, values, ())
        dependent_shapes.follow(name, self.states, result)
        return result

    def _find_shapes(self, name: str, values: Value | None) -> None:
        """Shapes that hang on values: computed where those are known, else of the largest (`dependent_shapes`)."""
        if values is not None and self.runtime.evaluate is not None:
            drawn = Drawn(values, _elements) if is_random(values) else values
            _match(self.template.returned, self.runtime.evaluate(drawn), self.shapes)
            return
        if name == "masked_select" and self._count_chosen():
            return
        if name == "repeat_interleave_with_tensor_index" and self._count_rows(_chosen):
            return
        if name == "segment_pool" and self._count_rows(_segments):
            return
        most = max((state.array.numel for state in self.states), default=1)
        largest, classes = dependent_shapes.taken(most, self.states)
        line = call_stack.line()
        if classes:
            self.runtime.note(dependent_shapes.SHARED, op=name, line=line, classes=classes)
        else:
            self.runtime.note("unknown_shape_line" if line else "unknown_shape", op=name, line=line)
        for slot, (shape, dtype) in self.template.metas.items():
            if any(size < 0 for size in shape):
                # `nonzero` has a row of indices for each element, whatever its rank
                known = 1 if name == "nonzero" else prod(size for size in shape if size > 0)
                self.shapes[slot] = (tuple(max(1, largest // known) if s < 0 else s for s in shape), dtype)

    def _count_chosen(self) -> bool:
        """Numbers that hang on the model, chosen by a mask that does not: the count is known."""
        if len(self.states) < 2 or self.states[1].array.value is None or self.runtime.evaluate is None:
            return False
        x, mask = (state.array for state in self.states[:2])
        whole = prod(max(sizes) for sizes in zip_longest(reversed(x.shape), reversed(mask.shape), fillvalue=1))
        assert mask.value is not None
        drawn = Drawn(mask.value, _chosen) if is_random(mask.value) else mask.value
        chosen = _chosen(self.runtime.evaluate(drawn))
        self.shapes[self.template.returned] = ((chosen * whole // max(mask.numel, 1),), x.dtype)
        return True

    def _count_rows(self, count: Callable[[Any], int]) -> bool:
        """Rows that hang on the model, as many as `count` makes of a second operand that does not."""
        value = self.states[1].array.value if len(self.states) > 1 else None
        if value is None or self.runtime.evaluate is None:
            return False
        rows = count(self.runtime.evaluate(Drawn(value, count) if is_random(value) else value))
        for slot, (shape, dtype) in self.template.metas.items():
            if any(size < 0 for size in shape):
                self.shapes[slot] = tuple(rows if size < 0 else size for size in shape), dtype
        return True

    def _run(self, step: Step) -> None:
        operation = self.ledger.begin(step.name)
        if step.name not in STRIDES_KEPT and step.name not in VIEWS:
            self._lay_out(step, range(len(step.operands)))
        elif step.name in INDEX_LAID_OUT and not self.runtime.reads_by_brackets:
            self._lay_out(step, (1,))
        operands = [gather(operand, self.environment) for operand in step.operands]
        if step.gradient is not None and step.inplace:
            self._keep_overwritten(step, step.gradient)
        results: list[list[Array]] = []
        for index, operand in enumerate(step.results):
            made = []
            for position, slot in enumerate(slots_of(operand)):
                array = forward_array(step, index, position, operands)
                if array is None:
                    array = self._result(step, index, slot, operands)
                self.environment[slot] = array
                made.append(array)
            results.append(made)
        costs.account(operation, step, operands, results)
        if step.gradient is not None:
            self._record(step, step.gradient)
        self.ledger.finish(operation)

    def _lay_out(self, step: Step, places: Iterable[int]) -> None:
        overwritten = step.inplace.values()
        for index in places:
            if index in overwritten:
                continue
            for slot in slots_of(step.operands[index]):
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

    def _result(self, step: Step, index: int, slot: int, operands: list[list[Array]]) -> Array:
        shape, dtype = forward_meta(step, index, operands, self.shapes, slot) or self.template.metas[slot]
        overwritten = step.inplace.get(index)
        if overwritten is not None and operands[overwritten]:
            source = operands[overwritten][0]
            if (shape, dtype) == (source.shape, source.dtype):
                return source
            if dtype == source.dtype:
                return view_of(step.name.rstrip("_"), source, (shape, dtype), step.attrs) or source
        if operands and operands[0] and step.name in VIEWS:
            view = view_of(step.name, operands[0][0], (shape, dtype), step.attrs)
            if view is not None:
                return view
        more = surplus(step, index, operands)
        return allocate(self.ledger, tuple(max(size, 0) for size in shape), dtype, step.name, more)

    def _record(self, step: Step, gradient: Gradient) -> None:
        """Leave a node in the graph: what its gradient kernels read, and where its gradients go."""
        saved, shapes = {}, {}
        for slot in needed_slots(gradient):
            array = self.environment.get(slot)
            if array is None or slot in gradient.incoming.values():
                continue
            if slot in gradient.saved:
                saved[slot] = array
            else:
                shapes[slot] = Array(None, array.shape, array.strides, array.dtype)
        saved = hooks.pack(saved, self.tensors)
        node = Node(gradient, saved, shapes, self.ledger.layer)
        for slot in gradient.outgoing:
            if slot in self.nodes:
                node.edges[slot] = self.nodes[slot]
            elif slot < self.template.arguments:
                node.edges[slot] = edge_of(self.states[slot], self.tensors[slot])
        for index, operand in enumerate(step.results):
            for slot in slots_of(operand):
                if index in step.inplace and not gradient.reads(gradient.incoming.get(slot)):
                    continue  # a statistic that is brought up to date beside the result: batch_norm's running mean
                if self.template.metas[slot][1] in FLOATING:
                    self.nodes[slot] = (node, slot)

    def _wrap(self, structure: Any, values: Value | None, path: tuple[int, ...]) -> Any:
        if isinstance(structure, (list, tuple)):
            return type(structure)(self._wrap(item, values, (*path, i)) for i, item in enumerate(structure))
        if structure is None:
            return None
        array = self.environment[structure]
        target = _overwritten(structure, self.template)
        value = None if values is None else (Part(values, path) if path else values)
        if target is None:
            if value is not None:
                array.value = value
            tensor = new_tensor(array, stop_gradient=structure not in self.nodes)
            state = known_state(tensor)
            assert state is not None
        else:
            tensor, state = self.tensors[target], self.states[target]
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


def gather(operand: Operand, environment: dict[int, Array]) -> list[Array]:
    """The arrays of an operand that are there."""
    return [environment[slot] for slot in slots_of(operand) if environment.get(slot) is not None]


def encode(node: Any, tensors: list[Any]) -> tuple[Any, Any]:
    """(the arguments with `Argument`s for tensors, which are collected; a hashable key)."""
    if type(node) in _PLAIN:
        return node, node
    if isinstance(node, _TENSOR):
        if len(tensors) == len(_ARGUMENTS):  # the samples of a large batch, put together by `paddle.stack`
            _ARGUMENTS.append(Argument(len(tensors)))
        tensors.append(node)
        return _ARGUMENTS[len(tensors) - 1], "T"
    if isinstance(node, (list, tuple)):
        pairs = [encode(item, tensors) for item in node]
        made = [pair[0] for pair in pairs]
        return (made if isinstance(node, list) else tuple(made)), tuple(pair[1] for pair in pairs)
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


def written_over(step: Step, gradient: Gradient) -> list[int]:
    """Slots that a result with a gradient of its own is written over, statistics not among them."""
    pairs = ((step.operands[operand], step.results[index]) for index, operand in step.inplace.items())
    return [
        source
        for source, result in pairs
        if isinstance(source, int) and isinstance(result, int) and gradient.reads(gradient.incoming.get(result))
    ]


def _elements(result: Any) -> int:
    """Elements of all results of an operator."""
    if isinstance(result, (list, tuple)):
        return sum(map(_elements, result))
    return int(prod(result.shape)) if isinstance(result, _TENSOR) else 0


def _chosen(mask: Any) -> int:
    return int(ORIGINAL["numpy"](mask).sum())


def _segments(numbers: Any) -> int:
    """`segment_pool_kernel.cc`: the last number, for they ascend, and one."""
    return int(ORIGINAL["numpy"](numbers)[-1]) + 1


def _match(structure: Any, result: Any, found: dict[int, Meta]) -> None:
    if isinstance(structure, (list, tuple)):
        for part, value in zip(structure, result, strict=False):
            _match(part, value, found)
    elif structure is not None:
        found[structure] = (tuple(result.shape), name_of(result.dtype))


def _overwritten(slot: int, template: Template) -> int | None:
    """The argument whose tensor object a returned slot is, for an operator that works in place."""
    if slot < template.arguments:
        return slot
    for step in template.steps:
        for index, operand in step.inplace.items():
            if step.results[index] == slot:
                source = step.operands[operand]
                if isinstance(source, int) and source < template.arguments:
                    return source
    return None
