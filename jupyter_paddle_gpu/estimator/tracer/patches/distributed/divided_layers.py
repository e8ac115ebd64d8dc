"""Layers divided among processes: shared by several (tensor parallelism), or held one behind the other (pipelines).

Paddle's own Python makes a process's part of the model (`fleet/layers/mpu/mp_layers.py`,
`fleet/meta_parallel/parallel_layers/pp_layers.py`) and has it run (`tensor_parallel.py`, `pipeline_parallel.py`: one
forward and one backward pass by turns, with the batches in flight that a stage has). What comes from other processes
has the shapes that Paddle allocates for it; `kernels.collectives` has the operators. Beside two processes on CPUs with
gloo, in which what a CPU has no kernel for is put together of others, the peaks are equal to the byte.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import paddle
from paddle.distributed.fleet.base import topology
from paddle.distributed.fleet.meta_parallel import pipeline_parallel
from paddle.distributed.fleet.meta_parallel.pp_utils import p2p_communication
from paddle.distributed.fleet.meta_parallel.pp_utils.utils import paddle_2_number
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
        stage = shared.get_stage_id()
        processes.made = _made(model, stages)
        batches = _in_flight(model, stage, stages)
        running().note("pipeline", devices=processes.size, stage=stage + 1, stages=stages, batches=batches)


_PLACE = re.compile(r"\b\w*(idx|index|id)\w*=\d+")
"""What says which of several like layers one is."""


def _made(model: Any, stages: int) -> list[list[str]]:
    """Of each stage its layers, as they are described; with several parts of the model each stage has parts in turn."""
    layers = model._layers
    described, ends = layers._layers_desc, layers.segment_parts
    parts = [described[start:end] for start, end in pairwise(ends)]
    return [[_PLACE.sub("", repr(one)) for part in parts[stage::stages] for one in part] for stage in range(stages)]


def _in_flight(model: Any, stage: int, stages: int) -> int:
    """Micro-batches that a stage has begun and not ended, at most (`startup_steps` in pipeline_parallel.py).

    With several parts of the model in a stage each part takes as many of them as there are stages by turns.
    """
    batches, parts = int(model.accumulate_steps), getattr(model, "num_model_chunks", 1)
    if parts == 1:
        return min(stages - stage, batches)
    if batches < 2 * stages:  # all forward passes come first
        return batches
    rounds, rest = divmod((stages - stage - 1) * 2 + (parts - 1) * stages + 1, stages * parts)
    return min(rounds * stages + min(rest, stages), batches)


def send_meta(runtime: Tensors, original: Any, meta: Any, tensors: Any, *_: Any, **__: Any) -> None:
    """`SendRecvMeta.send_meta`: what the next stage will receive."""
    several = list(tensors) if isinstance(tensors, (list, tuple)) else [tensors]
    running().of(Processes).sent = [
        [list(one.shape), paddle_2_number(one.dtype), bool(one.stop_gradient), getattr(one, "key", None)]
        for one in several
    ]


def receive_meta(runtime: Tensors, original: Any, meta: Any, *_: Any, **__: Any) -> None:
    """`SendRecvMeta.recv_meta`: what the stage before gives on; stages within one process give on as much each."""
    processes = running().of(Processes)
    told = tuple(zip(*(processes.received or processes.sent or ()), strict=True))
    alone = len(told[0]) == 1 if told else False
    shapes, types, fixed, keys = (one[0] if alone else tuple(one) for one in told)
    meta.recv_shape_message, meta.recv_dtype_message = shapes, types
    meta.recv_stop_gradient, meta.recv_key_message = fixed, keys


def broadcast_loss(runtime: Tensors, original: Callable[..., Any], model: Any, *args: Any, **kwargs: Any) -> Any:
    """`PipelineParallel._broadcast_final_loss`, by the process that this one became behind the model's making."""
    model.global_rank = model._hcg.get_global_rank()
    return original(model, *args, **kwargs)


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
    yield Patch(pipeline_parallel.PipelineParallel, "_broadcast_final_loss", broadcast_loss)
    yield Patch(p2p_communication.SendRecvMeta, "send_meta", send_meta)
    yield Patch(p2p_communication.SendRecvMeta, "recv_meta", receive_meta)
    yield Patch(_RECOMPUTATION, "recompute_hybrid", recompute, everywhere=True)
