"""What an operation costs: floating point operations, bytes moved, transient bytes of its kernel."""

from __future__ import annotations

from math import prod

from ..kernels.rules import Arrays, Strides, no_range, nothing, one_each
from ..memory.dtypes import SIZE
from ..memory.ledger import Ledger, Operation
from ..program.templates import GradStep, Step


def account(ledger: Ledger, operation: Operation, step: Step | GradStep, operands: Arrays, results: Arrays) -> None:
    """Fill in an operation's row. Kernels that are not views copy strided operands first.

    One that writes over a strided tensor also fills a copy, which then goes to its place (measured). Where a rule
    fails, one operation an element and no transient bytes stand in, and the ledger says so.
    """
    rule = step.rule
    if rule.view is not None:
        return
    copies = moved = 0
    is_copied = rule.strides is not Strides.READ
    for group in operands:
        for array in group:
            size = prod(array.shape) * SIZE[array.dtype]
            moved += size
            if is_copied and array.storage is not None and not array.is_contiguous:
                copies += size
    overwritten = step.inplace if isinstance(step, Step) else ()
    for index, group in enumerate(results):
        for array in group:
            size = prod(array.shape) * SIZE[array.dtype]
            moved += size
            if index in overwritten and array.storage is not None and not array.is_contiguous:
                copies += size
    operation.bytes_moved = 2 * copies + moved
    operation.workspace_cpu = operation.workspace_low = operation.workspace_high = copies
    try:
        operation.flops = rule.flops(step.attrs, operands, results)
    except Exception as problem:
        ledger.failed(step.name, problem)
        operation.flops = one_each(step.attrs, operands, results)
    try:
        if rule.workspace is not nothing:
            operation.workspace_cpu += rule.workspace(step.attrs, operands, results)
        if rule.gpu is not no_range:
            low, high = rule.gpu(step.attrs, operands, results)
            operation.workspace_low, operation.workspace_high = copies + low, copies + high
    except Exception as problem:
        ledger.failed(step.name, problem)
