"""`python -m benchmarks.trainers_steps STEPS ARGUMENTS` in a trainer's folder: peaks of `tools/train.py`.

Runs in the Python that has what the trainers import; of the extension it takes the list of what loads weights.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import runpy
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from .optimizers import after_updates


class Enough(BaseException):
    """Ends the program."""


def real(steps: int, arguments: list[str]) -> None:
    """Run `tools/train.py` for so many steps in this folder; behind each all peaks so far are printed, as JSON."""
    from paddle.base import core

    peaks: list[int] = []

    def updated() -> None:
        peaks.append(core.host_memory_stat_peak_value("Allocated", 0))
        core.host_memory_stat_reset_peak_value("Allocated", 0)
        print(json.dumps(peaks), file=sys.__stdout__, flush=True)
        if len(peaks) == steps:
            raise Enough

    after_updates(updated)
    _without_weights()
    _with_largest_sizes()
    sys.argv = ["tools/train.py", *arguments]
    sys.path.insert(0, str(Path("tools").absolute()))
    with contextlib.suppress(Enough), contextlib.redirect_stdout(sys.stderr):
        runpy.run_path("tools/train.py", run_name="__main__")
    os._exit(0)  # loaders' threads do not always let go


def _without_weights() -> None:
    """Models keep what they are initialised with, as on the machine of the estimate."""
    from jupyter_paddle_gpu.estimator.tracer.patches.awaited import when_imported
    from jupyter_paddle_gpu.estimator.tracer.patches.trainers.weights import LOADS

    def replace(module: str, name: str) -> None:
        setattr(sys.modules[module], name, lambda *args, **kwargs: None)

    for module, name in LOADS:
        when_imported(module, partial(replace, module, name))


def _with_largest_sizes() -> None:
    """Sizes that are drawn for each batch (multi-scale training) are the largest in each of the few steps.

    So are factors of scale, which PaddleSeg shuffles to take the first: smaller pictures are padded with pixels that
    a loss may leave out.
    """
    drawn = random.choice, np.random.choice, np.random.shuffle
    random.choice = lambda values: max(values) if _are_sizes(values) else drawn[0](values)
    np.random.choice = lambda values, *more, **named: (
        values - 1 if isinstance(values, int) and not (more or named) else drawn[1](values, *more, **named)
    )
    np.random.shuffle = lambda values: values.sort(reverse=True) if _are_factors(values) else drawn[2](values)
    number = random.randint
    random.randint = lambda low, high: high if _is_of_model(sys._getframe(1).f_globals) else number(low, high)


def _is_of_model(names: dict[str, Any]) -> bool:
    """Whether the code of a model asks, which draws the size of all its pictures (YOLOX, every tenth step)."""
    return ".modeling." in names.get("__name__", "")


def _are_sizes(values: Any) -> bool:
    return all(isinstance(one, (list, int)) for one in values)


def _are_factors(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(one, float) for one in values)


if __name__ == "__main__":
    real(int(sys.argv[1]), sys.argv[2:])
