"""Eager mode's autograd graph and backward pass, with memory in place of numbers.

The order of nodes, the life of saved tensors and of gradient buffers follow egr::RunBackward and the generated gradient
functions (paddle/fluid/eager/backward.cc, grad_tensor_holder.cc, accumulation_node.cc of 3.3).
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Any, Union

from ..kernels.gpu_flags import fuses
from ..memory.arrays import Array, GraphNode, Hooked, State, new_tensor
from ..program.templates import Gradient
from . import composites
from .backward_kernels import run_gradient
from .compiled import Compiled, Group
from .refusals import external
from .saved_tensors import left, unpacked, versions
from .tensors import Tensors

Edge = tuple[Union[GraphNode, "Accumulation"], int]
"""Where a gradient goes: a node and the slot of the result it is the gradient of."""


class Accumulation:
    """The end of a path: a leaf that keeps its gradient. Does not keep the leaf alive."""

    __slots__ = ("leaf", "tensor")

    def __init__(self, state: State, tensor: Any) -> None:
        self.leaf = weakref.ref(state)
        self.tensor = weakref.ref(tensor)


class Node:
    """A step of the forward pass that a gradient flows through.

    `saved` holds what the gradient kernels read, `shapes` stand-ins for operands of which only the shape is used,
    `edges` maps each operand's slot to where its gradient goes, `leaves` are those of the saved operands: what wraps
    such a tensor shares its gradient (tensor_wrapper.h copies the `AutogradMeta`), which lives as long as the node.
    """

    __slots__ = (
        *("__weakref__", "edges", "gradient", "hooks", "is_released", "layer", "leaves", "retained", "saved"),
        *("shapes", "versions"),
    )

    def __init__(self, gradient: Gradient, saved: dict[int, Array], shapes: dict[int, Array], layer: str) -> None:
        self.gradient, self.saved, self.shapes, self.layer = gradient, saved, shapes, layer
        self.versions = versions(saved)
        self.edges: dict[int, Edge] = {}
        self.hooks: dict[int, dict[int, Any]] = {}
        self.retained: dict[int, weakref.ref[State]] = {}
        self.leaves: list[State] = []
        self.is_released = False

    def backward(
        self, runtime: Tensors, incoming: dict[int, Array], release: bool, asked: frozenset[int] | None = None
    ) -> dict[int, Array]:
        """Run the gradient kernels: {operand slot: gradient}.

        Args:
            runtime: where they run.
            incoming: gradients of the results, by slot.
            release: drops what was saved.
            asked: operands whose gradients are asked for; None: all.
        """
        if self.is_released:
            raise runtime.refused(SystemError(_TWICE.format(node=_name_of_node(self.gradient))))
        gradient = self.gradient if asked is None else self.gradient.only(asked)
        environment: dict[int, Array | None] = {**self.shapes, **unpacked(runtime, self.saved, self.versions)}
        for result, slot in gradient.incoming.items():
            environment[slot] = incoming.get(result)
        for step in gradient.steps:
            if step.rule.composed is not None:
                composites.run(step.rule.composed, step, environment, lambda slot, array: new_tensor(array))
            else:
                run_gradient(runtime.ledger, step, environment, gradient, self.layer)
        wanted = {}
        for operand, slot in gradient.outgoing.items():
            found = environment.get(slot)
            if found is not None:
                wanted[operand] = found
        if release:
            self.saved = left(self.saved)
            self.shapes, self.versions, self.leaves = {}, {}, []
            self.is_released = True
        return wanted


_TWICE = (
    "(Fatal) The TensorWrappers of {node} do not exist. This may be because: You calculate backward twice for the same "
    "subgraph without setting retain_graph=True. Please set retain_graph=True in the first backward/grad call."
)
"""What a generated node says whose tensors are gone."""


def _name_of_node(gradient: Gradient) -> str:
    name = gradient.steps[0].name if gradient.steps else ""
    words = (name if name.endswith("_grad") else f"{name}_grad").split("_")
    return "".join(word[:1].upper() + word[1:] for word in words) + "Node"


def edge_of(state: State, tensor: Any) -> Edge:
    """Where the gradient of a tensor goes."""
    if state.node is not None:
        return state.node, state.slot
    if state.accumulation is None:
        state.accumulation = Accumulation(state, tensor)
    return state.accumulation, 0


def in_degrees(roots: Iterable[Any], kept: Callable[[Any], dict[int, Edge]]) -> dict[Any, int]:
    """How many edges lead to each node, by the edges that `kept` gives for a node."""
    degrees: dict[Any, int] = {}
    queue, seen = deque(roots), set()
    while queue:
        node = queue.popleft()
        if node in seen or isinstance(node, Accumulation):
            continue
        seen.add(node)
        for target, _ in kept(node).values():
            degrees[target] = degrees.get(target, 0) + 1
            queue.append(target)
    return degrees


class Turns:
    """The order in which nodes run: each when all of its gradients have come, leaves first (backward.cc); those of a
    compiled layer together."""

    def __init__(
        self,
        starts: Iterable[Any],
        edges_of: Callable[[Any], dict[int, Edge]],
        groups: Mapping[int, Group] | None = None,
    ) -> None:
        self._degrees = in_degrees(starts, edges_of)
        self._ready = deque(start for start in starts if start not in self._degrees)
        self._groups, self._waiting = groups or {}, dict[Hashable, list[Any]]()
        self.has_waited = False
        """Whether gradients were kept together."""

    def __iter__(self) -> Iterator[Any]:
        while self._ready or self._waiting:
            while self._ready:
                yield self._ready.popleft()
            for waiting in self._waiting.values():  # to some of its parameters no gradient flows
                self._ready.extend(waiting)
            self._waiting.clear()

    def arrived(self, node: Any) -> None:
        """One of a node's gradients has come, or is not there."""
        self._degrees[node] -= 1
        if self._degrees[node]:
            return
        if not isinstance(node, Accumulation):
            self._ready.append(node)
        elif not self._groups or (group := self._groups.get(id(node.tensor()))) is None:
            self._ready.appendleft(node)
        else:
            self.has_waited, waiting = True, self._waiting.setdefault(group.key, [])
            waiting.append(node)
            if len(waiting) == group.size:
                self._ready.extendleft(reversed(self._waiting.pop(group.key)))


