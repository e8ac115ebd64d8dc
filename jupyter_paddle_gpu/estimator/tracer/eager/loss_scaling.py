"""Loss scaling: Paddle's own Python runs as it does on a GPU, its one kernel unscales in place.

`AmpScaler` switches itself off on a CPU, where traces run. The kernel is that of `phi/kernels/gpu/amp_kernel.cu`: it
makes no tensor, but holds the inverse of the scale, where each gradient begins and where it lies, for as long as it
runs. No gradient is infinite here: no step is left out and the scale stays.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any
from weakref import WeakSet

import numpy as np

from ..memory.arrays import allocate
from ..memory.dtypes import name_of
from ..memory.values import Known
from .amp import Precision
from .tensors import Tensors

TYPES = ("float16", "bfloat16", "float32")
"""Of gradients, in the order of `core.eager.get_grads_lists`."""
_GPU = SimpleNamespace(
    is_gpu_place=lambda: True,
    is_xpu_place=lambda: False,
    is_custom_place=lambda: False,
)


def device_of_scaler(runtime: Tensors, original: Callable[[], Any]) -> Any:
    """`_dygraph_tracer` of `amp/grad_scaler.py`, which reads from it where it stands."""
    return SimpleNamespace(_expected_place=_GPU) if runtime.target == "gpu" else original()


def state_of_autocast(runtime: Tensors, original: Callable[[], Any]) -> Any:
    """`amp_global_state` of `amp/grad_scaler.py`: the type that `auto_cast` was given last, and float32 before."""
    return SimpleNamespace(amp_dtype=runtime.of(Precision).given)


class Scalers:
    """Those that have unscaled gradients."""

    def __init__(self) -> None:
        self._all = WeakSet[Any]()

    def unscales(self, scaler: Any) -> None:
        """One is about to."""
        self._all.add(scaler)

    def are_open(self) -> bool:
        """Whether one has unscaled gradients, or updated by them, and not been updated itself since."""
        held = [getattr(scaler, "_optimizer_states", {}) for scaler in self._all]  # one that is off has none
        return any(entry["state"].name != "INIT" for states in held for entry in states.values())


def unscaling(runtime: Tensors, original: Callable[..., Any], scaler: Any, optimizer: Any) -> Any:
    """`AmpScaler._unscale`, by which a scaler leaves the state that it begins each step in."""
    runtime.of(Scalers).unscales(scaler)
    return original(scaler, optimizer)


def gradients_by_type(runtime: Tensors, original: Callable[..., Any], parameters: list[Any]) -> list[list[Any]]:
    """`core.eager.get_grads_lists`."""
    grads = [grad for parameter in parameters if (grad := parameter.grad) is not None]
    return [[grad for grad in grads if name_of(grad.dtype) == dtype] for dtype in TYPES]


def unscale(
    runtime: Tensors, original: Callable[..., Any], grads: list[Any], scale: Any, _: Any, found: Any, *__: Any
) -> None:
    """`check_finite_and_unscale`: in place; what it found, which is handed to it, stays false unless the scale is
    itself no number (`GradScaler(init_loss_scaling=None)`)."""
    value = runtime.state(scale).array.value
    if value is not None and runtime.evaluate is not None and not np.isfinite(runtime.evaluate(value).numpy()).all():
        runtime.state(found).array.value = Known(np.array([True]))
    ledger = runtime.ledger
    operation = ledger.begin("check_finite_and_unscale")
    held = [allocate(ledger, shape, dtype, "check_finite_and_unscale") for shape, dtype in _held(len(grads))]
    del held
    ledger.finish(operation)


def _held(count: int) -> tuple[tuple[tuple[int], str], ...]:
    """Shapes and types of what the kernel holds for so many gradients."""
    return ((1,), "float32"), ((count + 1,), "int64"), ((2 * count,), "int64")
