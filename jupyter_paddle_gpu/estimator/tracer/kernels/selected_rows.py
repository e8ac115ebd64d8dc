"""Sparse gradients (phi::SelectedRows): the rows of a parameter that `Embedding(sparse=True)` has looked up.

Which kernels take them, what those make of them and what they allocate for it: paddle/phi/kernels/selected_rows,
MergeAdd in phi/kernels/funcs/selected_rows_functor.cc, cpu/add_n_kernel.cc; how gradients are summed:
paddle/fluid/imperative/gradient_accumulator.cc. All of 3.3, verified to the byte.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..memory.arrays import Array, State, allocate, new_tensor
from ..memory.dtypes import SIZE, name_of
from ..memory.ledger import Ledger
from ..memory.values import Value, is_random
from .templates import GradStep, Meta

if TYPE_CHECKING:
    from ..eager.runtime import Runtime

Arrays = list[list[Array]]
Indices = np.ndarray[Any, np.dtype[np.int64]]

_OPTIMIZERS = frozenset({"sgd_", "momentum_", "adam_", "adagrad_", "rmsprop_", "lamb_"})
"""Those with a kernel for a sparse gradient (`*_dense_param_sparse_grad`, `lamb_sr`)."""
_ROW_BY_ROW = frozenset({"scale", "multiply", "sqrt", "square"})
_MERGING = frozenset({"add_n", "clip_by_norm", "merge_selected_rows"})
_EMPTY = frozenset({"isnan", "isinf", "isfinite"})
"""What they give has no elements, in Paddle 3.3.1."""


class Rows:
    """The rows that a sparse gradient holds.

    Attributes:
        height: rows of the whole parameter.
        count: rows held.
        lookups: the indices that were looked up for it, with their numbers.
        ascends: whether the rows are known to ascend, each once, though not which they are.
    """

    __slots__ = ("_indices", "_is_computed", "ascends", "count", "height", "lookups")

    def __init__(self, height: int, count: int, lookups: dict[Any, int], indices: Indices | None = None) -> None:
        self.height, self.count, self.lookups = height, count, lookups
        self.ascends = count < 2
        self._indices, self._is_computed = indices, indices is not None

    @property
    def indices(self) -> Indices | None:
        """Which ones, in their order; None where that is not known without training, or drawn anew in each step."""
        if not self._is_computed:
            self._is_computed = True
            parts = [_computed(value) if isinstance(value, Value) else None for value in self.lookups]
            self._indices = parts[0] if len(parts) == 1 else None
        return self._indices

    @property
    def is_sorted(self) -> bool:
        """Whether the rows ascend and none comes twice."""
        found = self.indices
        return self.ascends if found is None else bool(np.all(found[1:] > found[:-1]))


def merged(parts: list[Rows]) -> Rows:
    """MergeAdd: each row once, in ascending order unless none came twice.

    Of indices that are not known there are as many rows as of uniform ones are expected.
    """
    height, total = parts[0].height, sum(part.count for part in parts)
    lookups = {value: count for part in parts for value, count in part.lookups.items()}
    known = [indices for part in parts if (indices := part.indices) is not None]
    if len(known) == len(parts):
        together = np.concatenate(known)
        once = np.unique(together)
        kept = together if len(once) == len(together) else once
        return Rows(height, len(kept), lookups, kept)
    expected = height * (1 - (1 - 1 / height) ** sum(lookups.values()))
    made = Rows(height, min(int(expected), total), lookups)
    made.ascends = made.count < total
    return made


def looked_up(step: GradStep, meta: Meta, operands: Arrays) -> Rows | None:
    """The rows of a lookup's gradient: one an index (`embedding_grad`); None where the gradient is dense."""
    if not step.attrs.get("sparse"):
        return None
    indices = operands[0][0]
    return Rows(meta[0][0], indices.numel, {object() if indices.value is None else indices.value: indices.numel})


def whole(array: Array) -> tuple[int, ...]:
    """The shape that shape inference sees (MetaTensor::dims): that of the parameter."""
    return array.shape if array.rows is None else (array.rows.height, *array.shape[1:])


