"""Sharding (ZeRO stages 1 to 3) as Paddle's own Python does it, on tensors without data.

What runs unchanged: `distributed/sharding/group_sharded.py`, `fleet/meta_parallel/sharding/` and
`fleet/meta_optimizers/dygraph_optimizer/`. Replaced are the places that copy numbers through the host.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import paddle
from paddle.base import core
from paddle.distributed import fleet, parallel
from paddle.distributed.fleet.meta_parallel.meta_parallel_base import MetaParallelBase
from paddle.distributed.fleet.meta_parallel.sharding import (
    group_sharded_optimizer_stage2 as stage2,
)
from paddle.distributed.fleet.meta_parallel.sharding import (
    group_sharded_stage2,
)
from paddle.distributed.fleet.meta_parallel.sharding import (
    group_sharded_stage3 as stage3,
)
from paddle.distributed.fleet.meta_parallel.sharding import (
    group_sharded_storage as storage,
)
from paddle.distributed.fleet.utils import hybrid_parallel_util

from ...eager import amp
from ...eager.tensors import Tensors, running
from ...memory.arrays import Array, Shape, contiguous_strides
from ...memory.dtypes import name_of
from ...step.steps import StepWatch
from ..patch import Patch
from . import divided_layers
from .process_group import Processes

_MODES = fleet.base.topology.ParallelMode
_FOLLOWED = (_MODES.DATA_PARALLEL, _MODES.SHARDING_PARALLEL, *divided_layers.DIVIDING)
_ALIGNMENT = {"gpu": 256, "cpu": 4096}
"""Bytes (`alignment` in group_sharded_optimizer_stage2.py)."""
WRAPPERS = (parallel.DataParallel, group_sharded_stage2.GroupShardedStage2, stage3.GroupShardedStage3, MetaParallelBase)
"""Layers that hold the user's model and are none of it."""


def _filled(size: int, dtype: Any, kind: str) -> Any:
    with running().ledger.allocating(kind):
        return paddle.zeros([int(size)], dtype=dtype)


def _over(buffer: Any, shape: Shape) -> Array:
    """A part of a flat buffer as an array of a shape."""
    return running().state(buffer).array.view(shape, contiguous_strides(shape))


# Buffers of several parameters or gradients: without going through the host


def init_storage(  # noqa: PLR0917 - Paddle's signature
    runtime: Tensors, _: Any, self: Any, size: Any, dtype: Any, device: str, convert_cpu: bool = False
) -> None:
    """`InternalStorage.__init__`."""
    self._params, self._param_ids, self._fill, self._device, self._dtype = [], [], 0, device, dtype
    self.dev_id = 0
    kind = "parameters" if isinstance(self, storage.ParamStorage) else "gradients"
    self.buffer = _filled(size, dtype, kind)


def add_parameter(
    runtime: Tensors, _: Any, self: Any, parameter: Any, align: int, convert_gpu: bool = True
) -> list[int]:
    """`ParamStorage._add_param_as_view`: the place in the buffer is taken, the parameter's own memory goes."""
    self._fill += parameter._numel() + align
    shape = list(parameter.shape)
    parameter._clear_data()
    return shape


def place_parameter(runtime: Tensors, _: Any, self: Any, parameter: Any, shape: list[int], align: int) -> None:
    """`ParamStorage._convert_buffer`."""
    state = running().state(parameter)
    state.array = _over(self.buffer, tuple(shape))
    self._fill += state.array.numel + align


def place_gradient(runtime: Tensors, _: Any, self: Any, parameter: Any, align: int) -> None:
    """`GradStorage._add_grad_as_view`."""
    shape = tuple(parameter.shape)
    running().state(parameter).grad = _over(self.buffer, shape)
    running().state(parameter).grad_is_stale = False
    self._fill += parameter._numel() + align


def slice_parameter(runtime: Tensors, _: Any, self: Any, parameter: Any, size: int) -> None:
    """`GroupShardedStage3._param_storage`: this process keeps its slice of the parameter."""
    start, end = self._param2buffer[parameter.name][self._rank]
    parameter.fw_storage = _filled(end - start, parameter.dtype, "parameters")
    parameter.fw_storage.name = "slice@" + parameter.name
    parameter.status = "part"
    if parameter.trainable and name_of(parameter.dtype) != "float32" and not self._offload:
        with running().ledger.allocating("optimizer_state"):
            master = paddle.cast(parameter.fw_storage, "float32")
        master.name = parameter.name
        self._optim._master_weights[parameter.fw_storage.name] = master
    parameter._clear_data()


