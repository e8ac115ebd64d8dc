"""Runs programs that Paddle has divided (automatic parallelism) as one of several real processes on CPUs.

`python divided_programs.py` reads {"name": source} from standard input and prints peaks as JSON lines. Paddle's engine
sets up groups for GPUs alone ("No CUDA device found"): here they are gloo's. A CPU has no kernel for `reduce_scatter`:
a part of its operand stands in, which allocates as much.
"""

from __future__ import annotations

import contextlib
import gc
import io
import json
import os
import sys
import time
from typing import Any

import paddle
from paddle import pir
from paddle.base import core
from paddle.distributed.auto_parallel.static import process_group
from paddle.distributed.auto_parallel.static.engine import Engine

RANK, SIZE = int(os.environ["PADDLE_TRAINER_ID"]), int(os.environ["PADDLE_TRAINERS_NUM"])
host, port = os.environ["PADDLE_MASTER"].split(":")
store = core.TCPStore(host, int(port), RANK == 0, SIZE, 60)


def instantiate(group: Any) -> None:
    if not group._is_instantiate and group.nranks > 1 and RANK in group.ranks:
        place = group.ranks.index(RANK)
        core.CommContextManager.create_gloo_comm_context(store, str(group.id), place, group.nranks)
    group._is_instantiate = True


divide = Engine._parallel_pir


def divided(engine: Any, mode: str) -> None:
    divide(engine, mode)
    programs = [engine._pir_dense_main_progs[mode]]
    if engine._job_plan is not None:
        programs += [engine._job_plan.ir_program(kind) for kind in engine._job_plan.job_types()]
    for program in programs:
        with paddle.static.program_guard(program):
            for operation in list(program.global_block().ops):
                if operation.name() == "pd_op.reduce_scatter":
                    _part(operation)


def _part(operation: Any) -> None:
    pir.set_insertion_point(operation)
    rows = operation.result(0).shape[0]
    made = paddle._C_ops.slice(operation.operand_source(0), [0], [0], [rows], [1], [])
    operation.result(0).replace_all_uses_with(made)
    operation.get_parent_block().remove_op(operation)


def main() -> None:
    sources = json.load(sys.stdin)
    process_group.ProcessGroup.instantiate = instantiate
    Engine._parallel_pir = divided
    paddle._legacy_C_ops.barrier = lambda *_: None
    peaks: list[int] = []

    def step_ends() -> None:
        time.sleep(0.02)
        peaks.append(core.host_memory_stat_peak_value("Allocated", 0))
        core.host_memory_stat_reset_peak_value("Allocated", 0)

    for name, source in sources.items():
        gc.collect()
        peaks.clear()
        base = core.host_memory_stat_current_value("Allocated", 0)
        failure, output = None, io.StringIO()
        try:
            with contextlib.redirect_stdout(output):
                exec(compile(source, "<cell 0>", "exec"), {"__name__": "__main__", "step_ends": step_ends})
        except Exception as problem:  # reported as the test's failure
            failure = f"{type(problem).__name__}: {problem}"
        print(json.dumps({"name": name, "peaks": [peak - base for peak in peaks], "failure": failure}), flush=True)


if __name__ == "__main__":
    main()
