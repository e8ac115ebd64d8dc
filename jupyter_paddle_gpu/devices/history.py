"""The last half hour of each device, as the one sampler saw it; nothing is kept while nobody looks."""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from ..domain.devices import Device, DeviceHistory, DeviceSeries, Inventory

KEPT_SECONDS = 1800
"""Half an hour: a training's start and its rhythm, without a database."""


class _Point(NamedTuple):
    time: float
    utilization: float | None
    memory: float | None
    temperature: float | None
    power: float | None


class History:
    """A ring of points for each device; readings and questions come from different threads."""

    def __init__(self, kept_seconds: float = KEPT_SECONDS) -> None:
        self._kept = kept_seconds
        self._lock = threading.Lock()
        self._rings: dict[str, deque[_Point]] = {}

    def add(self, inventory: Inventory) -> None:
        """One sample of all devices. A clock that was set back begins anew: its points would lie in the future."""
        now = inventory.time
        with self._lock:
            for device in inventory.devices:
                ring = self._rings.setdefault(device.id, deque())
                if ring and ring[-1].time > now:
                    ring.clear()
                ring.append(_point(now, device))
            for name, ring in list(self._rings.items()):
                while ring and ring[0].time < now - self._kept:
                    ring.popleft()
                if not ring:
                    del self._rings[name]

    def read(self, now: float, seconds: float = KEPT_SECONDS, points: int = 0) -> DeviceHistory:
        """What was seen in the last `seconds` before `now`.

        Args:
            points: at most so many of each device, the means of equal spans of time; 0: each sample.
        """
        seconds = min(seconds, self._kept)
        with self._lock:
            rings = {name: list(ring) for name, ring in self._rings.items()}
        series = []
        for name, ring in rings.items():
            rows = [point for point in ring if now - seconds <= point.time <= now]
            if points and len(rows) > points:
                rows = _means(rows, now - seconds, seconds / points)
            series.append(_series(name, rows))
        return DeviceHistory(since=now - seconds, until=now, devices=tuple(series))


def _point(time: float, device: Device) -> _Point:
    return _Point(time, device.utilization, device.memory_used, device.temperature, device.power)


def _means(rows: Sequence[_Point], start: float, span: float) -> list[_Point]:
    """One point for each span in which something was seen, at the time of its last sample."""
    places = [int((row.time - start) / span) for row in rows]
    edges = [0, *(n + 1 for n, (left, right) in enumerate(pairwise(places)) if left != right), len(rows)]
    means = []
    for first, last in pairwise(edges):
        part = rows[first:last]
        figures = [_mean(row[field] for row in part) for field in range(1, len(_Point._fields))]
        means.append(_Point(part[-1].time, *figures))
    return means


def _mean(figures: Iterable[float | None]) -> float | None:
    told = [figure for figure in figures if figure is not None]
    return sum(told) / len(told) if told else None


def _series(name: str, rows: Sequence[_Point]) -> DeviceSeries:
    def column(field: int) -> tuple[float | None, ...]:
        return tuple(None if (figure := row[field]) is None else round(figure, 1) for row in rows)

    return DeviceSeries(
        id=name,
        # Downwards: no point lies behind the history's own end.
        times=tuple(math.floor(row.time * 100) / 100 for row in rows),
        utilization=column(1),
        memory_used=column(2),
        temperature=column(3),
        power=column(4),
    )
