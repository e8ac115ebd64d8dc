"""Transients of `matmul`'s gradient on a CPU (phi/kernels/impl/matmul_grad_kernel_impl.h), verified to the byte.

Where batch dimensions are broadcast, each gradient is computed for the whole batch first and then summed. Where one
operand is a matrix and the other a batch of them, operands are laid out anew as one large matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from ..memory.arrays import Array, Shape
from ..memory.dtypes import COMPLEX, SIZE

Arrays = list[list[Array]]


def _whole(shape: Shape, batch: Shape) -> int:
    """Elements of an operand's gradient for the whole batch; 0 where nothing is summed."""
    own = shape[:-2]
    padded = (1,) * (len(batch) - len(own)) + own
    if all(size == have for size, have in zip(batch, padded, strict=True) if have == 1):
        return 0
    return prod(batch) * prod(shape[-2:])


def _is_broadcast(x: Shape, y: Shape) -> bool:
    return len(x) > 2 and len(y) > 2 and x[:-2] != y[:-2]


def _folded(x: Array, y: Array, grad: Array, attrs: dict[str, Any]) -> tuple[int, int]:
    """Bytes that the kernel copies for x's gradient and for y's: batches of matrices turned to one matrix."""
    transposes = bool(attrs.get("transpose_x")), bool(attrs.get("transpose_y"))
    a, b = (array.nbytes if len(array.shape) > 2 else 0 for array in (x, y))
    g = grad.nbytes
    for_x, for_y = {
        (False, False): (g + b, 0),
        (False, True): (g, 0),
        (True, False): (g + b, a),
        (True, True): (g, a),
    }[transposes]
    return for_x if len(x.shape) < 3 <= len(y.shape) else 0, for_y if len(y.shape) < 3 <= len(x.shape) else 0


def backward_workspace(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """Transient bytes of the gradient kernel beside both gradients."""
    if len(operands) < 3 or not (operands[0] and operands[1] and operands[2]):
        return 0
    x, y, grad = operands[0][0], operands[1][0], operands[2][0]
    wants_x, wants_y = bool(results and results[0]), bool(len(results) > 1 and results[1])
    conjugates = 0
    if x.dtype in COMPLEX:  # the other operand's conjugate for each gradient
        conjugates = y.nbytes * wants_x + x.nbytes * wants_y
    if _is_broadcast(x.shape, y.shape):
        batch = grad.shape[:-2]
        elements = _whole(x.shape, batch) * wants_x + _whole(y.shape, batch) * wants_y
        return elements * SIZE[x.dtype] + (x.nbytes + y.nbytes if conjugates else 0)
    for_x, for_y = _folded(x, y, grad, attrs)
    later = results[1][0].nbytes if wants_y else 0  # y's gradient is not there yet when x's is computed
    return max(for_x * wants_x - later, for_y * wants_y, 0) + conjugates


def chain(copies: int) -> Callable[[dict[str, Any], Arrays, Arrays], int]:
    """`multi_dot` of three matrices, no other number: the product of the cheaper pair, in backward its gradient too."""

    def rule(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
        if len(operands[0]) != 3:
            return 0
        first, second, third = operands[0]
        rows = first.shape[0] if len(first.shape) > 1 else 1
        columns = third.shape[1] if len(third.shape) > 1 else 1
        inner, outer = second.shape
        from_left = rows * outer * (inner + columns) < inner * columns * (outer + rows)
        return copies * (rows * outer if from_left else inner * columns) * SIZE[first.dtype]

    return rule
