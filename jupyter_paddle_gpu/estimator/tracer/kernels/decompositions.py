"""Transients of linear algebra's kernels on a CPU, read from phi/kernels/impl and verified to the byte."""

from __future__ import annotations

from math import prod
from typing import Any

from ..memory.arrays import Array
from ..memory.dtypes import SIZE

Arrays = list[list[Array]]


def cholesky_grad(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """Two products, the inverse, a transposed gradient; an upper factor and its gradient are transposed first."""
    return (6 if attrs.get("upper") else 4) * operands[0][0].nbytes


def triangular_solve_grad(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """Both gradients before broadcasting is summed, the conjugate solution, the gradient before it is cut."""
    x, out = operands[0][0], operands[2][0]
    matrices = prod(out.shape[:-2]) * prod(x.shape[-2:]) * SIZE[x.dtype]
    return 2 * out.nbytes + 2 * matrices


def _broadcast(x: Array, columns: Array) -> int:
    """Bytes of `x`'s matrices over the batch of a product with them."""
    return prod(columns.shape[:-2]) * prod(x.shape[-2:]) * SIZE[x.dtype] if len(columns.shape) > 2 else x.nbytes


def solve(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """Both operands are copied, and once more over the common batch (solve_kernel_impl.h)."""
    x, y, out = operands[0][0], operands[1][0], results[0][0]
    return x.nbytes + y.nbytes + max(x.nbytes, _broadcast(x, out)) + out.nbytes


def solve_grad(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """Copies of both operands, both gradients over the common batch, x transposed; then a solve with the gradient.

    The gradient of x is not there before that solve has ended.
    """
    x, y, out = (group[0] for group in operands[:3])
    matrices = max(x.nbytes, _broadcast(x, out))
    late = x.nbytes if results and results[0] else 0
    return y.nbytes + 3 * x.nbytes + 2 * matrices + 3 * out.nbytes - late


def cholesky_solve(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """The factor over the common batch and transposed, three of the columns, LAPACK's info (an int32 a matrix)."""
    y, out = operands[1][0], results[0][0]
    return 2 * max(y.nbytes, _broadcast(y, out)) + 3 * out.nbytes + 4 * prod(out.shape[:-2])


def cholesky_solve_grad(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """Five of the factor and two of the columns at its end, or the solve with the gradient, if there are many columns.

    The five: factor, term of both sides and its transpose, gradient, its triangle (cholesky_solve_grad_kernel_impl.h).
    """
    y, out = operands[1][0], operands[2][0]
    matrices = max(y.nbytes, _broadcast(y, out))
    return max(5 * matrices + 2 * out.nbytes, 2 * matrices + 4 * out.nbytes + 4 * prod(out.shape[:-2]))


def matrix_power(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """The operand (or its inverse), one product for 3 and 4, from 5 on the square and two results to write to."""
    power = abs(int(attrs["n"]))
    copies = 0 if power == 0 else 1 if power <= 2 else 2 if power <= 4 else 4
    return copies * operands[0][0].nbytes


def matrix_power_grad(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """All lower powers, the gradient and one term of it; two more terms from 3 on, one product for an inverse."""
    n = int(attrs["n"])
    power = abs(n)
    if power < 2:
        return operands[0][0].nbytes if n == -1 else 0
    copies = power + 3 if power > 2 else 3 + (n < 0)
    return copies * operands[0][0].nbytes


def det_grad(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """The inverse transposed, the gradient before it is copied, the determinants' product with their gradient."""
    return 2 * operands[0][0].nbytes + operands[1][0].nbytes


def qr_grad(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """Of as many rows as columns or more: seven of R's size, three of Q's (`qr_grad_kernel_impl.h`).

    Else R and its gradient are cut in two, the first part goes the same way and the gradients are put together.
    """
    x, q, r = (group[0] for group in operands[:3])
    if x.shape[-2] >= x.shape[-1]:
        return 7 * r.nbytes + 3 * q.nbytes
    rest = r.nbytes - q.nbytes
    return 3 * q.nbytes + 2 * rest + max(10 * q.nbytes, 2 * q.nbytes + 2 * rest)


def eigh_grad(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """Vectors transposed, differences of values, product, constant, product transposed, their difference."""
    return 6 * operands[1][0].nbytes


def eigvalsh_grad(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """Vectors transposed, the scaled vectors."""
    return 2 * operands[0][0].nbytes


def slogdet_grad(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """The inverse, the inverse transposed, the gradient before it is copied."""
    return 3 * operands[0][0].nbytes


def eigh(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """A copy of the matrices, and what LAPACK's `syevd` asks for to give vectors: 1 + 6n + 2n^2, 3 + 5n integers."""
    x = operands[0][0]
    n = x.shape[-1]
    return x.nbytes + SIZE[x.dtype] * (1 + 6 * n + 2 * n * n) + 4 * (3 + 5 * n)


def lu_grad(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """Factors, permutation, terms, their copies: of x's size, the square's, the rest's (lu_grad_kernel_impl.h)."""
    x = operands[0][0]
    rows, columns = x.shape[-2:]
    least = min(rows, columns)
    square = x.nbytes // (rows * columns) * least * least
    rest, permutation = x.nbytes - square, x.nbytes // columns * rows
    if rows > columns:
        return 5 * x.nbytes + 12 * square + 3 * rest + permutation
    return 4 * x.nbytes + max(10 * square + 4 * rest, 11 * square) + permutation


def _copies(count: int) -> Any:
    """So many transposed copies of the operand."""

    def rule(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
        return count * operands[0][0].nbytes

    return rule


RULES = {
    "cholesky_grad": cholesky_grad, "triangular_solve_grad": triangular_solve_grad,
    "solve": solve, "solve_grad": solve_grad,
    "cholesky_solve": cholesky_solve, "cholesky_solve_grad": cholesky_solve_grad,
    "matrix_power": matrix_power, "matrix_power_grad": matrix_power_grad, "det_grad": det_grad,
    "qr_grad": qr_grad, "eigh_grad": eigh_grad, "eigvalsh_grad": eigvalsh_grad,
    "slogdet_grad": slogdet_grad, "eigh": eigh, "eigvalsh": eigh, "lu": _copies(1),
    "lu_grad": lu_grad,
}  # fmt: skip
"""Rules of the kernels here, by operator."""
