"""From the runner's events to what a row shows: cells, epochs, steps, metrics, time left."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ...domain.jobs.job import EventFiles, Progress, Sparkline
from ...domain.jobs.metrics import main_metric
from ...domain.messages import Message
from ...domain.variables import Variable
from . import untrusted
from .events import EventFile

_LEAST_SHARE = 0.01
"""Below this share of a training done, its pace says nothing of the time left."""

_NAME = 40
"""Characters of a viewer's name."""
LEAST_LEFT = 1.0
"""Seconds; of what should be over by now nothing is said."""
MOST_METRICS = 200
"""Names of metrics that a row holds; beyond them only the newest event's."""
MOST_FOLDERS = 20
"""Folders with event files that a row holds, the first ones."""
SPARKLINE_POINTS = 40
"""Points of a row's small curve at most; beyond them every other one goes."""
UNTOLD_SHARE = 0.1
"""Of a run in which a training is to come that has not said how long it takes, no more is told to be over: quick cells
before it would seem to be most of the run."""
UNKNOWN_SHARE = 0.5
"""Of a run in which nobody knows whether one comes, so much of what its cells say: one may."""


class ProgressReader:
    """Follows `events.jsonl` from its beginning; a new one after a restart comes to the same state.

    A job can write that file: what is no event is left out, and one look reads so much of it only.

    Args:
        path: the file.
        trains: whether a training is known to be in the notebook.
        told: the share of this attempt that was told before by another reader.
        counted: the number of epochs as the notebook has it, for a training that prints none.
    """

    def __init__(self, path: Path, *, trains: bool = False, told: float = 0.0, counted: Variable | None = None) -> None:
        self._path = path
        self._trains = trains
        self._counted = counted
        self._told = told
        self._events = EventFile(path)
        self._progress = Progress()
        self._curve = _SmallCurve()
        self._training: tuple[float, float] | None = None  # monotonic time and share done at this cell's first metric
        self._left: tuple[float, float] | None = None  # time of the newest metric, seconds left then
        self._first_epoch = 1
        self._course = _Course()

    def read(self, now: float) -> Progress:
        """The state after all events so far; `now` in seconds since the epoch lets the time left run down."""
        if self._events.is_new():
            # Another attempt began a new file.
            self.__init__(self._path, trains=self._trains, counted=self._counted)  # type: ignore[misc]
        for event in self._events.new():
            self._take(event)
        left = None if self._left is None else round(self._left[1] - max(0.0, now - self._left[0]), 1)
        share = self._course.share(self._progress, now, left)
        if left is None and not self._course.has_trained:
            share = min(share, UNTOLD_SHARE) if self._trains else UNKNOWN_SHARE * share
        # Where it turns out that more is to come than was thought, the bar waits: nobody reads it going back.
        self._told = max(self._told, round(share, 2))
        return msgspec.structs.replace(
            self._progress,
            sparkline=self._curve.told(),
            share=self._told,
            # It has become slower, or does something after its last step: how long that takes nobody knows.
            seconds_left=None if left is None or left < LEAST_LEFT else left,
        )

    def _take(self, event: untrusted.Event) -> None:
        change = msgspec.structs.replace
        self._course.take(event)
        if event.type == "cell":
            self._training = self._left = None
            self._first_epoch = 1
            counts = {"cells_done": event.done, "cells_total": event.total}
            if event.state == "started":
                old = self._progress
                fresh = Progress(cell=event.cell, metrics=old.metrics, event_files=old.event_files, warning=old.warning)
                self._progress = change(fresh, **counts)
            else:
                # What a training cell reached stays readable until the next cell starts.
                ended = None if event.state == "finished" else event.cell
                self._progress = change(self._progress, cell=ended, **counts)
        elif event.type == "event_files":
            found = EventFiles(viewer=event.viewer[:_NAME], folder=event.folder)
            known_files = self._progress.event_files
            if event.folder and found not in known_files and len(known_files) < MOST_FOLDERS:
                self._progress = change(self._progress, event_files=(*known_files, found))
        elif event.type == "metric":
            told_now = {name: getattr(event, name) for name in ("epoch", "epochs", "step", "steps")}
            known = {name: value for name, value in told_now.items() if value is not None}
            if event.epoch is not None and event.epochs is None:
                known |= self._epochs_of(event.epoch)
            numbers = {name: value for name, value in event.metrics.items() if value is not None}
            # The last number before a `nan` is not what has come out.
            told = {**self._progress.metrics, **event.metrics}
            metrics = {name: value for name, value in told.items() if value is not None}
            self._curve.add(numbers)
            if known.get("epoch", self._progress.epoch) != self._progress.epoch and "step" not in known:
                known["step"] = None
            if len(metrics) > MOST_METRICS:
                metrics = numbers
            self._progress = change(self._progress, metrics=metrics, **known)
            self._warn(event)
            self._first_epoch = min(self._first_epoch, known.get("epoch", self._first_epoch))
            self._estimate(event.t, event.t if event.m is None else event.m, epoch_over=_sums_up(event))

    def _epochs_of(self, epoch: int) -> dict[str, int | None]:
        """Of how many epochs one is that says it of itself alone, by the loop's own number; empty where nobody knows.

        A number that stands in a loop is of its cell; a variable's may be another loop's, which then goes beyond it.
        """
        counted, said = self._counted, self._progress.epochs
        if counted is None or not isinstance(counted.value, int) or said not in (None, counted.value):
            return {}
        elsewhere = counted.call and counted.cell != self._progress.cell
        return {} if elsewhere else {"epochs": counted.value if epoch <= counted.value else None}

    def _warn(self, event: untrusted.Event) -> None:
        """Note since when a loss is no number; until it is one again."""
        known = self._progress.warning
        if known is not None and event.metrics.get(str(known.params["name"])) is not None:
            self._progress = msgspec.structs.replace(self._progress, warning=None)
        elif known is None and (lost := [name for name, value in event.metrics.items() if _is_lost(name, value)]):
            told = {"name": lost[0], "epoch": self._progress.epoch, "step": self._progress.step}
            self._progress = msgspec.structs.replace(self._progress, warning=_no_number(told))

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


