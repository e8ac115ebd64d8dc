"""`tensor[index]` and `tensor[index] = value`, which eager mode does in C++ (eager_method.cc, slice_utils.h)."""

from __future__ import annotations

from typing import Any

import paddle
from paddle.base import variable_index

from .interception import call
from .runtime import Runtime


def get_item(runtime: Runtime, tensor: Any, index: Any) -> Any:
    """Basic indices give views, the others gather."""
    return variable_index._getitem_static(tensor, index)


def set_item(runtime: Runtime, tensor: Any, index: Any, value: Any) -> None:
    """Writes in place; what the value and the index need is transient."""
    if not isinstance(value, paddle.Tensor):
        value = call("full", [1], float(value) if not hasattr(value, "__len__") else 0.0, tensor.dtype, _cpu())
    parts = index if isinstance(index, tuple) else (index,)
    masks = [part for part in parts if isinstance(part, paddle.Tensor)]
    operation = runtime.ledger.begin("set_value_")
    operation.bytes_moved = runtime.state(value).array.nbytes
    operation.workspace_cpu = sum(runtime.state(mask).array.nbytes for mask in masks)
    runtime.ledger.finish(operation)
    runtime.state(tensor).array.value = None
    del value


def _cpu() -> Any:
    return paddle.base.core.CPUPlace()
