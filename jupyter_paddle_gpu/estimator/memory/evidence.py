"""What public logs of GPUs say of an estimate's range. Sizes in bytes.

A step's range goes from what its tensors take in the allocator's chunks with no workspace and no batch ahead to what
they take with the largest workspaces. Where in between hangs on the algorithms that cuDNN chooses. Where trainings of
the same kind were logged, the range is the two-sided 90 % prediction interval of Student's t for one more training
(Hahn and Meeker, Statistical Intervals, 1991, section 4.7), on

    ln(logged max_memory_reserved / estimated reserved bytes).

With fewer than three logs there is none. Kinds with fewer of their own (mixed precision, rows that masks select, no
convolutions, sizes drawn, several cards) have the interval of all logs, and the range is never narrower than without
them. `docs/gpu-logs.md` has the table; `tests/test_gpu_logs.py` holds it equal to
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
QUANTILES = {2: 2.920, 3: 2.353, 4: 2.132, 5: 2.015, 6: 1.943, 7: 1.895, 8: 1.860, 9: 1.833, 10: 1.812}
"""Of Student's t at 95 %, by degrees of freedom: 5 % lie above, as many below."""


class Seen(NamedTuple):
    """A logged training: thread, or when its line was written; what is trained; reserved bytes as estimated and as
    logged. Of a training that waited for its data the estimate is without the batches ahead."""

    thread: str
    kind: str
    estimated: int
    logged: int


SAME_SHAPES = (
    Seen("PaddlePaddle/PaddleGAN#828", "generation", 13035890048, 13111791872),
    Seen("PaddlePaddle/PaddleSpeech#3604", "speech", 16687437760, 16623753728),
    Seen("PaddlePaddle/PaddleOCR#16562", "text detection", 11995345600, 11876696063),
    Seen("2025/06/25 18:24:53", "text recognition", 12627692352, 12785811455),
    Seen("2025/08/30 18:00:18", "text detection", 14819487424, 15316025343),
)
"""Nets with convolutions in float32 whose batches take the same in every step; no card is named there."""
MIXED = (
    Seen("PaddleNLP Qwen2.5-0.5B", "language", 14184598528, 13404016640),
    Seen("PaddlePaddle/PaddleMIX#342", "multimodal", 27496478464, 27679784959),
)
"""Trainings in mixed precision whose batches take the same in every step; no card is named there either."""
SELECTED = (Seen("PaddlePaddle/Paddle3D#426", "3d", 22033933440, 21461481472),)
"""Of float32 with convolutions, where masks select rows; no card is named."""
ALL = SAME_SHAPES + MIXED + SELECTED


def ratios(logs: Sequence[Seen]) -> list[float]:
    """Natural logarithms of logged over estimated."""
    return [log(one.logged / one.estimated) for one in logs]


def limits(logs: Sequence[Seen]) -> tuple[float, float] | None:
    """Between what factors of the estimate nine of ten more trainings lie; None with too few logs."""
    count = len(logs)
    quantile = QUANTILES.get(count - 1)
    if quantile is None:
        return None
    found = ratios(logs)
    width = quantile * stdev(found) * sqrt(1 + 1 / count)
    return exp(mean(found) - width), exp(mean(found) + width)


def like(trace: Trace, reserved: int) -> tuple[Seen, ...]:
    """The logs that speak for a traced step: those of its own kind, or all; none for one much smaller or larger."""
    if trace.evidence != "trace" or not LEAST <= reserved <= MOST:
        return ()
    is_same = UNKNOWN_SHAPES not in trace.extra and not drawn(trace) and (trace.devices or 1) == 1
    return SAME_SHAPES if is_same and trace.convolves and trace.amp in (None, "off") else ALL


def drawn(trace: Trace) -> bool:
    """Whether the size of each batch is drawn."""
    return any(one.code == SIZES_DRAWN for one in trace.notes)
