"""Gradients that eager mode composes of operators (composite_double_backward_api.h of 3.3): what they are made of.

A composed gradient is the same operators in the same order as in that file, its temporaries alive as long. They run as
any other operators of the program do, so gradients of the third order follow from them.
"""

from __future__ import annotations

from typing import Any

from paddle.base import core

from ..memory.operators import call


def times(first: Any, second: Any) -> Any:
    """The product, element by element."""
    return call("multiply", first, second)


def scaled(tensor: Any, factor: float, offset: float = 0.0) -> Any:
    """`tensor * factor + offset`, one operator."""
    return call("scale", tensor, factor, offset, True)


def zeros(like: Any) -> Any:
    """A tensor of zeros of that shape and type."""
    return call("full", list(like.shape), 0.0, like.dtype, core.CPUPlace())


def reduced(tensor: Any, like: Any) -> Any:
    """A broadcast operand's gradient, summed to its shape (get_reduce_dims_from_out)."""
    shape, target = list(tensor.shape), list(like.shape)
    if shape == target:
        return tensor
    padded = [1] * (len(shape) - len(target)) + target
    axes = [axis for axis, (have, want) in enumerate(zip(shape, padded, strict=True)) if want == 1 and have != 1]
    axes = sorted({*range(len(shape) - len(target)), *axes})
    summed = call("sum", tensor, axes, tensor.dtype, len(shape) == len(target))
    return summed if list(summed.shape) == target else call("reshape", summed, target)
