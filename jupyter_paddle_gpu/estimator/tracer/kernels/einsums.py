"""`einsum` of two operands: what its kernel keeps and what its gradient takes (phi/kernels/impl/einsum_impl.h).

The kernel multiplies [batch, free, contracted] by [batch, contracted, free]; an operand in another order is copied, and
the copy is kept for the gradient. The gradient is two einsums, `B, out_grad -> A` and `out_grad, A -> B`, whose results
are laid out in the order of their own operands first and permuted after. Verified on nine equations, to the byte.
"""

from __future__ import annotations

from typing import Any

from ..memory.arrays import Array
from ..memory.dtypes import COMPLEX

Arrays = list[list[Array]]


def labels(equation: str) -> tuple[str, str, str] | None:
    """(first, second, output) labels, None where this is not an einsum of two plain operands."""
    inputs, _, output = equation.replace(" ", "").partition("->")
    operands = inputs.split(",")
    if len(operands) != 2 or "." in equation or "->" not in equation:
        return None
    return operands[0], operands[1], output


def _natural(first: str, second: str, output: str) -> tuple[str, str, str]:
    """The orders in which the kernel wants the operands and gives the result."""
    batch = "".join(c for c in first if c in second and c in output)
    contracted = "".join(c for c in first if c in second and c not in output)
    free_first = "".join(c for c in first if c not in second)
    free_second = "".join(c for c in second if c not in first)
    return batch + free_first + contracted, batch + contracted + free_second, batch + free_first + free_second


def is_copied(equation: str, position: int) -> bool:
    """Whether an operand is copied into another order."""
    found = labels(equation)
    return found is not None and _natural(*found)[position] != found[position]


def _call(first: str, second: str, output: str, sizes: tuple[int, int, int], cached: tuple[bool, bool]) -> int:
    """Bytes that one einsum of the gradient takes: copies of operands, its result, the permuted result."""
    wanted = _natural(first, second, output)
    copies = sum(
        size
        for have, want, size, kept in zip((first, second), wanted, sizes, cached, strict=False)
        if have != want and not kept
    )
    return copies + sizes[2] * (2 if wanted[2] != output else 1)


def backward_workspace(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """Transient bytes of the gradient kernel; it computes both gradients, whichever are asked for."""
    if len(operands[0]) == 1:  # the gradient before it is laid out as the operand (measured)
        given, _, wanted = attrs.get("equation", "").replace(" ", "").partition("->")
        return 0 if given == wanted else operands[0][0].nbytes
    found = labels(attrs.get("equation", ""))
    if found is None or len(operands[0]) != 2:
        return 0
    a, b, out = found
    size_a, size_b = (array.nbytes for array in operands[0])
    size_out = operands[-1][0].nbytes
    kept_a, kept_b = is_copied(attrs["equation"], 0), is_copied(attrs["equation"], 1)
    first = _call(b, out, a, (size_b, size_out, size_a), (kept_b, False))
    second = _call(out, a, b, (size_out, size_a, size_b), (False, kept_a))
    conjugate = size_out if operands[-1][0].dtype in COMPLEX else 0  # of the incoming gradient (measured)
    return max(first, size_a + second) + conjugate


def flops(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """A multiply-add for each combination of labels."""
    found = labels(attrs.get("equation", ""))
    if found is None:
        return 0
    sizes: dict[str, int] = {}
    for text, array in zip(found, operands[0], strict=False):
        sizes.update(zip(text, array.shape, strict=False))
    total = 2
    for size in sizes.values():
        total *= size
    return total
