"""Runs scripts as one of several real processes on CPUs (gloo, loopback) and prints peaks as JSON lines.

`python processes.py` reads {"name": source} from standard input. Paddle's group_sharded_parallel refuses a CPU ("only
support gpu, xpu and custom_device now"); its classes run there once they are told that it is a GPU. Two things of gloo
that NCCL has not are taken away: its tasks keep the tensors that they sent.
"""

from __future__ import annotations

import contextlib
import gc
import io
import json
import os
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import paddle
import paddle.distributed as dist
from paddle.base import core
from paddle.distributed import parallel
from paddle.distributed.fleet.layers.mpu import mp_ops
from paddle.distributed.fleet.meta_optimizers.dygraph_optimizer import hybrid_parallel_optimizer
from paddle.distributed.fleet.meta_parallel import tensor_parallel
from paddle.distributed.fleet.meta_parallel.parallel_layers import pp_layers
from paddle.distributed.fleet.meta_parallel.pp_utils import p2p_communication as p2p
from paddle.distributed.fleet.meta_parallel.sharding import (
    group_sharded_optimizer_stage2 as stage2,
)
from paddle.distributed.fleet.meta_parallel.sharding import (
    group_sharded_stage3 as stage3,
)
from paddle.distributed.fleet.meta_parallel.sharding import (
    group_sharded_storage as storage,
)
from paddle.distributed.fleet.meta_parallel.sharding import (
    group_sharded_utils as utils,
)
from real_steps import Enough

STEPS = 4
"""The first has no optimizer state yet; the others are equal."""
original = dist.sharding.group_sharded_parallel


class Done:
    def wait(self) -> bool:
        return True


def _gathered(*args: Any) -> Any:
    full, task = gather(*args)
    task.wait()
    return full, Done()


gather, stage3._all_gather = stage3._all_gather, _gathered
stage2.GroupShardedOptimizerStage2._update_task = lambda self, task: None
storage.cvt_to_device = lambda tensor, *_: tensor._copy_to(core.CPUPlace(), True)


def sharded(*args: Any, **kwargs: Any) -> Any:
    """`group_sharded_parallel` on a CPU, aligned as on a CPU."""
    before = paddle.get_device, core.is_compiled_with_cuda, paddle.Tensor.cpu
    paddle.get_device, core.is_compiled_with_cuda = (lambda: "gpu:0"), (lambda: True)
    paddle.Tensor.cpu = lambda tensor: tensor._copy_to(core.CPUPlace(), True)  # a CPU's cpu() copies nothing
    stage2.alignment["gpu"] = stage3.alignment["gpu"] = 4096
    try:
        return original(*args, **kwargs)
    finally:
        paddle.get_device, core.is_compiled_with_cuda, paddle.Tensor.cpu = before


# Kernels that a CPU has not: by what their GPU sources allocate.


class _Gathered(paddle.autograd.PyLayer):
    """`c_concat`: what all sent, one behind the other, then side by side; its gradient is the own part (`c_split`)."""

    @staticmethod
    def forward(ctx: Any, tensor: Any, rank: int, size: int, group: int) -> Any:
        ctx.part = rank, size
        shape = list(tensor.shape)
        gathered = paddle.empty([shape[0] * size, *shape[1:]], tensor.dtype)
        dist.stream.all_gather(gathered, tensor, group=dist.get_group(group))
        return paddle.concat([gathered[i * shape[0] : (i + 1) * shape[0]] for i in range(size)], axis=-1)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        rank, width = ctx.part[0], grad.shape[-1] // ctx.part[1]
        return grad[..., rank * width : (rank + 1) * width].contiguous()


def send(tensor: Any, dst: int = 0, group: Any = None, sync_op: bool = True) -> None:
    """Stages of a pipeline send and receive through files. gloo numbers what a process sends and receives without
    regard to whom, so that from three processes on the numbers of two differ and both wait for ever; its sending waits
    for the receiver besides, where NCCL's goes on."""
    file = _letter(dist.get_rank(), dst)
    with file.with_suffix(".part").open("wb") as part:
        np.save(part, tensor.numpy())
    file.with_suffix(".part").rename(file)


def receive(tensor: Any, src: int = 0, group: Any = None, sync_op: bool = True) -> None:
    """Into the very memory of a tensor."""
    file = _letter(src, dist.get_rank())
    while not file.exists():
        time.sleep(0.001)
    tensor.get_tensor().set(np.load(file), core.CPUPlace())
    file.unlink()


