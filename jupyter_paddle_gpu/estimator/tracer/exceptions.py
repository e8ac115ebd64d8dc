"""Results whose size eager mode knows and the program builder does not."""

from __future__ import annotations

from typing import Any

from . import einsums, recurrent
from .arrays import Array
from .templates import GradStep, Meta, Step
from .templates import slots_of as _slots

CONTIGUOUS_FIRST = frozenset({"rnn", "embedding"})
"""Operators that lay strided operands out anew before they run and save the copies (measured: a batch-major RNN keeps
its input twice); others copy inside the kernel, forward and backward, and keep the strided view."""
ONLY_WANTED = frozenset({"rnn_grad"})
"""Gradient operators whose results nobody wants are not allocated, though the program builder shows them."""
_RNN_RESULTS = ("out", "dropout_state_out", "state", "reserve")


def forward_meta(step: Step, index: int, operands: list[list[Array]], shapes: dict[int, Any], slot: int) -> Meta | None:
    """Shape and type of a forward result in place of the template's; None keeps the template's.

    `shapes` are shapes known from data, by slot: for operators whose result's shape hangs on values.
    """
    if step.name == "rnn":
        return recurrent.result_meta(_RNN_RESULTS[index], step.attrs, operands[0][0])
    if step.name == "einsum" and index == 1:
        operand = operands[0][slot - min(s for s in _slots(step.results[1]))]
        return operand.shape, operand.dtype
    return shapes.get(slot)


def forward_array(step: Step, index: int, position: int, operands: list[list[Array]]) -> Array | None:
    """A forward result that holds an operand's memory, or none: einsum's caches and shapes."""
    if step.name != "einsum" or index == 0 or position >= len(operands[0]):
        return None
    operand = operands[0][position]
    if index == 1 and not einsums.is_copied(step.attrs["equation"], position):
        return operand
    return Array(None, operand.shape, operand.strides, operand.dtype) if index == 2 else None


def gradient_meta(step: GradStep, index: int, operands: list[list[Array]], meta: Meta) -> Meta:
    """Shape and type of a gradient: `Embedding(sparse=True)` gives one row an index (SelectedRows)."""
    if step.name in {"embedding_grad", "embedding_sparse_grad"} and step.attrs.get("sparse"):
        return (operands[0][0].numel, meta[0][-1]), meta[1]
    return meta
