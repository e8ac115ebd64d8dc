"""Sums, means and other reductions."""

from __future__ import annotations

from ..memory.dtypes import SIZE
from .rules import AXES, LISTED_AXES, SCALAR, WITHOUT_MEMORY, Arrays, Asked, Attributes, Choice, Operator, Rule, Strides


def _logcumsumexp_grad(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """Positive part, negative part, one logarithm; at least in single precision."""
    x = operands[0][0]
    return 3 * x.numel * max(SIZE[x.dtype], 4)


_STRIDES = "strided operands: measured (`test_strided_operands.py`); `TransToFluidOpName`"

OPERATORS = (
    Operator("sum", _STRIDES, Rule(strides=Strides.KEPT, numbers={1: AXES}, amp_name="reduce_sum", choice=Choice.ADDS)),
    Operator(
        "mean",
        _STRIDES,
        Rule(strides=Strides.KEPT, numbers={1: AXES}, amp_name="reduce_mean", asked=Asked.TYPE_OF_ONE),
    ),
    Operator(
        "mean_all", _STRIDES, Rule(strides=Strides.KEPT, amp_name="mean", keeps_sizes=True, asked=Asked.TYPE_OF_ONE)
    ),
    Operator(
        "prod",
        _STRIDES,
        Rule(strides=Strides.KEPT, numbers={1: AXES}, amp_name="reduce_prod", asked=Asked.TYPE_OF_ONE),
    ),
    Operator(
        "max",
        _STRIDES,
        Rule(strides=Strides.KEPT, numbers={1: AXES}, choice=Choice.ADDS, asked=Asked.TYPE_OF_ONE),
    ),
    Operator(
        "amax",
        _STRIDES,
        Rule(strides=Strides.KEPT, numbers={1: LISTED_AXES}, choice=Choice.ADDS, asked=Asked.TYPE_OF_ONE),
    ),
    Operator("min", _STRIDES, Rule(strides=Strides.KEPT, numbers={1: AXES}, asked=Asked.TYPE_OF_ONE)),
    Operator("trace", _STRIDES, Rule(strides=Strides.KEPT)),
    Operator(
        "any",
        "shapes of operand and result (`test_dependent_shapes.py`)",
        Rule(numbers={1: LISTED_AXES}, choice=Choice.JOINS, asked=Asked.TYPE_OF_ONE),
    ),
    Operator(
        "logcumsumexp",
        "`logcumsumexp_grad_impl.h`, to the byte",
        Rule(asked=Asked.EACH_CALL),
        gradient=Rule(workspace=_logcumsumexp_grad),
    ),
    Operator(
        "bincount cummax cummin cumprod cumprod_ cumsum_ histogram reduce_as",
        WITHOUT_MEMORY,
        Rule(asked=Asked.EACH_CALL),
    ),
    Operator("amin", WITHOUT_MEMORY, Rule(numbers={1: LISTED_AXES}, asked=Asked.EACH_CALL)),
    Operator("cumsum", WITHOUT_MEMORY, Rule(numbers={1: SCALAR}, asked=Asked.TYPE_OF_ONE)),
    Operator("all logsumexp", WITHOUT_MEMORY, Rule(numbers={1: LISTED_AXES}, asked=Asked.TYPE_OF_ONE)),
    Operator("p_norm squared_l2_norm", WITHOUT_MEMORY, Rule(asked=Asked.TYPE_OF_ONE)),
)
