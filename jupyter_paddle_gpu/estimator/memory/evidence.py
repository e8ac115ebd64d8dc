"""What public logs of GPUs, and a card's own answers, say of an estimate's range. Sizes in bytes.

A step's range goes from what its tensors take in the allocator's chunks with no workspace and no batch ahead to what
they take with the largest workspaces. Where in between hangs on the algorithms that cuDNN chooses.

Two cards were asked for it, an H200 and an H100: of 42 nets, in one to three precisions, the workspace of each
convolution was asked of cuDNN as Paddle asks it, and the step replayed with the answers. With W, the most that is open
of a kernel's workspace (of convolutions at most 512 MiB; at least a page), these were taken:

    (reserved with cuDNN's answers - estimated reserved bytes) / W.

The range is the estimate plus W times what leaves out one in twenty of these on either side, rounded outwards to a
tenth. Nothing of the estimate is fitted to them. `benchmarks/device` asks and replays; `tests/test_device_reading.py`
holds `BELOW`, `ABOVE` and `ANSWERED` equal to `benchmarks/results/device_reading.json`. A recurrent kernel's workspace
is known to some 10 MiB a layer, so that little is open of it; four such nets lie within a tenth of what they reserve.

Elsewhere logs speak: the range is at least the two-sided 90 % prediction interval of Student's t for one more training,
on

    ln(logged max_memory_reserved / estimated reserved bytes).

Its middle is the estimate: nothing of it is fitted to these figures, and their mean does not speak for another. So each
log counts one degree of freedom. A log that may be read in several ways counts as its own files have it, not as comes
nearest. With fewer than three logs there is none. `docs/gpu-logs.md` has the table; `tests/test_gpu_logs.py` holds it
equal to `benchmarks/results/gpu_logs.json`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, fsum, log, sqrt
from typing import NamedTuple

from ..trace import Trace
from .allocator import DRIVER_PAGE

SIZES_DRAWN = ("sizes_drawn", "sizes_drawn_unseen")
"""The tracer's notes that a program draws the size of each batch; of data that is not here, that it would."""
SHAPES_ALTERNATE = "shapes_alternate"
"""The tracer's note that its batches take as much each, in several shapes: PaddleOCR's recognisers."""
UNKNOWN_SHAPES = "extents"
BELOW, ABOVE = 0.5, 1.7
"""Of W, from the estimate to either end."""
ANSWERED = 103
"""Distinct trainings that these rest on. Of those that were asked last, 42, the ends of the first held 34."""
LEAST, MOST = 1 << 30, 32 << 30
"""Reserved bytes between which a training is like the logged ones (11 to 16 GiB), within a factor of some ten below."""
QUANTILES = {3: 2.353, 4: 2.132, 5: 2.015, 6: 1.943, 7: 1.895, 8: 1.860, 9: 1.833, 10: 1.812}
"""Of Student's t at 95 %, by degrees of freedom: 5 % lie above, as many below."""


class Seen(NamedTuple):
    """A logged training: thread, or when its line was written; what is trained; reserved bytes as estimated and as
    logged. Estimates of before batches waited in pinned memory are without the two that were counted."""

    thread: str
    kind: str
    estimated: int
    logged: int


SAME_SHAPES = (
    Seen("PaddlePaddle/PaddleGAN#828", "generation", 12935571328, 13111791872),
    Seen("PaddlePaddle/PaddleSpeech#3604", "speech", 16683262400, 16623753728),
    Seen("PaddlePaddle/PaddleOCR#16562", "text detection", 11870346368, 11876696063),
    Seen("2025/08/30 18:00:18", "text detection", 14635271872, 15316025343),
)
"""Nets with convolutions in float32 whose batches take the same in every step; no card is named there. The last may be
read in two ways; nothing but the figures speaks against its file as it is. All four lie inside of what a card's answers
give, with W at its most."""
MIXED = (
    Seen("PaddleNLP Qwen2.5-0.5B", "language", 14075646208, 13404016640),
    Seen("PaddlePaddle/PaddleMIX#342", "multimodal", 26074498048, 27679784959),
)
"""Trainings in mixed precision whose batches take the same in every step; no card is named there either."""
SELECTED = (Seen("PaddlePaddle/Paddle3D#426", "3d", 21888523008, 21461481472),)
"""Of float32 with convolutions, where masks select rows; no card is named."""
ALTERNATING = (
    Seen("2025/06/25 18:24:53", "text recognition", 12725939648, 12785811455),
    Seen("PP-OCRv5_mobile_rec, RTX 5090, 192", "text recognition", 25892550336, 27272937471),
)
"""Of float32 with convolutions, whose batches take as much each in three shapes; the second names its card."""
ALL = SAME_SHAPES + MIXED + SELECTED + ALTERNATING
"""Their kinds are told by the note `widened_by_logs`."""


def ratios(logs: Sequence[Seen]) -> list[float]:
    """Natural logarithms of logged over estimated."""
    return [log(one.logged / one.estimated) for one in logs]


def limits(logs: Sequence[Seen]) -> tuple[float, float] | None:
    """Between what factors of the estimate nine of ten more trainings lie; None with too few logs."""
    count = len(logs)
    quantile = QUANTILES.get(count)
    if quantile is None:
        return None
    width = quantile * sqrt(fsum(ratio * ratio for ratio in ratios(logs)) / count)
    return exp(-width), exp(width)


def largest_workspace(trace: Trace) -> int:
    """W: the most that a kernel of the step may ask for beyond what is known of it; 0 where none asks cuDNN."""
    return max((one.workspace_high - one.workspace_low for one in trace.operations), default=0)


def ends(trace: Trace, reserved: int) -> tuple[int, int] | None:
    """Reserved bytes between which nine of ten steps that ask cuDNN lie; None of another kind of step."""
    width = largest_workspace(trace)
    if not width or trace.evidence != "trace" or _varies(trace) or (trace.devices or 1) > 1:
        return None
    width = max(width, DRIVER_PAGE)
    return max(reserved - round(BELOW * width), 0), reserved + round(ABOVE * width)


def like(trace: Trace, reserved: int) -> tuple[Seen, ...]:
    """The logs that speak for a traced step: all, none for one much smaller or larger, or whose convolutions a card was
    asked for (`ends`)."""
    if trace.evidence != "trace" or not LEAST <= reserved <= MOST or ends(trace, reserved):
        return ()
    return ALL


def _varies(trace: Trace) -> bool:
    return trace.batches is not None or UNKNOWN_SHAPES in trace.extra or drawn(trace) or _says(trace, SHAPES_ALTERNATE)


def drawn(trace: Trace) -> bool:
    """Whether the size of each batch is drawn."""
    return any(_says(trace, code) for code in SIZES_DRAWN)


def _says(trace: Trace, code: str) -> bool:
    return any(one.code == code for one in trace.notes)
