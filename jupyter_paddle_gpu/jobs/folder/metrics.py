"""A job's metrics over time, read from its events: followed as they grow, kept at a bounded size."""

from __future__ import annotations

import threading
from collections import OrderedDict
from pathlib import Path

from ...domain.jobs.metrics import EpochMark, JobMetrics, MetricCurve
from . import untrusted
from .events import EventFile
from .progress import position

POINTS = 4_000
"""Points kept of a curve: more than a screen has pixels. Beyond them every other one goes."""
MOST_CURVES = 60
MOST_MARKS = 2_000
_HISTORIES = 64
"""How many jobs' curves are kept in memory."""


class _Curve:
    def __init__(self) -> None:
        self.points: list[tuple[float, float, float | None]] = []
        self.stride, self.seen = 1, 0
        self.last: tuple[float, float, float | None] | None = None

    def add(self, point: tuple[float, float, float | None]) -> None:
        self.last = point
        if self.seen % self.stride == 0:
            self.points.append(point)
            if len(self.points) > POINTS:
                self.points, self.stride = self.points[::2], 2 * self.stride
        self.seen += 1

    def whole(self) -> list[tuple[float, float, float | None]]:
        """With the newest point, which may lie between two that are kept."""
        if self.last is None or (self.points and self.points[-1] == self.last):
            return self.points
        return [*self.points, self.last]


class MetricHistory:
    """The curves of one job. Thread-safe."""

    def __init__(self, path: Path) -> None:
        self._events = EventFile(path)
        self._lock = threading.Lock()
        self._begin()

    def _begin(self) -> None:
        self._curves: dict[str, _Curve] = {}
        self._marks: list[EpochMark] = []
        self._epoch: int | None = None
        self._first_epoch: int | None = None
        self._steps: int | None = None
        self._at: float | None = None

    def read(self) -> JobMetrics:
        """The curves so far."""
        with self._lock:
            if self._events.is_new():
                self._begin()
            for event in self._events.new():
                self._take(event)
            return JobMetrics(
                curves=tuple(_told(name, curve) for name, curve in self._curves.items()),
                marks=tuple(self._marks),
                thinned=any(curve.stride > 1 for curve in self._curves.values()),
            )

    def _take(self, event: untrusted.Event) -> None:
        if event.type == "cell" and event.state == "started":
            self._epoch = self._first_epoch = self._steps = self._at = None  # another cell may be another training
        if event.type != "metric":
            return
        if event.epoch is not None and event.epoch != self._epoch:
            self._epoch = event.epoch
            if self._first_epoch is None:
                self._first_epoch = event.epoch
            if len(self._marks) < MOST_MARKS:
                self._marks.append(EpochMark(event.epoch, event.t))
        self._steps = event.steps or self._steps
        if event.epoch is not None or event.step is not None:  # else what an evaluation says, where training stands
            self._at = position(event, self._epoch, self._steps, self._first_epoch)
        for name, value in event.metrics.items():
            if value is None:
                continue
            if name not in self._curves and len(self._curves) >= MOST_CURVES:
                continue
            self._curves.setdefault(name, _Curve()).add((event.t, value, self._at))


def _told(name: str, curve: _Curve) -> MetricCurve:
    points = curve.whole()
    return MetricCurve(
        name=name,
        times=tuple(point[0] for point in points),
        values=tuple(point[1] for point in points),
        epochs=tuple(point[2] for point in points),
    )


class MetricHistories:
    """The curves of the jobs that were looked at last."""

    def __init__(self, most: int = _HISTORIES) -> None:
        self._most = most
        self._kept: OrderedDict[Path, MetricHistory] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, path: Path) -> MetricHistory:
        """Those of an events file."""
        with self._lock:
            history = self._kept.pop(path, None) or MetricHistory(path)
            self._kept[path] = history
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
            return history
