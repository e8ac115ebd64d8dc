"""What is learnt from Paddle while it works for the user: memory peaks, and progress of `paddle.Model`.

Nothing is imported here that the notebook does not import. A hook that fails is dropped in silence: the user's training
must never stumble over us.
"""

import contextlib
import functools
import math
import sys
import time
import weakref
from typing import Any, Callable, Dict, List, Optional

from . import imports
from .channel import Sender
from .interrupts import Interrupts

_FIRST_STEPS = 2
"""The first steps create optimiser state and fill caches: they are not steady."""
_MOST_STEPS = 10_000
_STEADY_STEPS = 3
"""Fewer steps behind the first ones tell no steady peak."""
_RECURRING = 0.1
"""Share of the steps, below which the commonest peak is not the usual one: sizes differ from step to step."""

_ALIKE = 0.001
"""By less than this share two peaks are one."""
_FREQUENT = 1 / 3
"""Share of the commonest peak's steps with which another one is as usual: of six batches one is read with others ahead,
and not in each epoch in time."""


class _Steps:
    """Host peak between the ends of two optimiser steps: one whole training step each, kept for each optimiser in each
    cell, for another chapter trains another model, or the same one with other batches."""

    def __init__(self) -> None:
        self.overall = 0
        self.chapters: List[_Chapter] = []
        self.cell = 0
        self.kept = self.seen = 0
        self.busy = False
        self._parts: List[int] = []
        self.first = self.last = 0.0
        # Not by `id`: an optimiser that a function has left is freed, and the next one gets its place.
        self._found: "weakref.WeakKeyDictionary[Any, Dict[int, _Chapter]]" = weakref.WeakKeyDictionary()

    def ended(self, core: Any, optimizer: Any) -> None:
        peak = self._peak(core)
        # The second loader that begins within a step is the training's own, behind a validation.
        training = peak if len(self._parts) > 1 else max(peak, *self._parts, 0)
        peak, self._parts = max(peak, *self._parts, 0), []
        self.seen += 1
        self.last = time.perf_counter()
        if self.seen == _FIRST_STEPS:
            self.first = self.last
        if self.kept < _MOST_STEPS:
            self.kept += 1
            self._chapter(optimizer).add(peak, training)

    def loader_begins(self, core: Any) -> None:
        """Another epoch or a validation begins: what a step took before is told from what it takes from now on."""
        if self.seen:
            self._parts.append(self._peak(core))

    def _peak(self, core: Any) -> int:
        peak = int(core.host_memory_stat_peak_value("Allocated", 0))
        core.host_memory_stat_reset_peak_value("Allocated", 0)
        self.overall = max(self.overall, peak)
        return peak

    def _chapter(self, optimizer: Any) -> "_Chapter":
        cells = self._found.setdefault(optimizer, {})
        if self.cell not in cells:
            cells[self.cell] = _Chapter()
            self.chapters.append(cells[self.cell])
        return cells[self.cell]

    def steady(self) -> Optional[int]:
        """The usual step's of the largest chapter; None where a chapter with too few steps has taken more."""
        usual = [one.usual() for one in self.chapters if one.is_steady()]
        short = max((max(one.peaks) for one in self.chapters if not one.is_steady()), default=0)
        return max(usual) if usual and max(usual) >= short else None

    def measured(self) -> int:
        """Steps behind the first ones."""
        return sum(len(one.peaks[_FIRST_STEPS:]) for one in self.chapters)


class _Chapter:
    """Peaks of one optimizer's steps in one cell."""

    def __init__(self) -> None:
        self.peaks: List[int] = []
        self._training: List[int] = []

    def add(self, peak: int, training: int) -> None:
        """A step ended; `training`: its peak without that of a validation before it."""
        self.peaks.append(peak)
        self._training.append(training)

    def is_steady(self) -> bool:
        """Whether there are enough steps to tell the usual one."""
        return len(self.peaks) >= _FIRST_STEPS + _STEADY_STEPS

    def usual(self) -> int:
        """The peak that most steps have, of such as are about as frequent the largest: a loader reads batches ahead,
        and towards the end of an epoch holds fewer of them from step to step. Where no peak recurs, the median."""
        from statistics import median

        whole, steps = self.peaks[_FIRST_STEPS:], self._training[_FIRST_STEPS:]
        if 2 * sum(map(int.__ne__, whole, steps)) > len(whole):
            steps = whole  # loaders that begin in every step are part of it
        groups = _alike(steps)
        most = max(map(len, groups))
        if most < max(2, _RECURRING * len(steps)):
            return int(median(steps))
        return max(int(median(group)) for group in groups if len(group) >= most * _FREQUENT)


def _alike(peaks: List[int]) -> List[List[int]]:
    """Peaks that are next to each other, as where each step leaves its loss in a list."""
    groups: List[List[int]] = []
    for peak in sorted(peaks):
        if groups and peak <= groups[-1][-1] * (1 + _ALIKE):
            groups[-1].append(peak)
        else:
            groups.append([peak])
    return groups


_steps = _Steps()


def install(sender: Sender, interrupts: Interrupts) -> None:
    """Watch for the modules of Paddle that are of interest."""
    hooks: Dict[str, Callable[[Any], None]] = {
        "paddle.base": interrupts.rearm,  # whose end starts the core
        "paddle.fluid": interrupts.rearm,  # its name up to Paddle 2.4
        "paddle.optimizer": _watch_steps,
        "paddle.io": _watch_loaders,
        "paddle.hapi.model": lambda module: _watch_fit(module, sender),
    }
    imports.watch(hooks)