class _Course:
    """How long the cells took, and so how much of the whole run is over.

    A cell that trains takes as long as its own epochs and steps say; the others are taken to be alike.
    """

    def __init__(self) -> None:
        self._first: float | None = None  # by the clock that is never set, as `_begun` and `_last`
        self._is_set = False  # whether there are moments by the other clock only: an older runner's cells
        self._begun = self._last = 0.0
        self._last_t = 0.0  # of the newest event, seconds since the epoch
        self._trains = False  # whether the running cell does
        self.has_trained = False  # whether a cell that does has ended
        self._others: tuple[int, float] = (0, 0.0)  # cells that ended without training, and their seconds

    def take(self, event: untrusted.Event) -> None:
        """An event of the runner."""
        if self._first is None:
            self._is_set = event.m is None
        time = event.t if event.m is None or self._is_set else event.m
        self._first = time if self._first is None else self._first
        self._last, self._last_t = time, event.t
        if event.type == "metric":
            self._trains = True
        elif event.type == "cell" and event.state == "started":
            self._begun, self._trains = time, False
        elif event.type == "cell" and event.state == "finished" and self._trains:
            self.has_trained = True
        elif event.type == "cell" and event.state == "finished":
            self._others = (self._others[0] + 1, self._others[1] + max(0.0, time - self._begun))

    def share(self, progress: Progress, now: float, left: float | None) -> float:
        """Of the time from the first event to the end the part that is over, 0 to 1.

        Args:
            left: seconds to the end of the running cell, where its training tells; what should be over is negative.
        """
        if self._first is None or not progress.cells_total:
            return 0.0
        since = max(0.0, now - self._last_t)
        over, in_cell = max(0.0, self._last - self._first) + since, max(0.0, self._last - self._begun) + since
        number, seconds = self._others
        usual = seconds / number if number else in_cell
        runs = progress.cell is not None
        rest = usual * max(0, progress.cells_total - progress.cells_done - runs)
        if runs:
            # What has taken longer than others may take as long again.
            rest += max(usual, in_cell) if left is None else max(0.0, left)
        return over / (over + rest) if over + rest else progress.cells_done / progress.cells_total


class _SmallCurve:
    """The metric that stands for the training, as a row shows it: few points, evenly taken."""

    def __init__(self) -> None:
        self._name: str | None = None
        self._points: tuple[float, ...] = ()
        self._last: float | None = None
        self._stride = 1
        self._seen = 0

    def add(self, metrics: dict[str, float]) -> None:
        """Take what was said at one moment."""
        best = main_metric(name for name in (self._name, *metrics) if name is not None)
        if best != self._name:
            self.__init__()  # type: ignore[misc]  # a loss is heard of behind a learning rate
            self._name = best
        if best is None or best not in metrics:
            return
        self._last = float(f"{metrics[best]:.4g}")
        if self._seen % self._stride == 0:
            self._points = (*self._points, self._last)
            if len(self._points) > SPARKLINE_POINTS:
                self._points, self._stride = self._points[::2], 2 * self._stride
        self._seen += 1

    def told(self) -> Sparkline | None:
        """The curve so far, its newest value at its end; None where nothing was said."""
        if self._name is None or self._last is None:
            return None
        ends = self._points[-1] == self._last
        return Sparkline(name=self._name, values=self._points if ends else (*self._points, self._last))


_NO_NUMBER_HINT = (
    "From there on it learns nothing. Stop it and try a smaller learning rate or gradient clipping; look for a "
    "division by 0, a logarithm of 0 or a missing value in the data."
)


def _is_lost(name: str, value: float | None) -> bool:
    """Whether a loss is no number; other metrics may rightly be none, as an area of a class that no sample is of."""
    return value is None and "loss" in name


def _no_number(told: dict[str, str | int | None]) -> Message:
    params = {name: value for name, value in told.items() if value is not None}
    known = ("epoch" in params, "step" in params)
    texts = {
        (True, True): "{name} is no number (nan) since epoch {epoch}, step {step}.",
        (True, False): "{name} is no number (nan) since epoch {epoch}.",
        (False, True): "{name} is no number (nan) since step {step}.",
        (False, False): "{name} is no number (nan).",
    }
    return Message(code="loss_is_no_number", text=texts[known], hint=_NO_NUMBER_HINT, params=params)


def position(
    event: untrusted.Event, epoch: int | None, steps: int | None, first_epoch: int | None = None
) -> float | None:
    """How many epochs are through at an event, with the share of the running one; None where it cannot be told.

    Args:
        epoch: the running one, heard of in this event or before; `first_epoch` the first of the training, as some count
            from 0.
        steps: of an epoch.
    """
    if epoch is None:
        return None
    through = float(epoch - min(1, 1 if first_epoch is None else first_epoch))
    if event.step is not None:
        return through + min(1.0, event.step / steps) if steps else None
    return through + 1.0 if _sums_up(event) else through


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
