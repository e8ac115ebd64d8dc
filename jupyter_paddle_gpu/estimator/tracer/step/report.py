"""From a run to the JSON of a trace: times relative to the step, storages cut to it."""

from __future__ import annotations

import platform
from collections.abc import Callable
from typing import Any

import paddle

from ..kernels.registry import rule_of
from ..memory.ledger import Ledger, Record
from .layers import Meta


def rows(
    ledger: Ledger, window: tuple[int, int], path: Callable[[str], str]
) -> tuple[list[list[Any]], list[list[Any]]]:
    """(storages, operations) of the window as rows in the order of the trace's fields; `path` names their layers."""
    first, last = window
    count = last - first
    paths = {layer: path(layer) for layer in {o.layer for o in ledger.operations[first:last]}}
    operations = [
        [o.name, o.phase, paths[o.layer], o.flops, o.bytes_moved, o.workspace_cpu, o.workspace_low, o.workspace_high]
        for o in ledger.operations[first:last]
    ]
    storages = []
    for record in ledger.records:
        start = record.start - first
        end = count if record.end is None or record.end >= last else record.end - first
        if end < 0 or start >= count:
            continue
        layer, shape = paths.get(record.layer), list(record.shape)
        if layer is None:
            layer = paths[record.layer] = path(record.layer)
        storages.append([record.bytes, max(start, -1), end, record.kind, record.op, layer, shape, record.dtype])
    return storages, operations


def most_alive(storages: list[list[Any]], operations: list[list[Any]], target: str) -> int:
    """The most bytes alive at once in such rows; of a GPU's transients the least."""
    return most_alive_at(storages, operations, target)[0]


def most_alive_at(storages: list[list[Any]], operations: list[list[Any]], target: str) -> tuple[int, int]:
    """The same with the first operation at which it is alive."""
    transient = 5 if target == "cpu" else 6
    change = [0] * (len(operations) + 3)
    for size, start, end, *_ in storages:
        change[start + 1] += size
        change[end + 2] -= size
    alive, most, at = change[0], 0, 0
    for now, operation in enumerate(operations):
        alive += change[now + 1]
        if alive + operation[transient] > most:
            most, at = alive + operation[transient], now
    return most, at


def inputs_of(ledger: Ledger, window: tuple[int, int]) -> list[Record]:
    """What the step took in: arrays that came from data inside the window."""
    first, last = window
    return [r for r in ledger.records if first <= r.start < last and r.kind == "inputs" and r.op == "to_tensor"]


_OF_GRAPHS = frozenset(("send_u_recv", "send_ue_recv", "send_uv", "segment_pool"))
"""Operators along the edges of a graph."""
_FROM_NODES, _TO_NODES = frozenset(("gather", "index_select", "gather_nd")), frozenset(("scatter", "scatter_nd_add"))
"""Operators by which programs go along edges themselves: from nodes to edges, and back."""


def graph_notes(ledger: Ledger, window: tuple[int, int], batch: tuple[Meta, ...]) -> list[dict[str, Any]]:
    """That a step takes in a whole graph that stands beside the loop, with the number of its nodes; else nothing.

    Args:
        batch: what the model was called with, by shape and type.
    """
    if not batch or not batch[0][0]:
        return []
    first, last = window
    made = [record for record in ledger.records if first <= record.start < last]
    rows, shape = batch[0][0][0], batch[0][0]
    if any(record.kind == "inputs" or tuple(record.shape) == shape for record in made):
        return []  # data of its own in each step, as far as anybody can tell
    by_rows = {(record.op, record.shape[0] == rows) for record in made if record.shape}
    along = any((op, False) in by_rows for op in _FROM_NODES) and any((op, True) in by_rows for op in _TO_NODES)
    named = not _OF_GRAPHS.isdisjoint(operation.name for operation in ledger.operations[first:last])
    dense = any(tuple(one) == (rows, rows) for one, _ in batch[1:])
    return [{"code": "whole_graph", "params": {"nodes": rows}}] if named or along or dense else []


def once_each(inputs: list[str], times: int) -> list[str]:
    """The inputs of one micro-batch, where a step is made of so many that are alike."""
    part = len(inputs) // times
    return inputs[:part] if inputs == inputs[:part] * times else inputs


def described(record: Record) -> str:
    """`float32[64, 1, 28, 28]`."""
    return f"{record.dtype}{list(record.shape)}"


def versions() -> dict[str, str]:
    """Paddle's and Python's versions."""
    return {"paddle_version": paddle.__version__, "python": platform.python_version()}


_NEAR_THE_END = 8


def loss_name(ledger: Ledger, since: int = 0) -> str | None:
    """The loss whose operator stands just before the first backward pass since then; None where no known one does."""
    operations = ledger.operations
    own = range(since, len(operations))
    first = next((i for i in own if operations[i].phase == "backward"), since)
    for operation in reversed(operations[max(first - _NEAR_THE_END, since) : first]):
        if loss := rule_of(operation.name).loss:
            return loss
    return None