def leading(roots: Iterable[Any], capture: Iterable[Edge]) -> dict[Any, dict[int, Edge]]:
    """Nodes that lead to a captured gradient with the edges that do: `paddle.grad` runs no others."""
    into: dict[Any, list[tuple[Any, int, Edge]]] = {}
    queue, seen = deque(roots), set()
    while queue:
        node = queue.popleft()
        if node in seen or isinstance(node, Accumulation):
            continue
        seen.add(node)
        for operand, edge in node.edges.items():
            into.setdefault(edge[0], []).append((node, operand, edge))
            queue.append(edge[0])
    asked = set(capture)
    kept: dict[Any, dict[int, Edge]] = {}
    reached = deque({target for target, _ in asked})
    while reached:
        target = reached.popleft()
        for node, operand, edge in into.get(target, ()):
            if edge in asked or target in kept:
                if node not in kept:
                    reached.append(node)
                kept.setdefault(node, {})[operand] = edge
    return kept


class Backward:
    """One backward pass."""

    def __init__(
        self, runtime: Tensors, *, retain_graph: bool = False, capture: dict[Edge, None] | None = None
    ) -> None:
        self._runtime = runtime
        self._retain = retain_graph
        self._capture = capture
        self.captured: dict[Edge, Array] = {}
        self._buffers: dict[Any, dict[int, Array]] = {}

    def run(self, roots: list[tuple[State, Any, Array]]) -> None:
        """Propagate the given gradients of the given tensors."""
        starts: list[Any] = []
        for state, tensor, grad in roots:
            target, slot = edge_of(state, tensor)
            self._add(target, slot, grad)
            if target not in starts:
                starts.append(target)
            del grad  # the first kernel may write over it
        roots.clear()  # until Python 3.10, a caller holds what it hands over
        kept = None if self._capture is None else leading(starts, self._capture)

        def edges_of(node: Any) -> dict[int, Edge]:
            return node.edges if kept is None else kept.get(node, {})

        turns = Turns(starts, edges_of, self._runtime.of(Compiled).groups())
        for node in turns:
            buffers = self._buffers.pop(node, {})
            if isinstance(node, Accumulation):
                self._accumulate(node, buffers)
                continue
            made_by = self._hook(node, buffers)
            if self._capture is not None:
                self._collect(node, buffers)
            edges = edges_of(node)
            if kept is not None and not edges:
                continue
            wanted = None if kept is None else frozenset(edges)
            results = node.backward(self._runtime, buffers, not self._retain, wanted)
            del made_by
            for operand, (target, slot) in edges.items():
                grad = results.get(operand)
                if grad is not None:
                    self._add(target, slot, grad)
                    del grad
                turns.arrived(target)
            del results, buffers
        if turns.has_waited:
            self._runtime.note("compiled")
            if self._runtime.target == "gpu" and fuses():
                self._runtime.note("cinn")

    def _add(self, target: Any, slot: int, grad: Array) -> None:
        """GradTensorHolder::add: the first gradient is kept, a further one is added into it (in place)."""
        buffers = self._buffers.setdefault(target, {})
        present = buffers.get(slot)
        if present is None:
            buffers[slot] = grad
        else:
            buffers[slot] = self._runtime.add_gradient(present, grad)

    def _collect(self, node: Any, buffers: dict[int, Array]) -> None:
        assert self._capture is not None
        for slot, grad in buffers.items():
            if (node, slot) in self._capture:
                self.captured[node, slot] = grad

    def _hook(self, node: Node, buffers: dict[int, Array]) -> list[Any]:
        """Call the hooks of a node's results; what made the gradients that they give lives while the node runs."""
        made_by: list[Any] = []
        for slot, retained in node.retained.items():
            state = retained()
            if state is not None and slot in buffers:
                state.grad = buffers[slot]
        for slot, hooks in node.hooks.items():
            if slot in buffers:
                buffers[slot], by = self._call_hooks(hooks, buffers[slot])
                made_by.append(by)
        return made_by

    def _call_hooks(self, hooks: dict[int, Any], grad: Array) -> tuple[Array, Any]:
        by = None
        for hook in list(hooks.values()):
            try:
                replaced = hook(new_tensor(grad, stop_gradient=False))
            except Exception as problem:
                raise external(self._runtime, problem) from problem
            if replaced is not None:
                state = self._runtime.state(replaced)
                grad, by = state.array, state.node
        return grad, by

    def _accumulate(self, node: Accumulation, buffers: dict[int, Array]) -> None:
        """CopyOrAddTensor: adopt the gradient where the leaf has none (or a zeroed one), else add into it."""
        state = node.leaf()
        grad = buffers.pop(0, None)
        if state is None or grad is None:
            return
        if self._capture is not None:  # `paddle.grad` calls no hook of a leaf
            if (node, 0) in self._capture:
                self.captured[node, 0] = grad
            return
        if state.hooks:
            grad, by = self._call_hooks(state.hooks, grad)
            grad = grad if by is None else Hooked(grad, by)
        if grad.storage is None:  # a hook has cleared it, as fleet's does that keeps gradients in float32
            pass
        elif state.grad is None or state.grad_is_stale:
            state.grad = grad
        else:
            state.grad = self._runtime.add_gradient(state.grad, grad)
        state.grad_is_stale = False
        tensor = node.tensor()
        kept = None if state.grad is None else state.grad.storage
        if tensor is not None and tensor.persistable and kept is not None:
            kept.record.kind = "gradients"
        for reduce in state.reduced:
            reduce()
