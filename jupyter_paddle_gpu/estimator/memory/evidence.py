"""What public logs of GPUs say of an estimate's upper end. Sizes in bytes.

The lower end of a step's range is what its tensors take in the allocator's chunks with no workspace at all, which no
training can stay below. How much comes on top hangs on the algorithms that cuDNN chooses. Where trainings of the same
kind were logged, the upper end is the one-sided 90 % prediction limit of Student's t for one more training (Hahn and
Meeker, Statistical Intervals, 1991, section 4.7), on

    ln(logged max_memory_reserved / estimated reserved bytes).

With fewer than three logs there is none. `docs/gpu-logs.md` has the table; `tests/test_gpu_logs.py` holds it equal to
`benchmarks/results/gpu_logs.json`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log, sqrt
from statistics import mean, stdev
from typing import NamedTuple

from ..trace import Trace

SIZES_DRAWN = "sizes_drawn"
"""The tracer's note that a program draws the size of each batch."""
UNKNOWN_SHAPES = "extents"
LEAST, MOST = 1 << 30, 32 << 30
"""Reserved bytes between which a training is like the logged ones (11 to 16 GiB), within a factor of some ten below."""
QUANTILES = {2: 1.886, 3: 1.638, 4: 1.533, 5: 1.476, 6: 1.440, 7: 1.415, 8: 1.397}
"""Of Student's t at 90 %, by degrees of freedom."""


class Seen(NamedTuple):
    """A logged training: thread, what is trained, reserved bytes as estimated and as logged."""

    thread: str
    kind: str
    estimated: int
    logged: int


SAME_SHAPES = (
    Seen("PaddlePaddle/PaddleGAN#828", "generation", 13035890048, 13111791872),
    Seen("PaddlePaddle/PaddleSpeech#3604", "speech", 16687437760, 16623753728),
    Seen("PaddlePaddle/PaddleOCR#16562", "text detection", 12047774720, 11876696063),
)
"""Nets with convolutions in float32 whose batches have the same shapes in every step; no card is named there."""


def ratios(logs: Sequence[Seen]) -> list[float]:
    """Natural logarithms of logged over estimated."""
    return [log(one.logged / one.estimated) for one in logs]


def limit(logs: Sequence[Seen]) -> float | None:
    """By what factor of the estimate nine of ten more trainings stay below; None with too few logs."""
    count = len(logs)
    quantile = QUANTILES.get(count - 1)
    if quantile is None:
        return None
    found = ratios(logs)
    return exp(mean(found) + quantile * stdev(found) * sqrt(1 + 1 / count))


def like(trace: Trace, reserved: int) -> tuple[Seen, ...]:
    """The logs that speak for a traced step; none where its kind was not logged."""
    if trace.evidence != "trace" or trace.amp not in (None, "off") or not LEAST <= reserved <= MOST:
        return ()
    if (trace.devices or 1) > 1 or UNKNOWN_SHAPES in trace.extra or drawn(trace):
        return ()
    return SAME_SHAPES if trace.convolves else ()


def drawn(trace: Trace) -> bool:
    """Whether the size of each batch is drawn."""
    return any(one.code == SIZES_DRAWN for one in trace.notes)
