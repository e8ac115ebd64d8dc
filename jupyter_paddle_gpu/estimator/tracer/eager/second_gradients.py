"""Second gradients that eager mode composes of several operators (composite_double_backward_api.h of 3.3).

Each function here is one of that file: the same operators in the same order, its temporaries alive as long. They run as
any other operators of the program do, so gradients of the third order follow from them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from paddle.base import core

from . import interception

Tensors = dict[str, Any]
"""Operands by name, lists of tensors among them; None for one that is absent."""
Wants = tuple[bool, ...]
"""Which results are asked for."""
Composite = Callable[[dict[str, Any], Tensors, Wants], list[Any]]


def call(name: str, *args: Any) -> Any:
    """An operator of the traced program (looked up late: interception rests on this module)."""
    return interception.call(name, *args)


def _times(first: Any, second: Any) -> Any:
    return call("multiply", first, second)


def scaled(tensor: Any, factor: float, offset: float = 0.0) -> Any:
    """`tensor * factor + offset`, one operator."""
    return call("scale", tensor, factor, offset, True)


def _zeros(like: Any) -> Any:
    return call("full", list(like.shape), 0.0, like.dtype, core.CPUPlace())


def _reduced(tensor: Any, like: Any) -> Any:
    """A broadcast operand's gradient, summed to its shape (get_reduce_dims_from_out)."""
    shape, target = list(tensor.shape), list(like.shape)
    if shape == target:
        return tensor
    padded = [1] * (len(shape) - len(target)) + target
    axes = [axis for axis, (have, want) in enumerate(zip(shape, padded, strict=True)) if want == 1 and have != 1]
    axes = sorted({*range(len(shape) - len(target)), *axes})
    summed = call("sum", tensor, axes, tensor.dtype, len(shape) == len(target))
    return summed if list(summed.shape) == target else call("reshape", summed, target)


def _of_vectors(attrs: dict[str, Any], of: Tensors, wants: Wants, row: bool, column: bool) -> list[Any]:
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
    found = _matmul({**attrs, **turned}, given, wants)
    likes = of["x"], of["y"], of["grad_out"]
    return [
        None if one is None else call("reshape", one, list(like.shape)) for one, like in zip(found, likes, strict=True)
    ]


def _matmul(attrs: dict[str, Any], of: Tensors, wants: Wants) -> list[Any]:
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
    dx = None if dx is None else _reduced(dx, x)
    dy = None if dy is None else _reduced(dy, y)
    return [dx, dy, ddout]


def _bmm(attrs: dict[str, Any], of: Tensors, wants: Wants) -> list[Any]:
    x, y, out, ddx, ddy = (of.get(name) for name in ("x", "y", "grad_out", "grad_x_grad", "grad_y_grad"))
    dx = dy = ddout = None
    if wants[0]:
        dx = _zeros(x) if ddy is None else call("matmul", out, call("transpose", ddy, [0, 2, 1]), False, False)
    if wants[1]:
        dy = _zeros(y) if ddx is None else call("matmul", call("transpose", ddx, [0, 2, 1]), out, False, False)
    if wants[2]:
        terms = [
            call("matmul", *pair, False, False) for pair in ((ddx, y), (x, ddy)) if all(t is not None for t in pair)
        ]
        ddout = call("add", *terms) if len(terms) == 2 else terms[0]
    return [dx, dy, ddout]


def _multiply(attrs: dict[str, Any], of: Tensors, wants: Wants) -> list[Any]:
    x, y, out, ddx, ddy = (of.get(name) for name in ("x", "y", "grad_out", "grad_x_grad", "grad_y_grad"))
    dx = dy = ddout = None
    if wants[0]:
        dx = _zeros(x) if ddy is None else _reduced(_times(ddy, out), x)
    if wants[1]:
        dy = _zeros(y) if ddx is None else _reduced(_times(ddx, out), y)
    if wants[2]:
        terms = [_times(*pair) for pair in ((ddx, y), (ddy, x)) if pair[0] is not None]
        ddout = call("add", *terms) if len(terms) == 2 else terms[0] if terms else _zeros(out)
    return [dx, dy, ddout]


