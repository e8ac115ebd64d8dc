"""Figures that hold on a machine whose speed drifts: pairs taken in turn, a fitted exponent, memory counted once."""

from __future__ import annotations

import math
import statistics
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import psutil

SAMPLE_SECONDS = 0.02
"""How often the memory of processes is read while they work."""

T = TypeVar("T")


def timed(call: Callable[[], T]) -> tuple[float, T]:
    """(seconds of wall time, what the call returned)."""
    start = time.perf_counter()
    value = call()
    return time.perf_counter() - start, value


class Compared(NamedTuple):
    """Medians of two calls taken in turn: seconds of each, and of the ratio pair by pair."""

    seconds: float
    base_seconds: float
    ratio: float


def compared(call: Callable[[], object], base: Callable[[], object], times: int) -> Compared:
    """Call both in turn, after one call that does not count."""
    call()
    pairs = [(timed(call)[0], timed(base)[0]) for _ in range(times)]
    return Compared(
        statistics.median(one for one, _ in pairs),
        statistics.median(other for _, other in pairs),
        statistics.median(one / other for one, other in pairs),
    )


def exponent(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """The k of `cost = c * size ** k` that fits best (least squares over logarithms): 1 is linear, 2 quadratic."""
    return statistics.linear_regression([math.log(size) for size in sizes], [math.log(cost) for cost in costs]).slope


class MemoryMeter:
    """The most that a process and its children took together, in bytes: a page that n of them share counts 1/n each.

    Linux only (`/proc/<pid>/smaps_rollup`, the proportional set size); elsewhere the peak stays 0.
    """

    def __init__(self, pid: int) -> None:
        self.peak = 0
        self._process = psutil.Process(pid)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)

    def now(self) -> int:
        """What they take at this moment."""
        processes = [self._process, *self._process.children()]
        return sum(_proportional_bytes(process.pid) for process in processes)

    def _sample(self) -> None:
        while not self._over.wait(SAMPLE_SECONDS):
            self.peak = max(self.peak, self.now())

    def __enter__(self) -> MemoryMeter:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()


def _proportional_bytes(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:  # it has just ended, or this is no Linux
        return 0
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:")), 0)
