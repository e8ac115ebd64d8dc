"""Solving, factors and eigenvalues of symmetric matrices, with LAPACK's work."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from ...memory.arrays import Array
from ...memory.dtypes import SIZE
from ..rules import Arrays, Asked, Attributes, Meta, Operator, Place, Rule


def _cholesky_grad(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """Two products, the inverse, a transposed gradient; an upper factor and its gradient are transposed first."""
    return (6 if attrs.get("upper") else 4) * operands[0][0].nbytes


def _triangular_solve_grad(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """Both gradients before broadcasting is summed, the conjugate solution, the gradient before it is cut."""
    x, out = operands[0][0], operands[2][0]
    matrices = prod(out.shape[:-2]) * prod(x.shape[-2:]) * SIZE[x.dtype]
    return 2 * out.nbytes + 2 * matrices


def _broadcast(x: Array, columns: Array) -> int:
    """Bytes of `x`'s matrices over the batch of a product with them."""
    return prod(columns.shape[:-2]) * prod(x.shape[-2:]) * SIZE[x.dtype] if len(columns.shape) > 2 else x.nbytes


def _solve(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """Both operands are copied, and once more over the common batch (solve_kernel_impl.h)."""
    x, y, out = operands[0][0], operands[1][0], results[0][0]
    return x.nbytes + y.nbytes + max(x.nbytes, _broadcast(x, out)) + out.nbytes


def _solve_grad(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """Copies of both operands, both gradients over the common batch, x transposed; then a solve with the gradient.

    The gradient of x is not there before that solve has ended.
    """
    x, y, out = (group[0] for group in operands[:3])
    matrices = max(x.nbytes, _broadcast(x, out))
    late = x.nbytes if results and results[0] else 0
    return y.nbytes + 3 * x.nbytes + 2 * matrices + 3 * out.nbytes - late


def _cholesky_solve(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """The factor over the common batch and transposed, three of the columns, LAPACK's info (an int32 a matrix)."""
    y, out = operands[1][0], results[0][0]
    return 2 * max(y.nbytes, _broadcast(y, out)) + 3 * out.nbytes + 4 * prod(out.shape[:-2])


def _cholesky_solve_grad(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """Five of the factor and two of the columns at its end, or the solve with the gradient, if there are many columns.

    The five: factor, term of both sides and its transpose, gradient, its triangle (cholesky_solve_grad_kernel_impl.h).
    """
    y, out = operands[1][0], operands[2][0]
    matrices = max(y.nbytes, _broadcast(y, out))
    return max(5 * matrices + 2 * out.nbytes, 2 * matrices + 4 * out.nbytes + 4 * prod(out.shape[:-2]))


def _matrix_power(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """The operand (or its inverse), one product for 3 and 4, from 5 on the square and two results to write to."""
    power = abs(int(attrs["n"]))
    copies = 0 if power == 0 else 1 if power <= 2 else 2 if power <= 4 else 4
    return copies * operands[0][0].nbytes


def _matrix_power_grad(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """All lower powers, the gradient and one term of it; two more terms from 3 on, one product for an inverse."""
    n = int(attrs["n"])
    power = abs(n)
    if power < 2:
        return operands[0][0].nbytes if n == -1 else 0
    copies = power + 3 if power > 2 else 3 + (n < 0)
    return copies * operands[0][0].nbytes


def _det_grad(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """The inverse transposed, the gradient before it is copied, the determinants' product with their gradient."""
    return 2 * operands[0][0].nbytes + operands[1][0].nbytes


def _qr_grad(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """Of as many rows as columns or more: seven of R's size, three of Q's (`qr_grad_kernel_impl.h`).

    Else R and its gradient are cut in two, the first part goes the same way and the gradients are put together.
    """
    x, q, r = (group[0] for group in operands[:3])
    if x.shape[-2] >= x.shape[-1]:
        return 7 * r.nbytes + 3 * q.nbytes
    rest = r.nbytes - q.nbytes
    return 3 * q.nbytes + 2 * rest + max(10 * q.nbytes, 2 * q.nbytes + 2 * rest)


def _eigh_grad(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """Vectors transposed, differences of values, product, constant, product transposed, their difference."""
    return 6 * operands[1][0].nbytes


def _eigvalsh_grad(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """Vectors transposed, the scaled vectors."""
    return 2 * operands[0][0].nbytes


def _slogdet_grad(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """The inverse, the inverse transposed, the gradient before it is copied."""
    return 3 * operands[0][0].nbytes


def _eigh(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """A copy of the matrices, and what LAPACK's `syevd` asks for to give vectors: 1 + 6n + 2n^2, 3 + 5n integers."""
    x = operands[0][0]
    n = x.shape[-1]
    return x.nbytes + SIZE[x.dtype] * (1 + 6 * n + 2 * n * n) + 4 * (3 + 5 * n)


def _lu_grad(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """Factors, permutation, terms, their copies: of x's size, the square's, the rest's (lu_grad_kernel_impl.h)."""
    x = operands[0][0]
    rows, columns = x.shape[-2:]
    least = min(rows, columns)
    square = x.nbytes // (rows * columns) * least * least
    rest, permutation = x.nbytes - square, x.nbytes // columns * rows
    if rows > columns:
        return 5 * x.nbytes + 12 * square + 3 * rest + permutation
    return 4 * x.nbytes + max(10 * square + 4 * rest, 11 * square) + permutation


def _lu(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """A transposed copy of the operand."""
    return operands[0][0].nbytes


def _of_gradient(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """One of the size of the gradient."""
    return max(array.nbytes for group in results for array in group) if any(results) else 0


def _sign_and_logarithm(attrs: Attributes, operands: Arrays, place: Place) -> Meta | None:
    """Sign and logarithm of each matrix, in one tensor; the builder says the operand's shape."""
    return (2, *operands[0][0].shape[:-2]), operands[0][0].dtype


def _unequal(attrs: Attributes, operands: Arrays, numbers: Callable[[Array], Any]) -> Exception | None:
    """Right sides of another height than the matrices, which the kernel alone looks at (`impl/solve_kernel_impl.h`)."""
    x, y = (list(group[0].shape) for group in operands[:2])
    if len(x) != len(y) or len(x) < 2 or x[-1] == y[-2]:
        return None
    return ValueError(
        "(InvalidArgument) Matrix X1 with dimension greater than 2 and any matrix Y1,the matrix X1's width must be "
        f"equal with matrix Y1's height. But received X's shape = {x}, X1's shape = {x}, X1's width = {x[-1]}; "
        f"Y's shape = {y}, Y1's shape = {y}, Y1's height = {y[-2]}."
    )


_SOURCE = "`phi/kernels/impl`; three or more shapes, to the byte"
_WITH_WORK = "`phi/kernels/impl`, LAPACK's `syevd`; three or more shapes, to the byte"
_EIGHT = "`qr_grad_kernel_impl.h`, `lu_grad_kernel_impl.h`; eight shapes, wide and tall ones among them, to the byte"

OPERATORS = (
    Operator("cholesky", _SOURCE, gradient=Rule(workspace=_cholesky_grad)),
    Operator("triangular_solve", _SOURCE, gradient=Rule(workspace=_triangular_solve_grad)),
    Operator("solve", _SOURCE, Rule(workspace=_solve, refuses=_unequal), gradient=Rule(workspace=_solve_grad)),
    Operator("cholesky_solve", _SOURCE, Rule(workspace=_cholesky_solve), gradient=Rule(workspace=_cholesky_solve_grad)),
    Operator("matrix_power", _SOURCE, Rule(workspace=_matrix_power), gradient=Rule(workspace=_matrix_power_grad)),
    Operator("inverse", "measured to the byte", gradient=Rule(workspace=_of_gradient)),
    Operator("det", _SOURCE, Rule(asked=Asked.EACH_CALL), gradient=Rule(workspace=_det_grad)),
    Operator(
        "slogdet",
        _SOURCE,
        Rule(result=_sign_and_logarithm, asked=Asked.EACH_CALL),
        gradient=Rule(workspace=_slogdet_grad),
    ),
    Operator("qr", _EIGHT, gradient=Rule(workspace=_qr_grad)),
    Operator("lu", _EIGHT, Rule(workspace=_lu), gradient=Rule(workspace=_lu_grad)),
    Operator("eigh", _WITH_WORK, Rule(workspace=_eigh), gradient=Rule(workspace=_eigh_grad, fills_zeros=True)),
    Operator("eigvalsh", _WITH_WORK, Rule(workspace=_eigh), gradient=Rule(workspace=_eigvalsh_grad)),
)
