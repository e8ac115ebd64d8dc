"""Tensors out of nothing, random numbers, casts."""

from __future__ import annotations

from .rules import Amp, Choice, Operator, Rule, Sparse, Strides, nothing

_NO_WORK = "they compute nothing"

OPERATORS = (
    Operator(
        "full",
        "`programs`: the builder passes attributes as constants",
        Rule(flops=nothing, amp=Amp.NEVER, choice=Choice.FILLS, is_constant=True),
    ),
    Operator("full_int_array", "`programs`: the builder passes attributes as constants", Rule(is_constant=True)),
    Operator(
        "full_like",
        "measured (`test_strided_operands.py`)",
        Rule(strides=Strides.KEPT, flops=nothing, amp=Amp.NEVER, choice=Choice.FILLS),
    ),
    Operator("arange", "its shape is its value", Rule(flops=nothing, counts_up=True)),
    Operator("gaussian uniform", "random numbers are drawn in each step", Rule(flops=nothing, draws=True)),
    Operator(
        "bernoulli multinomial poisson randint randperm", "random numbers are drawn in each step", Rule(draws=True)
    ),
    Operator("data", _NO_WORK, Rule(flops=nothing)),
    Operator("one_hot", "what the result says of its operand", Rule(flops=nothing, choice=Choice.MARKS)),
    Operator("assign", "it copies", Rule(flops=nothing, amp=Amp.NEVER, choice=Choice.PASSES)),
    Operator(
        "cast",
        "measured (`test_strided_operands.py`, `test_sparse_gradients.py`)",
        Rule(
            strides=Strides.KEPT,
            flops=nothing,
            keeps_types=True,
            amp=Amp.NEVER,
            sparse=Sparse.SAME_TYPE,
            choice=Choice.PASSES,
        ),
    ),
)
