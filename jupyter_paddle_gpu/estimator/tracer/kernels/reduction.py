"""Sums, means and other reductions."""

from __future__ import annotations

from ..memory.dtypes import SIZE
from .rules import Arrays, Attributes, Choice, Operator, Rule, Strides


def _logcumsumexp_grad(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """Positive part, negative part, one logarithm; at least in single precision."""
    x = operands[0][0]
    return 3 * x.numel * max(SIZE[x.dtype], 4)


_STRIDES = "strided operands: measured (`test_strided_operands.py`); `TransToFluidOpName`"

OPERATORS = (
    Operator("sum", _STRIDES, Rule(strides=Strides.KEPT, amp_name="reduce_sum")),
    Operator("mean", _STRIDES, Rule(strides=Strides.KEPT, amp_name="reduce_mean")),
    Operator("mean_all", _STRIDES, Rule(strides=Strides.KEPT, amp_name="mean")),
    Operator("prod", _STRIDES, Rule(strides=Strides.KEPT, amp_name="reduce_prod")),
    Operator("max min amax trace", _STRIDES, Rule(strides=Strides.KEPT)),
    Operator("any", "shapes of operand and result (`test_dependent_shapes.py`)", Rule(choice=Choice.JOINS)),
    Operator("logcumsumexp", "`logcumsumexp_grad_impl.h`, to the byte", gradient=Rule(workspace=_logcumsumexp_grad)),
)
