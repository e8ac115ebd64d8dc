"""How far what a card does not tell moves `reserved`: where chunks lie, in what order an operation's tensors go.

`python -m benchmarks.device.orders` traces the trainings whose kernels cards were asked for and replays each step with
its chunks at falling and at drawn addresses, with releases within one operation in other orders, and with gradients and
optimizer state before the first step instead of behind it. `results/device_orders.json` has the changes, as parts of
what is estimated.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from jupyter_paddle_gpu.estimator.memory import overheads
from jupyter_paddle_gpu.estimator.memory.allocator import AutoGrowthBestFit, Block
from jupyter_paddle_gpu.estimator.memory.reserved import MOST_STEPS, Steps
from jupyter_paddle_gpu.estimator.trace import Operation, Trace

from ..report import save, show
from .held_out import held_out
from .programs import programs

ROOT = Path(__file__).resolve().parents[2]
DRAWS = 3
APART = 1 << 48
"""Bytes between the beginnings of two chunks, more than any has."""
MOST_CHUNKS = 1 << 24


class Placed(AutoGrowthBestFit):
    """Chunks at other addresses than in the order in which they were made."""

    def __init__(self, places: Iterator[int]) -> None:
        super().__init__()
        self._places = places

    def _chunk(self, size: int, pool: list[tuple[int, int]]) -> Block:
        self._next_address = next(self._places) * APART
        return super()._chunk(size, pool)


class Reordered(Steps):
    """What goes behind one operation, in another order."""

    def __init__(self, trace: Trace, transients: list[int], reorder: Callable[[list[Any]], object]) -> None:
        super().__init__(trace, transients)
        for moment in sorted(self._ends):
            reorder(self._ends[moment])


def falling() -> Iterator[int]:
    """Each chunk below the one before."""
    yield from range(MOST_CHUNKS, 0, -1)


def drawn(seed: int) -> Iterator[int]:
    """Anywhere."""
    random, given = Random(seed), set()
    while True:
        if (place := random.randrange(MOST_CHUNKS)) not in given:
            given.add(place)
            yield place


def reserved(steps: Steps, allocator: AutoGrowthBestFit, *, begins_whole: bool) -> int:
    """As `replay_reserved`, in bytes."""
    kept: Any = defaultdict(list)
    for number in range(MOST_STEPS):
        before = allocator.peak_reserved
        kept = steps.run(allocator, kept, first=number == 0 and not begins_whole)
        if number and allocator.peak_reserved == before:
            break
    return allocator.peak_reserved


def _likely(operation: Operation) -> int:
    low, high = operation.workspace_low, operation.workspace_high
    return round(low + overheads.WORKSPACE_SHARE * (high - low))


def _reverse(several: list[Any]) -> None:
    several.reverse()


def row(trace: Trace) -> dict[str, Any]:
    """Reserved bytes as estimated, and the changes by each order as parts of them."""
    transients = [_likely(one) for one in trace.operations]
    whole, steps = trace.begins_whole, Steps(trace, transients)
    estimated = reserved(steps, AutoGrowthBestFit(), begins_whole=whole)
    places = [falling(), *map(drawn, range(DRAWS))]
    orders: list[Callable[[list[Any]], object]] = [_reverse, *(Random(seed).shuffle for seed in range(DRAWS))]
    found = {
        "addresses": [reserved(steps, Placed(one), begins_whole=whole) for one in places],
        "releases": [
            reserved(Reordered(trace, transients, one), AutoGrowthBestFit(), begins_whole=whole) for one in orders
        ],
        "first_step": [reserved(steps, AutoGrowthBestFit(), begins_whole=not whole)],
    }
    changes = {name: [round(one / estimated - 1, 4) for one in several] for name, several in found.items()}
    return {"reserved": estimated, **changes}


def main() -> None:
    """Print the table and write it."""
    sys.path.insert(0, str(ROOT / "jupyter_paddle_gpu" / "estimator"))
    import tracer

    rows = []
    for program in (*programs(), *held_out()):
        cells = [{"index": 0, "source": program.source}]
        traced = tracer.trace_notebook({"cells": cells, "folder": None, "answers": {}, "target": "gpu"})
        rows.append({"program": program.name, "precision": program.precision, **row(msgspec.convert(traced, Trace))})
    save("device_orders", {"rows": rows})
    show(
        "What `reserved` changes by",
        ("Order", "Trainings", "Not at all", "Nine of ten at most", "Most"),
        [
            (name, len(rows), sum(one == 0 for one in most), f"{most[len(most) * 9 // 10]:.1%}", f"{most[-1]:.1%}")
            for name in ("addresses", "releases", "first_step")
            for most in [sorted(max(map(abs, one[name])) for one in rows)]
        ],
    )


if __name__ == "__main__":
    main()
