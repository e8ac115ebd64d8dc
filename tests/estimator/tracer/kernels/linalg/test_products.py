"""Complex tensors: parts and pairs of numbers as views, conjugates that products make, Fourier models; to the byte."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

SCRIPT = """
import paddle
import paddle.nn.functional as F
paddle.seed(0)
w = paddle.create_parameter([{shape}], 'float32')
v = paddle.create_parameter([{shape}], 'float32')
half = w.shape[1] // 2
optimizer = paddle.optimizer.SGD(1e-6, parameters=[w, v])
for step in range(6):
    f = {first}
    loss = {loss}
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
FFT, RFFT, PAIR = "paddle.fft.fft(w)", "paddle.fft.rfft(w)", "paddle.complex(w, v)"
BATCH = f"{PAIR}.reshape([4, w.shape[0] // 4, -1])"
CASES = {
    "real": (FFT, "f.real().mean()"),
    "imag": (FFT, "(f.imag() * 2).mean()"),
    "both": (FFT, "(f.real() ** 2 + f.imag() ** 2).mean()"),
    "kept": (FFT, "((f.real() * v) ** 2).mean()"),
    "list": (f"[{FFT}.real(), ({FFT} * 2).real()]", "sum(x.mean() for x in f)"),
    "concat": (RFFT, "(paddle.concat([f.real(), f.imag()], 0) ** 2).mean()"),
    "relu": (RFFT, "paddle.complex(F.relu(f.real()), F.relu(f.imag())).abs().mean()"),
    "as-real": (FFT, "(paddle.as_real(f) * 2).mean()"),
    "as-complex": ("paddle.as_complex(w.reshape([-1, 2]) * 2)", "f.abs().mean()"),
    "as-complex-product": ("paddle.as_complex(w.reshape([-1, 2]))",
                           "(f * paddle.as_complex(v.reshape([-1, 2]))).real().mean()"),
    "rotary": ("paddle.as_complex(w.reshape([-1, half, 2])) * paddle.polar(paddle.ones([half]), paddle.ones([half]))",
               "paddle.as_real(f).flatten(1).mean()"),
    "low-modes": (RFFT, "paddle.fft.irfft(f * paddle.complex(v[:, :f.shape[1]], v[:, :f.shape[1]])).mean()"),
    "written": (f"{RFFT} * 1", "write(f).mean()"),
    "product": (PAIR, "paddle.matmul(f, f * 2, transpose_y=True).abs().mean()"),
    "product-transposed": (PAIR, "paddle.matmul(f, f.transpose([1, 0])).real().mean()"),
    "product-batched": (BATCH, "paddle.matmul(f, f * 2, transpose_y=True).abs().mean()"),
    "product-broadcast": (BATCH, "paddle.matmul(f, (f[:1] * 2).transpose([0, 2, 1])).abs().mean()"),
    "einsum": (BATCH, "paddle.einsum('bix,io->box', f, f[0, :, :5] * 2).abs().mean()"),
    "einsum-modes": (BATCH, "paddle.einsum('bix,ioy->boxy', f, f[0, :, :15].reshape([-1, 5, 3]) * 2).abs().mean()"),
    "stft": ("paddle.signal.stft(w, 32, 8)", "(f.real() ** 2 + f.imag() ** 2).mean()"),
    "view": ("(w * 2).detach().view('uint8')", "w.mean() + f.astype('float32').mean()"),
    "view-shape": ("w.view([-1, 2])", "f.mean()"),
}  # fmt: skip
WRITE = """
def write(f):
    whole = paddle.zeros(f.shape, 'complex64')
    whole[:, :4] = f[:, :4] * 2
    return paddle.fft.irfft(whole)
"""
SOURCES = {
    f"{name}-{shape.replace(', ', 'x')}": WRITE + SCRIPT.format(shape=shape, first=first, loss=loss)
    for name, (first, loss) in CASES.items()
    for shape in ("64, 100", "16, 500")
}


@pytest.mark.parametrize("name", SOURCES)
def test_the_peak_is_the_allocators(measured, name):
    peaks, traced = measured.pair(name)
    assert traced["peak"] == peaks[-1], traced["questions"]
