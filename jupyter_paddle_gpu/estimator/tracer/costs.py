"""What an operation costs: floating point operations, bytes moved, transient bytes of its kernel."""

from __future__ import annotations

from typing import Any

from .arrays import Array
from .flops import flops_of
from .ledger import Operation
from .views import RULES as VIEWS
from .workspaces import cpu_workspace, gpu_workspace

Arrays = list[list[Array]]


def account(
    operation: Operation, name: str, attrs: dict[str, Any], operands: Arrays, results: Arrays, copies: int
) -> None:
    """Fill in an operation's row; `copies`: bytes of contiguous copies made of strided operands."""
    if name in VIEWS and not copies:
        return
    moved = 2 * copies
    for group in operands:
        for array in group:
            moved += array.nbytes
    for group in results:
        for array in group:
            moved += array.nbytes
    operation.bytes_moved = moved
    operation.flops = flops_of(name, attrs, operands, results)
    operation.workspace_cpu = copies + cpu_workspace(name, attrs, operands, results)
    low, high = gpu_workspace(name, attrs, operands, results)
    operation.workspace_low, operation.workspace_high = copies + low, copies + high
