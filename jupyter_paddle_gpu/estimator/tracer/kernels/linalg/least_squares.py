"""`lstsq`: LAPACK's four drivers and what each asks for as work.

Sizes are numbers of elements: `m` rows and `n` columns of a matrix, `k` right sides. Blocks are those of ilaenv.f.
"""

from __future__ import annotations

from math import log2, prod

from ...memory.dtypes import SIZE
from ..rules import Arrays, Attributes, Meta, Operator, Place, Rule

_BLOCK = 32
"""Block size of `geqrf`, `gelqf`, `gebrd` and of the products with their factors (ilaenv.f)."""
_TRIANGLE = 65 * 64
"""Triangular factors that `ormqr` and `ormlq` keep in their work (TSIZE)."""
_LEAF = 25
"""Largest subproblem of divide and conquer (SMLSIZ)."""


def _is_long(long: int, short: int) -> bool:
    """Whether the matrix is made square first (ilaenv's crossover of 1.6)."""
    return long >= short * 8 // 5


def _gels(m: int, n: int, k: int) -> int:
    least = min(m, n)
    return least + max(least, k) * _BLOCK


def _gelsy(m: int, n: int, k: int) -> int:
    least = min(m, n)
    return max(least + 2 * n + _BLOCK * (n + 1), 2 * least + _BLOCK * k)


def _gelss(m: int, n: int, k: int) -> int:
    """QR or LQ of a long matrix, then bidiagonal form, its products and `bdsqr` (gelss.f)."""
    least, long = min(m, n), max(m, n)
    applied, formed = k * _BLOCK, max(least * _BLOCK, 1)
    needed = max(3 * least + max(long, k), 5 * least)
    if not _is_long(long, least):
        return max(needed, 3 * least + max((m + n) * _BLOCK, applied, formed), n * k)
    factored = least + max(least * _BLOCK, applied + _TRIANGLE)
    if m >= n:
        needed = max(4 * n, 3 * n + k, 5 * n)
        return max(needed, factored, 3 * n + max(2 * n * _BLOCK, applied, formed), n * k)
    square = m * m + 4 * m + max(2 * m * _BLOCK, applied, formed)
    return max(needed, factored, square, m * m + 6 * m, m * m + m + m * k if k > 1 else m * m + 2 * m)


def _levels(least: int) -> int:
    """Levels of divide and conquer."""
    return max(int(log2(least / (_LEAF + 1))) + 1, 0)


def _gelsd(m: int, n: int, k: int) -> int:
    """As `gelss`, with `lalsd` in place of `bdsqr` (gelsd.f)."""
    least, long = min(m, n), max(m, n)
    conquered = least * (9 + 2 * _LEAF + 8 * _levels(least) + k) + (_LEAF + 1) ** 2
    if not _is_long(long, least):
        return 3 * least + max((m + n) * _BLOCK, k * _BLOCK, conquered)
    factored = least + max(least, k) * _BLOCK
    if m >= n:
        return max(factored, 3 * n + max(2 * n * _BLOCK, k * _BLOCK, conquered))
    square = m * m + 4 * m + max(2 * m * _BLOCK, k * _BLOCK, conquered, m, 2 * m - 4, k, n - 3 * m)
    return max(factored, square, m * m + m + m * k if k > 1 else m * m + 2 * m)


_WORK = {"gels": _gels, "gelsy": _gelsy, "gelss": _gelss, "gelsd": _gelsd}


def _results(attrs: Attributes, operands: Arrays, place: Place) -> Meta | None:
    """Residuals, rank and singular values are there where the driver finds them."""
    x, y = operands[0][0], operands[1][0]
    if place.result == 1:
        found = _finds_residuals(attrs, *x.shape[-2:])
        return ((*y.shape[:-2], y.shape[-1]) if found else (0,)), x.dtype
    if place.result == 2 and attrs["driver"] == "gels":
        return (0,), "int32"
    if place.result == 3 and attrs["driver"] in {"gels", "gelsy"}:
        return (0,), x.dtype
    return None


def _finds_residuals(attrs: Attributes, m: int, n: int) -> bool:
    """Whether the kernel computes residuals (GetResidualsTensor of lstsq_kernel_impl.h)."""
    return m > n and attrs.get("driver") != "gelsy"


def _surplus(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """The solution is written where the right side was, which has more rows."""
    x, y = operands[0][0], operands[1][0]
    rows, columns = x.shape[-2:]
    return max(0, y.nbytes // rows * (rows - columns))


def _workspace(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """Two copies of the operand and of the solution and the driver's work; with residuals then product, difference,
    squares and sums, while all of that is there."""
    x, y = operands[0][0], operands[1][0]
    (m, n), k, size = x.shape[-2:], y.shape[-1], SIZE[x.dtype]
    driver, least = attrs["driver"], min(m, n)
    integers = {"gelsy": n, "gelsd": 3 * least * _levels(least) + 11 * least}.get(driver, 0)
    sides = prod(y.shape[:-2]) * k
    solution = max(m, n) * sides * size
    residuals = (3 * m + 1) * sides * size if _finds_residuals(attrs, m, n) else 0
    return 2 * (x.nbytes + solution) + size * _WORK[driver](m, n, k) + 4 * integers + residuals


OPERATORS = (
    Operator(
        "lstsq",
        "`lstsq_kernel.cc`, `lstsq_kernel_impl.h`, LAPACK's `gels`, `gelsy`, `gelss` and `gelsd`; 12 shapes, wide, "
        "tall and very long ones, to the byte",
        Rule(result=_results, surplus=_surplus, sized_here=True, workspace=_workspace),
    ),
)
