"""Products of matrices and vectors.

Where batch dimensions are broadcast, each gradient is computed for the whole batch first and then summed. Where one
operand is a matrix and the other a batch of them, operands are laid out anew as one large matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
from paddle import _C_ops

from ...memory.arrays import Array, Shape
from ...memory.dtypes import COMPLEX, SIZE
from ...memory.operators import call
from ..composing import reduced, zeros
from ..gpu_flags import is_on
from ..rules import (
    NO_RESULT,
    WITHOUT_MEMORY,
    Amount,
    Arrays,
    Asked,
    Attributes,
    Further,
    Number,
    Operator,
    Rule,
    Second,
    Strides,
    Tensors,
    Traced,
    Wants,
)


def _flops(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """Two for each element of the result and contracted index."""
    x = operands[0][0].shape
    inner = x[-2] if attrs.get("transpose_x") and len(x) > 1 else x[-1]
    return 2 * results[0][0].numel * inner


def _gradient_flops(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """As forward, for each gradient that is asked for."""
    x, out_grad = operands[0][0].shape, operands[2][0]
    inner = x[-2] if attrs.get("transpose_x") and len(x) > 1 else x[-1]
    return 2 * out_grad.numel * inner * sum(bool(group) for group in results)


def _linear_flops(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """Two for each element of the result and contracted index, one for the bias."""
    return results[0][0].numel * (2 * operands[0][0].shape[-1] + 1)


def _linear_gradient_flops(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """As forward, for each gradient that is asked for."""
    out_grad = operands[3][0]
    products = sum(bool(group) for group in results[:2])
    return 2 * out_grad.numel * operands[0][0].shape[-1] * products + out_grad.numel * bool(results[2])


def _whole(shape: Shape, batch: Shape) -> int:
    """Elements of an operand's gradient for the whole batch; 0 where nothing is summed."""
    own = shape[:-2]
    padded = (1,) * (len(batch) - len(own)) + own
    if all(size == have for size, have in zip(batch, padded, strict=True) if have == 1):
        return 0
    return prod(batch) * prod(shape[-2:])


def _is_broadcast(x: Shape, y: Shape) -> bool:
    return len(x) > 2 and len(y) > 2 and x[:-2] != y[:-2]


def _folded(x: Array, y: Array, grad: Array, attrs: Attributes) -> tuple[int, int]:
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


