"""Operators of two tensors, one of which may be broadcast, and sums of several.

The CPU kernels of their gradients (phi/kernels/funcs/elementwise_grad_base.h) tell apart rows, columns and blocks of
the larger operand, which they sum in place, and the common broadcast, for which they fill a second tensor for each
gradient.
"""

from __future__ import annotations

from typing import Any

from ..memory.arrays import Shape
from ..memory.dtypes import LOW_PRECISION, SIZE
from ..memory.operators import call
from .composing import reduced, scaled, times, zeros
from .promotion import OF_SUM, OF_TENSOR, WIDER
from .rules import (
    WITHOUT_MEMORY,
    Arrays,
    Asked,
    Attributes,
    Choice,
    Composite,
    Further,
    Operator,
    Rule,
    Second,
    Sparse,
    Strides,
    Tensors,
    Wants,
)


def is_common(x: Shape, y: Shape) -> bool:
    """Whether the operand of fewer dimensions (the second of equals) is neither a row, a column nor a block of the
    other: is_run_common_broadcast in GetMidDims."""
    large, small = (y, list(x)) if len(x) < len(y) else (x, list(y))
    axis = len(large) - len(small)
    while small and small[-1] == 1:
        small.pop()
    return any(size != large[axis + i] for i, size in enumerate(small))


