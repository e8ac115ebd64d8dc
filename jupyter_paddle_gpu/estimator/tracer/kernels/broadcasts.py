"""Gradients of broadcast operands on a CPU (phi/kernels/funcs/elementwise_grad_base.h), measured to the byte.

The kernels tell apart rows, columns and blocks of the larger operand, which they sum in place, and the common
broadcast, for which they fill a second tensor for each gradient.
"""

from __future__ import annotations

from typing import Any

from ..memory.arrays import Array, Shape

Arrays = list[list[Array]]

IN_PLACE = ("add_grad", "subtract_grad")
"""Gradient kernels whose first result takes the incoming gradient's memory, even where it is the smaller one."""


def is_common(x: Shape, y: Shape) -> bool:
    """Whether the operand of fewer dimensions (the second of equals) is neither a row, a column nor a block of the
    other: is_run_common_broadcast in GetMidDims."""
    large, small = (y, list(x)) if len(x) < len(y) else (x, list(y))
    axis = len(large) - len(small)
    while small and small[-1] == 1:
        small.pop()
    return any(size != large[axis + i] for i, size in enumerate(small))


def product_workspace(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """A second tensor for each gradient that somebody wants."""
    if len(operands) < 2 or not operands[0] or not operands[1]:
        return 0
    x, y = operands[0][0], operands[1][0]
    if x.shape == y.shape or not is_common(x.shape, y.shape):
        return 0
    return sum(array.nbytes for group in results for array in group)


def sum_workspace(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """The same, and the incoming gradient beside the one that would take its memory; alone and whole it does so."""
    transient = product_workspace(attrs, operands, results)
    if not transient or len(operands) < 3 or not operands[2]:
        return transient
    grad = operands[2][0]
    wanted = [array for group in results for array in group]
    if len(wanted) == 1 and wanted[0].shape == grad.shape:
        return 0
    if results[0] and results[0][0].storage is grad.storage:
        transient += results[0][0].nbytes
    return transient
