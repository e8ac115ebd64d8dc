"""Devices, as a program that is traced sees them: it may be written for a GPU and be estimated where there is none.

Whatever names a device means the one place that a trace has; moving data to it changes nothing (`docs/estimation.md`).
What asks a device for its state (memory, streams, events) is answered as by one that is idle. Programs asking whether
Paddle has CUDA hear what they would hear on the device that the estimate is for; Paddle's own modules are told
the truth, because their choices are modelled where they matter.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType, SimpleNamespace
from typing import Any

import paddle
from paddle.base import core, framework

from .. import call_stack
from ..eager.tensors import Tensors
from ..kernels.gpu_flags import GpuFlags
from ..memory.allocator_flags import READ_ONLY
from ..session import Session
from ..undecided import absent_data
from . import absent_devices
from .distributed.process_group import Processes
from .patch import Patch, Replacement, modules

_DEVICE = re.compile(
    r"(gpu|cuda|dcu|gpu_pinned|cuda_pinned|xpu|xpu_pinned|ipu|npu|mlu|gcu|sdaa|(iluvatar|metax|biren)_gpu|intel_hpu)(:\d+)?",
    re.IGNORECASE,
)
"""Names of Paddle's own devices and of those that plugins add (PaddleCustomDevice)."""


_OF_OTHERS = re.compile(
    r"(?i)^FLAGS_.*(cud|cubl|gpu|nccl|conv|trt|rt_|cinn|xpu|npu|dcu|ipu|mem|alloc|gemm|stream|graph|tf32|flash|fus)"
)
"""Flags that a Paddle for CPUs need not know."""


@dataclass(frozen=True)
class DeviceNames:
    """Words for `paddle.set_device` beside those: of makers that packages add."""

    of_makers: frozenset[str] = frozenset()

    def holds(self, device: str) -> bool:
        """Whether that is a device's name, with a number or without."""
        return _DEVICE.fullmatch(device) is not None or device.partition(":")[0] in self.of_makers


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


def _place(session: Session, original: Replacement, device: Any = None, *args: Any, **kwargs: Any) -> Any:
    """From a name to a place."""
    named = isinstance(device, str) and session.of(DeviceNames).holds(device)
    if named:
        absent_devices.ask(session, device, lambda: original(device, *args, **kwargs))
    return core.CPUPlace() if named or isinstance(device, int) else original(device, *args, **kwargs)


def _paddle_place(session: Session, original: Replacement, device: Any = None) -> Any:
    """The same; a number is no name here, and is refused."""
    return original(device) if isinstance(device, int) else _place(session, original, device)


def _chosen(session: Session, original: Replacement, device: Any, *args: Any, **kwargs: Any) -> None:
    """`set_device`: nothing is set, the trace has one device. Words that no build knows are refused."""
    if isinstance(device, str) and session.of(DeviceNames).holds(device):
        absent_devices.ask(session, device, lambda: original(device, *args, **kwargs))
    elif isinstance(device, str) and device.lower() != "cpu":
        original(device, *args, **kwargs)


def _nothing(session: Session, original: Replacement, *args: Any, **kwargs: Any) -> None:
    return None


def _zero(session: Session, original: Replacement, *args: Any, **kwargs: Any) -> int:
    return 0


def _idle(session: Session, original: Replacement, *args: Any, **kwargs: Any) -> Idle:
    return Idle()


def _capability(session: Session, original: Replacement, *args: Any, **kwargs: Any) -> tuple[int, int]:
    return absent_devices.CAPABILITY if session.target == "gpu" else (0, 0)


def _properties(session: Session, original: Replacement, *args: Any, **kwargs: Any) -> Any:
    """Of a card that nobody has named its memory and its multiprocessors are asked for where a size hangs on them."""
    major, minor = _capability(session, original)
    known: dict[str, Any] = {"name": "", "major": major, "minor": minor}
    return SimpleNamespace(
        **known, **{name: _unknown(session, name) for name in ("total_memory", "multi_processor_count")}
    )


def _unknown(session: Session, name: str) -> Any:
    return absent_data.Unseen(name=name) if session.target == "gpu" else 0


def _has_cuda(session: Session, original: Replacement) -> bool:
    if (asking := call_stack.of_program()) is None:
        return bool(original())
    return session.target == "gpu" or absent_devices.leaves(session, asking)


CUDA, CUDNN = "12.6", (9, 5, 1)
"""Of Paddle 3's wheel for GPUs that its page of installation shows first (https://www.paddlepaddle.org.cn/install)."""


def _cudnn(session: Session, original: Replacement) -> Any:
    """`get_cudnn_version`: as one number."""
    major, minor, patch = CUDNN
    return major * 10_000 + minor * 100 + patch if _has_cuda(session, lambda: False) else original()


def _cudnn_version(session: Session, original: Replacement) -> Any:
    return ".".join(map(str, CUDNN)) if _has_cuda(session, lambda: False) else original()


def _cuda_version(session: Session, original: Replacement) -> Any:
    return CUDA if _has_cuda(session, lambda: False) else original()


def _count(session: Session, original: Replacement) -> int:
    return max(1, session.of(Processes).size) if _has_cuda(session, lambda: False) else int(original())


