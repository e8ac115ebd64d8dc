"""Real steps of one case: the peak of Paddle's CPU allocator between two updates. Run in a process of its own.

`python -m benchmarks.accuracy.truth NAME` prints one JSON line {peaks, seconds, summary}.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import time
from typing import Any

from benchmarks.optimizers import after_updates

STEPS = 4
"""Steps that are measured; the first one, without optimizer state, among them."""


class Enough(BaseException):
    """Ends the script."""


def measure(source: str, updates: int = 1) -> tuple[list[int], float]:
    """(peak bytes of each step, which has `updates` updates; seconds of the last one)."""
    from paddle.base import core

    peaks: list[int] = []
    times: list[float] = []

    def updated() -> None:
        peaks.append(core.host_memory_stat_peak_value("Allocated", 0))
        times.append(time.perf_counter())
        core.host_memory_stat_reset_peak_value("Allocated", 0)
        if len(peaks) >= STEPS * updates:
            raise Enough

    after_updates(updated)
    with contextlib.suppress(Enough), contextlib.redirect_stdout(io.StringIO()):
        exec(compile(source, "<case>", "exec"), {"__name__": "__main__"})
    steps = [max(peaks[i : i + updates]) for i in range(0, len(peaks), updates)]
    return steps, times[-1] - times[-1 - updates] if len(times) > updates else 0.0


def summary(source: str, shape: str) -> float | None:
    """`paddle.summary`'s "Estimated Total Size" in bytes, what a user has today."""
    import re

    import paddle

    model_line = next(line for line in source.splitlines() if line.startswith("model = "))
    head = source[: source.index(model_line)]
    space: dict[str, Any] = {"__name__": "__main__"}
    exec(head + model_line, space)
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        paddle.summary(space["model"], eval(shape))
    found = re.search(r"Estimated Total Size \(MB\): ([\d.]+)", text.getvalue())
    return None if found is None else float(found.group(1)) * 2**20


def main(name: str) -> None:
    from .cases import CASES

    case = next(case for case in CASES if case.name == name)
    peaks, seconds = measure(case.source, case.updates)
    shown = None
    if case.summary is not None:
        with contextlib.suppress(Exception):
            shown = summary(case.source, case.summary)
    sys.stdout.write(json.dumps({"peaks": peaks, "seconds": seconds, "summary": shown}) + "\n")
    sys.stdout.flush()
    os._exit(0)  # Paddle's loader threads do not always let go


if __name__ == "__main__":
    main(sys.argv[1])
