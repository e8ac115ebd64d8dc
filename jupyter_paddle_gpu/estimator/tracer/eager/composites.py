"""Gradients of gradients that eager mode has and Paddle's program builder has not, and how composed ones run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..kernels.gradient_kernels import awaited, without_absent
from ..kernels.templates import Gradient, GradStep, slots_of
from ..memory.arrays import Array, known_state
from .second_gradients import RULES, Composite, Tensors, scaled


def run(
    step: GradStep, environment: dict[int, Array | None], tensor_of: Callable[[int, Array], Any]
) -> list[tuple[int, Any]]:
    """Run a composed second gradient: [(slot of a result, its tensor)].

    Args:
        step: one of `RECORDED`.
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
    for slot, tensor in zip(step.results, RECORDED[step.name](step.attrs, tensors, wants), strict=False):
        state = None if tensor is None else known_state(tensor)
        if isinstance(slot, int) and state is not None:
            environment[slot] = state.array
            made.append((slot, tensor))
    return made


RECORDED: dict[str, Composite] = {**RULES, "scale": lambda attrs, of, wants: [scaled(of["x"], 1.0)]}
"""Gradient operators that run as operators of the program where they are to be differentiated again."""
_OF_OPERANDS = ("grad_x_grad", "grad_y_grad")
_OF_PUT = ("grad_x_grad", "grad_value_grad")
_OF_ADDED = ("grad_x_grad", "grad_add_value_grad")
_TANH = ("out", "grad_out", "grad_x_grad")
_SINE = ("x", "grad_out", "grad_x_grad")
_AGAIN = {"grad_out": "grad_out_forward", "grad_x_grad": "grad_x_grad_forward"}
_KNOWN: dict[str, tuple[str, tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = {
    **{
        f"{name}_grad": (f"{name}_double_grad", given, _OF_OPERANDS, asked)
        for name, given, asked in (
            ("exp", ("out", "grad_out"), ("out", "grad_out")),
            ("silu", ("x", "out", "grad_out"), ("x", "grad_out")),
            ("multiply", ("x", "y", "grad_out"), ("x", "y", "grad_out")),
            ("matmul", ("x", "y", "grad_out"), ("x", "y", "grad_out")),
            ("bmm", ("x", "y", "grad_out"), ("x", "y", "grad_out")),
            ("divide", ("y", "out", "grad_out", "grad_x"), ("y", "out", "grad_out")),
            ("add", ("y", "grad_out"), ("grad_out",)),
            ("subtract", ("y", "grad_out"), ("grad_out",)),
            ("maximum", ("x", "y"), ("grad_out",)),
            ("minimum", ("x", "y"), ("grad_out",)),
            ("where", ("condition",), ("grad_out",)),
            ("gather_nd", ("index",), ("grad_out",)),
            ("acos", ("x", "grad_out"), ("x", "grad_out")),
        )
    },
    "take_along_axis_grad": ("take_along_axis_double_grad", ("indices",), ("grad_arr_grad",), ("grad_out",)),
    "index_add_grad": ("index_add_double_grad", ("index", "grad_out"), _OF_ADDED, ("grad_out",)),
    "masked_select_grad": ("masked_select_double_grad", ("mask",), ("grad_x_grad",), ("grad_out",)),
    "masked_fill_grad": ("masked_fill_double_grad", ("mask",), _OF_PUT, ("grad_out",)),
    "index_put_grad": ("index_put_double_grad", ("x", "indices", "value"), _OF_PUT, ("grad_out",)),
    "tanh_double_grad": ("tanh_triple_grad", _TANH, ("grad_out_new_grad", "grad_out_grad_grad"), _TANH),
    "sigmoid_double_grad": ("sigmoid_triple_grad", _TANH, ("grad_out_grad", "grad_grad_out_grad"), _TANH),
    "sin_double_grad": ("sin_triple_grad", _SINE, ("grad_x_grad", "grad_out_grad_grad"), _SINE),
    "cos_double_grad": ("cos_triple_grad", _SINE, ("grad_x_grad", "grad_out_grad_grad"), _SINE),
    "add_double_grad": ("add_triple_grad", _OF_OPERANDS, ("grad_grad_out_grad",), _OF_OPERANDS),
}
"""Gradients of gradients that eager mode has and the program builder has not, or not where a result is absent.

By the gradient's name: its gradient's, the operands that it reads, names of what it gets for the first one's results,
operands that it has results for. An operand that has the name of such a result is called `..._forward` there."""
_SHAPES = {"subtract_grad": ("y", "grad_out"), "index_add_grad": ("grad_out",), "index_put_grad": ("x", "value")}
"""Operands of which the second gradient reads the shape only."""


def second(step: GradStep, gradient: Gradient) -> Gradient | None:
    """The gradient of a gradient operator as eager mode has it, None where the program builder says it."""
    found = _KNOWN.get(step.name)
    if found is None:
        return None
    name, given, gets, asked = found
    shapes = _SHAPES.get(step.name, ())
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
    made = without_absent(GradStep(name, operands, names, (True,) * len(names), results, step.attrs))
    outgoing = awaited([made], {}, outgoing)
    saved = frozenset(slot for operand in given if operand not in shapes for slot in slots_of(slots.get(operand)))
    return Gradient([made], dict(incoming.values()), outgoing, saved, metas)
