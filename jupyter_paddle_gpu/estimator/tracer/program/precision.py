"""Element types of a template's results when operands are in low precision."""

from __future__ import annotations

import paddle

from ..kernels.rules import Meta
from ..memory.dtypes import LOW_PRECISION
from .templates import Step, Template, slots_of


def retyped(template: Template, metas: list[Meta]) -> Template:
    """The template, built with float32 in place of low precision, with the arguments' real types carried through."""
    types = {slot: dtype for slot, (_, dtype) in template.metas.items()}
    types.update({slot: dtype for slot, (_, dtype) in enumerate(metas)})
    for step in template.steps:
        _forward(step, types)
        gradient = step.gradient
        if gradient is None:
            continue
        low = _low_type(step, types)
        for grad_step in gradient.steps:
            for operand in grad_step.results:
                for slot in slots_of(operand):
                    if types[slot] == "float32" and low:
                        types[slot] = low
        for forward, slot in (*gradient.incoming.items(), *gradient.outgoing.items(), *gradient.beside.items()):
            types[slot] = types[forward]
    template.metas.update({slot: (shape, types[slot]) for slot, (shape, _) in template.metas.items()})
    return template


def _low_type(step: Step, types: dict[int, str]) -> str | None:
    """The low type that the step works in, None for float32."""
    floats = [
        types[s] for operand in step.operands for s in slots_of(operand) if types[s] in {*LOW_PRECISION, "float32"}
    ]
    if not floats or (step.rule.promotes and "float32" in floats):
        return None
    return floats[0] if floats[0] in LOW_PRECISION else None


def _asks_for_float32(step: Step) -> bool:
    """Whether the call names float32 itself (`zeros_like(p, dtype="float32")`, `sum(x, dtype="float32")`)."""
    return bool(step.attrs.get("dtype") == paddle.float32)


def _forward(step: Step, types: dict[int, str]) -> None:
    if step.rule.keeps_types:
        return
    low = None if _asks_for_float32(step) else _low_type(step, types)
    for index, operand in enumerate(step.results):
        overwritten = step.inplace.get(index)
        source = step.operands[overwritten] if overwritten is not None else None
        for slot in slots_of(operand):
            if isinstance(source, int):
                types[slot] = types[source]
            elif low and types[slot] == "float32" and index not in step.rule.float32_results:
                types[slot] = low
