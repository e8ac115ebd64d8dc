"""What a process takes of a device beside its tensors: context, library handles, kernels. Sizes in bytes.

The figures are ranges that were published for comparable processes, each with its source; those of Hopper were read on
a card by us (docs/device-terms.md lists what is still to be verified). `estimator.memory.calibration` replaces them
where a machine was measured.
"""

from __future__ import annotations

import msgspec

MIB = 1 << 20

LAZY_LOADING = (11, 7)
"""First CUDA version whose frameworks load kernels when they are first used, not all at the start."""


class ContextRange(msgspec.Struct, frozen=True):
    """Context with the libraries' handles and the kernels of a training: a range and where it stands."""

    low: int
    high: int
    source: str

    @property
    def likely(self) -> int:
        """The middle of the range."""
        return (self.low + self.high) // 2


_BY_CAPABILITY: dict[tuple[int, int], ContextRange] = {
    (7, 0): ContextRange(
        300 * MIB,
        500 * MIB,
        "Titan V: 320 MiB bare (pytorch/pytorch#28394); V100: 300 to 400 MB (pytorch/pytorch#20532)",
    ),
    (8, 6): ContextRange(
        256 * MIB, 480 * MIB, "RTX 3090, CUDA 12.8: 256 MiB bare (invoke-ai/InvokeAI#9413); kernels come on top"
    ),
    (8, 9): ContextRange(
        426 * MIB, 650 * MIB, "RTX 6000 Ada, CUDA 13.0: 426 MiB bare (unslothai/unsloth-zoo#1053); kernels come on top"
    ),
    (9, 0): ContextRange(
        554 * MIB,
        762 * MIB,
        "read on an H200, CUDA 13.0: 518 MiB bare, 36 more with cuBLAS; PyTorch in a training 762 beside its allocator",
    ),
}
_LAZY = ContextRange(
    274 * MIB,
    700 * MIB,
    "287,047,680 bytes with lazy loading (pytorch/pytorch#86509), about 400 MB (pytorch/pytorch#109888); "
    "300 MB to 1 GB in NAIRR's GPU guide",
)
_EAGER = ContextRange(
    636 * MIB,
    1101 * MIB,
    "666,632,192 bytes without lazy loading (pytorch/pytorch#86509); Titan V 1008 MiB (pytorch/pytorch#28394); "
    "RTX 3090, CUDA 11.1: 1001 MiB (pytorch/pytorch#54564)",
)
_CUBLAS_HOPPER = 32 * MIB
_CUBLAS = 4 * MIB
_CUBLAS_SOURCE = (
    "; cuBLAS workspace 32 MiB on Hopper and later, 4 MiB before (cuBLAS API reference, cublasSetWorkspace)"
)


def of_cuda(capability: tuple[int, int] | None, cuda: tuple[int, int] | None) -> ContextRange:
    """The range for a device of this compute capability under this CUDA version (None: a current one)."""
    lazy = cuda is None or cuda >= LAZY_LOADING
    found = _BY_CAPABILITY.get(capability or (0, 0), _LAZY) if lazy else _EAGER
    handles = _CUBLAS_HOPPER if capability is not None and capability >= (9, 0) else _CUBLAS
    return ContextRange(found.low + handles, found.high + handles, found.source + _CUBLAS_SOURCE)


def unknown() -> ContextRange:
    """The range for a maker whose devices nobody has published a figure of."""
    return ContextRange(
        200 * MIB, 1000 * MIB, "no published figure for this maker's devices: the range of CUDA devices"
    )


_NCCL_BUFFERS = 512 * 8 * 8 * 16 + 640 * 120 * 8 * 8 + (4 << 20)
"""Of a connection: protocols LL, LL128 and Simple (`NCCL_BUFFSIZE`), `src/init.cc`, the same from 2.8 to 2.30."""
_NCCL_PAGE = 2 * MIB
"""`CUDA_IPC_MIN` of `src/include/comm.h`: what both ends of a connection are rounded up to."""
_NCCL_CHANNELS = 32
"""The most up to 2.18 (`MAXCHANNELS`); how many there are hangs on the links between the cards."""


def of_nccl(devices: int) -> ContextRange:
    """What NCCL takes of each of so many devices: nothing where its buffers lie in the host's memory (`shm.cc`), or in
    each channel a connection of the ring and those of a tree within one machine."""
    if devices < 2:
        return ContextRange(0, 0, "")
    received = -(-(_NCCL_BUFFERS + 1) // _NCCL_PAGE) * _NCCL_PAGE
    connections = 1 + min(devices - 1, 2)
    return ContextRange(
        0,
        _NCCL_CHANNELS * connections * (received + _NCCL_PAGE),
        f"NCCL: up to {_NCCL_CHANNELS} channels of {connections} connections "
        "(src/init.cc, src/transport/p2p.cc, src/graph/connect.cc of 2.9 to 2.30)",
    )
