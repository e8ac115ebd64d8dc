"""Operators that eager mode composes from others, or that the program builder does not have under that name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import paddle
from paddle import _C_ops
from paddle.base import core

from ..memory.dtypes import name_of
from ..memory.operators import ORIGINAL_OPS, call
from ..memory.values import Known
from .runtime import Runtime

Original = Callable[..., Any]
Override = Callable[..., Any]
OVERRIDES: dict[str, Override] = {}
"""Operators expressed through others: `override(runtime, original, *args, **kwargs)`."""


def override(*names: str) -> Callable[[Override], Override]:
    """Decorator: this function stands for the named operators while a trace runs."""

    def register(function: Override) -> Override:
        for name in names:
            OVERRIDES[name] = function
        return function

    return register


@override("linear")
def linear(runtime: Runtime, original: Original, x: Any, weight: Any, bias: Any = None) -> Any:
    """F.linear: on a CPU two operators, the product is a temporary (measured: two results alive at the addition).

    A Paddle for GPUs takes `linear_v2`, one operator (nn/functional/common.py of 3.3), where it has it;
    its second gradient is not known.
    """
    is_one = runtime.target == "gpu" and hasattr(_C_ops, "linear_v2") and not runtime.differentiates_twice
    if bias is not None and is_one:
        return call("linear_v2", x, weight, bias, False)
    product = call("matmul", x, weight, False, False)
    return product if bias is None else call("add", product, bias)


@override("batch_norm")
def batch_norm(runtime: Runtime, original: Original, *args: Any) -> Any:
    """The running mean and variance are updated in place in eager mode, as the builder's `batch_norm_` does."""
    return runtime.call("batch_norm", ORIGINAL_OPS["batch_norm_"], args, {})


@override("zeros", "ones", "zeros_like", "ones_like")
def filled(runtime: Runtime, original: Original, like: Any, dtype: Any = None, place: Any = None, **_: Any) -> Any:
    """Filled tensors, by shape or like another."""
    value = 1.0 if original.__name__.startswith("ones") else 0.0
    if isinstance(like, paddle.Tensor):
        return call("full_like", like, value, dtype if dtype is not None else like.dtype, core.CPUPlace())
    return call("full", list(like), value, dtype if dtype is not None else paddle.float32, core.CPUPlace())


@override("split_with_num")
def split_with_num(runtime: Runtime, original: Original, x: Any, num: int, axis: Any) -> Any:
    """`paddle.split` into equal parts."""
    axis = int(axis)
    size = x.shape[axis] // num
    return call("split", x, [size] * num, axis)


@override("full_", "full_batch_size_like_")
def full_(  # noqa: PLR0917 - Paddle's signature
    runtime: Runtime, original: Original, out: Any, shape: Any, value: Any, dtype: Any, place: Any
) -> Any:
    """Fills in place; allocates where the tensor has no memory yet."""
    runtime.state(out)
    return out


@override("assign_value_")
def assign_value_(runtime: Runtime, original: Original, out: Any, *rest: Any) -> Any:
    """Writes constants in place."""
    runtime.state(out).array.value = None
    return out


@override("coalesce_tensor", "coalesce_tensor_")
def coalesce_tensor(runtime: Runtime, original: Original, tensors: Any, dtype: Any, *rest: Any) -> Any:
    """Puts tensors into one buffer; their own memory goes. Used by DataParallel and tensor fusion."""
    total = sum(runtime.state(tensor).array.numel for tensor in tensors)
    return list(tensors), runtime.create("coalesce_tensor", (total,), name_of(dtype))


@override("numel")
def numel(runtime: Runtime, original: Original, x: Any) -> Any:
    """Known from the shape alone."""
    return runtime.create("numel", (), "int64", Known(np.array(runtime.state(x).array.numel)))


@override("shape", "shape64")
def shape(runtime: Runtime, original: Original, x: Any) -> Any:
    """Known without data."""
    sizes = np.array(x.shape, "int64" if original.__name__ == "shape64" else "int32")
    return runtime.create("shape", sizes.shape, str(sizes.dtype), Known(sizes))


@override("tensor_unfold")
def tensor_unfold(runtime: Runtime, original: Original, x: Any, *window: int) -> Any:
    """`Tensor.unfold(axis, size, step)`: a view of the windows along an axis; the program builder does not have it."""
    array, (axis, size, step) = runtime.state(x).array, window
    axis %= len(array.shape)
    shape, strides = list(array.shape), list(array.strides)
    shape[axis] = (shape[axis] - size) // step + 1
    shape.append(size)
    strides.append(strides[axis])
    strides[axis] *= step
    return call("as_strided", x, shape, strides, 0)
