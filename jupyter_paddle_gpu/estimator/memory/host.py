"""What a training takes of the machine's own memory: from what the tracing child took, and what is known beside it.

Anonymous memory and /dev/shm only. Pages of files (libraries, memory-mapped data) are left out: the kernel takes them
back where memory runs short, so that no limit is reached by them. Figures "measured" here are of Paddle 3.3.1, CPU
wheel, Python 3.11 on Linux.
"""

from __future__ import annotations

from ...domain.estimates import Breakdown, HostMemory
from ..trace import Trace

PROCESS = 288 << 20
"""Bytes; measured: Python with Paddle 133 MiB, with pandas, scikit-learn and matplotlib 237, with IPython 242, and the
runner that watches it 17."""
CUDA = 2 << 30
"""Bytes that driver, CUDA, cuDNN and NCCL keep on the host for a device. An allowance, not measured: no card was at
hand. CUDA before 12.2 loads every kernel of Paddle's libraries at the start, later ones those that are used (NVIDIA,
CUDA Programming Guide, "Lazy Loading", which says that it saves memory of the host as well)."""
HEAP = 1.5
"""What the CPU allocator's tensors take of the process, as a multiple: each comes from malloc, which keeps holes, and
oneDNN keeps buffers of its own. Measured: 1.27 (ResNet-50), 1.45 (BERT)."""
WORKER = 32 << 20
"""Bytes; measured: a worker of a DataLoader over small samples has 12 MiB of its own."""
OBJECT = 128
"""Bytes; measured: lists of numbers, tuples, dictionaries, strings have 40 to 88 bytes for each block of Python's
allocator; small arrays 184, of which the workers copy the object's 112 alone."""
HANDLED = 2
"""Batches that a worker has in hand: the samples and what they are put together to."""
STEP = 16 << 20
"""Measured memory is rounded up to a multiple of this: two measurements differ by less."""


def host_memory(trace: Trace, breakdown: Breakdown, *, cpu_peak: int | None) -> HostMemory | None:
    """The figure for one process of the training.

    Args:
        breakdown: of the step's peak, which tells parameters and optimizer state.
        cpu_peak: the most that the step takes of Paddle's CPU allocator; None where it trains on a device.
    """
    seen = trace.host
    if seen is None or seen.grown is None:
        return None
    on_cpu = cpu_peak is not None
    parts = {
        "process": PROCESS if on_cpu else PROCESS + CUDA,
        "data": _rounded(seen.grown) + seen.stand_ins,
        "tensors": round(HEAP * max(cpu_peak, seen.allocated)) if cpu_peak is not None else 0,
        # On a CPU the batches that wait are tensors; one more is an array that becomes the next of them.
        "batches": seen.batch if on_cpu else seen.waiting,
        "checkpoint": breakdown.parameters + breakdown.optimizer_state,
        "workers": seen.workers * (WORKER + seen.objects * OBJECT + HANDLED * seen.batch),
        "shared_memory": trace.shared_memory,
    }
    return HostMemory(bytes=sum(parts.values()), loader_workers=seen.workers, **parts)


def _rounded(size: int) -> int:
    return -(-size // STEP) * STEP
