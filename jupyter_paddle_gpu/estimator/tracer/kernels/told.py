"""Operators that are told as a whole: only a GPU has kernels of them, and the program builder of a Paddle for CPUs says
nothing of an operator that it has no kernel of.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from paddle.autograd import PyLayer

from ..memory.arrays import new_tensor
from ..memory.dtypes import name_of
from ..memory.operators import ORIGINAL_OPS
from .rules import Meta, Rule, Traced

Transient = tuple[int, int]
"""The least and the most bytes that a kernel takes while it runs."""


class Told(NamedTuple):
    """One call of such an operator.

    Attributes:
        name: of the operator.
        results: shapes and types.
        hidden: so many of the last results are the gradient's alone: none comes back for them.
        differentiated: so many of the first operands have gradients.
        kept: operands, by place, that the gradient's kernel reads; it reads the hidden results, too.
        keeps_result: whether it reads the first result.
        flops: of the operator and of its gradient's kernel.
        transient: of both.
    """

    name: str
    results: tuple[Meta, ...]
    hidden: int
    differentiated: int
    kept: tuple[int, ...]
    keeps_result: bool
    flops: tuple[int, int]
    transient: tuple[Transient, Transient] = ((0, 0), (0, 0))


class Form(NamedTuple):
    """How a program has such an operator.

    Attributes:
        kernel: what tells one call, `kernel(session, *args)`.
        results: of what is told the names in the program, each with the operand that it is placed as, and of that one
            the axes that it has; None for the same ones. A result goes with its operand: one is there if the other is.
        whole: axes of its operands, from the front or the back, that a kernel needs whole.
    """

    kernel: Callable[..., Any]
    results: Mapping[str, tuple[str, tuple[int | None, ...] | None]]
    whole: tuple[int, ...] = (-1,)

    def divides(self, axis: int, rank: int) -> bool:
        """Whether a kernel works on parts along an axis of an operand of that many axes, each for itself."""
        return axis not in self.whole and axis - rank not in self.whole


class Telling:
    """Stands for the session where a program is built: it keeps what is told instead of running it."""

    def __init__(self) -> None:
        self.told: Told | None = None

    def cast(self, name: str, operands: tuple[Any, ...]) -> tuple[Any, ...]:
        """They are cast already."""
        return operands

    def create(self, name: str, *_: Any) -> Any:
        """What is made besides is not told.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError(name)

    def refused(self, problem: Exception) -> Exception:
        """What Paddle itself raises."""
        return problem


class _Kernel(PyLayer):  # type: ignore[misc]  # Paddle is untyped here
    """The operator and its gradient's kernel."""

    @staticmethod
    def forward(context: Any, session: Traced, told: Told, hidden: list[Any], *operands: Any) -> Any:
        """The results that have gradients; the hidden ones go into the list, which a node does not hold."""
        made = session.run(told.name, told.results, operands, flops=told.flops[0], gpu=told.transient[0])
        shown = len(made) - told.hidden
        hidden += made[shown:]
        result = (new_tensor(session.state(one).array) for one in made[: told.keeps_result])  # without its node
        context.save_for_backward(*(operands[place] for place in told.kept), *result, *hidden)
        context.set_materialize_grads(False)
        context.told = session, told, [meta(one) for one in operands[: told.differentiated]], len(operands)
        return tuple(made[:shown])

    @staticmethod
    def backward(context: Any, *incoming: Any) -> Any:
        """Gradients of the first operands."""
        session, told, metas, count = context.told
        reads = [*context.saved_tensor(), *(one for one in incoming if one is not None)]
        made = session.run(f"{told.name}_grad", metas, reads, flops=told.flops[1], gpu=told.transient[1])
        return *made, *[None] * (count - told.differentiated)


def meta(tensor: Any) -> Meta:
    """Shape and name of the element type."""
    return tuple(tensor.shape), name_of(tensor.dtype)


def run(session: Traced | Telling, told: Told, operands: Sequence[Any]) -> tuple[Any, ...]:
    """The results, as tensors that gradients flow through; of what is told alone their shapes and types."""
    if isinstance(session, Telling):
        session.told = told
        return told.results
    hidden: list[Any] = []
    return *_Kernel.apply(session, told, hidden, *operands), *hidden


def only_on_gpu(name: str, kernel: Callable[..., Any], form: Form | None = None) -> Rule:
    """What stands for an operator: for a GPU `kernel(session, *args)`, else what Paddle says where it has no kernel."""

    def instead(session: Traced, original: Any, *args: Any) -> Any:
        if session.target == "gpu":
            return kernel(session, *args)
        return session.call(name, ORIGINAL_OPS[name], args, {})

    instead.__doc__ = kernel.__doc__
    return Rule(instead=instead, form=form)
