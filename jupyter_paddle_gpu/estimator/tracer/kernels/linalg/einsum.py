"""`einsum` of two operands: what its kernel keeps and what its gradient takes.

The kernel multiplies [batch, free, contracted] by [batch, contracted, free]; an operand in another order is copied, and
the copy is kept for the gradient. The gradient is two einsums, `B, out_grad -> A` and `out_grad, A -> B`, whose results
are laid out in the order of their own operands first and permuted after.
"""

from __future__ import annotations

from ...memory.arrays import Array
from ...memory.dtypes import COMPLEX
from ..rules import Arrays, Asked, Attributes, Meta, Operator, Place, Rule


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


def _caches(attrs: Attributes, operands: Arrays, place: Place) -> Meta | None:
    """The copies that are kept are as large as their operands."""
    if place.result != 1:
        return None
    operand = operands[0][place.position]
    return operand.shape, operand.dtype


def _shared(attrs: Attributes, operands: Arrays, place: Place) -> Array | None:
    """A cache of an operand that is not copied is the operand; the third result only remembers shapes."""
    if place.result == 0 or place.position >= len(operands[0]):
        return None
    operand = operands[0][place.position]
    if place.result == 1 and not is_copied(attrs["equation"], place.position):
        return operand
    return Array(None, operand.shape, operand.strides, operand.dtype) if place.result == 2 else None


def _call(first: str, second: str, output: str, sizes: tuple[int, int, int], cached: tuple[bool, bool]) -> int:
    """Bytes that one einsum of the gradient takes: copies of operands, its result, the permuted result."""
    wanted = _natural(first, second, output)
    copies = sum(
        size
        for have, want, size, kept in zip((first, second), wanted, sizes, cached, strict=False)
        if have != want and not kept
    )
    return copies + sizes[2] * (2 if wanted[2] != output else 1)


def _gradient(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """Copies and permuted results of both gradients: the kernel computes them, whichever are asked for."""
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


def _flops(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """Two for each combination of labels."""
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


OPERATORS = (
    Operator(
        "einsum",
        "`phi/kernels/impl/einsum_impl.h`; measured to the byte on nine equations with learned operands, 14 with a "
        "constant one (the result of one operand stays for its gradient)",
        Rule(result=_caches, shares=_shared, sized_here=True, flops=_flops, asked=Asked.EACH_CALL),
        gradient=Rule(workspace=_gradient),
    ),
)
