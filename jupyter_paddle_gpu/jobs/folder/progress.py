"""From the runner's events to what a row shows: cells, epochs, steps, metrics, time left."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from ...domain.jobs.job import Progress
from ...engines import own_files
from . import untrusted

_LEAST_SHARE = 0.01
"""Below this share of a training done, its pace says nothing of the time left."""

LEAST_LEFT = 1.0
"""Seconds; of what should be over by now nothing is said."""
BLOCK_BYTES = 1 << 20
LOOK_BLOCKS = 64
"""What is read at one look at most: days of a runner's events, and not all that a job can write."""
MOST_METRICS = 200
"""Names of metrics that a row holds; beyond them only the newest event's."""


class ProgressReader:
    """Follows `events.jsonl` from its beginning; a new one after a restart comes to the same state.

    A job can write that file: what is no event is left out, and one look reads so much of it only.
    """

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
        left = round(seconds - max(0.0, now - at), 1)
        # It has become slower, or does something after its last step: how long that takes nobody knows.
        return msgspec.structs.replace(self._progress, seconds_left=left if left >= LEAST_LEFT else None)

    def _new_events(self) -> Iterator[untrusted.Event]:
        with contextlib.suppress(OSError), own_files.open_read(self._path) as file:
            if os.fstat(file.fileno()).st_size < self._offset:
                self.__init__(self._path)  # type: ignore[misc]  # another attempt began a new file
            file.seek(self._offset)
            for _ in range(LOOK_BLOCKS):
                data = file.read(BLOCK_BYTES)
                if not data:
                    return
                self._offset += len(data)
                *lines, self._rest = (self._rest + data).split(b"\n")
                if len(self._rest) > BLOCK_BYTES:  # no event is that long
                    self._rest = b""
                for line in lines:
                    if line.strip() and (event := untrusted.event(line)) is not None:
                        yield event

    def _take(self, event: untrusted.Event) -> None:
        change = msgspec.structs.replace
        if event.type == "cell":
            self._training = self._left = None
            self._first_epoch = 1
            counts = {"cells_done": event.done, "cells_total": event.total}
            if event.state == "started":
                self._progress = Progress(cell=event.cell, metrics=self._progress.metrics, **counts)
            else:
                # What a training cell reached stays readable until the next cell starts.
                ended = None if event.state == "finished" else event.cell
                self._progress = change(self._progress, cell=ended, **counts)
        elif event.type == "metric":
            told_now = {name: getattr(event, name) for name in ("epoch", "epochs", "step", "steps")}
            known = {name: value for name, value in told_now.items() if value is not None}
            metrics = {**self._progress.metrics, **event.metrics}
            if known.get("epoch", self._progress.epoch) != self._progress.epoch and "step" not in known:
                known["step"] = None
            if len(metrics) > MOST_METRICS:
                metrics = dict(event.metrics)
            self._progress = change(self._progress, metrics=metrics, **known)
            self._first_epoch = min(self._first_epoch, known.get("epoch", self._first_epoch))
            self._estimate(event.t, event.t if event.m is None else event.m, epoch_over=_sums_up(event))

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


def _sums_up(event: untrusted.Event) -> bool:
    """Whether an event is of a line that looks back at an epoch (`epoch 3/10 loss 0.5`), not of one that begins it."""
    return event.epoch is not None and event.step is None and bool(event.metrics)


def _share(progress: Progress, first_epoch: int, *, epoch_over: bool) -> float | None:
    """The share of a training that is done, 0 to 1; None where its length is not known."""
    within = progress.step / progress.steps if progress.step is not None and progress.steps else None
    if progress.epoch is not None and progress.epochs:
        begun = 1.0 if epoch_over else within if within is not None else 0.0
        return max(0.0, min(1.0, (progress.epoch - first_epoch + begun) / progress.epochs))
    return min(1.0, within) if within is not None and progress.epoch is None else None
