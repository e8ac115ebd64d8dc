"""`events.jsonl`: what faces show beside the log. Everything in it is also elsewhere, so losing one is no harm."""

import json
import os
import time
from pathlib import Path
from typing import Any, Dict

from .. import files


class Events:
    """Appends events; metrics at a bounded rate, the newest one kept for the next slot.

    So many of them (`metric_burst`) may come at once, so that a training of a few seconds leaves its whole curve.
    """

    def __init__(self, path: Path, *, metric_seconds: float, metric_burst: int = 1) -> None:
        self._descriptor = os.open(str(path), os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
        self._metric_seconds, self._metric_burst = metric_seconds, metric_burst
        self._slots = float(metric_burst)
        self._slots_at = time.monotonic()
        self._metric: Dict[str, Any] = {}
        self._from_callback = False
        # A crash may have left half a line; an empty one after it does no harm to a reader.
        if os.fstat(self._descriptor).st_size:
            self._append(b"\n")

    def add(self, kind: str, **fields: Any) -> None:
        """Append an event now, after the metric that waits."""
        self.flush_metric()
        self._write(dict(fields, type=kind))

    def metric(self, found: Dict[str, Any], *, callback: bool = False) -> None:
        """Note progress; once Paddle's own callback speaks, what is read from printed lines is not used."""
        if callback:
            self._from_callback = True
        elif self._from_callback or not found:
            return
        metrics = dict(self._metric.get("metrics", {}), **found.get("metrics", {}))
        self._metric.update(found)
        if metrics:
            self._metric["metrics"] = metrics
        self.tick()

    def tick(self) -> None:
        """Write the waiting metric when its time has come."""
        if not self._metric:
            return
        now = time.monotonic()
        fresh = (now - self._slots_at) / self._metric_seconds if self._metric_seconds > 0 else self._metric_burst
        self._slots, self._slots_at = min(float(self._metric_burst), self._slots + fresh), now
        if self._slots >= 1:
            self._slots -= 1
            self.flush_metric()

    def flush_metric(self) -> None:
        """Write the waiting metric now."""
        if self._metric:
            metric, self._metric = self._metric, {}
            self._write(dict(metric, type="metric"))

    def cell_started(self) -> None:
        """A new cell may print its progress itself again."""
        self._from_callback = False

    def _write(self, event: Dict[str, Any]) -> None:
        # `m` for the pace: the clock that `t` is of may be set while the job runs.
        event = dict(event, t=round(time.time(), 3), m=round(time.monotonic(), 3))
        self._append(json.dumps(event, ensure_ascii=False).encode("utf-8", "replace") + b"\n")

    def _append(self, data: bytes) -> None:
        try:
            files.write_all(self._descriptor, data)
        except OSError as error:
            if not files.is_full(error):
                raise

    def close(self) -> None:
        """Write what waits and let go of the file."""
        self.flush_metric()
        os.close(self._descriptor)