def at_once(asked: list[Any]) -> None:
    """What goes out first, since receiving waits."""
    for one in sorted(asked, key=lambda one: one.op is not p2p._send_on_calc_stream):
        (send if one.op is p2p._send_on_calc_stream else receive)(one.tensor, one.peer)


letters: Counter[tuple[int, int]] = Counter()


def _letter(sender: int, receiver: int) -> Path:
    letters[sender, receiver] += 1
    return Path(os.environ["LETTERS"], f"{sender}-{receiver}-{letters[sender, receiver]}.npy")


def share_layers() -> None:
    """Layers that processes share, and those that they have one behind the other, on a CPU."""
    paddle._C_ops.c_identity = lambda tensor, *_: tensor.clone()
    paddle._C_ops.c_concat = lambda tensor, rank, size, group, *_: _Gathered.apply(tensor, rank, size, group)

    def identity_back(ctx: Any, grad: Any) -> Any:
        dist.all_reduce(grad, group=ctx.group)
        return grad

    def summed(ctx: Any, tensor: Any, group: Any, *rest: Any) -> Any:
        ctx.ring_id, ctx.skip_c_identity_dynamic = group.id, rest[-1]
        dist.all_reduce(tensor, group=group)
        return tensor

    mp_ops.c_identity_eager.backward = staticmethod(identity_back)
    mp_ops.mp_allreduce_eager.forward = staticmethod(summed)
    p2p.batch_send_recv_on_calc_stream = at_once
    dist.send, dist.recv = send, receive
    parallel.ParallelEnv._device_id = 0
    recompute = pp_layers.recompute_hybrid

    def recomputed(*args: Any, **kwargs: Any) -> Any:
        device, paddle.get_device = paddle.get_device, lambda: "gpu:0"
        try:
            return recompute(*args, **kwargs)
        finally:
            paddle.get_device = device

    pp_layers.recompute_hybrid = recomputed
    tensor_parallel.broadcast_input_data = lambda groups, *inputs, **named: (inputs, named)


def main() -> None:
    sources = json.load(sys.stdin)
    dist.sharding.group_sharded_parallel = sharded
    share_layers()
    paddle.Tensor.cuda = lambda tensor, *_: tensor
    for module in (storage, stage3, utils):
        module.device_guard = lambda *_: contextlib.nullcontext()
    peaks: list[int] = []

    def watched(step):
        def update(self, *args, **kwargs):
            result = step(self, *args, **kwargs)
            peaks.append(core.host_memory_stat_peak_value("Allocated", 0))
            core.host_memory_stat_reset_peak_value("Allocated", 0)
            if len(peaks) >= STEPS:
                raise Enough
            return result

        return update

    for kind in (paddle.optimizer.Optimizer, *paddle.optimizer.Optimizer.__subclasses__()):
        if "step" in vars(kind) and kind.__name__ in {"Adam", "SGD", "Momentum", "Optimizer"}:
            kind.step = outermost(kind.step, watched)
    hybrid = hybrid_parallel_optimizer.HybridParallelOptimizer
    hybrid.step = outermost(hybrid.step, watched)
    stage2.GroupShardedOptimizerStage2.step = outermost(stage2.GroupShardedOptimizerStage2.step, watched)
    for name, source in sources.items():
        gc.collect()
        peaks.clear()
        base = core.host_memory_stat_current_value("Allocated", 0)
        core.host_memory_stat_reset_peak_value("Allocated", 0)
        space, failure = {"__name__": "__main__"}, None
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(source, "<cell 0>", "exec"), space)
        except Enough:
            pass
        except Exception as problem:  # reported as the test's failure
            failure = f"{type(problem).__name__}: {problem}"
        row = {"name": name, "peaks": [peak - base for peak in peaks], "failure": failure}
        space.clear()
        for shared in stage3.TaskFlow.__init__.__defaults__:
            if isinstance(shared, dict):
                shared.clear()
        print(json.dumps(row), flush=True)


inside: list[bool] = []


def outermost(step, watched):
    """`watched` around calls that do not come from another optimizer's step."""
    whole = watched(step)

    def call(self, *args, **kwargs):
        if inside:
            return step(self, *args, **kwargs)
        inside.append(True)
        try:
            return whole(self, *args, **kwargs)
        finally:
            inside.pop()

    return call


if __name__ == "__main__":
    main()
