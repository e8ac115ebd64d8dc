"""From a run to the JSON of a trace: times relative to the step, storages cut to it."""

from __future__ import annotations

import platform
from typing import Any

import paddle

from .ledger import Ledger, Record


def rows(ledger: Ledger, window: tuple[int, int]) -> tuple[list[list[Any]], list[list[Any]]]:
    """(storages, operations) of the window as rows in the order of the trace's fields."""
    first, last = window
    count = last - first
    operations = [
        [o.name, o.phase, o.layer, o.flops, o.bytes_moved, o.workspace_cpu, o.workspace_low, o.workspace_high]
        for o in ledger.operations[first:last]
    ]
    storages = []
    for record in ledger.records:
        start = record.start - first
        end = count if record.end is None or record.end >= last else record.end - first
        if end < 0 or start >= count:
            continue
        storages.append(
            [record.bytes, max(start, -1), end, record.kind, record.op, record.layer, list(record.shape), record.dtype]
        )
    return storages, operations


def inputs_of(ledger: Ledger, window: tuple[int, int]) -> list[Record]:
    """What the step took in: arrays that came from data inside the window."""
    first, last = window
    return [r for r in ledger.records if first <= r.start < last and r.kind == "inputs" and r.op == "to_tensor"]


def shown(record: Record) -> str:
    """`float32[64, 1, 28, 28]`."""
    return f"{record.dtype}{list(record.shape)}"


def versions() -> dict[str, str]:
    """Paddle's and Python's versions."""
    return {"paddle_version": paddle.__version__, "python": platform.python_version()}


def loss_name(ledger: Ledger) -> str | None:
    """The operator that the backward pass began at, as a name for the loss."""
    operations = ledger.operations
    for index in range(len(operations) - 1, 0, -1):
        if operations[index].phase == "backward" and operations[index - 1].phase == "forward":
            for back in range(index - 1, max(index - 6, -1), -1):
                name = operations[back].name
                if any(word in name for word in ("loss", "entropy", "ctc", "square", "abs", "kldiv", "nll")):
                    return str(name)
            return str(operations[index - 1].name)
    return None