def _current(session: Session, original: Replacement) -> str:
    """`get_device`: what a build for GPUs begins with."""
    return "gpu:0" if _has_cuda(session, lambda: False) else str(original())


def _number(session: Session, original: Replacement, env: Any) -> int:
    """`ParallelEnv().dev_id`: a build without CUDA has none; of processes that train together this is the first."""
    return getattr(env, "_device_id", 0)


def _flags(runtime: Tensors, original: Replacement, flags: Any) -> None:
    """`set_flags`: a build without CUDA knows no flags of cuDNN's."""
    if not isinstance(flags, dict) or not READ_ONLY.isdisjoint(flags):
        original(flags)  # every build refuses them
    runtime.of(GpuFlags).put(flags, begun=bool(runtime.ledger.records))
    for name, value in flags.items():
        with contextlib.suppress(*([ValueError] if _OF_OTHERS.search(name) else [])):
            original({name: value})


def _changed(  # noqa: PLR0917 - Paddle's signature
    runtime: Tensors, original: Replacement, layer: Any, tensor: Any, device: Any, dtype: Any, *_: Any
) -> Any:
    """`Layer._transform`, below `Layer.to`, `.cuda()`, `.astype()`, `.bfloat16()`: a cast, whose result the parameter
    then is; no copy between devices."""
    if dtype is not None and not isinstance(dtype, (core.VarDesc.VarType, core.DataType)):
        dtype = framework.convert_np_dtype_to_dtype_(dtype)
    if dtype is None or dtype == tensor.dtype:
        return tensor
    with runtime.ledger.allocating("parameters" if tensor.persistable else runtime.ledger.kind):
        made = tensor.cast(dtype)
    runtime.state(tensor).array = runtime.state(made).array
    tensor.value().get_tensor()._share_data_nocheck_with(made.value().get_tensor())
    return tensor


def _there(session: Session, original: Replacement, tensor: Any, *args: Any, **kwargs: Any) -> Any:
    """`Tensor.cuda`: it is there."""
    absent_devices.ask(session, "cuda()", lambda: original(tensor, *args, **kwargs))
    return tensor


def _parameter_copy(session: Session, original: Replacement, parameter: Any, device: Any, blocking: bool) -> Any:
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
    lambda session, original, *_: "": ("get_device_name",),
    _capability: ("get_device_capability",),
    _place: ("_convert_to_place", "device_to_place"),
}  # fmt: skip
"""By answer the functions of `paddle.device`, `paddle.device.cuda` and `paddle.cuda`; no version has them all."""


_KINDS = ("CUDAPlace", "CUDAPinnedPlace", "XPUPlace", "XPUPinnedPlace", "IPUPlace", "CustomPlace")
"""Classes of places: while a trace runs, calling one gives the one place that there is."""
_OF_CUDA = frozenset(_KINDS[:2])


def _the_place(session: Session, original: Replacement, *args: Any, **kwargs: Any) -> Any:
    if original.__name__ in _OF_CUDA:
        absent_devices.ask(session, f"{original.__name__}({', '.join(map(str, args))})", _refuse_place)
    return core.CPUPlace()


def _refuse_place() -> None:
    """What a Paddle 3 built for CPUs says; asking it prints, and one of Paddle 2 ends the process."""
    raise ValueError("(InvalidArgument) use wrong place, Please check.")


def kinds() -> Iterator[Patch]:
    """Classes of places, wherever Paddle has put them."""
    yield from (Patch(core, name, _the_place, everywhere=True) for name in _KINDS)


def patches() -> Iterator[Patch]:
    """Functions and methods that name a device, move to one or ask one."""
    cuda = getattr(paddle, "cuda", None)
    owners = (paddle.device, paddle.device.cuda, *([cuda] if isinstance(cuda, ModuleType) else ()))
    for answer, names in _ANSWERS.items():
        for name in names:
            having = [owner for owner in owners if name in vars(owner)]
            yield from (Patch(owner, name, answer) for owner in having or (paddle.device,))
    yield Patch(paddle, "is_compiled_with_cuda", _has_cuda)
    yield from (Patch(owner, "get_device", _current) for owner in (paddle, paddle.device))
    yield from (Patch(owner, "get_cudnn_version", _cudnn) for owner in (paddle, paddle.device))
    yield from (Patch(paddle.version, name, of) for name, of in (("cuda", _cuda_version), ("cudnn", _cudnn_version)))
    yield from (Patch(owner, "set_device", _chosen) for owner in (paddle, paddle.device))
    yield Patch(paddle, "set_flags", _flags)
    yield Patch(framework, "get_flags", absent_devices.flag_values, everywhere=True)
    yield from (Patch(paddle.distributed.ParallelEnv, name, _number) for name in ("device_id", "dev_id"))
    yield Patch(paddle.nn.Layer, "_transform", _changed)
    yield Patch(paddle.Tensor, "cuda", _there)
    yield Patch(framework.EagerParamBase, "_copy_to", _parameter_copy)
    for module in modules():
        if "_get_paddle_place" in vars(module):
            yield Patch(module, "_get_paddle_place", _paddle_place)
