"""What an operation costs: floating point operations, bytes moved, transient bytes of its kernel."""

from __future__ import annotations

from ..memory.arrays import Array
from ..memory.ledger import Operation
from .flops import flops_of
from .templates import GradStep, Step
from .views import READ_STRIDES
from .views import RULES as VIEWS
from .workspaces import cpu_workspace, gpu_workspace


def account(
    operation: Operation, step: Step | GradStep, operands: list[list[Array]], results: list[list[Array]]
) -> None:
    """Fill in an operation's row. Kernels that are not views copy strided operands first.

    One that writes over a strided tensor also fills a copy, which then goes to its place (measured).
    """
    if step.name in VIEWS:
        return
    copies = moved = 0
    for group in operands:
        for array in group:
            size = array.nbytes
            moved += size
            if array.storage is not None and not array.is_contiguous and step.name not in READ_STRIDES:
                copies += size
    overwritten = step.inplace if isinstance(step, Step) else ()
    for index, group in enumerate(results):
        for array in group:
            moved += array.nbytes
            if index in overwritten and array.storage is not None and not array.is_contiguous:
                copies += array.nbytes
    operation.bytes_moved = 2 * copies + moved
    operation.flops = flops_of(step.name, step.attrs, operands, results)
    operation.workspace_cpu = copies + cpu_workspace(step.name, step.attrs, operands, results)
    low, high = gpu_workspace(step.name, step.attrs, operands, results)
    operation.workspace_low, operation.workspace_high = copies + low, copies + high
