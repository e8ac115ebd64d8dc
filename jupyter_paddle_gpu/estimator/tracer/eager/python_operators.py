"""Python's operators on tensors. Eager mode implements them in C++ (eager_math_op_patch.cc); the rules are its.

With a number: `+ - *` and `/` scale the tensor in place of building a second one; `s / x`, `%` and comparisons fill a
tensor of the same shape first (measured: a second tensor stands beside the result); integers meeting a float are cast
to the default floating type.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any

import numpy as np
import paddle
from paddle.base import core

from ..memory.dtypes import FLOATING, name_of
from ..memory.operators import call
from .tensors import Tensors

_BINARY = {
    "__add__": ("add", False), "__radd__": ("add", True), "__sub__": ("subtract", False),
    "__rsub__": ("subtract", True), "__mul__": ("multiply", False), "__rmul__": ("multiply", True),
    "__div__": ("divide", False), "__truediv__": ("divide", False), "__rdiv__": ("divide", True),
    "__rtruediv__": ("divide", True), "__floordiv__": ("floor_divide", False), "__rfloordiv__": ("floor_divide", True),
    "__pow__": ("elementwise_pow", False), "__rpow__": ("elementwise_pow", True), "__mod__": ("remainder", False),
    "__rmod__": ("remainder", True), "__matmul__": ("matmul", False), "__rmatmul__": ("matmul", True),
    "__gt__": ("greater_than", False), "__ge__": ("greater_equal", False), "__lt__": ("less_than", False),
    "__le__": ("less_equal", False), "__eq__": ("equal", False), "__ne__": ("not_equal", False),
    "__and__": ("bitwise_and", False), "__rand__": ("bitwise_and", True), "__or__": ("bitwise_or", False),
    "__ror__": ("bitwise_or", True), "__xor__": ("bitwise_xor", False), "__rxor__": ("bitwise_xor", True),
    "__lshift__": ("bitwise_left_shift", False), "__rshift__": ("bitwise_right_shift", False),
}  # fmt: skip
_UNARY = ("__neg__", "__abs__", "__invert__", "__pos__")
NAMES = (*_BINARY, *_UNARY)


def _scaled(name: str, x: Any, other: Any, reverse: bool) -> Any:
    """The shortcut for a number, None where there is none."""
    if name == "add":
        return call("scale", x, 1.0, float(other), True)
    if name == "subtract":
        return call("scale", x, -1.0, float(other), True) if reverse else call("scale", x, 1.0, -float(other), True)
    if name == "multiply":
        return call("scale", x, float(other), 0.0, True)
    if name == "divide" and not reverse and other != 0:
        return call("scale", x, 1.0 / float(other), 0.0, True)
    if name == "elementwise_pow" and not reverse:
        return call("pow", x, float(other))
    return None


def _binary(name: str, reverse: bool, x: Any, other: Any) -> Any:
    if isinstance(other, (np.generic, np.ndarray)) and np.ndim(other) == 0:
        other = other.item()
    if isinstance(other, numbers.Number):
        dtype = name_of(x.dtype)
        if dtype not in FLOATING and (isinstance(other, float) or name == "divide"):
            x = call("cast", x, paddle.float32)
        if not (dtype == "bool" and name != "multiply"):
            shortcut = _scaled(name, x, other, reverse)
            if shortcut is not None:
                return shortcut
        shape = [1] if name == "floor_divide" else list(x.shape)
        other = call("full", shape, other, x.dtype, core.CPUPlace())
    elif isinstance(other, np.ndarray):
        other = paddle.to_tensor(other)
    elif not isinstance(other, paddle.Tensor):
        return NotImplemented
    first, second = (other, x) if reverse else (x, other)
    if name == "matmul":
        return call("matmul", first, second, False, False)
    return call(name, first, second)


def traced(name: str) -> Callable[..., Any]:
    """The method of that name over the traced runtime."""
    if name in _BINARY:
        operator, reverse = _BINARY[name]

        def binary(runtime: Tensors, original: Any, x: Any, other: Any) -> Any:
            return _binary(operator, reverse, x, other)

        return binary

    def unary(runtime: Tensors, original: Any, x: Any) -> Any:
        if name == "__neg__":
            return call("scale", x, -1.0, 0.0, True)
        if name == "__pos__":
            return x
        return call("abs" if name == "__abs__" else "bitwise_not", x)

    return unary
