"""What a dygraph tensor is to the tracer: an array over a storage, and autograd state beside it.

Tensors of the traced program are real `paddle.Tensor` objects with shape and dtype and no memory. What we know about
one is an attribute of that object, so that it goes when the object goes: Python's reference counts are the lifetimes.
"""

from __future__ import annotations

import weakref
from functools import lru_cache
from math import prod
from typing import Any, Protocol

import numpy as np
import paddle
from paddle.base import core

from ..session import NotFollowedError
from .dtypes import SIZE, VAR_TYPE, name_of
from .ledger import Ledger, Storage
from .rows import Rows
from .values import Known, Value

ATTRIBUTE = "_traced_state"
_DENSE = core.VarDesc.VarType.DENSE_TENSOR
_TENSOR: Any = core.eager.Tensor
fill: Any = getattr(paddle, "original_init", _TENSOR.__init__)
"""The constructor that Paddle wraps to take devices as well, which takes longer than what it wraps."""
Shape = tuple[int, ...]


@lru_cache(maxsize=4096)
def contiguous_strides(shape: Shape) -> Shape:
    """Strides, in elements, of a freshly allocated array."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))


class Array:
    """A view of a storage: what eager mode calls a tensor's impl. Strides in elements."""

    __slots__ = ("dtype", "rows", "shape", "storage", "strides", "value")

    def __init__(
        self, storage: Storage | None, shape: Shape, strides: Shape, dtype: str, value: Value | None = None
    ) -> None:
        self.storage, self.shape, self.strides, self.dtype, self.value = storage, shape, strides, dtype, value
        self.rows: Rows | None = None
        """Rows of a parameter, for a sparse gradient (SelectedRows); its shape is that of the rows it holds."""

    @property
    def numel(self) -> int:
        """Number of elements."""
        return prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of the elements seen through this view."""
        return prod(self.shape) * SIZE[self.dtype]

    @property
    def is_contiguous(self) -> bool:
        """Whether the strides are those of a fresh array; as in Paddle, those of dimensions of 1 count too."""
        return self.strides == contiguous_strides(self.shape)

    @property
    def fills_storage(self) -> bool:
        """Whether the view is the whole of its storage."""
        return self.storage is not None and self.nbytes == self.storage.record.bytes

    def count_write(self) -> None:
        """An operator of the program has written into it (`bump_inplace_version`)."""
        if self.storage is not None:
            self.storage.version += 1

    def view(self, shape: Shape, strides: Shape, dtype: str | None = None) -> Array:
        """Another view of the same storage, with strides in elements of its own type."""
        return Array(self.storage, shape, strides, dtype or self.dtype)


class Hooked(Array):
    """A gradient that a hook made: the node that made it lives, with all that it has saved, as long as the gradient.

    It is another object than the one that it is a copy of, which the node itself may have saved.
    """

    __slots__ = ("node",)

    def __init__(self, array: Array, node: GraphNode) -> None:
        super().__init__(array.storage, array.shape, array.strides, array.dtype, array.value)
        self.rows, self.node = array.rows, node


def allocate(ledger: Ledger, shape: Shape, dtype: str, op: str, more: int = 0) -> Array:
    """A fresh contiguous array; its storage has `more` bytes than its elements."""
    size = prod(shape) * SIZE[dtype] + more
    storage = ledger.allocate(size, op, shape, dtype) if size else None
    return Array(storage, shape, contiguous_strides(shape), dtype)


def lay_out(ledger: Ledger, array: Array) -> None:
    """CheckAndTrans2Contiguous: a strided tensor is copied and has the copy from then on, for whoever holds it."""
    if array.storage is None or array.is_contiguous:
        return
    operation = ledger.begin("contiguous")
    copy = allocate(ledger, array.shape, array.dtype, "contiguous")
    operation.bytes_moved = 2 * array.nbytes
    ledger.finish(operation)
    array.storage, array.strides = copy.storage, copy.strides


class GraphNode(Protocol):
    """A step of the forward pass that a gradient flows through: `eager.autograd.Node`, a PyLayer's node."""

    edges: dict[int, Any]
    hooks: dict[int, dict[int, Any]]
    retained: dict[int, weakref.ref[State]]


