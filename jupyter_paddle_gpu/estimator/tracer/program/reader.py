"""Reads what Paddle's program builder made of one operator call: steps over slots, and their gradient operators.

Introspection that crashes on foreign operations (`is_no_need_buffer`, `get_op_inplace_info` on `builtin.*` or on absent
operands) is guarded here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import paddle
from paddle.base import core
from paddle.base.libpaddle import pir

from ..kernels.registry import rule_of
from ..kernels.rules import Meta
from ..memory.dtypes import FLOATING, name_of
from .gradient_kernels import awaited, inplace_twin, without_absent
from .templates import Gradient, GradStep, Operand, Step, slots_of

_INHERITED = ("sparse", "equation", "axes", "starts", "ends", "steps", "decrease_axes")
"""Attributes of an operator that rules of its gradient ask for."""


def _bare(operation: Any) -> tuple[str, str]:
    dialect, _, name = operation.name().partition(".")
    return dialect, name


class Declared:
    """What an operator's declaration says of each of its operations. Paddle reads it anew whenever it is asked."""

    def __init__(self) -> None:
        self._names: dict[str, tuple[str, ...]] = {}
        self._inplace: dict[tuple[str, int], dict[int, int]] = {}

    def names(self, operation: Any) -> tuple[str, ...]:
        """Of its operands."""
        kind = operation.name()
        found = self._names.get(kind)
        if found is None:
            found = self._names[kind] = tuple(operation.get_input_names())
        return found

    def of(self, operation: Any) -> tuple[tuple[str, ...], dict[int, int]]:
        """(names of its operands, {result: operand that it is written over})."""
        kind = operation.name(), operation.num_results()
        if kind not in self._inplace:
            self._inplace[kind] = dict(pir.get_op_inplace_info(operation))
        return self.names(operation), self._inplace[kind]


