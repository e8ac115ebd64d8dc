"""Python's operators on tensors. Eager mode implements them in C++ (eager_math_op_patch.cc); the rules are its.

With a number: `+ - *` and `/` scale the tensor in place of building a second one; `s / x`, `%` and comparisons fill a
tensor of the same shape first (measured: a second tensor stands beside the result); integers meeting a float are cast
to the default floating type.
"""

from __future__ import annotations

import numbers
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import paddle
from paddle.base import core

from ..memory.dtypes import FLOATING, name_of
from ..memory.operators import call
from .tensors import Tensors


class _Method(NamedTuple):
    """What one of Python's methods comes to.

    Attributes:
        operator: that of Paddle's.
        is_reversed: whether the tensor is the second operand.
        with_number: what a number beside the tensor comes to; it gives None where the number becomes a tensor.
        makes_floats: whether integers are cast for any number, not only for a float.
        takes_booleans: whether `with_number` is for booleans too.
        fills_one: whether the number becomes a tensor of one element.
        attributes: further arguments of the operator.
        takes_text: whether text counts as the number that it begins with, or as 0 (`CastPyArg2Double`).
    """

    operator: str
    is_reversed: bool = False
    with_number: Callable[[Any, Any], Any] | None = None
    makes_floats: bool = False
    takes_booleans: bool = False
    fills_one: bool = False
    attributes: tuple[Any, ...] = ()
    takes_text: bool = True


def _plus(x: Any, number: Any) -> Any:
    return call("scale", x, 1.0, float(number), True)


def _minus(x: Any, number: Any) -> Any:
    return call("scale", x, 1.0, -float(number), True)


def _from(x: Any, number: Any) -> Any:
    return call("scale", x, -1.0, float(number), True)


def _times(x: Any, number: Any) -> Any:
    return call("scale", x, float(number), 0.0, True)


def _over(x: Any, number: Any) -> Any:
    return call("scale", x, 1.0 / float(number), 0.0, True) if number != 0 else None


def _power(x: Any, number: Any) -> Any:
    return call("pow", x, float(number))


_PRODUCT = _Method("matmul", attributes=(False, False), takes_text=False)
_TEXT = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
_BITS = {
    "__and__": "bitwise_and", "__or__": "bitwise_or", "__xor__": "bitwise_xor", "__lshift__": "bitwise_left_shift",
    "__rshift__": "bitwise_right_shift", "__rand__": "bitwise_and", "__ror__": "bitwise_or", "__rxor__": "bitwise_xor",
}  # fmt: skip
_REVERSED_BITS = frozenset(("__rand__", "__ror__", "__rxor__"))
_BINARY = {
    "__add__": _Method("add", with_number=_plus), "__radd__": _Method("add", True, _plus),
    "__sub__": _Method("subtract", with_number=_minus), "__rsub__": _Method("subtract", True, _from),
    "__mul__": _Method("multiply", with_number=_times, takes_booleans=True, takes_text=False),
    "__rmul__": _Method("multiply", True, _times, takes_booleans=True, takes_text=False),
    "__div__": _Method("divide", with_number=_over, makes_floats=True),
    "__truediv__": _Method("divide", with_number=_over, makes_floats=True),
    "__rdiv__": _Method("divide", True, makes_floats=True), "__rtruediv__": _Method("divide", True, makes_floats=True),
    "__floordiv__": _Method("floor_divide", fills_one=True),
    "__rfloordiv__": _Method("floor_divide", True, fills_one=True),
    "__pow__": _Method("elementwise_pow", with_number=_power), "__rpow__": _Method("elementwise_pow", True),
    "__mod__": _Method("remainder"), "__rmod__": _Method("remainder", True),
    "__matmul__": _PRODUCT, "__rmatmul__": _PRODUCT._replace(is_reversed=True),
    "__gt__": _Method("greater_than"), "__ge__": _Method("greater_equal"), "__lt__": _Method("less_than"),
    "__le__": _Method("less_equal"), "__eq__": _Method("equal"), "__ne__": _Method("not_equal"),
    **{name: _Method(operator, name in _REVERSED_BITS, takes_text=False) for name, operator in _BITS.items()},
}  # fmt: skip
_UNARY: dict[str, Callable[[Any], Any]] = {
    "__neg__": lambda x: call("scale", x, -1.0, 0.0, True),
    "__abs__": lambda x: call("abs", x),
    "__invert__": lambda x: call("bitwise_not", x),
    "__pos__": lambda x: x,
}
NAMES = (*_BINARY, *_UNARY)


def _binary(method: _Method, x: Any, other: Any) -> Any:
    if isinstance(other, (np.generic, np.ndarray)) and np.ndim(other) == 0 and hasattr(other, "item"):
        other = other.item()  # what stands for a number of Python's has no such attribute
    dtype = name_of(x.dtype)
    if isinstance(other, str) and method.takes_text:
        begin = _TEXT.match(other)
        other = (float if dtype in FLOATING else int)(float(begin[0]) if begin else 0.0)
    if isinstance(other, numbers.Number):
        if dtype not in FLOATING and (isinstance(other, float) or method.makes_floats):
            x = call("cast", x, paddle.float32)
        if method.with_number is not None and (dtype != "bool" or method.takes_booleans):
            shortcut = method.with_number(x, other)
            if shortcut is not None:
                return shortcut
        shape = [1] if method.fills_one else list(x.shape)
        other = call("full", shape, other, x.dtype, core.CPUPlace())
    elif isinstance(other, np.ndarray):
        other = paddle.to_tensor(other)
    elif not isinstance(other, paddle.Tensor):
        return NotImplemented
    pair = (other, x) if method.is_reversed else (x, other)
    return call(method.operator, *pair, *method.attributes)


def traced(name: str) -> Callable[..., Any]:
    """The method of that name over the traced runtime."""
    if name in _BINARY:
        method = _BINARY[name]

        def binary(runtime: Tensors, original: Any, x: Any, other: Any) -> Any:
            return _binary(method, x, other)

        return binary

    def unary(runtime: Tensors, original: Any, x: Any) -> Any:
        return _UNARY[name](x)

    return unary
