"""The estimate of cases: one warm process traces them one after another.

`python -m benchmarks.accuracy.estimates NAME...` prints one JSON line a case {name, peak, seconds, rss, notes}.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def peak_of(trace: dict[str, Any]) -> tuple[int, int]:
    """(bytes, time) of the peak: storages alive at an operation plus the operation's workspace on the CPU."""
    operations = trace["operations"]
    change = [0] * (len(operations) + 3)
    for size, start, end, *_ in trace["storages"]:
        change[start + 1] += size
        change[end + 2] -= size
    alive, best = change[0], (0, 0)
    for time_, operation in enumerate(operations):
        alive += change[time_ + 1]
        best = max(best, (alive + operation[5], time_))
    return best


def main(names: list[str]) -> None:
    sys.path.insert(0, str(ROOT / "jupyter_paddle_gpu" / "estimator"))
    import tracer

    from .cases import CASES

    for case in CASES:
        if names and case.name not in names:
            continue
        sys.modules.pop("benchmarks.accuracy.models", None)  # a case may have changed a class for itself
        started = time.perf_counter()
        request = {"cells": [{"index": 0, "source": case.source}], "folder": None, "answers": {}, "target": "cpu"}
        trace = tracer.trace_notebook(request)
        row: dict[str, Any] = {"name": case.name, "status": trace["status"], "seconds": time.perf_counter() - started}
        row["rss"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        row["notes"] = [note["code"] for note in trace["notes"]]
        if trace["status"] == "ok":
            row["peak"], at = peak_of(trace)
            row["at"] = trace["operations"][at][:3]
        else:
            row["problem"] = trace["questions"]
        sys.stdout.write(json.dumps(row) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
