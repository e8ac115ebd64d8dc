"""Functions of each element: activations, powers, logarithms, rounding."""

from __future__ import annotations

from typing import Any

from ...memory.arrays import Array
from ...memory.operators import ORIGINAL_OPS, call
from ...session import running
from ..composing import scaled, times, zeros
from ..rules import (
    WITHOUT_MEMORY,
    Arrays,
    Asked,
    Attributes,
    Choice,
    Further,
    Number,
    Operator,
    Place,
    Rule,
    Second,
    Sparse,
    Strides,
    Tensors,
    Traced,
    Wants,
    per_element,
)


def _of_gradient(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """One of the size of the gradient."""
    return max(array.nbytes for group in results for array in group) if any(results) else 0


def _third_of_power(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """Of x and two gradients, then one or two of the fourth kind, five or two of x's size."""
    return (5 if all(operands[3:5]) else 2) * operands[0][0].nbytes


def _exp(attrs: Attributes, of: Tensors, wants: Wants) -> list[Any]:
    dout = times(of["grad_out"], of["grad_x_grad"]) if wants[0] else None
    return [dout, times(of["out"], of["grad_x_grad"]) if wants[1] else None]


def _log(attrs: Attributes, of: Tensors, wants: Wants) -> list[Any]:
    x = call("conj", of["x"])
    dx = None
    if wants[0]:
        product = times(of["grad_out"], of["grad_x_grad"])
        square = times(x, x)
        negative = scaled(product, -1.0)
        dx = call("divide", negative, square)
        del product, square, negative
    return [dx, call("divide", of["grad_x_grad"], x) if wants[1] else None]


def _acos(attrs: Attributes, of: Tensors, wants: Wants) -> list[Any]:
    square = times(of["x"], of["x"])
    rest = scaled(square, -1.0, 1.0)
    del square
    dx = ddout = None
    if wants[0]:
        power, negative = call("pow", rest, -1.5), scaled(of["x"], -1.0)
        first = times(of["grad_out"], negative)
        second = times(first, power)
        dx = times(second, of["grad_x_grad"])
        del power, negative, first, second
    if wants[1]:
        power = call("pow", rest, -0.5)
        negative = scaled(power, -1.0)
        ddout = times(negative, of["grad_x_grad"])
    return [dx, ddout]


def _silu(attrs: Attributes, of: Tensors, wants: Wants) -> list[Any]:
    sigmoid = call("sigmoid", of["x"])
    rest = scaled(sigmoid, -1.0, 1.0)
    slope = scaled(times(rest, of["x"]), 1.0, 1.0)
    product = times(of["grad_x_grad"], sigmoid)
    ddout = times(product, slope) if wants[1] else None
    if not wants[0]:
        return [None, ddout]
    given = times(product, of["grad_out"])
    difference = call("subtract", slope, of["out"])
    factor = scaled(difference, 1.0, 1.0)
    whole = times(given, factor)
    return [times(whole, rest), ddout]


def _tanh(attrs: Attributes, of: Tensors, wants: Wants) -> list[Any]:
    out, grad, ddx = of["out"], of["grad_out_forward"], of["grad_x_grad_forward"]
    new, again = of.get("grad_out_new_grad"), of.get("grad_out_grad_grad")
    if new is None:
        return _tanh_again(of, wants)
    twice = scaled(out, -2.0) if wants[1] or wants[2] else None
    product = times(grad, new) if wants[0] or wants[2] else None
    dout = dgrad = dddx = None
    if wants[0]:
        factor = scaled(ddx, -2.0)
        if again is None:
            dout = times(factor, product)
        else:
            other = times(out, again)
            term = call("add", product, other)
            dout = times(factor, term)
            del other, term
        del factor
    if wants[1]:
        part = times(twice, ddx)
        dgrad = times(part, new)
        del part
    if wants[2] and again is None:
        dddx = times(twice, product)
    elif wants[2]:
        second_term = times(twice, product)
        square = times(out, out)
        rest = scaled(square, -1.0, 1.0)
        first_term = times(rest, again)
        dddx = call("add", first_term, second_term)
    return [dout, dgrad, dddx]


def _tanh_again(of: Tensors, wants: Wants) -> list[Any]:
    out, again = of["out"], of["grad_out_grad_grad"]
    dout = dddx = None
    if wants[0]:
        factor, other = scaled(of["grad_x_grad_forward"], -2.0), times(out, again)
        dout = times(factor, other)
        del factor, other
    dgrad = zeros(out) if wants[1] else None
    if wants[2]:
        square = times(out, out)
        rest = scaled(square, -1.0, 1.0)
        dddx = times(rest, again)
    return [dout, dgrad, dddx]


def _scale(attrs: Attributes, of: Tensors, wants: Wants) -> list[Any]:
    return [scaled(of["x"], 1.0)]


def _masked_softmax(session: Traced, original: Any, x: Any) -> Any:
    """On a GPU what softmax keeps and returns, in its input's type; a Paddle for CPUs has no kernel of it."""
    name = "fused_softmax_mask_upper_triangle"
    if session.target == "gpu":
        return session.call(name, ORIGINAL_OPS["softmax"], (x, -1), {})
    return session.call(name, ORIGINAL_OPS[name], (x,), {})


def _mask(attrs: Attributes, operands: Arrays, place: Place) -> Array | None:
    """The mask of a dropout that drops nothing is there on a GPU only."""
    x = operands[0][0]
    if place.result == 1 and attrs.get("is_test") and running().target == "cpu":
        return Array(None, x.shape, x.strides, "uint8")
    return None


_STRIDES = "strided operands: measured (`test_strided_operands.py`)"
_COMPOSED = f"{_STRIDES}; `composite_double_backward_api.h`"
_TWICE = f"{_STRIDES}; gradients in place: measured; `eager_gen.py`, messages of libpaddle.so"
_FIRST = ("grad_x_grad", "grad_y_grad")
_TANH = ("out", "grad_out", "grad_x_grad")
_SINE = ("x", "grad_out", "grad_x_grad")
_OVER = (1, "grad_x_grad")
"""The second gradient's second result is written over the gradient of the gradient."""

OPERATORS = (
    Operator(
        "acosh asin asinh atan atanh ceil cosh expm1 floor hardsigmoid log10 log1p log2 log_softmax "
        "logsigmoid mish reciprocal relu6 selu sign sinh softsign trunc",
        _STRIDES,
        Rule(strides=Strides.KEPT, keeps_sizes=True, asked=Asked.TYPE_OF_ONE),
    ),
    Operator(
        "erfinv hardtanh round softshrink",
        _STRIDES,
        Rule(strides=Strides.KEPT, asked=Asked.EACH_CALL),
    ),
    Operator("tan", _STRIDES, Rule(strides=Strides.KEPT)),
    Operator("gumbel_softmax", _STRIDES, Rule(strides=Strides.KEPT, numbers={1: Number(float, "temperature")})),
    Operator("abs", _STRIDES, Rule(strides=Strides.KEPT, loss="l1_loss", asked=Asked.TYPE_OF_ONE)),
    Operator(
        "isnan isinf isfinite",
        "measured (`test_sparse_gradients.py`)",
        Rule(sparse=Sparse.EMPTY, asked=Asked.TYPE_OF_ONE),
    ),
    Operator(
        "scale",
        f"{_STRIDES}, sparse gradients too (`test_sparse_gradients.py`)",
        Rule(
            strides=Strides.KEPT,
            numbers={1: Number(float, "scale"), 2: Number(float, "bias")},
            sparse=Sparse.ROWS,
            recorded=_scale,
            keeps_sizes=True,
            asked=Asked.TYPE_OF_ONE,
        ),
    ),
    Operator(
        "relu",
        _TWICE,
        Rule(strides=Strides.KEPT, keeps_sizes=True, asked=Asked.TYPE_OF_ONE),
        second=Rule(overwrites=(0, "grad_x_grad"), further=Further.REFUSED),
    ),
    Operator(
        "leaky_relu",
        _TWICE,
        Rule(strides=Strides.KEPT, keeps_sizes=True, asked=Asked.TYPE_OF_ONE),
        second=Rule(overwrites=(0, "grad_x_grad"), fills_zeros=True, further=Further.REFUSED),
    ),
    Operator(
        "elu celu rsqrt",
        _TWICE,
        Rule(strides=Strides.KEPT, asked=Asked.TYPE_OF_ONE),
        second=Rule(overwrites=_OVER, fills_zeros=True, further=Further.REFUSED),
    ),
    Operator(
        "sqrt",
        _TWICE,
        Rule(strides=Strides.KEPT, sparse=Sparse.ROWS, asked=Asked.TYPE_OF_ONE),
        second=Rule(overwrites=_OVER, fills_zeros=True, further=Further.REFUSED),
    ),
    Operator(
        "square",
        _TWICE,
        Rule(strides=Strides.KEPT, sparse=Sparse.ROWS, loss="mse_loss", asked=Asked.TYPE_OF_ONE),
        second=Rule(overwrites=_OVER, fills_zeros=True, further=Further.REFUSED),
    ),
    Operator(
        "softplus",
        _TWICE,
        Rule(strides=Strides.KEPT, asked=Asked.TYPE_OF_ONE),
        second=Rule(overwrites=_OVER, further=Further.REFUSED),
    ),
    Operator(
        "sigmoid",
        _TWICE,
        Rule(strides=Strides.KEPT, keeps_sizes=True, asked=Asked.TYPE_OF_ONE),
        second=Rule(
            overwrites=_OVER,
            fills_zeros=True,
            second=Second("sigmoid_triple_grad", _TANH, ("grad_out_grad", "grad_grad_out_grad"), _TANH),
        ),
        third=Rule(fills_zeros=True, further=Further.REFUSED),
    ),
    Operator(
        "tanh",
        f"{_TWICE}; `composite_double_backward_api.h`",
        Rule(strides=Strides.KEPT, keeps_sizes=True, asked=Asked.TYPE_OF_ONE),
        gradient=Rule(fills_zeros=True),
        second=Rule(
            overwrites=_OVER,
            fills_zeros=True,
            second=Second("tanh_triple_grad", _TANH, ("grad_out_new_grad", "grad_out_grad_grad"), _TANH),
        ),
        third=Rule(composed=_tanh, fills_zeros=True),
    ),
    Operator(
        "sin",
        _TWICE,
        Rule(strides=Strides.KEPT, asked=Asked.TYPE_OF_ONE),
        second=Rule(
            overwrites=_OVER,
            fills_zeros=True,
            second=Second("sin_triple_grad", _SINE, ("grad_x_grad", "grad_out_grad_grad"), _SINE),
        ),
        third=Rule(fills_zeros=True, further=Further.REFUSED),
    ),
    Operator(
        "cos",
        _TWICE,
        Rule(strides=Strides.KEPT, asked=Asked.TYPE_OF_ONE),
        second=Rule(
            overwrites=_OVER,
            fills_zeros=True,
            second=Second("cos_triple_grad", _SINE, ("grad_x_grad", "grad_out_grad_grad"), _SINE),
        ),
        third=Rule(fills_zeros=True, further=Further.REFUSED),
    ),
    Operator(
        "exp",
        _COMPOSED,
        Rule(strides=Strides.KEPT, asked=Asked.TYPE_OF_ONE),
        gradient=Rule(second=Second("exp_double_grad", ("out", "grad_out"), _FIRST, ("out", "grad_out"))),
        second=Rule(composed=_exp),
    ),
    Operator(
        "log",
        _COMPOSED,
        Rule(strides=Strides.KEPT, asked=Asked.TYPE_OF_ONE),
        second=Rule(composed=_log, fills_zeros=True),
    ),
    Operator(
        "acos",
        _COMPOSED,
        Rule(strides=Strides.KEPT, asked=Asked.TYPE_OF_ONE),
        gradient=Rule(second=Second("acos_double_grad", ("x", "grad_out"), _FIRST, ("x", "grad_out"))),
        second=Rule(composed=_acos),
    ),
    Operator(
        "silu",
        _COMPOSED,
        Rule(strides=Strides.KEPT, keeps_sizes=True, asked=Asked.TYPE_OF_ONE),
        gradient=Rule(second=Second("silu_double_grad", ("x", "out", "grad_out"), _FIRST, ("x", "grad_out"))),
        second=Rule(composed=_silu),
    ),
    Operator(
        "pow",
        "measured to the byte; messages of libpaddle.so",
        Rule(asked=Asked.TYPE_OF_ONE),
        second=Rule(workspace=_of_gradient),
        third=Rule(workspace=_third_of_power, further=Further.REFUSED),
    ),
    Operator(
        "gelu",
        "operations counted in its formula",
        Rule(flops=per_element(8), keeps_sizes=True, asked=Asked.TYPE_OF_ONE),
        gradient=Rule(flops=per_element(12)),
    ),
    Operator(
        "softmax",
        f"{_STRIDES}; operations counted in its formula",
        Rule(strides=Strides.KEPT, flops=per_element(4), keeps_sizes=True, asked=Asked.TYPE_OF_ONE),
        gradient=Rule(flops=per_element(3)),
    ),
    Operator(
        "fused_softmax_mask_upper_triangle",
        "`fusion/gpu/fused_softmax_mask_upper_triangle_kernel.cu`; on no list of mixed precision",
        Rule(instead=_masked_softmax, flops=per_element(4)),
    ),
    Operator(
        "dropout",
        f"`cpu/dropout_kernel.cc`, `gpu/dropout_kernel.cu`; {_STRIDES}",
        Rule(
            strides=Strides.KEPT,
            shares=_mask,
            numbers={2: Number(float, "p")},
            keeps_sizes=True,
            asked=Asked.EACH_CALL,
        ),
    ),
    Operator(
        "abs_ acos_ acosh_ angle asin_ asinh_ atan_ atanh_ conj cos_ cosh_ digamma_ erf_ exp_ expm1_ gammaln "
        "gammaln_ i0 i0_ i0e i1 i1e lgamma_ log10_ log1p_ log2_ log_ logit logit_ polygamma polygamma_ pow_ "
        "prelu relu_ scale_ sin_ sinh_ sqrt_ square_ stanh tan_ tanh_shrink",
        WITHOUT_MEMORY,
        Rule(asked=Asked.EACH_CALL),
    ),
    Operator(
        "clip",
        WITHOUT_MEMORY,
        Rule(numbers={1: Number(float, "min"), 2: Number(float, "max")}, choice=Choice.BOUNDS, asked=Asked.TYPE_OF_ONE),
    ),
    Operator("digamma erf hardswish lgamma swish", WITHOUT_MEMORY, Rule(asked=Asked.TYPE_OF_ONE)),
)