def answer(runtime: Runtime, name: str, args: Any, tensors: list[Any], states: list[State]) -> Any:
    """What an operator makes of sparse gradients; None where it goes the usual way: optimizers, sums with dense ones.

    Raises:
        NotImplementedError: Paddle has no such kernel. It takes the gradient for a dense one all the same and then
            stops with an error that speaks of dimensions or memory, or crashes.
    """
    arrays = [state.array for state in states]
    given = [array.rows for array in arrays if array.rows is not None]
    if name in _OPTIMIZERS or (name == "add_n" and len(given) < len(arrays)):
        return None
    if name == "cast" and name_of(args[1]) == arrays[0].dtype:
        return tensors[0]
    if name in _EMPTY:
        return new_tensor(allocate(runtime.ledger, (0,), arrays[0].dtype, name))
    if name == "get_tensor_from_selected_rows":
        return new_tensor(_made(runtime.ledger, name, arrays[0].shape, arrays))
    if name in _MERGING:
        return new_tensor(_summed(runtime.ledger, name, arrays))
    if name in _ROW_BY_ROW and arrays[0].rows is not None and all(array.numel == 1 for array in arrays[1:]):
        made = _made(runtime.ledger, name, arrays[0].shape, arrays)
        made.rows = given[0]
        return new_tensor(made)
    message = (
        f"Paddle has no kernel of {name.rstrip('_')} for a sparse gradient (SelectedRows), "
        "which Embedding(sparse=True) gives: the step fails or crashes there"
    )
    raise NotImplementedError(message)


def added(ledger: Ledger, present: Array, grad: Array) -> Array:
    """A gradient and a further one, of which at least one is sparse.

    A sparse one goes into a dense one where that is; a dense one beside a sparse one makes a third tensor, the new
    gradient; two sparse ones are merged into a new one.
    """
    if present.rows is not None and grad.rows is not None:
        return _summed(ledger, "add_", [grad, present])
    if grad.rows is not None:
        operation = ledger.begin("add_")
        operation.flops, operation.bytes_moved = grad.numel, 3 * grad.nbytes
        ledger.finish(operation)
        return present
    return _made(ledger, "add_", grad.shape, [present, grad])


def dense(array: Array) -> Array:
    """The values of a sparse gradient as a tensor over the same memory."""
    return array.view(array.shape, array.strides)


def _summed(ledger: Ledger, name: str, arrays: list[Array]) -> Array:
    rows = merged([array.rows for array in arrays if array.rows is not None])
    made = _made(ledger, name, (rows.count, *arrays[0].shape[1:]), arrays)
    made.rows = rows
    return made


def _made(ledger: Ledger, name: str, shape: tuple[int, ...], arrays: list[Array]) -> Array:
    operation = ledger.begin(name)
    made = allocate(ledger, shape, arrays[0].dtype, name)
    operation.flops = sum(array.numel for array in arrays)
    operation.bytes_moved = made.nbytes + sum(array.nbytes for array in arrays)
    if name == "clip_by_norm":  # the merged rows are scaled into a second tensor
        operation.workspace_cpu = operation.workspace_low = operation.workspace_high = made.nbytes
    ledger.finish(operation)
    return made


def _computed(value: Value) -> Indices | None:
    from ..eager.interception import tracing

    if is_random(value):
        return None
    try:
        with tracing(None):
            found: Indices = value.get().numpy().reshape(-1)
    except Exception:
        return None  # whatever computes the user's data may fail; what is expected of uniform indices stands in
    return found


def _transient(copies: int, *, may_be_sorted: bool = False) -> Callable[[dict[str, Any], Arrays, Arrays], int]:
    """So many tensors of the merged rows; none where the kernel first looks whether they are sorted, and they are."""

    def rule(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
        for group in operands:
            for array in group:
                if array.rows is not None:
                    if may_be_sorted and array.rows.is_sorted:
                        return 0
                    width = array.numel // max(array.shape[0], 1)
                    return copies * merged([array.rows]).count * width * SIZE[array.dtype]
        return 0

    return rule


RULES = {
    "momentum_": _transient(1), "rmsprop_": _transient(1),
    "adagrad_": _transient(2),  # and their squares
    "adam_": _transient(1, may_be_sorted=True), "lamb_": _transient(1, may_be_sorted=True),
}  # fmt: skip
"""Transient bytes of optimizers for a sparse gradient, by operator."""
