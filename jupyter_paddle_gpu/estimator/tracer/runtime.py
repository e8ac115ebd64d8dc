"""The traced runtime: what eager mode does with an operator call, without data."""

from __future__ import annotations

import sys
from collections.abc import Callable
from math import prod
from typing import Any

from paddle.base import core, framework

from . import costs
from .arrays import Array, Shape, State, adopt, allocate, known_state, new_tensor
from .autograd import Backward, Node, edge_of, needed_slots
from .dtypes import FLOATING, SIZE, name_of
from .inference import Argument, Inference
from .ledger import Ledger
from .exceptions import CONTIGUOUS_FIRST, ONLY_WANTED, forward_array, forward_meta, gradient_meta
from .templates import Gradient, GradStep, Meta, Operand, Step, Template, slots_of
from .values import Computed, Part, Value
from .views import RULES as VIEWS
from .views import view_of

_TENSOR = core.eager.Tensor
_ARGUMENTS = [Argument(i) for i in range(4096)]
_PLACE = core.Place
_SHARED = 4
"""References to an array while its gradient kernel runs: the caller's two tables, a local name, `getrefcount` itself."""


class Runtime:
    """Executes operator calls of the user's program on arrays that have storages and no data."""

    def __init__(self, inference: Inference) -> None:
        self.ledger = Ledger()
        self.inference = inference
        self.notes: dict[str, dict[str, Any]] = {}
        self.before_call: Callable[[str, list[Any]], None] | None = None
        """Called with each operator's name and tensors before it runs."""
        self.evaluate: Callable[[Value], Any] | None = None
        """Computes a known value for real, outside the trace."""
        self.convert: Callable[[str, Any, Any], tuple[Any, Any]] | None = None
        """Mixed precision: casts the arguments of an operator."""

    # -- tensors ---------------------------------------------------------------------------------------------------

    def state(self, tensor: Any) -> State:
        """What we know about a tensor; one that we never saw is adopted."""
        return known_state(tensor) or adopt(tensor, self.ledger)

    def create(self, name: str, shape: Shape, dtype: str, value: Value | None = None, kind: str | None = None) -> Any:
        """A fresh tensor, made by an operation of its own."""
        operation = self.ledger.begin(name)
        with self.ledger.allocating(kind or self.ledger.kind):
            array = allocate(self.ledger, shape, dtype, name)
        array.value = value
        operation.bytes_moved = array.nbytes
        self.ledger.finish(operation)
        return new_tensor(array)

    def note(self, code: str, **params: Any) -> None:
        """Remember something assumed or ignored, once a code."""
        self.notes.setdefault(code, params)

    # -- forward ---------------------------------------------------------------------------------------------------

    def call(self, name: str, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """One operator call."""
        if self.convert is not None:
            args, kwargs = self.convert(name, args, kwargs)
        tensors: list[Any] = []
        encoded, key = _encode(args, tensors)
        encoded_kwargs, kwargs_key = _encode(kwargs, tensors) if kwargs else ({}, ())
        if self.before_call is not None:
            self.before_call(name, tensors)
        states = [self.state(tensor) for tensor in tensors]
        metas = [(state.array.shape, state.array.dtype) for state in states]
        recording = framework.global_var._dygraph_tracer_._has_grad
        wants = [
            recording and not tensor.stop_gradient and state.array.dtype in FLOATING
            for tensor, state in zip(tensors, states)
        ]
        signature = (name, key, kwargs_key, tuple(metas), tuple(wants))
        try:
            template = self.inference.template(signature, function, encoded, encoded_kwargs, metas, wants)
        except TypeError:
            plain = self._plain_numbers(args, states, tensors)
            if plain is None:
                raise
            return self.call(name, function, plain, kwargs)
        slots = [state.array for state in states]
        nodes: dict[int, tuple[Node, int]] = {}
        environment: dict[int, Array] = dict(enumerate(slots))
        values = None
        if not any(wants) and all(array.value is not None for array in slots):
            values = Computed(function, _values(encoded, slots), _values(encoded_kwargs, slots))
        del slots
        shapes = self._dynamic_shapes(name, template, metas, values) if template.is_dynamic else {}
        for step in template.steps:
            self._run(step, template, environment, nodes, states, tensors, shapes)
        return self._wrap(template.returned, template, environment, nodes, tensors, states, values, ())

    def _plain_numbers(self, args: Any, states: list[State], tensors: list[Any]) -> Any:
        """The arguments with known one-element tensors as numbers: eager mode takes them for scalars, the builder not."""
        known = {
            id(tensor): state.array.value
            for tensor, state in zip(tensors[1:], states[1:])
            if state.array.value is not None and state.array.numel == 1
        }
        if not known or self.evaluate is None:
            return None
        evaluate = self.evaluate
        return tuple(evaluate(known[id(arg)]).item() if id(arg) in known else arg for arg in args)

    def _dynamic_shapes(
        self, name: str, template: Template, metas: list[Meta], values: Value | None
    ) -> dict[int, Meta]:
        """Shapes that hang on values: computed where those are known, else the largest they can be."""
        found: dict[int, Meta] = {}
        if values is not None and self.evaluate is not None:
            _match(template.returned, self.evaluate(values), found)
            return found
        self.note("unknown_shape", op=name)
        largest = max((prod(shape) for shape, _ in metas), default=1)
        for slot, (shape, dtype) in template.metas.items():
            if any(size < 0 for size in shape):
                known = prod(size for size in shape if size > 0)
                found[slot] = (tuple(max(1, largest // known) if size < 0 else size for size in shape), dtype)
        return found

    def _run(
        self,
        step: Step,
        template: Template,
        environment: dict[int, Array],
        nodes: dict[int, tuple[Node, int]],
        states: list[State],
        tensors: list[Any],
        shapes: dict[int, Meta],
    ) -> None:
        operation = self.ledger.begin(step.name)
        if step.name in CONTIGUOUS_FIRST:
            self._lay_out(step, environment)
        operands = [_gather(operand, environment) for operand in step.operands]
        results: list[list[Array]] = []
        for index, operand in enumerate(step.results):
            made = []
            for position, slot in enumerate(slots_of(operand)):
                array = forward_array(step, index, position, operands)
                if array is None:
                    array = self._result(step, index, slot, template, operands, shapes)
                environment[slot] = array
                made.append(array)
            results.append(made)
        self._account(operation, step.name, step.attrs, operands, results)
        gradient = step.gradient
        if gradient is not None:
            node = self._node(gradient, step, environment, template)
            for slot in gradient.outgoing:
                if slot in nodes:
                    node.edges[slot] = nodes[slot]
                elif slot < template.arguments:
                    node.edges[slot] = edge_of(states[slot], tensors[slot])
            for operand in step.results:
                for slot in slots_of(operand):
                    if template.metas[slot][1] in FLOATING:
                        nodes[slot] = (node, slot)
        self.ledger.finish(operation)

    def _lay_out(self, step: Step, environment: dict[int, Array]) -> None:
        for operand in step.operands:
            for slot in slots_of(operand):
                array = environment.get(slot)
                if array is not None and array.storage is not None and not array.is_contiguous:
                    environment[slot] = allocate(self.ledger, array.shape, array.dtype, "contiguous")

    def _result(
        self,
        step: Step,
        index: int,
        slot: int,
        template: Template,
        operands: list[list[Array]],
        shapes: dict[int, Meta],
    ) -> Array:
        shape, dtype = forward_meta(step, index, operands, shapes, slot) or template.metas[slot]
        overwritten = step.inplace.get(index)
        if overwritten is not None and operands[overwritten]:
            source = operands[overwritten][0]
            if shape == source.shape:
                return source
            return view_of(step.name.rstrip("_"), source, shape, step.attrs) or source
        if operands and operands[0] and step.name in VIEWS:
            view = view_of(step.name, operands[0][0], shape, step.attrs)
            if view is not None:
                return view
        return allocate(self.ledger, tuple(max(size, 0) for size in shape), dtype, step.name)

    def _node(self, gradient: Gradient, step: Step, environment: dict[int, Array], template: Template) -> Node:
        saved, shapes = {}, {}
        for slot in needed_slots(gradient):
            array = environment.get(slot)
            if array is None or slot in gradient.incoming.values():
                continue
            if slot in gradient.saved:
                saved[slot] = array
            else:
                shapes[slot] = Array(None, array.shape, array.strides, array.dtype)
        return Node(gradient, saved, shapes, self.ledger.layer)

    def _wrap(
        self,
        structure: Any,
        template: Template,
        environment: dict[int, Array],
        nodes: dict[int, tuple[Node, int]],
        tensors: list[Any],
        states: list[State],
        values: Value | None,
        path: tuple[int, ...],
    ) -> Any:
        if isinstance(structure, (list, tuple)):
            items = [
                self._wrap(item, template, environment, nodes, tensors, states, values, (*path, i))
                for i, item in enumerate(structure)
            ]
            return type(structure)(items)
        if structure is None:
            return None
        array = environment[structure]
        target = _overwritten(structure, template)
        value = None if values is None else (Part(values, path) if path else values)
        if target is None:
            if value is not None:
                array.value = value
            tensor = new_tensor(array, stop_gradient=structure not in nodes)
            state = known_state(tensor)
            assert state is not None
        else:
            tensor, state = tensors[target], states[target]
            array.value = value
            if array.shape != state.array.shape:
                tensor.get_tensor()._set_dims(list(array.shape))
            state.array = array
        if structure in nodes:
            state.node, state.slot = nodes[structure]
            if tensor.stop_gradient:
                tensor.stop_gradient = False
        return tensor

    # -- backward --------------------------------------------------------------------------------------------------

    def backward(self, tensors: list[Any], grads: list[Any], retain_graph: bool) -> None:
        """`tensor.backward()`, `paddle.autograd.backward`."""
        with self.ledger.during("backward"):
            Backward(self, retain_graph=retain_graph).run(self.roots(tensors, grads))

    def roots(self, tensors: list[Any], grads: list[Any]) -> list[tuple[State, Any, Array]]:
        """(state, tensor, gradient) for each tensor that a backward pass starts from; ones where none is given."""
        roots = []
        for tensor, grad in zip(tensors, grads or [None] * len(tensors)):
            state = self.state(tensor)
            if state.node is None and tensor.stop_gradient:
                continue
            roots.append((state, tensor, self._ones_like(state.array)))  # a given gradient is copied first
        return roots

    def _ones_like(self, like: Array) -> Array:
        operation = self.ledger.begin("full_like")
        array = allocate(self.ledger, like.shape, like.dtype, "full_like")
        self.ledger.finish(operation)
        return array

    def run_gradient(
        self, step: GradStep, environment: dict[int, Array | None], gradient: Gradient, node: Node
    ) -> None:
        """One gradient kernel: reads `environment`, adds its results to it."""
        outer, self.ledger.layer = self.ledger.layer, node.layer
        operation = self.ledger.begin(step.name)
        for operand in step.operands:
            for slot in slots_of(operand):
                if environment.get(slot) is None and slot in gradient.metas:  # FillZeroForEmptyGradInput
                    shape, dtype = gradient.metas[slot]
                    environment[slot] = allocate(self.ledger, shape, dtype, "full")
        operands = [_gather(operand, environment) for operand in step.operands]  # type: ignore[arg-type]
        results: list[list[Array]] = []
        for index, operand in enumerate(step.results):
            made = []
            for slot in slots_of(operand):
                if step.name in ONLY_WANTED and slot not in gradient.outgoing.values():
                    continue
                array = self._gradient_result(step, index, slot, gradient, environment, operands)
                environment[slot] = array
                made.append(array)
            results.append(made)
        self._account(operation, step.name, step.attrs, operands, results)
        del operands, results
        self.ledger.finish(operation)
        self.ledger.layer = outer

    def _gradient_result(
        self,
        step: GradStep,
        index: int,
        slot: int,
        gradient: Gradient,
        environment: dict[int, Array | None],
        operands: list[list[Array]],
    ) -> Array:
        shape, dtype = gradient_meta(step, index, operands, gradient.metas[slot])
        if step.name in VIEWS and "out_grad" in step.operand_names:
            source = environment[step.operands[step.operand_names.index("out_grad")]]  # type: ignore[index]
            view = None if source is None else view_of(step.name, source, shape, step.attrs)
            if view is not None:
                return view
        overwritten = step.inplace.get(index)
        if overwritten is not None:
            held = environment.get(step.operands[overwritten])  # type: ignore[arg-type]
            if (
                held is not None
                and held.is_contiguous
                and held.fills_storage
                and prod(shape) * SIZE[dtype] == held.nbytes
                and sys.getrefcount(held) <= _SHARED + 1
            ):
                return held if held.shape == shape else held.view(shape, _contiguous(shape))
        made = allocate(self.ledger, shape, dtype, step.name)
        made.sparse = gradient.metas[slot][0][0] if step.attrs.get("sparse") else 0
        return made

    def add_gradient(self, present: Array, grad: Array) -> Array:
        """TensorAdd: `present += grad` in place."""
        operation = self.ledger.begin("add_")
        operation.flops = present.numel
        operation.bytes_moved = 3 * present.nbytes
        self.ledger.finish(operation)
        return present

    # -- accounting ------------------------------------------------------------------------------------------------

    def _account(
        self, operation: Any, name: str, attrs: dict[str, Any], operands: list[list[Array]], results: list[list[Array]]
    ) -> None:
        copies = 0
        if name not in VIEWS:
            for group in operands:
                for array in group:
                    if array.storage is not None and not array.is_contiguous:
                        copies += array.nbytes
        costs.account(operation, name, attrs, operands, results, copies)


def _contiguous(shape: Shape) -> Shape:
    from .arrays import contiguous_strides

    return contiguous_strides(shape)


def _match(structure: Any, result: Any, found: dict[int, Meta]) -> None:
    if isinstance(structure, (list, tuple)):
        for part, value in zip(structure, result):
            _match(part, value, found)
    elif structure is not None:
        found[structure] = (tuple(result.shape), name_of(result.dtype))


def _gather(operand: Operand, environment: dict[int, Array]) -> list[Array]:
    return [environment[slot] for slot in slots_of(operand) if environment.get(slot) is not None]


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


def _encode(node: Any, tensors: list[Any]) -> tuple[Any, Any]:
    """(the arguments with `Argument`s for tensors, a hashable key)."""
    if isinstance(node, _TENSOR):
        tensors.append(node)
        return _ARGUMENTS[len(tensors) - 1], "T"
    if isinstance(node, (list, tuple)):
        pairs = [_encode(item, tensors) for item in node]
        made = [pair[0] for pair in pairs]
        return (made if isinstance(node, list) else tuple(made)), tuple(pair[1] for pair in pairs)
    if isinstance(node, dict):
        encoded = {name: _encode(item, tensors) for name, item in node.items()}
        return {k: v[0] for k, v in encoded.items()}, tuple((k, v[1]) for k, v in encoded.items())
    if isinstance(node, _PLACE):
        return node, "place"
    if isinstance(node, (core.CPUPlace, core.CUDAPlace)):
        return node, "place"
    return node, node


def _values(node: Any, slots: list[Array]) -> Any:
    if isinstance(node, Argument):
        return slots[node.index].value
    if isinstance(node, (list, tuple)):
        return type(node)(_values(item, slots) for item in node)
    if isinstance(node, dict):
        return {key: _values(item, slots) for key, item in node.items()}
    return node


__all__ = ["Runtime", "name_of"]