def _gradient(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """Gradients for a whole batch that is broadcast, before they are summed; operands laid out as one large matrix; of
    complex operands the other one's conjugate."""
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


def _batches_apart(attrs: Attributes, operands: Arrays, numbers: Callable[[Array], Any]) -> Exception | None:
    """Batch dimensions that do not go together, of which the kernel alone says so (`GetBroadcastFromDims`,
    `impl/matmul_kernel_impl.h`): the result's shape is that of the larger ones."""
    x, y = (group[0].shape for group in operands[:2])
    if len(x) < 2 or len(y) < 2:
        return None
    length = max(len(x), len(y)) - 2
    own, other = ((1,) * (length + 2 - len(shape)) + shape[:-2] for shape in (x, y))
    at = next((i for i, (a, b) in enumerate(zip(own, other, strict=True)) if a != b and a > 1 and b > 1), None)
    if at is None:
        return None
    return ValueError(
        f"(InvalidArgument) Input(X) and Input(Y) has error dim. X_broadcast's shape[{at}] must be equal to "
        f"Y_broadcast's shape[{at}], or X_broadcast's shape[{at}] <= 1, or Y_broadcast's shape[{at}] <= 1, but "
        f"received X_broadcast's shape[{at}] = [{own[at]}]received Y_broadcast's shape[{at}] = [{other[at]}]."
    )


def _chain(copies: int) -> Amount:
    """Of three matrices, no other number, the product of the cheaper pair, in backward its gradient too."""

    def rule(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
        if len(operands[0]) != 3:
            return 0
        first, second, third = operands[0]
        rows = first.shape[0] if len(first.shape) > 1 else 1
        columns = third.shape[1] if len(third.shape) > 1 else 1
        inner, outer = second.shape
        from_left = rows * outer * (inner + columns) < inner * columns * (outer + rows)
        return copies * (rows * outer if from_left else inner * columns) * SIZE[first.dtype]

    what = "the product" if copies == 1 else "the product and the gradient"
    rule.__doc__ = f"Of three matrices {what} of the cheaper pair."
    return rule


def _kron_grad(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """A tensor of the product's size for each gradient."""
    product = max(array.nbytes for group in operands for array in group)
    return product * sum(1 for group in results if group)


def _distance_grad(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """The difference, and each operand's gradient at its shape where that is not the result itself."""
    x, y = operands[0][0], operands[1][0]
    shape = np.broadcast_shapes(x.shape, y.shape)
    of_x, of_y = (group[0].shape if group else None for group in results)
    return prod(shape) * SIZE[x.dtype] * (1 + (of_x != shape) + (of_y is not None and of_y != shape))


def _both(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """Both operands once more."""
    return operands[0][0].nbytes + operands[1][0].nbytes


def _of_vectors(attrs: Attributes, of: Tensors, wants: Wants, row: bool, column: bool) -> list[Any]:
    """A product with a vector: as a matrix of one row or one column."""
    shape = list(of["grad_out"].shape)
    given = {
        **of,
        "grad_out": call("reshape", of["grad_out"], [1, 1] if row and column else [1, *shape] if row else [*shape, 1]),
    }
    for vector, names, length in ((row, ("x", "grad_x_grad"), [1, -1]), (column, ("y", "grad_y_grad"), [-1, 1])):
        given.update({name: call("reshape", of[name], length) for name in names if vector and of.get(name) is not None})
    turned = {
        "transpose_x": attrs.get("transpose_x") and not row,
        "transpose_y": attrs.get("transpose_y") and not column,
    }
    found = _matmul_again({**attrs, **turned}, given, wants)
    likes = of["x"], of["y"], of["grad_out"]
    return [
        None if one is None else call("reshape", one, list(like.shape)) for one, like in zip(found, likes, strict=True)
    ]


def _matmul_again(attrs: Attributes, of: Tensors, wants: Wants) -> list[Any]:
    x, y, out, ddx, ddy = (of.get(name) for name in ("x", "y", "grad_out", "grad_x_grad", "grad_y_grad"))
    row, column = x.ndim == 1, y.ndim == 1  # type: ignore[union-attr]
    if row or column:
        return _of_vectors(attrs, of, wants, row, column)
    turned = bool(attrs.get("transpose_x")), bool(attrs.get("transpose_y"))
    dx = dy = None
    if wants[0] and ddy is not None:
        pair = (ddy, out) if turned[0] else (out, ddy)
        dx = call("matmul", *pair, turned == (True, True), turned[0] or not turned[1])
    if wants[1] and ddx is not None:
        pair = (out, ddx) if turned[1] else (ddx, out)
        dy = call("matmul", *pair, turned[1] or not turned[0], turned == (True, True))
    terms = []
    if wants[2]:
        pairs = ((ddx, y), (x, ddy))
        terms = [call("matmul", *pair, *turned) for pair in pairs if all(one is not None for one in pair)]
    ddout = call("add", *terms) if len(terms) == 2 else terms[0] if terms else None
    dx = None if dx is None else reduced(dx, x)
    dy = None if dy is None else reduced(dy, y)
    return [dx, dy, ddout]


def _bmm_again(attrs: Attributes, of: Tensors, wants: Wants) -> list[Any]:
    x, y, out, ddx, ddy = (of.get(name) for name in ("x", "y", "grad_out", "grad_x_grad", "grad_y_grad"))
    dx = dy = ddout = None
    if wants[0]:
        dx = zeros(x) if ddy is None else call("matmul", out, call("transpose", ddy, [0, 2, 1]), False, False)
    if wants[1]:
        dy = zeros(y) if ddx is None else call("matmul", call("transpose", ddx, [0, 2, 1]), out, False, False)
    if wants[2]:
        terms = [
            call("matmul", *pair, False, False) for pair in ((ddx, y), (x, ddy)) if all(t is not None for t in pair)
        ]
        ddout = call("add", *terms) if len(terms) == 2 else terms[0]
    return [dx, dy, ddout]


_LEGACY = "FLAGS_use_legacy_linear"
_NO_NUMBERS = (np.ndarray, list, tuple, int, float, str)
_NO_TENSORS = (*_NO_NUMBERS, type(None))


def _linear(session: Traced, original: Any, x: Any, weight: Any, bias: Any = None) -> Any:
    """On a CPU a product, which is a temporary, and an addition; on a GPU `linear_v2`, where Paddle has it, its flag
    does not ask for the two of before 3.3, and no second gradient is asked for, which is not known."""
    if (
        isinstance(x, _NO_TENSORS) or weight is None or isinstance(bias, _NO_NUMBERS)
    ):  # refused by its own name, before all else is looked at
        try:
            return original(x, weight, bias)
        except (TypeError, ValueError) as problem:
            raise session.refused(problem) from None
    is_one = session.target == "gpu" and hasattr(_C_ops, "linear_v2") and not session.differentiates_twice
    is_one = is_one and not is_on(_LEGACY)
    if bias is not None and is_one:
        return call("linear_v2", x, weight, bias, False)
    product = call("matmul", x, weight, False, False)
    return product if bias is None else call("add", product, bias)


_PRODUCT = (("x", "y", "grad_out"), ("grad_x_grad", "grad_y_grad"), ("x", "y", "grad_out"))

_FACTOR = Number(float, "beta", is_alone=True)

OPERATORS = (
    Operator(
        "matmul",
        "`matmul_grad_kernel_impl.h`, `composite_double_backward_api.h`, `eager_gen.py`; measured to the byte, complex "
        "operands too",
        Rule(
            strides=Strides.KEPT,
            flops=_flops,
            amp_name="matmul_v2",
            keeps_sizes=True,
            asked=Asked.EACH_CALL,
            refuses=_batches_apart,
        ),
        gradient=Rule(
            flops=_gradient_flops,
            workspace=_gradient,
            fills_zeros=True,
            refused_empty=NO_RESULT,
            second=Second("matmul_double_grad", *_PRODUCT),
        ),
        second=Rule(composed=_matmul_again, fills_zeros=True, rests_on={0: "grad_y_grad", 1: "grad_x_grad"}),
        third=Rule(fills_zeros=True),
    ),
    Operator(
        "bmm",
        "`composite_double_backward_api.h`",
        Rule(flops=_flops, asked=Asked.EACH_CALL),
        gradient=Rule(flops=_gradient_flops, second=Second("bmm_double_grad", *_PRODUCT)),
        second=Rule(composed=_bmm_again),
    ),
    Operator(
        "linear_v2",
        "`nn/functional/common.py` of 3.3",
        Rule(flops=_linear_flops, keeps_sizes=True),
        gradient=Rule(flops=_linear_gradient_flops, further=Further.NOT_FOLLOWED),
    ),
    Operator("linear", "measured on CPUs; `nn/functional/common.py` of 3.3", Rule(instead=_linear)),
    Operator(
        "multi_dot",
        "three matrices; three or more shapes, to the byte",
        Rule(workspace=_chain(1)),
        gradient=Rule(workspace=_chain(2), refused=NO_RESULT),
    ),
    Operator("kron", "measured to the byte", Rule(asked=Asked.EACH_CALL), gradient=Rule(workspace=_kron_grad)),
    Operator(
        "dist",
        "measured to the byte on nine configurations of shapes and norms",
        Rule(asked=Asked.EACH_CALL),
        gradient=Rule(workspace=_distance_grad),
    ),
    Operator(
        "cross",
        "measured to the byte on five configurations",
        Rule(asked=Asked.EACH_CALL),
        gradient=Rule(workspace=_both),
    ),
    Operator("bilinear", "measured to the byte on six configurations", gradient=Rule(workspace=_both)),
    Operator("dot mv", WITHOUT_MEMORY, Rule(asked=Asked.EACH_CALL)),
    Operator("addmm baddbmm", "measured", Rule(numbers={3: _FACTOR, 4: _FACTOR._replace(name="alpha")})),
)
