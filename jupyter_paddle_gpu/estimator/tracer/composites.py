"""Second gradients that eager mode composes of several operators (composite_double_backward_api.h of 3.3).

Each function here is one of that file: the same operators in the same order, its temporaries alive as long. They run as
any other operators of the program do, so gradients of the third order follow from them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from paddle.base import core

from . import interception
from .arrays import Array, known_state
from .gradients import without_absent
from .templates import Gradient, GradStep

Tensors = dict[str, Any]
"""Operands by name; None for one that is absent."""
Wants = tuple[bool, ...]
"""Which results are asked for."""
Composite = Callable[[dict[str, Any], Tensors, Wants], list[Any]]


def run(
    step: GradStep, environment: dict[int, Array | None], tensor_of: Callable[[int, Array], Any]
) -> list[tuple[int, Any]]:
    """Run a composed second gradient: [(slot of a result, its tensor)].

    Args:
        step: one of `RECORDED`.
        environment: arrays by slot; the results are added.
        tensor_of: the tensor for an array at a slot, which knows where it comes from or does not.
    """
    tensors: Tensors = {}
    for name, operand in zip(step.operand_names, step.operands, strict=False):
        array = environment.get(operand) if isinstance(operand, int) else None
        tensors[name] = None if array is None or not isinstance(operand, int) else tensor_of(operand, array)
    wants = tuple(result is not None for result in step.results)
    made = []
    for slot, tensor in zip(step.results, RECORDED[step.name](step.attrs, tensors, wants), strict=False):
        state = None if tensor is None else known_state(tensor)
        if isinstance(slot, int) and state is not None:
            environment[slot] = state.array
            made.append((slot, tensor))
    return made


def call(name: str, *args: Any) -> Any:
    """An operator of the traced program (looked up late: interception rests on this module)."""
    return interception.call(name, *args)


def _times(first: Any, second: Any) -> Any:
    return call("multiply", first, second)


def _scaled(tensor: Any, factor: float, offset: float = 0.0) -> Any:
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


def _matmul(attrs: dict[str, Any], of: Tensors, wants: Wants) -> list[Any]:
    x, y, out, ddx, ddy = (of.get(name) for name in ("x", "y", "grad_out", "grad_x_grad", "grad_y_grad"))
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
    return [None if dx is None else _reduced(dx, x), None if dy is None else _reduced(dy, y), ddout]


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
    given = ddx if ddx is not None else _scaled(ddy, -1.0)
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
        negative = _scaled(product, -1.0)
        dx = call("divide", negative, square)
        del product, square, negative
    return [dx, call("divide", of["grad_x_grad"], x) if wants[1] else None]


def _silu(attrs: dict[str, Any], of: Tensors, wants: Wants) -> list[Any]:
    sigmoid = call("sigmoid", of["x"])
    rest = _scaled(sigmoid, -1.0, 1.0)
    slope = _scaled(_times(rest, of["x"]), 1.0, 1.0)
    product = _times(of["grad_x_grad"], sigmoid)
    ddout = _times(product, slope) if wants[1] else None
    if not wants[0]:
        return [None, ddout]
    given = _times(product, of["grad_out"])
    difference = call("subtract", slope, of["out"])
    factor = _scaled(difference, 1.0, 1.0)
    scaled = _times(given, factor)
    return [_times(scaled, rest), ddout]


def _chosen(first: str, second: str) -> Composite:
    """maximum and minimum: where x is chosen, by comparison; where y is, if x has no gradient of its gradient."""

    def rule(attrs: dict[str, Any], of: Tensors, wants: Wants) -> list[Any]:
        ddx, ddy = of.get("grad_x_grad"), of.get("grad_y_grad")
        given: Any = ddx if ddx is not None else ddy
        mask = call("cast", call(first if ddx is not None else second, of["x"], of["y"]), given.dtype)
        if ddx is None or ddy is None:
            return [_times(given, mask)]
        other = _scaled(mask, -1.0, 1.0)
        terms = _times(ddx, mask), _times(ddy, other)
        return [call("add", *terms)]

    return rule


def _where(attrs: dict[str, Any], of: Tensors, wants: Wants) -> list[Any]:
    pair = [of.get(name) for name in ("grad_x_grad", "grad_y_grad")]
    zeros = None if all(one is not None for one in pair) else _zeros(next(one for one in pair if one is not None))
    return [call("where", of["condition"], *(zeros if one is None else one for one in pair))]


def _gather_nd(attrs: dict[str, Any], of: Tensors, wants: Wants) -> list[Any]:
    return [call("gather_nd", of["grad_x_grad"], of["index"])]


def _tanh(attrs: dict[str, Any], of: Tensors, wants: Wants) -> list[Any]:
    out, grad, ddx = of["out"], of["grad_out_forward"], of["grad_x_grad_forward"]
    new, again = of.get("grad_out_new_grad"), of.get("grad_out_grad_grad")
    if new is None:
        return _tanh_again(of, wants)
    twice = _scaled(out, -2.0) if wants[1] or wants[2] else None
    product = _times(grad, new) if wants[0] or wants[2] else None
    dout = dgrad = dddx = None
    if wants[0]:
        factor = _scaled(ddx, -2.0)
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
        rest = _scaled(square, -1.0, 1.0)
        first_term = _times(rest, again)
        dddx = call("add", first_term, second_term)
    return [dout, dgrad, dddx]


def _tanh_again(of: Tensors, wants: Wants) -> list[Any]:
    out, again = of["out"], of["grad_out_grad_grad"]
    dout = dddx = None
    if wants[0]:
        factor, other = _scaled(of["grad_x_grad_forward"], -2.0), _times(out, again)
        dout = _times(factor, other)
        del factor, other
    dgrad = _zeros(out) if wants[1] else None
    if wants[2]:
        square = _times(out, out)
        rest = _scaled(square, -1.0, 1.0)
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
    "exp_double_grad": _exp, "log_double_grad": _log, "silu_double_grad": _silu,
    "maximum_double_grad": _chosen("greater_than", "less_equal"),
    "minimum_double_grad": _chosen("less_than", "greater_equal"),
    "where_double_grad": _where, "gather_nd_double_grad": _gather_nd,
    "tanh_triple_grad": _tanh, "add_triple_grad": _add,
}  # fmt: skip
"""Composed second gradients by name."""
RECORDED: dict[str, Composite] = {**RULES, "scale": lambda attrs, of, wants: [_scaled(of["x"], 1.0)]}
"""Gradient operators that run as operators of the program where they are to be differentiated again."""
_OF_OPERANDS = ("grad_x_grad", "grad_y_grad")
_TANH = ("out", "grad_out", "grad_x_grad")
_SINE = ("x", "grad_out", "grad_x_grad")
_AGAIN = {"grad_out": "grad_out_forward", "grad_x_grad": "grad_x_grad_forward"}
_KNOWN: dict[str, tuple[str, tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = {
    **{
        f"{name}_grad": (f"{name}_double_grad", given, _OF_OPERANDS, asked)
        for name, given, asked in (
            ("exp", ("out", "grad_out"), ("out", "grad_out")),
            ("silu", ("x", "out", "grad_out"), ("x", "grad_out")),
            ("multiply", ("x", "y", "grad_out"), ("x", "y", "grad_out")),
            ("matmul", ("x", "y", "grad_out"), ("x", "y", "grad_out")),
            ("bmm", ("x", "y", "grad_out"), ("x", "y", "grad_out")),
            ("divide", ("y", "out", "grad_out", "grad_x"), ("y", "out", "grad_out")),
            ("add", ("y", "grad_out"), ("grad_out",)),
            ("subtract", ("y", "grad_out"), ("grad_out",)),
            ("maximum", ("x", "y"), ("grad_out",)),
            ("minimum", ("x", "y"), ("grad_out",)),
            ("where", ("condition",), ("grad_out",)),
            ("gather_nd", ("index",), ("grad_out",)),
        )
    },
    "tanh_double_grad": ("tanh_triple_grad", _TANH, ("grad_out_new_grad", "grad_out_grad_grad"), _TANH),
    "sigmoid_double_grad": ("sigmoid_triple_grad", _TANH, ("grad_out_grad", "grad_grad_out_grad"), _TANH),
    "sin_double_grad": ("sin_triple_grad", _SINE, ("grad_x_grad", "grad_out_grad_grad"), _SINE),
    "cos_double_grad": ("cos_triple_grad", _SINE, ("grad_x_grad", "grad_out_grad_grad"), _SINE),
    "add_double_grad": ("add_triple_grad", _OF_OPERANDS, ("grad_grad_out_grad",), _OF_OPERANDS),
}
"""Gradients of gradients that eager mode has and the program builder has not, or not where a result is absent.

