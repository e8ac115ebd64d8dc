"""Which gradient kernels work in place.

Eager mode's generated gradient functions check, where the operator has an in-place twin (`matmul_grad_` beside
`matmul_grad`), whether nothing else holds the incoming tensor and then write the first result over it.
"""

from __future__ import annotations

from dataclasses import replace

from paddle import _C_ops

from .templates import GradStep

_TWINS = frozenset(name[:-1] for name in dir(_C_ops) if name.endswith("_grad_"))
_SOURCE = {"cross_entropy_with_softmax_grad": "softmax", "group_norm_grad": "y_grad"}
"""The operand that the first result overwrites, where it is not `out_grad`."""


def inplace_twin(name: str, operand_names: tuple[str, ...]) -> dict[int, int]:
    """{result index: operand index} of the in-place variant of a gradient operator; empty where there is none."""
    if name not in _TWINS:
        return {}
    source = _SOURCE.get(name, "out_grad")
    return {0: operand_names.index(source)} if source in operand_names else {}


_RESTS_ON = {"matmul_double_grad": {0: "grad_y_grad", 1: "grad_x_grad"}}
"""Results that are not computed where an operand is absent (measured)."""


def without_absent(step: GradStep) -> GradStep:
    """A gradient operator without the results that rest on an absent operand."""
    needs = _RESTS_ON.get(step.name, {})
    absent = {name for name, operand in zip(step.operand_names, step.operands, strict=False) if operand is None}
    if not absent.intersection(needs.values()):
        return step
    results = tuple(None if needs.get(i) in absent else result for i, result in enumerate(step.results))
    return replace(step, results=results)