class State:
    """Everything the tracer knows about one tensor object."""

    __slots__ = (
        *("__weakref__", "accumulation", "array", "grad", "grad_is_stale", "hooks", "is_read", "node", "reduced"),
        *("retains", "slot", "writes"),
    )

    def __init__(self, array: Array) -> None:
        self.array = array
        self.node: GraphNode | None = None
        self.slot = 0
        self.writes = 0
        """How often the tensor has been written over."""
        self.grad: Array | None = None
        self.grad_is_stale = False
        """`clear_gradient(set_to_zero=True)` was called: the memory stays, the next gradient replaces it."""
        self.hooks: dict[int, Any] = {}
        self.retains = False
        self.is_read = False
        """Whether a loader has read it: eager mode gives it nothing of autograd's until a gradient is asked for."""
        self.accumulation: Any = None
        self.reduced: list[Any] = []
        """Called when the leaf's gradient has been accumulated (`_register_backward_hook`)."""


def new_tensor(array: Array, stop_gradient: bool = True) -> Any:
    """A `paddle.Tensor` without memory that stands for the array."""
    tensor = _TENSOR.__new__(_TENSOR)
    stand_for(tensor, array)
    tensor.stop_gradient = stop_gradient
    return tensor


def stand_for(tensor: Any, array: Array, name: str = "") -> None:
    """Have a tensor that nothing was made of yet stand for the array."""
    fill(tensor, VAR_TYPE[array.dtype], list(array.shape), name, _DENSE, False)
    setattr(tensor, ATTRIBUTE, State(array))


def resize(tensor: Any, array: Array, shape: Shape) -> None:
    """Give a tensor another shape as if it had been made with it; its elements are unknown then."""
    array.shape, array.strides, array.value = shape, contiguous_strides(shape), None
    if array.storage is not None:
        array.storage.record.bytes = array.nbytes
        array.storage.record.shape = shape
    stops = tensor.stop_gradient
    fill(tensor, VAR_TYPE[array.dtype], list(shape), tensor.name, _DENSE, False)
    tensor.stop_gradient = stops


def without_memory(shape: Shape, dtype: str) -> Any:
    """A `paddle.Tensor` that Paddle itself knows to have no memory: a kernel that reads it raises."""
    tensor = _TENSOR.__new__(_TENSOR)
    fill(tensor, VAR_TYPE[dtype], list(shape), "", _DENSE, False)
    ORIGINAL["_clear_data"](tensor)
    return tensor


def known_state(tensor: Any) -> State | None:
    """The state of a tensor, None for one that was never seen."""
    return tensor.__dict__.get(ATTRIBUTE)  # type: ignore[no-any-return]


def storage_of(held: Any) -> Storage | None:
    """The storage of a tensor, or of the array of numpy that `Tensor.numpy()` made, which has it below its views."""
    if isinstance(held, _TENSOR):
        state = known_state(held)
        return None if state is None else state.array.storage
    while isinstance(held, np.ndarray):
        held = held.base
    found = getattr(held, "storage", None)
    return found if isinstance(found, Storage) else None


def elements(tensor: Any) -> int:
    """Number of elements of a tensor. What `tensor.size` gives is numpy's product, and takes ten times as long."""
    return prod(tensor.shape)


def adopt(tensor: Any, ledger: Ledger) -> State:
    """State for a tensor that something else made: a parameter without memory, or a tensor with data.

    Raises:
        NotFollowedError: it is a sparse one, which is followed in its own operators alone.
    """
    if tensor.is_sparse():
        raise NotFollowedError("sparse_coo_tensor" if tensor.is_sparse_coo() else "sparse_csr_tensor")
    shape, dtype = tuple(tensor.shape), name_of(tensor.dtype)
    if tensor._is_initialized():
        kind = "parameters" if tensor.persistable else "inputs"
        if tensor.persistable and ledger.phase == "update":
            kind = "optimizer_state"
        array = _allocated(ledger, shape, dtype, "data", kind)
        if not tensor.persistable:
            array.value = Known(ORIGINAL["detach"](tensor))
    elif not tensor.persistable and ledger.kind != "optimizer_state":  # `create_variable`: nothing is in it yet
        array = Array(None, shape, contiguous_strides(shape), dtype)
    else:
        kind = "optimizer_state" if ledger.kind == "optimizer_state" else "parameters"
        array = _allocated(ledger, shape, dtype, "parameter", kind)
    state = State(array)
    setattr(tensor, ATTRIBUTE, state)
    return state


def _allocated(ledger: Ledger, shape: Shape, dtype: str, op: str, kind: str) -> Array:
    array = allocate(ledger, shape, dtype, op)
    if array.storage is not None:
        array.storage.record.kind = kind
    return array


ORIGINAL: dict[str, Any] = {}
"""Paddle's own tensor methods, kept by name before `tensor_methods` replaces them."""