def _product_workspace(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """Of a common broadcast a second tensor for each gradient that somebody wants."""
    if len(operands) < 2 or not operands[0] or not operands[1]:
        return 0
    x, y = operands[0][0], operands[1][0]
    if x.shape == y.shape or not is_common(x.shape, y.shape):
        return 0
    return sum(array.nbytes for group in results for array in group)


def _added_workspace(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """In low precision the sum in float32."""
    made = results[0][0]
    return made.numel * SIZE["float32"] if made.dtype in LOW_PRECISION else 0


def _sum_workspace(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """Of a common broadcast a second tensor for each gradient that somebody wants, and the incoming gradient beside the
    one that would take its memory; none where it is the only one and as large."""
    transient = _product_workspace(attrs, operands, results)
    if not transient or len(operands) < 3 or not operands[2]:
        return transient
    grad = operands[2][0]
    wanted = [array for group in results for array in group]
    if len(wanted) == 1 and wanted[0].shape == grad.shape:
        return 0
    if results[0] and results[0][0].storage is grad.storage:
        transient += results[0][0].nbytes
    return transient


def _second_of_quotient(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """Zeros for an absent gradient of x's gradient (operands: y, out, gradient, gradient of x, ...)."""
    return 0 if operands[3] else operands[1][0].nbytes


def _multiply_again(attrs: Attributes, of: Tensors, wants: Wants) -> list[Any]:
    x, y, out, ddx, ddy = (of.get(name) for name in ("x", "y", "grad_out", "grad_x_grad", "grad_y_grad"))
    dx = dy = ddout = None
    if wants[0]:
        dx = zeros(x) if ddy is None else reduced(times(ddy, out), x)
    if wants[1]:
        dy = zeros(y) if ddx is None else reduced(times(ddx, out), y)
    if wants[2]:
        terms = [times(*pair) for pair in ((ddx, y), (ddy, x)) if pair[0] is not None]
        ddout = call("add", *terms) if len(terms) == 2 else terms[0] if terms else zeros(out)
    return [dx, dy, ddout]


def _subtract_again(attrs: Attributes, of: Tensors, wants: Wants) -> list[Any]:
    ddx, ddy = of.get("grad_x_grad"), of.get("grad_y_grad")
    if ddx is not None and ddy is not None:
        return [call("subtract", ddx, ddy)]
    given = ddx if ddx is not None else scaled(ddy, -1.0)
    missing = len(of["grad_out"].shape) - len(given.shape)
    repeats = [
        want if have == 1 else 1
        for have, want in zip([1] * missing + list(given.shape), of["grad_out"].shape, strict=True)
    ]
    if missing:
        given = call("reshape", given, [1] * missing + list(given.shape))
    return [given if set(repeats) <= {1} else call("tile", given, repeats)]


def _chosen_again(first: str, second: str) -> Composite:
    """Where x is chosen, by comparison; where y is, if x has no gradient of its gradient."""

    def rule(attrs: Attributes, of: Tensors, wants: Wants) -> list[Any]:
        ddx, ddy = of.get("grad_x_grad"), of.get("grad_y_grad")
        given: Any = ddx if ddx is not None else ddy
        mask = call("cast", call(first if ddx is not None else second, of["x"], of["y"]), given.dtype)
        if ddx is None or ddy is None:
            return [times(given, mask)]
        other = scaled(mask, -1.0, 1.0)
        terms = times(ddx, mask), times(ddy, other)
        return [call("add", *terms)]

    return rule


def _where_again(attrs: Attributes, of: Tensors, wants: Wants) -> list[Any]:
    pair = [of.get(name) for name in ("grad_x_grad", "grad_y_grad")]
    given = [one for one in pair if one is not None]
    absent = None if len(given) == len(pair) else zeros(given[0])
    return [call("where", of["condition"], *(absent if one is None else one for one in pair))]


def _add_again(attrs: Attributes, of: Tensors, wants: Wants) -> list[Any]:
    given = [of.get(name) for name in ("grad_x_grad_forward", "grad_y_grad")]
    return [
        reduced(of["grad_grad_out_grad"], one) if want and one is not None else None
        for one, want in zip(given, wants, strict=True)
    ]


_SOURCE = "`elementwise_grad_base.h`, measured to the byte on 40 configurations of broadcast operands"
_COMPOSED = f"{_SOURCE}; `composite_double_backward_api.h`, `eager_gen.py`"
_PAIR = ("grad_x_grad", "grad_y_grad")
_ALL = ("x", "y", "grad_out")

OPERATORS = (
    Operator(
        "add",
        _COMPOSED,
        Rule(
            strides=Strides.KEPT,
            promotes=OF_SUM,
            keeps_sizes=True,
            asked=Asked.TYPES_OF_TWO,
        ),
        gradient=Rule(
            workspace=_sum_workspace,
            takes_larger=True,
            fills_zeros=True,
            second=Second("add_double_grad", ("y", "grad_out"), _PAIR, ("grad_out",)),
        ),
        second=Rule(fills_zeros=True, second=Second("add_triple_grad", _PAIR, ("grad_grad_out_grad",), _PAIR)),
        third=Rule(composed=_add_again, fills_zeros=True),
    ),
    Operator(
        "subtract",
        _COMPOSED,
        Rule(strides=Strides.KEPT, promotes=OF_TENSOR, keeps_sizes=True, asked=Asked.TYPES_OF_TWO),
        gradient=Rule(
            workspace=_sum_workspace,
            takes_larger=True,
            fills_zeros=True,
            second=Second("subtract_double_grad", ("y", "grad_out"), _PAIR, ("grad_out",), ("y", "grad_out")),
        ),
        second=Rule(composed=_subtract_again, fills_zeros=True),
    ),
    Operator(
        "multiply",
        f"{_COMPOSED}; `multiply_fwd_func.cc`, PASSL's ConvMAE (`gpu-logs.md`)",
        Rule(
            strides=Strides.KEPT,
            promotes=OF_TENSOR,
            sparse=Sparse.ROWS,
            drops_wanted=True,
            choice=Choice.MASKS,
            keeps_sizes=True,
            asked=Asked.TYPES_OF_TWO,
        ),
        gradient=Rule(
            workspace=_product_workspace,
            fills_zeros=True,
            second=Second("multiply_double_grad", _ALL, _PAIR, _ALL),
        ),
        second=Rule(composed=_multiply_again, fills_zeros=True),
        third=Rule(fills_zeros=True),
    ),
    Operator(
        "divide",
        _COMPOSED,
        Rule(strides=Strides.KEPT, promotes=OF_TENSOR, asked=Asked.TYPES_OF_TWO),
        gradient=Rule(
            workspace=_product_workspace,
            fills_zeros=True,
            second=Second("divide_double_grad", ("y", "out", "grad_out", "grad_x"), _PAIR, ("y", "out", "grad_out")),
        ),
        second=Rule(workspace=_second_of_quotient, fills_zeros=True, further=Further.REFUSED),
    ),
    Operator(
        "maximum",
        _COMPOSED,
        Rule(strides=Strides.KEPT, promotes=WIDER, asked=Asked.TYPES_OF_TWO),
        gradient=Rule(
            workspace=_product_workspace, second=Second("maximum_double_grad", ("x", "y"), _PAIR, ("grad_out",))
        ),
        second=Rule(composed=_chosen_again("greater_than", "less_equal")),
    ),
    Operator(
        "minimum",
        _COMPOSED,
        Rule(strides=Strides.KEPT, promotes=WIDER, asked=Asked.TYPES_OF_TWO),
        gradient=Rule(
            workspace=_product_workspace, second=Second("minimum_double_grad", ("x", "y"), _PAIR, ("grad_out",))
        ),
        second=Rule(composed=_chosen_again("less_than", "greater_equal")),
    ),
    Operator(
        "fmax fmin",
        _SOURCE,
        Rule(strides=Strides.KEPT, promotes=WIDER, asked=Asked.TYPES_OF_TWO),
        gradient=Rule(workspace=_product_workspace),
    ),
    Operator(
        "elementwise_pow",
        _SOURCE,
        Rule(promotes=OF_TENSOR, asked=Asked.TYPES_OF_TWO),
        gradient=Rule(workspace=_product_workspace),
    ),
    Operator(
        "where",
        "`composite_double_backward_api.h`; strided operands: measured (`test_strided_operands.py`)",
        Rule(strides=Strides.KEPT, promotes=WIDER, choice=Choice.SELECTS, asked=Asked.EACH_CALL),
        gradient=Rule(second=Second("where_double_grad", ("condition",), _PAIR, ("grad_out",))),
        second=Rule(composed=_where_again),
    ),
    Operator(
        "remainder",
        "measured (`test_strided_operands.py`)",
        Rule(strides=Strides.KEPT, promotes=OF_TENSOR, asked=Asked.TYPES_OF_TWO),
    ),
    Operator(
        "copysign",
        "measured (`test_strided_operands.py`)",
        Rule(strides=Strides.KEPT, promotes=OF_TENSOR, asked=Asked.EACH_CALL),
    ),
    Operator(
        "add_n",
        "`cpu/add_n_kernel.cc`; measured (`test_strided_operands.py`, `test_sparse_gradients.py`, `test_lists.py`)",
        Rule(
            strides=Strides.KEPT,
            workspace=_added_workspace,
            sparse=Sparse.MERGED,
            gives_all=True,
            reads_as={0: 0},
            asked=Asked.EACH_CALL,
        ),
    ),
    Operator(
        "equal",
        "shapes of operand and result (`test_dependent_shapes.py`)",
        Rule(choice=Choice.COMPARES, promotes=OF_TENSOR, asked=Asked.TYPES_OF_TWO),
    ),
    Operator(
        "greater_than",
        "shapes of operand and result (`test_marks.py`)",
        Rule(choice=Choice.EXCEEDS, promotes=OF_TENSOR, asked=Asked.TYPES_OF_TWO),
    ),
    Operator(
        "not_equal",
        "shapes of operand and result (`test_dependent_shapes.py`)",
        Rule(choice=Choice.DIFFERS, promotes=OF_TENSOR, asked=Asked.TYPES_OF_TWO),
    ),
    Operator(
        "add_ allclose bitwise_and_ bitwise_or_ bitwise_xor_ bitwise_not_ "
        "bitwise_left_shift_ bitwise_right_shift_ complex copysign_ divide_ equal_ "
        "equal_all floor_divide_ gammaincc gammaincc_ heaviside isclose lerp less_equal_ less_than_ "
        "logical_and_ logical_not_ logical_or_ logical_xor_ multiply_ not_equal_ remainder_ "
        "subtract_ where_",
        WITHOUT_MEMORY,
        Rule(asked=Asked.EACH_CALL),
    ),
    Operator(
        "greater_equal less_equal less_than",
        WITHOUT_MEMORY,
        Rule(promotes=OF_TENSOR, asked=Asked.TYPES_OF_TWO),
    ),
    Operator(
        "floor_divide logical_and logical_or logical_xor",
        WITHOUT_MEMORY,
        Rule(promotes=WIDER, asked=Asked.TYPES_OF_TWO),
    ),
    Operator(
        "bitwise_and bitwise_or bitwise_xor",
        f"{WITHOUT_MEMORY}; read as the last operand's type",
        Rule(reads_as={0: 1}, asked=Asked.TYPES_OF_TWO),
    ),
    Operator(
        "bitwise_left_shift bitwise_right_shift",
        f"{WITHOUT_MEMORY}; read as the last operand's type",
        Rule(reads_as={0: 1}, asked=Asked.EACH_CALL),
    ),
    Operator("atan2 nextafter", WITHOUT_MEMORY, Rule(promotes=WIDER, asked=Asked.EACH_CALL)),
    Operator("bitwise_not logical_not", WITHOUT_MEMORY, Rule(asked=Asked.TYPE_OF_ONE)),
)
