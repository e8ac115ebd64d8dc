"""Layers divided among processes: shared by several (tensor parallelism), or held one behind the other (pipelines).

Paddle's own Python makes a process's part of the model (`fleet/layers/mpu/mp_layers.py`,
`fleet/meta_parallel/parallel_layers/pp_layers.py`) and has it run (`tensor_parallel.py`, `pipeline_parallel.py`: one
forward and one backward pass by turns, with the batches in flight that a stage has). What comes from other processes
has the shapes that Paddle allocates for it; `kernels.collectives` has the operators. Beside two processes on CPUs with
gloo, in which what a CPU has no kernel for is put together of others, the peaks are equal to the byte.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import Any

import paddle
from paddle.distributed.fleet.base import topology
from paddle.distributed.fleet.meta_parallel import PipelineParallel
from paddle.distributed.fleet.utils import hybrid_parallel_util

from ...eager.tensors import Tensors, running
from ..patch import Patch
from .process_group import Processes

_MODES = topology.ParallelMode
_RECOMPUTATION = importlib.import_module("paddle.distributed.fleet.recompute.recompute_hybrid")
DIVIDING = (_MODES.TENSOR_PARALLEL, _MODES.PIPELINE_PARALLEL)
"""Ways of training together that divide a model's layers."""


def say(model: Any, shared: Any) -> None:
    """Tell whose figure it is."""
    processes = running().of(Processes)
    degree, stages = shared.get_model_parallel_world_size(), shared.get_pipe_parallel_world_size()
    if degree > 1:
        processes.kind = "tensor_parallel"
        running().note("tensor_parallel", devices=processes.size, degree=degree)
    if stages > 1:
        processes.kind = "pipeline"
        batches = min(stages, model.accumulate_steps) if isinstance(model, PipelineParallel) else stages
        running().note("pipeline", devices=processes.size, stages=stages, batches=batches)


def given_on(runtime: Tensors, original: Any, groups: Any, *inputs: Any, **named: Any) -> tuple[Any, Any]:
    """`broadcast_input_data`: the first of the processes that share a model has its batch already."""
    return inputs, named


def recompute(runtime: Tensors, original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """`recompute_hybrid`, a pipeline's own recomputation: it asks for a device and ends on a CPU."""
    device = paddle.get_device
    paddle.get_device = lambda: "gpu:0"
    try:
        return original(*args, **kwargs)
    finally:
        paddle.get_device = device


def patches() -> Iterator[Patch]:
    """What would wait for another process, or asks for a device."""
    yield Patch(hybrid_parallel_util, "broadcast_input_data", given_on, everywhere=True)
    yield Patch(_RECOMPUTATION, "recompute_hybrid", recompute, everywhere=True)
