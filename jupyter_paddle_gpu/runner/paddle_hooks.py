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


class _Steps:
    """Host peak between the ends of two optimiser steps: one whole training step each, kept for each optimiser in each
    cell, for another chapter trains another model, or the same one with other batches."""

    def __init__(self) -> None:
        self.overall = 0
        self.chapters: List[List[int]] = []
        self.cell = 0
        self.kept = self.seen = 0
        self.busy = False
        self.first = self.last = 0.0
        # Not by `id`: an optimiser that a function has left is freed, and the next one gets its place.
        self._found: "weakref.WeakKeyDictionary[Any, Dict[int, List[int]]]" = weakref.WeakKeyDictionary()

    def ended(self, core: Any, optimizer: Any) -> None:
        peak = int(core.host_memory_stat_peak_value("Allocated", 0))
        core.host_memory_stat_reset_peak_value("Allocated", 0)
        self.overall = max(self.overall, peak)
        self.seen += 1
        self.last = time.perf_counter()
        if self.seen == _FIRST_STEPS:
            self.first = self.last
        if self.kept < _MOST_STEPS:
            self.kept += 1
            self._chapter(optimizer).append(peak)

    def _chapter(self, optimizer: Any) -> List[int]:
        cells = self._found.setdefault(optimizer, {})
        if self.cell not in cells:
            cells[self.cell] = []
            self.chapters.append(cells[self.cell])
        return cells[self.cell]

    def steady(self) -> Optional[int]:
        """Median of the largest chapter's steps behind its first ones; None where a chapter with too few of them has
        taken more."""
        from statistics import median

        medians = [int(median(peaks[_FIRST_STEPS:])) for peaks in self.chapters if _is_steady(peaks)]
        short = max((max(peaks) for peaks in self.chapters if not _is_steady(peaks)), default=0)
        return max(medians) if medians and max(medians) >= short else None

    def measured(self) -> int:
        """Steps behind the first ones."""
        return sum(len(peaks[_FIRST_STEPS:]) for peaks in self.chapters)


def _is_steady(peaks: List[int]) -> bool:
    return len(peaks) >= _FIRST_STEPS + _STEADY_STEPS


_steps = _Steps()


def install(sender: Sender, interrupts: Interrupts) -> None:
    """Watch for the modules of Paddle that are of interest."""
    hooks: Dict[str, Callable[[Any], None]] = {
        "paddle.base": interrupts.rearm,  # whose end starts the core
        "paddle.fluid": interrupts.rearm,  # its name up to Paddle 2.4
        "paddle.optimizer": _watch_steps,
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
