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

from ..kernels import sparse
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
        said: how Paddle names it where it refuses what is no number; empty where Python goes on.
        takes_rows: whether Python goes on beside lists, which it repeats.
    """

    operator: str
    is_reversed: bool = False
    with_number: Callable[[Any, Any], Any] | None = None
    makes_floats: bool = False
    takes_booleans: bool = False
    fills_one: bool = False
    attributes: tuple[Any, ...] = ()
    takes_text: bool = True
    said: str = ""
    takes_rows: bool = False


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


_OPERATOR = "the operator"
"""It says so itself."""
_PRODUCT = _Method("matmul", attributes=(False, False), takes_text=False, said="__matmul__")
_TIMES = _Method("multiply", with_number=_times, takes_booleans=True, takes_text=False, said="__mul__", takes_rows=True)
_BIT = _Method("", takes_text=False, said=_OPERATOR)
_TEXT = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
_BITS = {
    "__and__": "bitwise_and", "__or__": "bitwise_or", "__xor__": "bitwise_xor", "__rand__": "bitwise_and",
    "__ror__": "bitwise_or", "__rxor__": "bitwise_xor",
}  # fmt: skip
_REVERSED_BITS = frozenset(("__rand__", "__ror__", "__rxor__"))
_BINARY = {
    "__add__": _Method("add", with_number=_plus, said="__add__"),
    "__radd__": _Method("add", True, _plus, said="__add__"),
    "__sub__": _Method("subtract", with_number=_minus, said="__sub__"),
    "__rsub__": _Method("subtract", True, _from, said="__rsub__"),
    "__mul__": _TIMES, "__rmul__": _TIMES._replace(is_reversed=True),
    "__div__": _Method("divide", with_number=_over, makes_floats=True, said="__div__"),
    "__truediv__": _Method("divide", with_number=_over, makes_floats=True, said="__div__"),
    "__rdiv__": _Method("divide", True, makes_floats=True, said="__rdiv__"),
    "__rtruediv__": _Method("divide", True, makes_floats=True, said="__rdiv__"),
    "__floordiv__": _Method("floor_divide", fills_one=True, said="__floordiv__"),
    "__rfloordiv__": _Method("floor_divide", True, fills_one=True, said="__rfloordiv__"),
    "__pow__": _Method("elementwise_pow", with_number=_power, said="__pow__"),
    "__rpow__": _Method("elementwise_pow", True, said="__rpow__"),
    "__mod__": _Method("remainder", said="__mod__"), "__rmod__": _Method("remainder", True, said="__rmod__"),
    "__matmul__": _PRODUCT, "__rmatmul__": _PRODUCT._replace(is_reversed=True),
    "__gt__": _Method("greater_than", said="__gt__"), "__ge__": _Method("greater_equal", said="__ge__"),
    "__lt__": _Method("less_than", said="__lt__"), "__le__": _Method("less_equal", said="__le__"),
    "__eq__": _Method("equal"), "__ne__": _Method("not_equal"),
    **{name: _BIT._replace(operator=operator) for name, operator in _BITS.items() if name not in _REVERSED_BITS},
    **{name: _Method(_BITS[name], is_reversed=True, takes_text=False) for name in _REVERSED_BITS},
    "__lshift__": _BIT._replace(operator="bitwise_left_shift", attributes=(True,)),
    "__rshift__": _BIT._replace(operator="bitwise_right_shift", attributes=(True,)),
}  # fmt: skip
_UNARY: dict[str, Callable[[Any], Any]] = {
    "__neg__": lambda x: call("scale", x, -1.0, 0.0, True),
    "__abs__": lambda x: call("abs", x),
    "__invert__": lambda x: call("bitwise_not", x),
    "__pos__": lambda x: x,
}
_ALIGNED = frozenset(("float32", "float64", "complex64", "complex128"))
_ONLY_ALIGNS = (
    "Only supports to align data type include float32, float64, complex64 and complex128, but received data type is"
)
"""What Paddle says of others beside a complex tensor (`PromoteTypesIfComplexExists`)."""
_NAMED = {"int64": "int64_t", "int8": "int8_t", "uint8": "uint8_t", "int16": "int16_t", "int32": "int"}
"""How it names some of them."""
_NO_NUMBERS = frozenset((list, tuple, dict, set, type(None)))
NAMES = (*_BINARY, *_UNARY)


def _binary(runtime: Tensors, method: _Method, x: Any, other: Any) -> Any:
    if isinstance(other, (np.generic, np.ndarray)) and np.ndim(other) == 0 and hasattr(other, "item"):
        other = other.item()  # what stands for a number of Python's has no such attribute
    dtype = name_of(x.dtype)
    if isinstance(other, str) and method.takes_text:
        begin = _TEXT.match(other)
        other = (float if dtype in FLOATING else int)(float(begin[0]) if begin else 0.0)
    if isinstance(other, complex):
        x, other = _complex(method, x, other, dtype)
    elif isinstance(other, numbers.Number):
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
        return _not_taken(runtime, method, x, other)
    if method.operator == _PRODUCT.operator and other.dtype != x.dtype:
        x, other = _of_one_type(runtime, x, other)
    pair = (other, x) if method.is_reversed else (x, other)
    return call(method.operator, *pair, *method.attributes)


def _not_taken(runtime: Tensors, method: _Method, x: Any, other: Any) -> Any:
    """What comes of something that is no number and no tensor (`CastPyArg2Scalar`; bits are an operator's of their
    own); other objects may have a method for it.

    Raises:
        TypeError: Python's own containers, and nothing.
    """
    if type(other) not in _NO_NUMBERS or not method.said or (method.takes_rows and type(other) in {list, tuple}):
        return NotImplemented
    if method.said == _OPERATOR:
        return call(method.operator, *((other, x) if method.is_reversed else (x, other)))
    said = f"{method.said}(): argument (position 1) must be int, float, bool or Tensor, but got {type(other).__name__}"
    raise runtime.refused(TypeError(f"(InvalidType) {said}"))


def _of_one_type(runtime: Tensors, x: Any, other: Any) -> tuple[Any, Any]:
    """Factors of `x @ y`: the other one is cast to the tensor's type, and both where one is complex
    (`tensor__matmul__method`).

    Raises:
        RuntimeError: a complex one beside whole numbers, of which no common type is known.
    """
    kinds = {name_of(x.dtype), name_of(other.dtype)}
    if not any(kind.startswith("complex") for kind in kinds):
        return x, call("cast", other, x.dtype)
    if unknown := [kind for kind in kinds if kind not in _ALIGNED]:
        said = f"(Unavailable) {_ONLY_ALIGNS} `s`.{_NAMED.get(unknown[0], unknown[0])}"
        raise runtime.refused(RuntimeError(said))
    wide = "complex64" if kinds.isdisjoint(("float64", "complex128")) else "complex128"
    return tuple(one if name_of(one.dtype) == wide else call("cast", one, wide) for one in (x, other))


def _complex(method: _Method, x: Any, number: complex, dtype: str) -> tuple[Any, Any]:
    """The tensor in complex numbers, and such a number as one: of all elements where a real one would scale (measured;
    beside float64 a product has it in single precision first)."""
    kind = paddle.complex128 if dtype in {"float64", "complex128"} else paddle.complex64
    made = paddle.complex64 if method.takes_booleans and dtype == "float64" else kind
    fills = method.with_number is not None and method.with_number in {_plus, _minus, _from, _times}
    filled = call("full", list(x.shape) if fills else [1], number, made, core.CPUPlace())
    return x if x.dtype == kind else call("cast", x, kind), filled if made == kind else call("cast", filled, kind)


def traced(name: str) -> Callable[..., Any]:
    """The method of that name over the traced runtime."""
    if name in _BINARY:
        method = _BINARY[name]

        def binary(runtime: Tensors, original: Any, x: Any, other: Any) -> Any:
            if sparse.is_sparse(x) or sparse.is_sparse(other):
                return sparse.followed(runtime, original, x, other)
            return _binary(runtime, method, x, other)

        return binary

    def unary(runtime: Tensors, original: Any, x: Any) -> Any:
        return _UNARY[name](x)

    return unary
