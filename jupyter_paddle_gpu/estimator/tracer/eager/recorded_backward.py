"""Gradients of gradients: a backward pass that leaves a graph of its own (`paddle.grad(..., create_graph=True)`).

Gradients are tensors here, and every gradient operator leaves a node whose gradient Paddle's program builder knows
(tanh_grad's is tanh_double_grad; some are composed of several operators). Sums of gradients are operators as well.
"""

from __future__ import annotations

from typing import Any

from ..kernels.rules import Further
from ..memory.arrays import Array, known_state, new_tensor
from ..memory.operators import call
from ..program.templates import Gradient, GradStep, slots_of
from . import composites
from .autograd import Accumulation, Edge, Node, Turns, edge_of, leading
from .backward_kernels import run_gradient
from .saved_tensors import unpacked
from .tensors import Tensors

Places = dict[int, "Edge | None"]


class RecordedBackward:
    """One backward pass that can be differentiated."""

    def __init__(self, runtime: Tensors, capture: list[Edge]) -> None:
        self._runtime = runtime
        self._capture = frozenset(capture)
        self.captured: dict[Edge, Any] = {}
        self._buffers: dict[Any, dict[int, Any]] = {}

    def run(self, roots: list[tuple[Any, Any, Array]]) -> None:
        """Propagate the given gradients of the given tensors to the captured ones."""
        starts: list[Any] = []
        for state, tensor, grad in roots:
            target, slot = edge_of(state, tensor)
            self._add(target, slot, new_tensor(grad))
            if target not in starts:
                starts.append(target)
        roots.clear()  # until Python 3.10, a caller holds what it hands over
        kept = leading(starts, self._capture)
        turns = Turns(starts, lambda node: kept.get(node, {}))
        for node in turns:
            buffers = self._buffers.pop(node, {})
            self.captured.update({(node, s): grad for s, grad in buffers.items() if (node, s) in self._capture})
            edges = kept.get(node, {})
            if not edges or isinstance(node, Accumulation):
                continue
            results = self._differentiate(node, buffers, frozenset(edges))
            for operand, (target, slot) in edges.items():
                grad = results.pop(operand, None)
                if grad is not None:
                    self._add(target, slot, grad)
                    del grad
                turns.arrived(target)
            del buffers

    def _add(self, target: Any, slot: int, grad: Any) -> None:
        buffers = self._buffers.setdefault(target, {})
        # the new one first, as grad_tensor_holder.cc has it
        buffers[slot] = grad if slot not in buffers else call("add", grad, buffers[slot])

    def _differentiate(self, node: Any, incoming: dict[int, Any], wanted: frozenset[int]) -> dict[int, Any]:
        """The gradients of a node's operands, as tensors that know where they come from."""
        if not isinstance(node, Node):  # a PyLayer: its backward is taken as it is
            arrays = {slot: self._runtime.state(grad).array for slot, grad in incoming.items()}
            return {o: new_tensor(a) for o, a in node.backward(self._runtime, arrays, False, wanted).items()}
        gradient = node.gradient.only(wanted)
        environment: dict[int, Array | None] = {**node.shapes, **unpacked(self._runtime, node.saved, node.versions)}
        places: Places = {slot: (node, slot) for slot in gradient.incoming} | dict(node.edges)
        for result, slot in gradient.incoming.items():
            grad = incoming.get(result)
            state = None if grad is None else known_state(grad)
            environment[slot] = None if state is None else state.array
            places[slot] = None if grad is None else _place(grad)
        held = list(environment.values())  # with a graph of its own, no gradient is written over
        for index, step in enumerate(gradient.steps):
            composite = step.rule.composed or step.rule.recorded
            if composite is not None:
                for slot, tensor in composites.run(
                    composite, step, environment, lambda s, array: _tensor(array, places.get(s))
                ):
                    places[slot] = _place(tensor)
                continue
            run_gradient(self._runtime.ledger, step, environment, gradient, node.layer)
            self._record(gradient, index, wanted, (step, environment, places), node.layer)
        del held
        made = {}
        for operand, slot in gradient.outgoing.items():
            array = environment.get(slot)
            if array is not None:
                made[operand] = _tensor(array, places.get(slot))
        return made

    def _record(
        self,
        gradient: Gradient,
        index: int,
        wanted: frozenset[int],
        ran: tuple[GradStep, dict[int, Array | None], Places],
        layer: str,
    ) -> None:
        """Leave a node for one gradient operator that ran."""
        step, environment, places = ran
        found = composites.second(step, gradient) or self._runtime.inference.deeper(gradient, index, wanted)
        if found is None:
            self._end(step)
            return
        if not any(places.get(slot) for operand in step.operands for slot in slots_of(operand)):
            return  # ComputeRequireGrad: an operand without a gradient of its own counts, an addition's other side
        edges = {slot: place for slot in found.outgoing if (place := places.get(slot)) is not None}
        deeper = found.only(frozenset(edges))
        read = {slot for one in deeper.steps for operand in one.operands for slot in slots_of(operand)}
        saved, shapes = {}, {}
        for slot in read:
            array = environment.get(slot)
            if array is None or slot in deeper.incoming.values():
                continue
            if slot in deeper.saved:
                saved[slot] = array
            else:
                shapes[slot] = Array(None, array.shape, array.strides, array.dtype)
        node = Node(deeper, saved, shapes, layer)
        node.edges = edges
        for operand in step.results:
            for slot in slots_of(operand):
                places[slot] = (node, slot)

    def _end(self, step: GradStep) -> None:
        """A gradient operator whose gradient is not known.

        Raises:
            RuntimeError: Paddle has none, in its words; it refuses a graph through such an operator at once.
        """
        is_first = step.name.endswith("_grad") and not step.name.endswith(
            ("_double_grad", "_triple_grad", "_grad_grad")
        )
        further = step.rule.further
        if further is Further.REFUSED or (is_first and further is not Further.NOT_FOLLOWED):
            message = (
                f"(Unavailable) The Op {step.name} doesn't have any grad op. If you don't intend calculating higher "
                "order derivatives, please set `create_graph`to False."
            )
            raise self._runtime.refused(RuntimeError(message))
        if step.name.endswith("_grad"):
            self._runtime.note("create_graph")


def _place(tensor: Any) -> Edge | None:
    state = known_state(tensor)
    return None if state is None or state.node is None else (state.node, state.slot)


def _tensor(array: Array, place: Edge | None) -> Any:
    tensor = new_tensor(array, stop_gradient=place is None)
    state = known_state(tensor)
    if place is not None and state is not None:
        if isinstance(place[0], Accumulation):
            state.accumulation = place[0]
        else:
            state.node, state.slot = place[0], place[1]
    return tensor