class Reader:
    """Reads the operations of one call into steps."""

    def __init__(self, values: list[Any], returned: Any, declared: Declared) -> None:
        """`declared` goes on from one call to the next."""
        self._declared = declared
        self.metas: dict[int, Meta] = {}
        self.steps: list[Step] = []
        self._slots: dict[Any, Operand] = {}
        self._constants: dict[int, Any] = {}
        self._operations: list[Any] = []
        self.gradient_operations: list[Any] = []
        """Operations of the last gradient, beside its steps."""
        self._returned = {value.id for value in _values_in(returned)}
        for value in values:
            self._slots[value.id] = self._slot(value)

    def _slot(self, value: Any) -> int:
        slot = len(self.metas)
        self.metas[slot] = _meta(value)
        return slot

    def read(self, operation: Any) -> None:
        """Add one operation of the forward call."""
        dialect, name = _bare(operation)
        operands = [operation.operand_source(i) for i in range(operation.num_operands())]
        if dialect == "builtin":
            self._regroup(name, operation, operands)
            return
        results = operation.results()
        if rule_of(name).is_constant and results[0].id not in self._returned:
            self._constants[results[0].id] = operation.attrs().get("value")
            self._slots[results[0].id] = None
            return
        names, inplace = self._declared.of(operation)
        attrs = _attrs(operation)
        for operand_name, value in zip(names, operands, strict=False):
            if value is not None and value.initialized() and value.id in self._constants:
                attrs[operand_name] = self._constants[value.id]
        self.steps.append(
            Step(
                name,
                tuple(self._operand(value) for value in operands),
                names,
                tuple(self._result(value) for value in results),
                attrs,
                inplace,
            )
        )
        self._operations.append(operation)

    def _regroup(self, name: str, operation: Any, operands: list[Any]) -> None:
        """`builtin.combine`, `builtin.split` and `builtin.slice` only regroup values."""
        results = operation.results()
        if name == "combine":
            self._slots[results[0].id] = tuple(slot for v in operands for slot in slots_of(self._operand(v)))
        elif name == "split":
            for value, slot in zip(results, slots_of(self._operand(operands[0])), strict=False):
                self._slots[value.id] = slot
        elif name == "slice":
            self._slots[results[0].id] = slots_of(self._operand(operands[0]))[operation.attrs()["index"]]

    def _operand(self, value: Any) -> Operand:
        if value is None or not value.initialized():
            return None
        return self._slots.get(value.id)

    def _result(self, value: Any) -> Operand:
        if not value.initialized():
            return None
        if value.is_dense_tensor_type() or value.is_selected_row_type():
            slot: Operand = self._slot(value)
        elif value.is_combine():
            slots = []
            for kind in value.type().as_vec_type().as_list():
                slots.append(len(self.metas))
                self.metas[slots[-1]] = (_sizes(kind.shape), name_of(kind.dtype))
            slot = tuple(slots)
        else:
            return None
        self._slots[value.id] = slot
        return slot

    def structure(self, returned: Any) -> Any:
        """The call's result with slots in place of values."""
        if isinstance(returned, (list, tuple)):
            return type(returned)(self.structure(item) for item in returned)
        if isinstance(returned, pir.Value):
            return self._slots.get(returned.id) if returned.initialized() else None
        return None

    def differentiable(self, wants: list[bool]) -> list[tuple[Step, Any]]:
        """Steps that a gradient flows through."""
        flowing = {slot for slot, want in enumerate(wants) if want}
        found = []
        for step, operation in zip(self.steps, self._operations, strict=False):
            if not core.has_vjp(operation):
                continue
            semantics = operation.get_input_grad_semantics()  # expand_as: no gradient for the one it is expanded to
            operands = (operand for operand, semantic in zip(step.operands, semantics, strict=False) if semantic)
            if not flowing.intersection(slot for operand in operands for slot in slots_of(operand)):
                continue
            for operand in step.results:
                flowing.update(slot for slot in slots_of(operand) if self.metas[slot][1] in FLOATING)
            found.append((step, operation))
        self._flowing = flowing
        return found

    def differentiate(
        self, step: Step | GradStep, operation: Any, block: Any, placeholder: Callable[..., Any]
    ) -> Gradient | None:
        """Append the operation's gradient operators to the block and read them.

        A gradient operator may be differentiated as well; of its results only those that the step has are used.
        """
        if isinstance(step, GradStep):
            if not core.has_vjp(operation):
                return None
            self._flowing = {s for o in step.operands for s in slots_of(o) if self.metas[s][1] in FLOATING}
        inputs, stops = [], []
        for index, semantic in enumerate(operation.get_input_grad_semantics()):
            value = operation.operand_source(index)
            members = _members(value)
            inputs.append([m if m is not None and m.initialized() else paddle.pir.fake_value() for m in members])
            if semantic:
                stops.append([not (set(slots_of(self._operand(m))) & self._flowing) for m in members])
        outputs, grads, incoming = self._incoming(step, operation, placeholder)
        first = block.num_ops()
        found = core.call_vjp(operation, inputs, outputs, grads, stops)
        outgoing_values = [value for group in found for value in group]
        targets = [m for i, s in enumerate(operation.get_input_grad_semantics()) if s for m in inputs[i]]
        steps = self._gradient_steps(block.ops[first:])
        for grad_step in steps:
            grad_step.attrs.update({k: step.attrs[k] for k in _INHERITED if step.attrs.get(k)})
        outgoing = {}
        for target, value in zip(targets, outgoing_values, strict=False):
            if value is not None and value.initialized():
                slot = self._operand(value)
                if isinstance(slot, int):
                    outgoing[slots_of(self._operand(target))[0]] = slot
        if not outgoing:
            return None
        forward = {slot for operand in (*step.operands, *step.results) for slot in slots_of(operand)}
        saved = {
            slot
            for grad_step in steps
            for operand, needed in zip(grad_step.operands, grad_step.needed, strict=False)
            if needed
            for slot in slots_of(operand)
            if slot in forward
        }
        steps = [without_absent(one) for one in steps]
        outgoing = awaited(steps, incoming, outgoing)
        beside, gives_all = dict(self._beside(inputs, outgoing, steps)), step.rule.gives_all
        if gives_all:
            steps = [one if any(one.gives) else replace(one, results=(self._like(incoming),)) for one in steps]
        return Gradient(steps, incoming, outgoing, frozenset(saved), self.metas, beside=beside, gives_all=gives_all)

    def _like(self, incoming: dict[int, int]) -> int:
        """The slot of a gradient that the builder leaves out, as it is wanted by nobody: it is as the one that comes
        in."""
        slot = len(self.metas)
        self.metas[slot] = self.metas[next(iter(incoming.values()))]
        return slot

    def _beside(
        self, inputs: list[list[Any]], outgoing: dict[int, int], steps: list[GradStep]
    ) -> Iterator[tuple[int, int]]:
        """(slot of a list's member to which no gradient flows, slot of the one that is made for it)."""
        lists = {slots for step in steps for slots in step.gives if len(slots) > 1}
        for members in inputs:
            slots = [slot for member in members for slot in slots_of(self._operand(member))]
            made = {outgoing[slot] for slot in slots if slot in outgoing}
            found = next((one for one in lists if len(one) == len(slots) and not made.isdisjoint(one)), ())
            yield from ((slot, gradient) for slot, gradient in zip(slots, found, strict=False) if slot not in outgoing)

    def _incoming(
        self, step: Step | GradStep, operation: Any, placeholder: Callable[..., Any]
    ) -> tuple[list[list[Any]], list[list[Any]], dict[int, int]]:
        """(results, their gradients, {slot of a result: slot of its gradient}) of an operation."""
        present = {slot for operand in step.results for slot in slots_of(operand)}
        outputs: list[list[Any]] = []
        grads: list[list[Any]] = []
        incoming: dict[int, int] = {}
        for value in operation.results():
            is_list = value.initialized() and value.is_combine()
            members = _split_results(value) if is_list else [value]
            listed = slots_of(self._operand(value)) if is_list else ()
            outputs.append(members)
            grads.append([])
            for place, member in enumerate(members):
                slots = slots_of(self._operand(member)) or listed[place : place + 1]
                is_alone = len(members) == 1 or not slots  # one absent of a list is filled with zeros
                is_dropped = isinstance(step, GradStep) and is_alone and not present.intersection(slots)
                if not slots or is_dropped:
                    grads[-1].append(paddle.pir.fake_value())
                    continue
                grad = placeholder(*self.metas[slots[0]], False)
                grads[-1].append(grad)
                incoming[slots[0]] = self._slots[grad.id] = self._slot(grad)
        return outputs, grads, incoming

    def _gradient_steps(self, operations: list[Any]) -> list[GradStep]:
        self.gradient_operations, steps = [], []
        for operation in operations:
            if self._is_work(operation):
                self.gradient_operations.append(operation)
                steps.append(self._grad_step(operation))
        return steps

    def _is_work(self, operation: Any) -> bool:
        """Regroup and constant operations are consumed here; the others become gradient steps."""
        dialect, name = _bare(operation)
        if dialect == "builtin":
            operands = [operation.operand_source(i) for i in range(operation.num_operands())]
            self._regroup(name, operation, operands)
            return False
        if rule_of(name).is_constant:
            self._slots[operation.results()[0].id] = None
            return False
        return True

    def _grad_step(self, operation: Any) -> GradStep:
        _, name = _bare(operation)
        operands = [operation.operand_source(i) for i in range(operation.num_operands())]
        names = self._declared.names(operation)
        slots = tuple(self._operand(value) for value in operands)
        needed = tuple(
            slot is not None and not operation.is_no_need_buffer(value)
            for slot, value in zip(slots, operands, strict=False)
        )
        results = tuple(self._result(value) for value in operation.results())
        return GradStep(name, slots, names, results, _attrs(operation), inplace_twin(name, names), needed=needed)


def _attrs(operation: Any) -> dict[str, Any]:
    attrs: dict[str, Any] = operation.attrs()
    attrs.pop("op_callstack", None)
    return attrs


def _values_in(node: Any) -> list[Any]:
    if isinstance(node, (list, tuple)):
        return [value for item in node for value in _values_in(item)]
    return [node] if isinstance(node, pir.Value) and node.initialized() else []


def _members(value: Any) -> list[Any]:
    if value is not None and value.initialized():
        source = value.get_defining_op()
        if source is not None and source.name() == "builtin.combine":
            return list(source.operands_source())
    return [value]


def _split_results(value: Any) -> list[Any]:
    for user in value.all_used_ops():
        if user.name() == "builtin.split":
            return list(user.results())
    return [value]


def _sizes(shape: Any) -> tuple[int, ...]:
    return tuple(map(int, shape))


def _meta(value: Any) -> Meta:
    return _sizes(value.shape), name_of(value.dtype)
