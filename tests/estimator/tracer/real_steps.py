"""Child process of the tests: runs scripts for real, or traces them, and prints peaks as JSON lines.

`python real_steps.py real|trace` reads [{"name": source}, {"name": what is asked beside it}] from standard input; real
ones are asked for a number of `steps`.
"""

from __future__ import annotations

import ast
import asyncio
import contextlib
import inspect
import io
import json
import multiprocessing
import os
import sys
from collections.abc import Callable
from pathlib import Path

from readers import settle

from benchmarks.optimizers import after_updates

TRACER = Path(__file__).resolve().parents[3] / "jupyter_paddle_gpu" / "estimator"
STEPS = 5


class Enough(BaseException):
    pass


def real(sources: dict[str, str], requests: dict[str, dict]) -> None:
    import paddle
    from paddle.base import core

    peaks: list[int] = []
    reads = [False]
    most = [STEPS]
    backward = paddle.Tensor.backward

    def slow_backward(self, *args, **kwargs):
        if reads[0]:
            settle()
        return backward(self, *args, **kwargs)

    paddle.Tensor.backward = slow_backward

    def mark() -> None:
        peaks.append(core.host_memory_stat_peak_value("Allocated", 0))
        core.host_memory_stat_reset_peak_value("Allocated", 0)
        if len(peaks) >= most[0]:
            raise Enough

    def updated() -> None:
        if reads[0]:
            settle()
        mark()

    after_updates(updated)

    def run(name: str, source: str) -> None:
        most[0] = requests.get(name, {}).get("steps", STEPS)
        reads[0] = "DataLoader" in source or ".fit(" in source
        base = core.host_memory_stat_current_value("Allocated", 0)
        core.host_memory_stat_reset_peak_value("Allocated", 0)
        failure = None
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                code = compile(source, "<cell 0>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
                names = {"__name__": "__main__", "step_ends": mark}  # for updates by hand
                awaits = code.co_flags & inspect.CO_COROUTINE
                asyncio.run(eval(code, names)) if awaits else exec(code, names)
        except Enough:
            pass
        except Exception as problem:  # reported as the test's failure
            failure = f"{type(problem).__name__}: {problem}"
        found = [peak - base for peak in peaks]
        print(json.dumps({"name": name, "peaks": found, "failure": failure}), flush=True)

    for name, source in sources.items():
        alone(name, lambda name=name, source=source: run(name, source))


def alone(name: str, run: Callable[[], None]) -> None:
    """Run in a child that has imported Paddle and done nothing else: some allocations are made once a process."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        try:
            run()
        finally:
            for worker in multiprocessing.active_children():  # a loader's, which the quick end would leave behind
                worker.terminate()
            os._exit(0)
    _, status = os.waitpid(child, 0)
    if status:
        print(json.dumps({"name": name, "peaks": [], "failure": f"the process ended with {status}"}), flush=True)


def trace(sources: dict[str, str], requests: dict[str, dict]) -> None:
    sys.path.insert(0, str(TRACER))
    import tracer

    for name, source in sources.items():
        cells = [{"index": index, "source": cell} for index, cell in enumerate(source.split("#---\n"))]
        request = {"cells": cells, "answers": {}, "target": "cpu"}
        request.update(requests.get(name, {}))
        found = tracer.trace_notebook(request)
        peak = None
        if found["status"] == "ok":
            peak = peak_of(found)
        row = {"name": name, "peak": peak, "questions": found["questions"]}
        row["notes"] = [note["code"] for note in found["notes"]]
        row["params"] = [note["params"] for note in found["notes"]]
        row.update({key: found.get("extra", {}).get(key) for key in ("branches", "extents", "beyond", "waiting")})
        row.update({key: found.get(key) for key in ("status", "stop", "distribution", "devices")})
        row.update({key: found.get(key) for key in ("batch_size", "inputs", "image_size", "sequence_length")})
        row.update({key: found.get(key) for key in ("batch_from", "parameters", "reached")})
        trainings = [found, *found["others"]] if peak else []
        row["trainings"] = {one["id"]: [one["model"], one["where"], peak_of(one)] for one in trainings}
        row["unreached"] = found.get("unreached")
        row["standing"] = standing(found) if peak else {}
        print(json.dumps(row), flush=True)


def standing(found: dict) -> dict[str, int]:
    """Bytes by kind that are there before the step and after it."""
    kinds: dict[str, int] = {}
    for size, start, end, kind, *_ in found["storages"]:
        if start == -1 and end == len(found["operations"]):
            kinds[kind] = kinds.get(kind, 0) + size
    return kinds


def peak_of(found: dict) -> int:
    change = [0] * (len(found["operations"]) + 3)
    for size, start, end, *_ in found["storages"]:
        change[start + 1] += size
        change[end + 2] -= size
    alive, best = change[0], 0
    for index, operation in enumerate(found["operations"]):
        alive += change[index + 1]
        best = max(best, alive + operation[5])
    return best


if __name__ == "__main__":
    {"real": real, "trace": trace}[sys.argv[1]](*json.load(sys.stdin))
