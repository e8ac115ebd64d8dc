"""The outside world of the user's program while it is traced: nothing is downloaded, written or asked of a device."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from typing import Any

import paddle

from .dtypes import SIZE, name_of
from .interception import current

_installed = False
WEIGHTS = "weights-not-needed:"
"""Begins the stand-in path of pretrained weights, which change no size."""


class DownloadNeeded(BaseException):
    """The program wants data that is not on this machine."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.url = url


def _refuse(original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    raise DownloadNeeded(str(args[0] if args else kwargs.get("url", "")))


def _cached(original: Callable[..., Any], url: str, module_name: str, md5sum: Any, save_name: Any = None) -> Any:
    """`paddle.dataset.common.download`: a file that is there already is used."""
    folder = os.path.join(paddle.dataset.common.DATA_HOME, module_name)  # noqa: PTH118 - mirrors Paddle's own path
    path = os.path.join(folder, url.split("/")[-1] if save_name is None else save_name)  # noqa: PTH118
    if not os.path.exists(path):  # noqa: PTH110
        raise DownloadNeeded(url)
    return original(url, module_name, md5sum, save_name)


def _weights(original: Callable[..., Any], url: str, *args: Any) -> str:
    return WEIGHTS + url


def _load(original: Callable[..., Any], path: Any, *args: Any, **kwargs: Any) -> Any:
    if isinstance(path, str) and path.startswith(WEIGHTS):
        return {}
    return original(path, *args, **kwargs)


def _nothing(original: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    return None


def _undecorated(original: Callable[..., Any], function: Any = None, *args: Any, **kwargs: Any) -> Any:
    """`paddle.jit.to_static`, with or without arguments: the program is traced as written."""
    return function if function is not None else lambda decorated: decorated


def _single(original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Distributed wrappers of a model or an optimizer: one rank's memory is what is asked for."""
    return args[-1] if args else next(iter(kwargs.values()))


def _data_parallel(
    original: Callable[..., Any],
    layers: Any,
    strategy: Any = None,
    comm_buffer_size: int = 25,
    last_comm_buffer_size: float = 1,
    *args: Any,
    **kwargs: Any,
) -> Any:
    """`paddle.DataParallel` as one of several processes: the model, with the buffers that gather its gradients.

    The reducer copies dense gradients into fused buffers of the two sizes (MB); they are made in the first backward
    pass and stay (measured with two processes on CPUs).
    """
    runtime = current()
    if runtime is None:
        return layers
    runtime.note("data_parallel")
    sparse = {
        id(parameter)
        for layer in layers.sublayers(include_self=True)
        if isinstance(layer, paddle.nn.Embedding) and getattr(layer, "_sparse", False)
        for parameter in layer.parameters(include_sublayers=False)
    }
    dense = [p for p in layers.parameters() if not (p.stop_gradient or getattr(p, "no_sync", False) or id(p) in sparse)]
    limits = [int(last_comm_buffer_size * (1 << 20)), int(comm_buffer_size * (1 << 20))]
    buffers = [
        runtime.create("fused_gradients", (numel,), dtype, None, "gradients") for numel, dtype in _groups(dense, limits)
    ]
    object.__setattr__(layers, "_traced_buffers", buffers)
    return layers


def _groups(parameters: list[Any], limits: list[int]) -> list[tuple[int, str]]:
    """(elements, type) of the reducer's fused buffers (Eager_AssignGroupBySize in distributed/collective/reducer.cc):
    a group of one type is closed once it has reached its limit; the first limit holds for the first group."""
    closed: list[tuple[int, str]] = []
    opened: dict[str, int] = {}
    begun: dict[str, int] = {}
    for parameter in parameters:
        dtype = name_of(parameter.dtype)
        opened[dtype] = opened.get(dtype, 0) + int(parameter.size)
        if opened[dtype] * SIZE[dtype] >= limits[min(begun.get(dtype, 0), 1)]:
            closed.append((opened.pop(dtype), dtype))
            begun[dtype] = 1
    return closed + [(numel, dtype) for dtype, numel in opened.items()]


def _unsharded(
    original: Callable[..., Any], model: Any, optimizer: Any, level: str = "os", scaler: Any = None, **kwargs: Any
) -> tuple[Any, Any, Any]:
    """`group_sharded_parallel`: among how many devices it divides is not known here; nothing is divided."""
    runtime = current()
    if runtime is not None:
        runtime.note("sharding", level=str(level))
    return model, optimizer, scaler


def _replacements() -> list[tuple[Any, str, Callable[..., Any]]]:
    fleet = paddle.distributed.fleet
    found: list[tuple[Any, str, Callable[..., Any]]] = [
        (paddle, "save", _nothing), (paddle, "load", _load), (paddle.jit, "save", _nothing),
        (paddle.jit, "to_static", _undecorated), (paddle.hapi.model.Model, "save", _nothing),
        (paddle, "set_device", _nothing), (paddle.device, "set_device", _nothing),
        (paddle.utils.download, "get_path_from_url", _refuse), (paddle.utils.download, "_download", _refuse),
        (paddle.dataset.common, "download", _cached),
        (paddle.distributed, "init_parallel_env", _nothing),
        (paddle.distributed.sharding, "group_sharded_parallel", _unsharded), (paddle, "DataParallel", _data_parallel),
        (fleet, "init", _nothing), (fleet, "distributed_model", _single), (fleet, "distributed_optimizer", _single),
    ]  # fmt: skip
    for name in dir(paddle.vision.models):
        module = getattr(paddle.vision.models, name)
        if hasattr(module, "get_weights_path_from_url"):
            found.append((module, "get_weights_path_from_url", _weights))
    return found


def _while_tracing(original: Callable[..., Any], replacement: Callable[..., Any]) -> Callable[..., Any]:
    def function(*args: Any, **kwargs: Any) -> Any:
        if current() is None:
            return original(*args, **kwargs)
        return replacement(original, *args, **kwargs)

    function.__name__ = getattr(original, "__name__", "function")
    return function


def install() -> None:
    """Replace them, once a process."""
    global _installed  # noqa: PLW0603
    if _installed:
        return
    _installed = True
    for owner, name, replacement in _replacements():
        with contextlib.suppress(AttributeError, TypeError):
            setattr(owner, name, _while_tracing(getattr(owner, name), replacement))
