"""From the runner's events to what a row shows: cells, epochs, steps, metrics, time left."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec

from ..domain.jobs import Progress
from ..engines import own_files

_LEAST_SHARE = 0.01
"""Below this share of a training done, its pace says nothing of the time left."""


class ProgressReader:
    """Follows `events.jsonl` from its beginning; a new one after a restart comes to the same state."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0
        self._rest = b""
        self._progress = Progress()
        self._training: tuple[float, float] | None = None  # monotonic time and share done at this cell's first metric
        self._left: tuple[float, float] | None = None  # time of the newest metric, seconds left then
        self._first_epoch = 1

    def read(self, now: float) -> Progress:
        """The state after all events so far; `now` in seconds since the epoch lets the time left run down."""
        for event in self._new_events():
            self._take(event)
        if self._left is None:
            return self._progress
        at, seconds = self._left
        return msgspec.structs.replace(self._progress, seconds_left=max(0.0, round(seconds - max(0.0, now - at), 1)))

    def _new_events(self) -> list[dict[str, Any]]:
        try:
            with own_files.open_read(self._path) as file:
                if os.fstat(file.fileno()).st_size < self._offset:
                    self.__init__(self._path)  # type: ignore[misc]  # another attempt began a new file
                file.seek(self._offset)
                data = file.read()
        except OSError:
            return []
        self._offset += len(data)
        *lines, self._rest = (self._rest + data).split(b"\n")
        events = []
        for line in lines:
            try:
                event = msgspec.json.decode(line) if line.strip() else None
            except msgspec.DecodeError:
                continue
            if isinstance(event, dict):
                events.append(event)
        return events

    def _take(self, event: dict[str, Any]) -> None:
        change = msgspec.structs.replace
        if event.get("type") == "cell":
            self._training = self._left = None
            self._first_epoch = 1
            counts = {"cells_done": event.get("done", 0), "cells_total": event.get("total", 0)}
            if event.get("state") == "started":
                self._progress = Progress(cell=event.get("cell"), metrics=self._progress.metrics, **counts)
            else:
                # What a training cell reached stays readable until the next cell starts.
                ended = None if event.get("state") == "finished" else event.get("cell")
                self._progress = change(self._progress, cell=ended, **counts)
        elif event.get("type") == "metric":
            known = {name: event[name] for name in ("epoch", "epochs", "step", "steps") if name in event}
            metrics = {**self._progress.metrics, **event.get("metrics", {})}
            if known.get("epoch", self._progress.epoch) != self._progress.epoch and "step" not in known:
                known["step"] = None
            self._progress = change(self._progress, metrics=metrics, **known)
            if known.get("epoch") == 0:
                self._first_epoch = 0  # as `range` counts
            at = float(event.get("t", 0.0))
            self._estimate(at, float(event.get("m", at)), epoch_over=_sums_up(event))

    def _estimate(self, at: float, time: float, *, epoch_over: bool) -> None:
        """`at` in seconds since the epoch; `time` of the same moment by a clock that is never set."""
        share = _share(self._progress, self._first_epoch, epoch_over=epoch_over)
        if share is None:
            return
        if self._training is None or share < self._training[1]:
            self._training = (time, share)
            return
        began, first = self._training
        if share - first >= _LEAST_SHARE and time > began:
            self._left = (at, (time - began) * (1 - share) / (share - first))


def _sums_up(event: dict[str, Any]) -> bool:
    """Whether an event is of a line that looks back at an epoch (`epoch 3/10 loss 0.5`), not of one that begins it."""
    return bool("epoch" in event and "step" not in event and event.get("metrics"))


def _share(progress: Progress, first_epoch: int, *, epoch_over: bool) -> float | None:
    """The share of a training that is done, 0 to 1; None where its length is not known."""
    within = progress.step / progress.steps if progress.step is not None and progress.steps else None
    if progress.epoch is not None and progress.epochs:
        begun = 1.0 if epoch_over else within if within is not None else 0.0
        return max(0.0, min(1.0, (progress.epoch - first_epoch + begun) / progress.epochs))
    return min(1.0, within) if within is not None and progress.epoch is None else None
