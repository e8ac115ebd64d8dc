"""Transients of Fourier transforms of real data on a CPU (fft_kernel_impl.h, fft_grad_kernel_impl.h)."""

from __future__ import annotations

from typing import Any

from ..memory.arrays import Array
from ..memory.dtypes import SIZE

Arrays = list[list[Array]]


def r2c(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """A whole spectrum is filled from its half, which is computed first."""
    if attrs.get("onesided", True):
        return 0
    out = results[0][0]
    length: int = out.shape[attrs["axes"][-1]]
    return out.nbytes // max(length, 1) * (length // 2 + 1)


def r2c_grad(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """The complex gradient; of half a spectrum also that half padded with zeros to the whole."""
    x = operands[0][0]
    return 2 * SIZE[x.dtype] * x.numel * (2 if attrs.get("onesided", True) else 1)


RULES = {"fft_r2c": r2c, "fft_r2c_grad": r2c_grad}
"""Rules of the kernels here, by operator."""