def cell_starts(count: int) -> None:
    """The cell with this number begins."""
    _steps.cell = count


def _watch_steps(module: Any) -> None:
    base = module.Optimizer
    for value in list(vars(module).values()):
        if not (isinstance(value, type) and issubclass(value, base)):
            continue
        for name in ("step", "minimize"):  # hapi and older code call minimize
            if name in vars(value):
                setattr(value, name, _measured(getattr(value, name)))


def _measured(step: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(step)
    def measured(*arguments: Any, **options: Any) -> Any:
        if _steps.busy:  # a class's step that calls its parent's is one step
            return step(*arguments, **options)
        _steps.busy = True
        try:
            return step(*arguments, **options)
        finally:
            _steps.busy = False
            core = _core()
            if core is not None:
                with contextlib.suppress(Exception):
                    _steps.ended(core, arguments[0])

    return measured


def _watch_loaders(module: Any) -> None:
    begin = module.DataLoader.__iter__

    @functools.wraps(begin)
    def begun(loader: Any) -> Any:
        core = _core()
        if core is not None:
            with contextlib.suppress(Exception):
                _steps.loader_begins(core)
        return begin(loader)

    module.DataLoader.__iter__ = begun


def _watch_fit(module: Any, sender: Sender) -> None:
    """Add a callback to every `fit`; `config_callbacks` is where hapi puts its own together."""
    from paddle.hapi.callbacks import Callback

    class Progress(Callback):  # type: ignore[misc]
        """Tells epoch, step and metrics."""

        epoch: Optional[int] = None

        def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
            self.epoch = epoch + 1
            self._tell(None, {})

        def on_train_batch_end(self, step: int, logs: Any = None) -> None:
            self._tell(step + 1, logs or {})

        def on_eval_end(self, logs: Any = None) -> None:
            self._send({"metrics": _numbers(logs or {}, "eval_")})

        def _tell(self, step: Optional[int], logs: Dict[str, Any]) -> None:
            fields = {"epoch": self.epoch, "epochs": self.params.get("epochs"), "step": step}
            self._send(dict(fields, steps=self.params.get("steps"), metrics=_numbers(logs)))

        def _send(self, fields: Dict[str, Any]) -> None:
            sender.send("metric", **{key: value for key, value in fields.items() if value not in (None, {})})

    original = module.config_callbacks

    @functools.wraps(original)
    def config_callbacks(*arguments: Any, **options: Any) -> Any:
        callbacks = original(*arguments, **options)
        if options.get("mode", "train") == "train":
            with contextlib.suppress(Exception):
                progress = Progress()
                progress.set_params(callbacks.callbacks[0].params)
                callbacks.append(progress)
        return callbacks

    module.config_callbacks = config_callbacks


def _numbers(logs: Dict[str, Any], prefix: str = "") -> Dict[str, Optional[float]]:
    """Metrics by their names; None for what is no number (`nan`), which JSON does not have."""
    found: Dict[str, Optional[float]] = {}
    for name, value in logs.items():
        if name in ("step", "batch_size"):
            continue
        number = value[0] if isinstance(value, (list, tuple)) and value else value
        number = number[0] if isinstance(number, (list, tuple)) and number else number
        with contextlib.suppress(TypeError, ValueError):
            known = float(number)
            found[prefix + str(name)] = known if math.isfinite(known) else None
    return found


def _core() -> Any:
    paddle = sys.modules.get("paddle")
    base = getattr(paddle, "base", None) or getattr(paddle, "fluid", None)
    return getattr(base, "core", None)


def facts() -> Dict[str, Any]:
    """Paddle's version and the peaks of its allocators in bytes; empty where the notebook did not import it."""
    paddle, core = sys.modules.get("paddle"), _core()
    if paddle is None or core is None:
        return {}
    found: Dict[str, Any] = {"paddle_version": getattr(paddle, "__version__", None)}
    cuda = str(_ask(paddle.version.cuda, ""))  # "False" in a build without it
    found["cuda_version"] = cuda if cuda[:1].isdigit() else None
    found["host_allocated_bytes"] = _ask(lambda: max(_steps.overall, core.host_memory_stat_peak_value("Allocated", 0)))
    found["host_reserved_bytes"] = _ask(lambda: core.host_memory_stat_peak_value("Reserved", 0))
    found["device_allocated_bytes"] = _device_peak(paddle, "max_memory_allocated")
    found["device_reserved_bytes"] = _device_peak(paddle, "max_memory_reserved")
    found["steps_measured"] = _steps.measured()
    found["steps_seen"] = _steps.seen
    if _steps.seen > _FIRST_STEPS:
        found["step_seconds"] = (_steps.last - _steps.first) / (_steps.seen - _FIRST_STEPS)
    found["step_allocated_bytes"] = _steps.steady()  # None takes back what an earlier cell's end has told
    return found


def _device_peak(paddle: Any, name: str) -> Optional[int]:
    """The largest peak over the devices this process sees; None on the CPU. Asking must not start a device."""
    device = str(_ask(paddle.device.get_device, "cpu"))
    if device.startswith("cpu") or not _ask(paddle.device.is_compiled_with_cuda, False):
        return None
    ask = getattr(paddle.device.cuda, name)
    peak: Optional[int] = _ask(lambda: max(int(ask(index)) for index in range(paddle.device.cuda.device_count())))
    return peak


def _ask(question: Callable[[], Any], default: Any = None) -> Any:
    try:
        return question()
    except Exception:
        return default