def create_gradients(runtime: Tensors, _: Any, parameters: list[Any], sizes: dict[str, int], flow: Any) -> Any:
    """`_create_params_grad` of stage 3."""
    for parameter in parameters:
        if parameter.trainable and parameter.name not in flow.full_grad:
            flow.full_grad[parameter.name] = _filled(sizes[parameter.name], parameter.dtype, "gradients")
            running().state(parameter).grad = _over(flow.full_grad[parameter.name], tuple(parameter.shape))
            running().state(parameter).grad_is_stale = False
    return flow


# Which process holds most


def _fullest(parameters: list[Any], size: int, ordered: bool) -> int:
    """The process with most elements: each parameter goes to the one that has least so far.

    `_segment_params` (stage 2) takes parameters as they come, `_partition_parameters` (stage 1) the largest first.
    """
    loads = [0] * size
    for parameter in sorted(parameters, key=lambda p: -p._numel()) if ordered else parameters:
        loads[loads.index(min(loads))] += parameter._numel() if parameter.trainable or ordered else 0
    return loads.index(max(loads))


def _listed(optimizer: Any) -> list[Any]:
    found: list[Any] = []
    for item in optimizer._parameter_list or []:
        found.extend(item["params"] if isinstance(item, dict) else [item])
    return found


# Entry points


def group_sharded_parallel(  # noqa: PLR0917 - Paddle's signature
    runtime: Tensors,
    original: Callable[..., Any],
    model: Any,
    optimizer: Any,
    level: str = "os",
    scaler: Any = None,
    *args: Any,
    **kwargs: Any,
) -> tuple[Any, Any, Any]:
    """`paddle.distributed.sharding.group_sharded_parallel`."""
    stage = 3 if level == "p_g_os" else 2
    if running().of(Processes).size == 1:
        running().note("sharding_single", stage=stage)
        return model, optimizer, scaler
    _say(stage)
    amp.before_sharding(running(), model, optimizer)
    if stage == 2:
        running().of(Processes).become(_fullest(_listed(optimizer), running().of(Processes).size, ordered=False))
        running().of(StepWatch).wrapped(optimizer)
    with _as_on_a_gpu():
        return tuple(original(model, optimizer, level, scaler, *args, **kwargs))


def _say(stage: int) -> None:
    processes = running().of(Processes)
    processes.kind = processes.kind or f"sharding_{stage}"
    running().note("sharded", stage=stage, devices=running().of(Processes).size)


@contextlib.contextmanager
def _as_on_a_gpu() -> Iterator[None]:
    """Paddle's sharding asks for a GPU and aligns by the kind of device."""
    device, compiled = paddle.get_device, core.is_compiled_with_cuda
    size = _ALIGNMENT[running().target]
    paddle.get_device, core.is_compiled_with_cuda = (lambda: "gpu:0"), (lambda: True)
    stage2.alignment["gpu"] = stage3.alignment["gpu"] = size
    try:
        yield
    finally:
        paddle.get_device, core.is_compiled_with_cuda = device, compiled


def distributed_model(runtime: Tensors, original: Callable[..., Any], model: Any, *args: Any, **kwargs: Any) -> Any:
    """`fleet.distributed_model`: a wrapper of the model, or the model itself where it trains alone or in parts."""
    shared = fleet.base.topology._HYBRID_PARALLEL_GROUP
    if fleet.fleet._role_maker is None:
        return _without_init(original, model, *args, **kwargs)
    if running().of(Processes).size == 1:
        return _alone(original, model)
    if shared is None:
        return model
    if shared.get_parallel_mode() not in _FOLLOWED:
        running().note("distribution_left_out", name="distributed_model")
        return model
    if shared.get_parallel_mode() not in divided_layers.DIVIDING:
        return _followed(original, model, *args, **kwargs)
    try:
        wrapper = original(model, *args, **kwargs)
    except AssertionError as problem:  # degrees or a model that do not go together
        raise running().refused(problem) from None
    divided_layers.say(wrapper, shared)
    return wrapper


