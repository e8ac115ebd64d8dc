"""Runs programs that Paddle has divided (automatic parallelism) as one of several real processes on CPUs.

`python divided_programs.py` reads {"name": source} from standard input and prints peaks as JSON lines. Paddle's engine
sets up groups for GPUs alone ("No CUDA device found"): here they are gloo's. A CPU has no kernel for `reduce_scatter`:
a part of its operand stands in, which allocates as much. What another stage sends is made here.
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


AWAITED = "events_to_wait"
divide, place = Engine._parallel_pir, core.reshard


def reshard(parameter: Any, attribute: Any) -> Any:
    """That of another stage has no device, for which Paddle's own looks."""
    return place(parameter, attribute) if parameter._is_initialized() else parameter


def divided(engine: Any, mode: str) -> None:
    divide(engine, mode)
    programs = [engine._pir_dense_main_progs[mode]]
    if engine._job_plan is not None:
        programs += [engine._job_plan.ir_program(kind) for kind in engine._job_plan.job_types()]
    for program in programs:
        with paddle.static.program_guard(program):
            for operation in list(program.global_block().ops):
                if operation.has_attr(AWAITED):  # what another part of the plan sends or receives: here it is made
                    operation.set_str_array_attr(AWAITED, [])
                if operation.name() in STAND_INS:
                    STAND_INS[operation.name()](operation)


def _part(operation: Any) -> None:
    pir.set_insertion_point(operation)
    rows = operation.result(0).shape[0]
    _replace(operation, paddle._C_ops.slice(operation.operand_source(0), [0], [0], [rows], [1], []))


def _received(operation: Any) -> None:
    pir.set_insertion_point(operation)
    result = operation.result(0)
    _replace(operation, paddle._C_ops.full(result.shape, 1.0, result.dtype, paddle.CPUPlace()))


def _replace(operation: Any, made: Any) -> None:
    operation.result(0).replace_all_uses_with(made)
    _remove(operation)


def _remove(operation: Any) -> None:
    operation.get_parent_block().remove_op(operation)


STAND_INS = {"pd_op.reduce_scatter": _part, "pd_op.recv_v2": _received, "pd_op.send_v2": _remove}


def main() -> None:
    sources = json.load(sys.stdin)
    process_group.ProcessGroup.instantiate = instantiate
    Engine._parallel_pir = divided
    paddle._legacy_C_ops.barrier = lambda *_: None
    core.reshard = reshard
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
