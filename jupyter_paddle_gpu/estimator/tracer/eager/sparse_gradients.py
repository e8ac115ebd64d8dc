"""What becomes of sparse gradients (phi::SelectedRows), which `Embedding(sparse=True)` gives.

What kernels allocate for them: paddle/phi/kernels/selected_rows, cpu/add_n_kernel.cc; how gradients are summed:
paddle/fluid/imperative/gradient_accumulator.cc. All of 3.3, verified to the byte.
"""

from __future__ import annotations

from typing import Any

from ..kernels.registry import rule_of
from ..kernels.rules import Arrays, Meta, Sparse
from ..memory.arrays import Array, State, allocate, new_tensor
from ..memory.dtypes import name_of
from ..memory.ledger import Ledger
from ..memory.rows import Rows, merged
from ..program.templates import GradStep
from ..session import running


def looked_up(step: GradStep, meta: Meta, operands: Arrays) -> Rows | None:
    """The rows of a lookup's gradient: one an index (`embedding_grad`); None where the gradient is dense."""
    if not (step.rule.gives_rows and step.attrs.get("sparse")):
        return None
    indices = operands[0][0]
    return Rows(meta[0][0], indices.numel, {object() if indices.value is None else indices.value: indices.numel})


def whole(array: Array) -> tuple[int, ...]:
    """The shape that shape inference sees (MetaTensor::dims): that of the parameter."""
    return array.shape if array.rows is None else (array.rows.height, *array.shape[1:])


def answer(ledger: Ledger, name: str, args: Any, tensors: list[Any], states: list[State]) -> Any:
    """What an operator makes of sparse gradients; None where it goes the usual way: optimizers, sums with dense ones.

    Raises:
        NotImplementedError: Paddle has no such kernel. It takes the gradient for a dense one all the same and then
            stops with an error that speaks of dimensions or memory, or crashes.
    """
    arrays = [state.array for state in states]
    given = [array.rows for array in arrays if array.rows is not None]
    made: Any = None
    match rule_of(name).sparse:
        case Sparse.USUAL:
            return None
        case Sparse.MERGED | Sparse.SCALED if len(given) < len(arrays):
            return None
        case Sparse.SAME_TYPE if name_of(args[1]) == arrays[0].dtype:
            return tensors[0]
        case Sparse.EMPTY:
            made = allocate(ledger, (0,), arrays[0].dtype, name)
        case Sparse.VALUES:
            made = _made(ledger, name, arrays[0].shape, arrays)
        case Sparse.MERGED | Sparse.SCALED:
            made = _summed(ledger, name, arrays)
        case Sparse.ROWS if arrays[0].rows is not None and all(array.numel == 1 for array in arrays[1:]):
            made = _made(ledger, name, arrays[0].shape, arrays)
            made.rows = given[0]
    if made is not None:
        return new_tensor(made)
    message = (
        f"Paddle has no kernel of {name.rstrip('_')} for a sparse gradient (SelectedRows), "
        "which Embedding(sparse=True) gives: the step fails or crashes there"
    )
    raise running().refused(NotImplementedError(message))


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
    if rule_of(name).sparse is Sparse.SCALED:
        operation.workspace_cpu = operation.workspace_low = operation.workspace_high = made.nbytes
    ledger.finish(operation)
    return made
