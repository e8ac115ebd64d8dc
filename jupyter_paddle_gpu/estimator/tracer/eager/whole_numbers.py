"""Whole numbers that a gradient is asked of (`paddle.to_tensor([1, 2], stop_gradient=False)`): the program builder
refuses operators of which no gradient's kernel takes them; eager mode takes the call, and refuses the backward pass."""

from __future__ import annotations

from typing import Any

from ..memory.arrays import Array, State
from ..memory.dtypes import FLOATING
from ..program.templates import Template
from .autograd import Edge, edge_of
from .calls import Call
from .tensors import Tensors


class Refusing:
    """A step of the forward pass whose gradient's kernel takes no such numbers."""

    __slots__ = ("__weakref__", "edges", "hooks", "problem", "retained")

    def __init__(self, problem: Exception, edges: dict[int, Edge]) -> None:
        self.problem, self.edges = problem, edges
        self.hooks: dict[int, dict[int, Any]] = {}
        self.retained: dict[int, Any] = {}

    def backward(
        self, runtime: Tensors, incoming: dict[int, Array], release: bool, asked: frozenset[int] | None = None
    ) -> dict[int, Array]:
        """It is refused.

        Raises:
            Exception: what Paddle says.
        """
        raise runtime.refused(self.problem)


def taken(runtime: Tensors, signature: Any, call: tuple[Any, Any, Any], operands: tuple[list[Any], list[State]]) -> Any:
    """What a call comes to that was refused, where it is taken without gradients to whole numbers; None where it is
    not."""
    tensors, states = operands
    *begin, metas, wants = signature
    leaves = tuple(
        want and (state.array.dtype in FLOATING or state.node is not None)
        for want, state in zip(wants, states, strict=True)
    )
    real = tuple(want and state.array.dtype in FLOATING for want, state in zip(wants, states, strict=True))
    if real == wants:
        return None
    problem = runtime.inference.refused_backward(call, list(metas), list(wants))
    asked = leaves if problem is None else real
    template = None if asked == wants else _template(runtime, (*begin, metas, asked), call)
    if template is None:
        return None
    made = Call(runtime, template, tensors, states).run(begin[0], None)
    if problem is not None:
        wanted = [(slot, one) for slot, one in enumerate(tensors) if wants[slot]]
        node = Refusing(problem, {slot: edge_of(states[slot], one) for slot, one in wanted})
        for slot, one in enumerate(made if isinstance(made, (list, tuple)) else [made]):
            state = runtime.state(one)
            state.node, state.slot, one.stop_gradient = node, slot, False
    return made


def _template(runtime: Tensors, signature: Any, call: tuple[Any, Any, Any]) -> Template | None:
    *_, metas, wants = signature
    try:
        return runtime.inference.template(signature, call, list(metas), list(wants))
    except (TypeError, ValueError, RuntimeError):
        return None
