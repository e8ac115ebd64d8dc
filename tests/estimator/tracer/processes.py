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
import sys
from typing import Any

import paddle
import paddle.distributed as dist
from paddle.base import core
from paddle.distributed.fleet.meta_optimizers.dygraph_optimizer import hybrid_parallel_optimizer
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


def main() -> None:
    sources = json.load(sys.stdin)
    dist.sharding.group_sharded_parallel = sharded
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
