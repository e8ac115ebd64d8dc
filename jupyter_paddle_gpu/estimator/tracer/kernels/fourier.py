"""Fourier transforms of real data."""

from __future__ import annotations

from ..memory.dtypes import SIZE
from .rules import WITHOUT_MEMORY, Arrays, Asked, Attributes, Operator, Rule


def _forward(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """A whole spectrum is filled from its half, which is computed first."""
    if attrs.get("onesided", True):
        return 0
    out = results[0][0]
    length: int = out.shape[attrs["axes"][-1]]
    return out.nbytes // max(length, 1) * (length // 2 + 1)


def _gradient(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """The complex gradient; of half a spectrum also that half padded with zeros to the whole."""
    x = operands[0][0]
    return 2 * SIZE[x.dtype] * x.numel * (2 if attrs.get("onesided", True) else 1)


OPERATORS = (
    Operator(
        "fft_r2c",
        "`fft_kernel_impl.h`, `fft_grad_kernel_impl.h`; 29 configurations of `rfft`, `irfft` and `stft`, to the byte",
        Rule(workspace=_forward, asked=Asked.EACH_CALL),
        gradient=Rule(workspace=_gradient),
    ),
    Operator("fft_c2c fft_c2r", WITHOUT_MEMORY, Rule(asked=Asked.EACH_CALL)),
)
