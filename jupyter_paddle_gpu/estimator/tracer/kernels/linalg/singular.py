"""Singular values, eigenvalues of any matrices, and their gradients."""

from __future__ import annotations

from itertools import accumulate
from math import prod

from ...memory.dtypes import SIZE
from ..rules import Arrays, Attributes, Operator, Rule


def _highest(changes: list[int]) -> int:
    """The most that is held at a time by who takes (positive) and gives back (negative) in this order."""
    return max(accumulate(changes, initial=0))


def _svd_grad(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """A term for each gradient that is there, then their sum (operands: x, u, vh, s, gradients of u, vh, s).

    `b` matrices of m rows and n columns, of which `k` singular values (svd_grad_kernel_impl.h).
    """
    x, s = operands[0][0], operands[3][0]
    of_u, of_vh, of_s = (bool(group) for group in operands[4:7])
    b, m, n, k = prod(x.shape[:-2]), x.shape[-2], x.shape[-1], s.shape[-1]
    whole, rows, columns, square = b * m * n, b * m * k, b * k * n, b * k * k
    changes = []
    if attrs.get("full_matrices"):  # cut to the first k
        changes += [rows, columns, rows * of_u, columns * of_vh]
    # 1 / s, s * s; their differences, with an infinite diagonal, inverted; three terms of one zero
    changes += [2 * b * k, square, k, k * k, square, -square - k * k - k, square, -square, 3]
    if of_s:
        changes += [rows, -1, whole, -rows]
    if of_u:
        changes += [5 * square, -1 - 2 * square, rows, -square, *_projected(b, m, k, rows)]
        changes += [whole, -rows, -2 * square]
    if of_vh:
        changes += [4 * square, 2 * columns, -1 - 2 * square - columns, *_projected(b, n, k, columns)]
        changes += [whole, -columns, -2 * square]
    changes += [whole if of_u or of_s else 1, whole]
    return (_highest(changes) - whole) * SIZE[x.dtype]


def _projected(b: int, size: int, k: int, term: int) -> list[int]:
    """What lies outside the k vectors' span is added to a term: I - U U', its product with the gradient, the sum."""
    if size == k:
        return []
    return [size * size + 2 * b * size * size, -size * size - b * size * size, 3 * term, -3 * term, -b * size * size]


def _svd(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """The operand transposed, then each of u and vh transposed in turn (svd_kernel.cc)."""
    u, _, vh = (group[0] for group in results)
    return operands[0][0].nbytes + max(u.nbytes, vh.nbytes)


def _svdvals(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """The operand transposed; LAPACK's work is not Paddle's memory (svdvals_kernel.cc)."""
    return operands[0][0].nbytes


def _svdvals_grad(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """The gradient as a diagonal, the whole decomposition again, two products (svdvals_grad_kernel_impl.h)."""
    x, grad = operands[0][0], operands[1][0]
    b, m, n, k = prod(x.shape[:-2]), x.shape[-2], x.shape[-1], grad.shape[-1]
    rows, columns = b * m * k, b * k * n
    factors = b * k * k + rows + columns + b * k
    return (factors + max(rows, columns)) * SIZE[x.dtype]


def _values_work(n: int) -> int:
    """Numbers that LAPACK's `geev` asks for to find eigenvalues only: 34 a row (blocks of 32, `gehrd`).

    Of more than 15 rows its `hseqr` asks for more, up to 150: `gehrd` of a deflation window (33 a row and 4160 for its
    triangular factors), which has one row more than shifts are used at a time (2, 4, 10 by iparmq.f).
    """
    window = 3 if n < 30 else 5 if n < 60 else 11
    return max(34 * n, n + 33 * window + 4160 if n > 15 else 0)


def _eigvals(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """Of real matrices: LAPACK's work, a copy of one matrix, both parts of its values (eigvals_kernel.cc)."""
    x = operands[0][0]
    n = x.shape[-1]
    return (_values_work(n) + n * n + 2 * n) * SIZE[x.dtype]


def _eig(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """Of real matrices: parts of values, vectors; LAPACK with two copies, then complex vectors (eig_kernel.cc)."""
    x, values, vectors = operands[0][0], results[0][0], results[1][0]
    n = x.shape[-1]
    work = (max(_values_work(n), 130 * n) + 2 * n) * SIZE[x.dtype]
    return values.nbytes + x.nbytes + max(2 * x.nbytes + work, values.nbytes + x.nbytes + vectors.nbytes)


def _eig_grad(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """Ten of the vectors' size, zeros for an absent gradient (operands: values, vectors, their gradients).

    The gradient of a real matrix is complex until the kernel has ended.
    """
    values, vectors, of_values, of_vectors = operands
    absent = values[0].nbytes * (not of_values) + vectors[0].nbytes * (not of_vectors)
    return 10 * vectors[0].nbytes + 2 * values[0].nbytes + absent - results[0][0].nbytes


OPERATORS = (
    Operator(
        "svd",
        "`svd_kernel.cc`, `svd_grad_kernel_impl.h`; with `pinv`, `cond`, nuclear and spectral norms 93 configurations, "
        "to the byte (`test_singular.py`)",
        Rule(workspace=_svd),
        gradient=Rule(workspace=_svd_grad),
    ),
    Operator(
        "svdvals",
        "`svdvals_kernel.cc`, `svdvals_grad_kernel_impl.h`; to the byte",
        Rule(workspace=_svdvals),
        gradient=Rule(workspace=_svdvals_grad),
    ),
    Operator("eigvals", "`eigvals_kernel.cc`, LAPACK's `geev`; real matrices, to the byte", Rule(workspace=_eigvals)),
    Operator(
        "eig",
        "`eig_kernel.cc`, LAPACK's `geev`; its gradient measured only; real matrices, to the byte",
        Rule(workspace=_eig),
        gradient=Rule(workspace=_eig_grad),
    ),
)
