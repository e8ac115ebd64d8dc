"""Transients of linear algebra's kernels on a CPU, read from phi/kernels/impl and verified to the byte."""

from __future__ import annotations

from math import prod
from typing import Any

from .arrays import Array
from .dtypes import SIZE

Arrays = list[list[Array]]


def cholesky_grad(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """Two products, the inverse, a transposed gradient; an upper factor and its gradient are transposed first."""
    return (6 if attrs.get("upper") else 4) * operands[0][0].nbytes


def triangular_solve_grad(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """Both gradients before broadcasting is summed, the conjugate solution, the gradient before it is cut."""
    x, out = operands[0][0], operands[2][0]
    matrices = prod(out.shape[:-2]) * prod(x.shape[-2:]) * SIZE[x.dtype]
    return 2 * out.nbytes + 2 * matrices