def _subtract(attrs: dict[str, Any], of: Tensors, wants: Wants) -> list[Any]:
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


def _exp(attrs: dict[str, Any], of: Tensors, wants: Wants) -> list[Any]:
    dout = _times(of["grad_out"], of["grad_x_grad"]) if wants[0] else None
    return [dout, _times(of["out"], of["grad_x_grad"]) if wants[1] else None]


def _log(attrs: dict[str, Any], of: Tensors, wants: Wants) -> list[Any]:
    x = call("conj", of["x"])
    dx = None
    if wants[0]:
        product = _times(of["grad_out"], of["grad_x_grad"])
        square = _times(x, x)
        negative = scaled(product, -1.0)
        dx = call("divide", negative, square)
        del product, square, negative
    return [dx, call("divide", of["grad_x_grad"], x) if wants[1] else None]


def _acos(attrs: dict[str, Any], of: Tensors, wants: Wants) -> list[Any]:
    square = _times(of["x"], of["x"])
    rest = scaled(square, -1.0, 1.0)
    del square
    dx = ddout = None
    if wants[0]:
        power, negative = call("pow", rest, -1.5), scaled(of["x"], -1.0)
        first = _times(of["grad_out"], negative)
        second = _times(first, power)
        dx = _times(second, of["grad_x_grad"])
        del power, negative, first, second
    if wants[1]:
        power = call("pow", rest, -0.5)
        negative = scaled(power, -1.0)
        ddout = _times(negative, of["grad_x_grad"])
    return [dx, ddout]


def _silu(attrs: dict[str, Any], of: Tensors, wants: Wants) -> list[Any]:
    sigmoid = call("sigmoid", of["x"])
    rest = scaled(sigmoid, -1.0, 1.0)
    slope = scaled(_times(rest, of["x"]), 1.0, 1.0)
    product = _times(of["grad_x_grad"], sigmoid)
    ddout = _times(product, slope) if wants[1] else None
    if not wants[0]:
        return [None, ddout]
    given = _times(product, of["grad_out"])
    difference = call("subtract", slope, of["out"])
    factor = scaled(difference, 1.0, 1.0)
    whole = _times(given, factor)
    return [_times(whole, rest), ddout]


def _chosen(first: str, second: str) -> Composite:
    """maximum and minimum: where x is chosen, by comparison; where y is, if x has no gradient of its gradient."""

    def rule(attrs: dict[str, Any], of: Tensors, wants: Wants) -> list[Any]:
        ddx, ddy = of.get("grad_x_grad"), of.get("grad_y_grad")
        given: Any = ddx if ddx is not None else ddy
        mask = call("cast", call(first if ddx is not None else second, of["x"], of["y"]), given.dtype)
        if ddx is None or ddy is None:
            return [_times(given, mask)]
        other = scaled(mask, -1.0, 1.0)
        terms = _times(ddx, mask), _times(ddy, other)
        return [call("add", *terms)]

    return rule


def _where(attrs: dict[str, Any], of: Tensors, wants: Wants) -> list[Any]:
    pair = [of.get(name) for name in ("grad_x_grad", "grad_y_grad")]
    zeros = None if all(one is not None for one in pair) else _zeros(next(one for one in pair if one is not None))
    return [call("where", of["condition"], *(zeros if one is None else one for one in pair))]


def _gather_nd(attrs: dict[str, Any], of: Tensors, wants: Wants) -> list[Any]:
    return [call("gather_nd", of["grad_x_grad"], of["index"])]


def _take_along_axis(attrs: dict[str, Any], of: Tensors, wants: Wants) -> list[Any]:
    return [call("take_along_axis", of["grad_arr_grad"], of["indices"], int(attrs["axis"]))]


def _index_add(attrs: dict[str, Any], of: Tensors, wants: Wants) -> list[Any]:
    ddx, added = of.get("grad_x_grad"), of.get("grad_add_value_grad")
    given = _zeros(of["grad_out"]) if ddx is None else ddx
    return [given if added is None else call("index_add", given, of["index"], added, int(attrs["axis"]))]


