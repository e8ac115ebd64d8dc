"""Gradients of gradients that eager mode has and Paddle's program builder has not, and how composed ones run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..kernels.rules import Composite, Tensors
from ..memory.arrays import Array, known_state
from ..program.gradient_kernels import awaited, without_absent
from ..program.templates import Gradient, GradStep, slots_of

_AGAIN = {"grad_out": "grad_out_forward", "grad_x_grad": "grad_x_grad_forward"}
"""What an operand is called where a gradient that comes has its name."""


def run(
    composite: Composite,
    step: GradStep,
    environment: dict[int, Array | None],
    tensor_of: Callable[[int, Array], Any],
) -> list[tuple[int, Any]]:
    """Run a composed second gradient: [(slot of a result, its tensor)].

    Args:
        composite: the step's `composed` or `recorded`.
        step: the gradient kernel that it stands for.
        environment: arrays by slot; the results are added.
        tensor_of: the tensor for an array at a slot, which knows where it comes from or does not.
    """
    tensors: Tensors = {}
    for name, operand in zip(step.operand_names, step.operands, strict=False):
        held = [(slot, array) for slot in slots_of(operand) if (array := environment.get(slot)) is not None]
        made_of = [tensor_of(slot, array) for slot, array in held]
        tensors[name] = made_of if isinstance(operand, tuple) else made_of[0] if made_of else None
    wants = tuple(result is not None for result in step.results)
    made = []
    for slot, tensor in zip(step.results, composite(step.attrs, tensors, wants), strict=False):
        state = None if tensor is None else known_state(tensor)
        if isinstance(slot, int) and state is not None:
            environment[slot] = state.array
            made.append((slot, tensor))
    return made


def second(step: GradStep, gradient: Gradient) -> Gradient | None:
    """The gradient of a gradient operator as eager mode has it, None where the program builder says it."""
    found = step.rule.second
    if found is None:
        return None
    name, given, gets, asked, shapes = found
    first = not step.name.endswith("_double_grad")
    slots = {
        operand.replace("out_grad", "grad_out") if first else operand: slot
        for operand, slot in zip(step.operand_names, step.operands, strict=False)
    }
    slots["grad_x"] = step.results[0]
    metas = dict(gradient.metas)

    def beside(slot: int) -> int:
        metas[len(metas)] = metas[slot]
        return len(metas) - 1

    incoming = {
        got: (slot, beside(slot)) for got, slot in zip(gets, step.results, strict=False) if isinstance(slot, int)
    }
    outgoing = {slot: beside(slot) for operand in asked if isinstance(slot := slots.get(operand), int)}
    names = (*(operand if first else _AGAIN.get(operand, operand) for operand in given), *incoming)
    operands = (*(slots.get(operand) for operand in given), *(slot for _, slot in incoming.values()))
    results = tuple(outgoing.get(slots.get(operand)) for operand in asked)  # type: ignore[arg-type]
    made = without_absent(GradStep(name, operands, names, results, step.attrs, {}, needed=(True,) * len(names)))
    outgoing = awaited([made], {}, outgoing)
    saved = frozenset(slot for operand in given if operand not in shapes for slot in slots_of(slots.get(operand)))
    return Gradient([made], dict(incoming.values()), outgoing, saved, metas)