def _alone(original: Callable[..., Any], model: Any) -> Any:
    """What it makes of a model that trains alone: Paddle 3.3 takes none there that is no `PipelineLayer`."""
    if isinstance(model, fleet.meta_parallel.PipelineLayer):
        return model
    try:
        return original(model)
    except AssertionError as problem:
        running().note("fleet_alone")
        raise running().refused(problem) from None


def _without_init(original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What Paddle does with a model or an optimizer before `fleet.init`: 3.3 ends there."""
    try:
        return original(*args, **kwargs)
    except AttributeError as problem:
        running().note("fleet_not_begun")
        raise running().refused(problem) from None


def _followed(original: Callable[..., Any], given: Any, *args: Any, **kwargs: Any) -> Any:
    """What Paddle's wrapper makes of a model or an optimizer; itself where that cannot run without devices."""
    try:
        return original(given, *args, **kwargs)
    except Exception:  # whatever it is: the step is traced all the same
        running().note("distribution_left_out", name=original.__name__)
        return given


def distributed_optimizer(
    runtime: Tensors, original: Callable[..., Any], optimizer: Any, *args: Any, **kwargs: Any
) -> Any:
    """`fleet.distributed_optimizer`: with a degree of sharding, each process updates its share (stage 1)."""
    if fleet.fleet._role_maker is None:
        return _without_init(original, optimizer, *args, **kwargs)
    if running().of(Processes).size == 1:
        return optimizer
    shared = fleet.base.topology._HYBRID_PARALLEL_GROUP
    if shared is None:
        return optimizer
    size = shared.get_sharding_parallel_world_size()
    if size > 1:
        running().of(Processes).become(_fullest(_listed(optimizer), size, ordered=True))
    wrapper = _followed(original, optimizer, *args, **kwargs)
    if wrapper is not optimizer:
        running().of(StepWatch).wrapped(optimizer)
        if size > 1:
            _say(1)
    return wrapper


def distributed_scaler(runtime: Tensors, original: Callable[..., Any], scaler: Any) -> Any:
    """`fleet.distributed_scaler`."""
    return original(scaler) if running().of(Processes).size > 1 else scaler


def _nothing(runtime: Tensors, original: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    return None


def _there(runtime: Tensors, original: Callable[..., Any], tensor: Any, *args: Any) -> Any:
    return tensor


distributed = paddle.distributed
_REPLACED: list[tuple[Any, str, Callable[..., Any]]] = [
    (distributed.sharding, "group_sharded_parallel", group_sharded_parallel),
    (distributed.sharding.group_sharded, "group_sharded_parallel", group_sharded_parallel),
    (fleet, "distributed_model", distributed_model), (fleet, "distributed_optimizer", distributed_optimizer),
    (fleet, "distributed_scaler", distributed_scaler),
    (parallel, "sync_params_buffers", _nothing), (hybrid_parallel_util, "sync_params_buffers", _nothing),
    (parallel, "_split_tensors", _nothing), (hybrid_parallel_util, "_split_tensors", _nothing),
    (storage.InternalStorage, "__init__", init_storage), (storage, "cvt_to_device", _there),
    (storage.ParamStorage, "_add_param_as_view", add_parameter),
    (storage.ParamStorage, "_convert_buffer", place_parameter),
    (storage.GradStorage, "_add_grad_as_view", place_gradient),
    (stage3.GroupShardedStage3, "_param_storage", slice_parameter), (stage3, "_create_params_grad", create_gradients),
]  # fmt: skip
"""(owner, name, replacement) while a trace runs."""


class TaskFlows:
    """Paddle's task flows share their tables: each trace begins and ends with empty ones."""

    def __init__(self) -> None:
        self.close()

    def close(self) -> None:
        """Empty them."""
        for shared in stage3.TaskFlow.__init__.__defaults__ or ():
            if isinstance(shared, dict):
                shared.clear()


def patches() -> Iterator[Patch]:
    """Sharding."""
    yield from (Patch(owner, name, replacement) for owner, name, replacement in _REPLACED)
