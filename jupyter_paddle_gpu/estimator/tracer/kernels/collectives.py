"""Kernels by which processes that share layers (tensor parallelism) exchange what they computed.

On a CPU Paddle has none but the table's; what is said of the others is read in the sources of their GPU kernels.
"""

from __future__ import annotations

from ..memory.dtypes import SIZE
from .rules import Amount, Arrays, Attributes, Operator, Range, Rule, nothing, per_element


def _gathered(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """What all processes send, one behind the other, before it is put side by side."""
    return sum(array.nbytes for array in results[0])


def _rows(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """Of each row its largest number, the one that its label means, and the sum of its exponentials."""
    logits = operands[0][0]
    return 3 * SIZE[logits.dtype] * (logits.numel // logits.shape[-1])


def _known(amount: Amount) -> Range:
    def rule(attrs: Attributes, operands: Arrays, results: Arrays) -> tuple[int, int]:
        size = amount(attrs, operands, results)
        return size, size

    rule.__doc__ = amount.__doc__
    return rule


OPERATORS = (
    Operator(
        "c_identity c_split",
        "`c_identity_kernel_impl.h`, `gpu/c_split_kernel.cu`: nothing beside the result",
        Rule(flops=nothing),
    ),
    Operator(
        "c_concat",
        "`gpu/c_concat_kernel.cu` (`temp_out`); its gradient is `c_split` (`backward.yaml`)",
        Rule(flops=nothing, workspace=_gathered, gpu=_known(_gathered)),
    ),
    Operator(
        "c_embedding",
        "`gpu/c_embedding_grad_kernel.cu`: the whole table's gradient, as on a CPU",
        Rule(flops=nothing),
        gradient=Rule(flops=nothing),
    ),
    Operator(
        "c_softmax_with_cross_entropy",
        "`gpu/c_softmax_with_cross_entropy_kernel.cu`; in `backward.yaml` the gradient is written over the softmax",
        Rule(flops=per_element(5), workspace=_rows, gpu=_known(_rows), loss="cross_entropy"),
        gradient=Rule(flops=per_element(2), overwrites=(0, "softmax")),
    ),
)