By the gradient's name: its gradient's, the operands that it reads, names of what it gets for the first one's results,
operands that it has results for. An operand that has the name of such a result is called `..._forward` there."""


def second(step: GradStep, gradient: Gradient) -> Gradient | None:
    """The gradient of a gradient operator as eager mode has it, None where the program builder says it."""
    found = _KNOWN.get(step.name)
    if found is None:
        return None
    name, given, gets, asked = found
    first = not step.name.endswith("_double_grad")
    slots = {
        operand.replace("out_grad", "grad_out") if first else operand: slot
        for operand, slot in zip(step.operand_names, step.operands, strict=False)
    }
    slots["grad_x"] = step.results[0]
    metas = dict(gradient.metas)

    def beside(slot: int) -> int:
        metas[len(metas)] = metas[slot]
        return len(metas) - 1

    incoming = {
        got: (slot, beside(slot)) for got, slot in zip(gets, step.results, strict=False) if isinstance(slot, int)
    }
    outgoing = {slot: beside(slot) for operand in asked if isinstance(slot := slots.get(operand), int)}
    names = (*(operand if first else _AGAIN.get(operand, operand) for operand in given), *incoming)
    operands = (*(slots.get(operand) for operand in given), *(slot for _, slot in incoming.values()))
    results = tuple(outgoing.get(slots.get(operand)) for operand in asked)  # type: ignore[arg-type]
    made = without_absent(GradStep(name, operands, names, (True,) * len(names), results, step.attrs))
    saved = frozenset(slot for operand in given if isinstance(slot := slots.get(operand), int))
    if step.name == "subtract_grad":  # it reads shapes only
        saved = frozenset()
    outgoing = {slot: result for slot, result in outgoing.items() if result in made.results}
    return Gradient([made], dict(incoming.values()), outgoing, saved, metas)
