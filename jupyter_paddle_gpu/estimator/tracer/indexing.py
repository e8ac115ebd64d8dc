"""`tensor[index]` and `tensor[index] = value`, which eager mode does in C++ (eager_method.cc, slice_utils.h)."""

from __future__ import annotations

import numbers
from typing import Any

import paddle
from paddle.base import variable_index

from .interception import call
from .runtime import Runtime


def get_item(runtime: Runtime, tensor: Any, index: Any) -> Any:
    """Basic indices give views, the others gather."""
    return variable_index._getitem_static(tensor, index)


def set_item(runtime: Runtime, tensor: Any, index: Any, value: Any) -> None:
    """Writes in place; the written value takes part in the graph."""
    parsed = variable_index.parse_index(tensor, index)
    starts, ends, steps, axes, none_axes, decrease_axes, _, advanced, _ = parsed
    if isinstance(value, paddle.Tensor) and not advanced:
        if value.dtype != tensor.dtype:
            value = value.astype(tensor.dtype)
        call("set_value_with_tensor_", tensor, value, starts, ends, steps, axes, decrease_axes, none_axes)
        return
    if isinstance(value, paddle.Tensor) and isinstance(index, paddle.Tensor) and "int" in str(index.dtype):
        geometry = list(tensor.shape), list(tensor.strides), list(index.shape), list(index.strides)
        call("index_elementwise_put_with_tensor_", tensor, [index], value, *geometry, 0)
        return
    if isinstance(value, numbers.Number) and not advanced:
        call("set_value_", tensor, starts, ends, steps, axes, decrease_axes, none_axes, [1], [0.0])
        runtime.state(tensor).array.value = None
        return
    parts = index if isinstance(index, tuple) else (index,)
    masks = [part for part in parts if isinstance(part, paddle.Tensor)]
    operation = runtime.ledger.begin("set_value_")
    operation.workspace_cpu = sum(runtime.state(mask).array.nbytes for mask in masks)
    runtime.ledger.finish(operation)
    runtime.state(tensor).array.value = None