def _masked_select(attrs: dict[str, Any], of: Tensors, wants: Wants) -> list[Any]:
    return [call("masked_select", of["grad_x_grad"], of["mask"])]


def _masked_fill(attrs: dict[str, Any], of: Tensors, wants: Wants) -> list[Any]:
    ddx, filled = of["grad_x_grad"], of.get("grad_value_grad")
    zero = call("full", [], 0.0, ddx.dtype, core.CPUPlace()) if filled is None else filled
    return [call("masked_fill", ddx, of["mask"], zero)]


def _index_put(attrs: dict[str, Any], of: Tensors, wants: Wants) -> list[Any]:
    ddx, written = of.get("grad_x_grad"), of.get("grad_value_grad")
    adds = bool(attrs.get("accumulate"))
    if ddx is None:
        adds, ddx = False, _zeros(of["x"])
    elif written is None and adds:
        return [ddx]
    return [call("index_put", ddx, of["indices"], _zeros(of["value"]) if written is None else written, adds)]


def _tanh(attrs: dict[str, Any], of: Tensors, wants: Wants) -> list[Any]:
    out, grad, ddx = of["out"], of["grad_out_forward"], of["grad_x_grad_forward"]
    new, again = of.get("grad_out_new_grad"), of.get("grad_out_grad_grad")
    if new is None:
        return _tanh_again(of, wants)
    twice = scaled(out, -2.0) if wants[1] or wants[2] else None
    product = _times(grad, new) if wants[0] or wants[2] else None
    dout = dgrad = dddx = None
    if wants[0]:
        factor = scaled(ddx, -2.0)
        if again is None:
            dout = _times(factor, product)
        else:
            other = _times(out, again)
            term = call("add", product, other)
            dout = _times(factor, term)
            del other, term
        del factor
    if wants[1]:
        part = _times(twice, ddx)
        dgrad = _times(part, new)
        del part
    if wants[2] and again is None:
        dddx = _times(twice, product)
    elif wants[2]:
        second_term = _times(twice, product)
        square = _times(out, out)
        rest = scaled(square, -1.0, 1.0)
        first_term = _times(rest, again)
        dddx = call("add", first_term, second_term)
    return [dout, dgrad, dddx]


def _tanh_again(of: Tensors, wants: Wants) -> list[Any]:
    out, again = of["out"], of["grad_out_grad_grad"]
    dout = dddx = None
    if wants[0]:
        factor, other = scaled(of["grad_x_grad_forward"], -2.0), _times(out, again)
        dout = _times(factor, other)
        del factor, other
    dgrad = _zeros(out) if wants[1] else None
    if wants[2]:
        square = _times(out, out)
        rest = scaled(square, -1.0, 1.0)
        dddx = _times(rest, again)
    return [dout, dgrad, dddx]


def _add(attrs: dict[str, Any], of: Tensors, wants: Wants) -> list[Any]:
    given = [of.get(name) for name in _OF_OPERANDS_FORWARD]
    return [
        _reduced(of["grad_grad_out_grad"], one) if want and one is not None else None
        for one, want in zip(given, wants, strict=True)
    ]


_OF_OPERANDS_FORWARD = ("grad_x_grad_forward", "grad_y_grad")
RULES: dict[str, Composite] = {
    "matmul_double_grad": _matmul, "bmm_double_grad": _bmm,
    "multiply_double_grad": _multiply, "subtract_double_grad": _subtract,
    "acos_double_grad": _acos, "take_along_axis_double_grad": _take_along_axis, "index_add_double_grad": _index_add,
    "masked_fill_double_grad": _masked_fill, "masked_select_double_grad": _masked_select,
    "index_put_double_grad": _index_put,
    "exp_double_grad": _exp, "log_double_grad": _log, "silu_double_grad": _silu,
    "maximum_double_grad": _chosen("greater_than", "less_equal"),
    "minimum_double_grad": _chosen("less_than", "greater_equal"),
    "where_double_grad": _where, "gather_nd_double_grad": _gather_nd,
    "tanh_triple_grad": _tanh, "add_triple_grad": _add,
}  # fmt: skip
"""Composed second gradients by name."""
