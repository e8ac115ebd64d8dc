"""Which gradient kernels work in place.

Eager mode's generated gradient functions check, where the operator has an in-place twin (`matmul_grad_` beside
`matmul_grad`), whether nothing else holds the incoming tensor and then write the first result over it.
"""

from __future__ import annotations

from dataclasses import replace

from paddle import _C_ops

from ..kernels.registry import rule_of
from .templates import GradStep, slots_of

_TWINS = frozenset(name[:-1] for name in dir(_C_ops) if name.endswith("_grad_"))
_OF_SECOND = "grad_x_grad"
"""Second gradients write over it also where Paddle lists no in-place twin (measured)."""


def inplace_twin(name: str, operand_names: tuple[str, ...]) -> dict[int, int]:
    """{result index: operand index} of the in-place variant of a gradient operator; empty where there is none."""
    result, operand = rule_of(name).overwrites
    if operand not in operand_names or (operand != _OF_SECOND and name not in _TWINS):
        return {}
    return {result: operand_names.index(operand)}


def without_absent(step: GradStep) -> GradStep:
    """A gradient operator without the results that rest on an absent operand."""
    needs = step.rule.rests_on
    if not needs:
        return step
    present = {name for name, operand in zip(step.operand_names, step.operands, strict=False) if operand is not None}
    absent = set(needs.values()) - present
    if not absent:
        return step
    results = tuple(None if needs.get(i) in absent else result for i, result in enumerate(step.results))
    return replace(step, results=results)


def awaited(steps: list[GradStep], incoming: dict[int, int], outgoing: dict[int, int]) -> dict[int, int]:
    """Which operands' gradients are waited for: of those without a result only conv3d's (measured)."""
    if any(step.rule.awaits_all for step in steps):
        return outgoing
    made = {slot for step in steps for operand in step.results for slot in slots_of(operand)} | set(incoming.values())
    return {operand: slot for operand, slot in outgoing.items() if slot in made}
