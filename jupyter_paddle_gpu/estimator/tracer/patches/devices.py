"""Devices, as a program that is traced sees them: it may be written for a GPU and be estimated where there is none.

Whatever names a device means the one place that a trace has; moving data to it changes nothing (`docs/estimation.md`).
What asks a device for its state (memory, streams, events) is answered as by one that is idle. Programs asking whether
Paddle has CUDA hear what they would hear on the device that the estimate is for; Paddle's own modules are told
the truth, because their choices are modelled where they matter.
"""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Callable, Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import paddle
from paddle.base import core, framework

from .. import call_stack
from ..eager.interception import current
from . import process_group

_DEVICE = re.compile(
    r"(gpu|cuda|dcu|gpu_pinned|cuda_pinned|xpu|xpu_pinned|ipu|npu|mlu|gcu|sdaa|(iluvatar|metax|biren)_gpu|intel_hpu)(:\d+)?",
    re.IGNORECASE,
)
"""Names of Paddle's own devices and of those that plugins add (PaddleCustomDevice)."""

Replacement = Callable[..., Any]


class _Kind(type):
    """A class of places: while a trace runs, calling it gives the one place that there is."""

    original: type

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        return cls.original(*args, **kwargs) if current() is None else core.CPUPlace()

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.original)


class Idle:
    """A stream or an event of a device with nothing to do."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: None

    def __enter__(self) -> Idle:
        return self

    def __exit__(self, *args: object) -> None:
        pass

    def query(self) -> bool:
        """Whether everything is done."""
        return True

    def elapsed_time(self, *_: Any) -> float:
        """Milliseconds between two events."""
        return 0.0

    def record_event(self, event: Any = None) -> Any:
        """The event that was put into the stream."""
        return event or Idle()


def _place(original: Replacement, device: Any = None, *args: Any, **kwargs: Any) -> Any:
    """From a name to a place."""
    named = isinstance(device, str) and _DEVICE.fullmatch(device)
    return core.CPUPlace() if named or isinstance(device, int) else original(device, *args, **kwargs)


def _nothing(original: Replacement, *args: Any, **kwargs: Any) -> None:
    return None


def _zero(original: Replacement, *args: Any, **kwargs: Any) -> int:
    return 0


def _idle(original: Replacement, *args: Any, **kwargs: Any) -> Idle:
    return Idle()


def _properties(original: Replacement, *args: Any, **kwargs: Any) -> Any:
    return SimpleNamespace(name="", major=0, minor=0, total_memory=0, multi_processor_count=0)


def _has_cuda(original: Replacement) -> bool:
    return process_group.current.target == "gpu" if call_stack.of_program() else bool(original())


def _count(original: Replacement) -> int:
    return max(1, process_group.current.size) if _has_cuda(lambda: False) else int(original())


def _flags(original: Replacement, flags: Any) -> None:
    """`set_flags`: a build without CUDA knows no flags of cuDNN's."""
    with contextlib.suppress(ValueError):
        original(flags)


def _changed(original: Replacement, layer: Any, tensor: Any, device: Any, dtype: Any, *_: Any) -> Any:
    """`Layer._transform`, below `Layer.to`, `.cuda()`, `.astype()`, `.bfloat16()`: a cast, whose result the parameter
    then is; no copy between devices."""
    runtime = current()
    if dtype is not None and not isinstance(dtype, (core.VarDesc.VarType, core.DataType)):
        dtype = framework.convert_np_dtype_to_dtype_(dtype)
    if runtime is None or dtype is None or dtype == tensor.dtype:
        return tensor
    with runtime.ledger.allocating("parameters" if tensor.persistable else runtime.ledger.kind):
        made = tensor.cast(dtype)
    runtime.state(tensor).array = runtime.state(made).array
    tensor.value().get_tensor()._share_data_nocheck_with(made.value().get_tensor())
    return tensor


def _parameter_copy(original: Replacement, parameter: Any, device: Any, blocking: bool) -> Any:
    """`Parameter._copy_to`, as of any other tensor."""
    return core.eager.Tensor._copy_to(parameter, device, blocking)


_ANSWERS: dict[Replacement, tuple[str, ...]] = {
    _nothing: (
        "synchronize", "empty_cache", "reset_max_memory_allocated", "reset_max_memory_reserved", "memory_summary",
        "reset_peak_memory_stats", "set_stream", "vmm_compact", "ipc_collect", "manual_seed", "manual_seed_all",
    ),
    _zero: ("memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved"),
    _idle: ("Stream", "Event", "current_stream", "stream_guard", "stream", "device_guard"),
    _properties: ("get_device_properties",),
    _has_cuda: ("is_compiled_with_cuda", "is_available"),
    _count: ("device_count",),
    lambda original, *_: "": ("get_device_name",),
    lambda original, *_: (0, 0): ("get_device_capability",),
    _place: ("_convert_to_place", "device_to_place"),
}  # fmt: skip
"""By answer the functions of `paddle.device`, `paddle.device.cuda` and `paddle.cuda`; no version has them all."""


def replacements() -> Iterator[tuple[Any, str, Replacement]]:
    """(owner, name, replacement) of functions, for `environment`."""
    cuda = getattr(paddle, "cuda", None)
    for owner in (paddle.device, paddle.device.cuda, *([cuda] if isinstance(cuda, ModuleType) else ())):
        for answer, names in _ANSWERS.items():
            yield from ((owner, name, answer) for name in names if name in vars(owner))
    yield paddle, "is_compiled_with_cuda", _has_cuda
    yield paddle, "set_flags", _flags
    yield paddle.nn.Layer, "_transform", _changed
    yield framework.EagerParamBase, "_copy_to", _parameter_copy
    for module in _modules():
        if "_get_paddle_place" in vars(module):
            yield module, "_get_paddle_place", _place


def install_kinds() -> None:
    """Replace the classes of places, wherever Paddle has put them."""
    for name in ("CUDAPlace", "CUDAPinnedPlace", "XPUPlace", "XPUPinnedPlace", "IPUPlace", "CustomPlace"):
        original = getattr(core, name, None)
        if not isinstance(original, type):
            continue
        made = _Kind(name, (), {"original": original, "__doc__": original.__doc__})
        for module in _modules():
            if vars(module).get(name) is original:
                setattr(module, name, made)


def _modules() -> list[ModuleType]:
    """Paddle's loaded modules of Python."""
    found = [module for name, module in list(sys.modules.items()) if name == "paddle" or name.startswith("paddle.")]
    return [module for module in found if isinstance(module, ModuleType) and "libpaddle" not in module.__name__]
