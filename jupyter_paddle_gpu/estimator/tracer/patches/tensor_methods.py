"""Methods of `paddle.Tensor` that Paddle implements in C++ without passing through an operator function."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterator
from typing import Any

import paddle
from paddle.base import core

from .. import call_stack
from ..eager import python_operators, sparse_gradients
from ..eager.autograd import edge_of
from ..eager.indices.items import get_item, set_item
from ..eager.refusals import no_gradient
from ..eager.runtime import Runtime
from ..kernels import sparse
from ..memory.arrays import (
    ATTRIBUTE,
    ORIGINAL,
    Array,
    State,
    allocate,
    contiguous_strides,
    fill,
    known_state,
    new_tensor,
    stand_for,
)
from ..memory.dtypes import name_of
from ..memory.operators import call
from ..session import paused
from ..step.changes import Changes
from ..step.steps import StepWatch
from ..undecided import tensor_values
from ..undecided.absent_tensors import with_sizes
from .patch import Patch

_T = core.eager.Tensor
_TYPE = core.VarDesc.VarType
Method = Callable[..., Any]


def _detach(runtime: Runtime, original: Any, tensor: Any) -> Any:
    return new_tensor(runtime.state(tensor).array)


def _shared(runtime: Runtime, original: Any, tensor: Any) -> Any:
    """Another object for the same tensor, place in the graph included (fleet's recompute makes one)."""
    state = runtime.state(tensor)
    made = new_tensor(state.array, tensor.stop_gradient)
    other = known_state(made)
    assert other is not None
    other.node, other.slot = state.node, state.slot
    if state.node is None and not tensor.stop_gradient:
        edge_of(state, tensor)
        other.accumulation = state.accumulation
    return made


def _detach_(runtime: Runtime, original: Any, tensor: Any) -> Any:
    state = runtime.state(tensor)
    state.node = None
    tensor.stop_gradient = True
    return tensor


def _clone(runtime: Runtime, original: Any, tensor: Any, *_: Any) -> Any:
    return call("assign", tensor)


def _contiguous(runtime: Runtime, original: Any, tensor: Any) -> Any:
    array = runtime.state(tensor).array
    if array.is_contiguous:
        return tensor
    return call("assign", tensor)


def _copy_to(runtime: Runtime, original: Any, tensor: Any, place: Any = None, blocking: bool = True) -> Any:
    state = runtime.state(tensor)
    made = runtime.create("copy", state.array.shape, state.array.dtype, state.array.value)
    made.stop_gradient = tensor.stop_gradient
    return made


def _copy_(runtime: Runtime, original: Any, tensor: Any, source: Any, blocking: bool = True) -> Any:
    other = runtime.state(source).array
    state = known_state(tensor)
    if state is None or state.array.shape != other.shape:
        operation = runtime.ledger.begin("copy")
        array = allocate(runtime.ledger, other.shape, other.dtype, "copy")
        runtime.ledger.finish(operation)
        if tensor.shape != list(other.shape):
            _assume_meta(tensor, array)
        setattr(tensor, ATTRIBUTE, State(array))
    else:
        state.array.value = None
        state.writes += 1
    return tensor


def _assume_meta(tensor: Any, array: Array) -> None:
    """Give an empty tensor object the shape and type of an array."""
    ORIGINAL["_share_underline_tensor_to"](new_tensor(array), tensor)


def _share_to(runtime: Runtime, original: Any, tensor: Any, target: Any) -> None:
    array = runtime.state(tensor).array
    parameter = bool(target.persistable)
    shared = Array(array.storage, array.shape, array.strides, array.dtype, None if parameter else array.value)
    if array.storage is not None and parameter:
        array.storage.record.kind = "parameters"
    if list(target.shape) != list(array.shape):
        _assume_meta(target, array)
    state = known_state(target)
    if state is None:
        setattr(target, ATTRIBUTE, State(shared))
    else:
        state.array = shared


def _share_buffer_to(runtime: Runtime, original: Any, tensor: Any, target: Any) -> None:
    """Shares the memory and leaves the target its shape (ShareBufferWith): also for who has saved the target."""
    array, state = runtime.state(tensor).array, known_state(target)
    if state is None or state.array.numel != array.numel or not array.is_contiguous:
        _share_to(runtime, original, tensor, target)
        return
    state.array.storage, state.array.dtype = array.storage, array.dtype
    state.array.strides = contiguous_strides(state.array.shape)
    state.array.value = None if target.persistable else array.value
    if array.storage is not None and target.persistable:
        array.storage.record.kind = "parameters"


def _made(runtime: Runtime, original: Any, tensor: Any, *args: Any, **kwargs: Any) -> None:
    """`core.eager.Tensor(value=tensor, …)`: another name for what lies on the device already (InitTensorWithTensor in
    pybind/eager.cc), as gradients in float32 are made that fleet keeps beside a parameter (`main_grad`)."""
    args = with_sizes(args) or args
    if args and not kwargs and type(args[0]) is _TYPE:  # nearly all: parameters, and what optimizers keep
        with contextlib.suppress(TypeError):  # which Paddle's own code is to raise, below
            fill(tensor, *args)
            return
    value = kwargs.get("value", args[0] if args else None)
    state = known_state(value) if isinstance(value, paddle.Tensor) else None
    if state is None:
        original(tensor, *args, **kwargs)
        return
    name = kwargs.get("name") or ""
    stand_for(tensor, state.array, name)
    if state.array.storage is not None and name.startswith("main_grad@"):
        state.array.storage.record.kind = "gradients"


def _slice(runtime: Runtime, original: Any, tensor: Any, begin: int, end: int) -> Any:
    """Rows of a tensor, in its memory."""
    array = runtime.state(tensor).array
    return new_tensor(array.view((end - begin, *array.shape[1:]), array.strides), tensor.stop_gradient)


def _copy_gradient_from(runtime: Runtime, original: Any, tensor: Any, source: Any) -> None:
    """The gradient is the source from now on: nothing is copied."""
    state = runtime.state(tensor)
    state.grad, state.grad_is_stale = runtime.state(source).array, False


def _register_backward_hook(runtime: Runtime, original: Any, tensor: Any, hook: Any) -> None:
    runtime.state(tensor).reduced.append(hook)


def _set_tensor(runtime: Runtime, original: Any, tensor: Any, value: Any) -> None:
    state = runtime.state(tensor)
    state.array.value = None
    state.writes += 1


class _Checked:
    """Stands for a tensor in Paddle's own `set_value`, which compares shape and type and writes nothing here."""

    def __init__(self, tensor: Any) -> None:
        self.shape, self.dtype, self.name = tensor.shape, tensor.dtype, tensor.name
        self.value = self.get_tensor = lambda: self

    def is_dist(self) -> bool:
        """It is no part of a tensor."""
        return False

    def set(self, *_: Any) -> None:
        """Nothing is written."""

    set_tensor = set_vocab = set_string_list = set

    def __len__(self) -> int:
        """As many as the tensor."""
        return len(range(self.shape[0]))


def _set_value(runtime: Runtime, original: Any, tensor: Any, value: Any) -> None:
    try:
        original(_Checked(tensor), value)
    except AssertionError as problem:
        raise runtime.refused(problem) from None
    _set_tensor(runtime, original, tensor, value)


def _is_initialized(runtime: Runtime, original: Any, tensor: Any) -> bool:
    return known_state(tensor) is not None or bool(ORIGINAL["_is_initialized"](tensor))


def _grad(runtime: Runtime, original: Any, tensor: Any) -> Any:
    """What is computed of a gradient is of a graph itself, whatever it is of: a norm that a program keeps holds it."""
    state = known_state(tensor)
    if state is None or state.grad is None:
        return None
    if state.node is None and not _is_passed_on():
        runtime.of(StepWatch).gradient_used(tensor)
    return new_tensor(state.grad, stop_gradient=False)


def _is_passed_on() -> bool:
    """Whether Paddle's fleet asks: recomputation and stages of a pipeline give on what arrived, and update nothing."""
    frame = call_stack.of_paddle()
    return frame is not None and str(frame.f_globals.get("__name__")).startswith("paddle.distributed.fleet.")


def _clear_gradient(runtime: Runtime, original: Any, tensor: Any, set_to_zero: Any = True) -> None:
    state = known_state(tensor)
    changes = runtime.of(Changes)
    if not isinstance(set_to_zero, bool):
        message = f"(InvalidType) argument (position 1) must be bool, but got {type(set_to_zero).__name__}"
        raise runtime.refused(TypeError(message))
    if state is None or changes.keeps_gradient(tensor):
        return
    runtime.of(StepWatch).gradient_used(tensor)
    if changes.set_to_zero is not None and tensor.persistable:
        set_to_zero = changes.set_to_zero
    if set_to_zero and not (state.grad is not None and state.grad.rows):  # a sparse gradient is dropped
        state.grad_is_stale = state.grad is not None
    else:
        state.grad = None
        state.grad_is_stale = False


def _is_selected_rows(runtime: Runtime, original: Any, tensor: Any) -> bool:
    state = known_state(tensor)
    return state is not None and state.array.rows is not None


def _values_of_rows(runtime: Runtime, original: Any, tensor: Any) -> Any:
    return new_tensor(sparse_gradients.dense(runtime.state(tensor).array))


def _register_grad_hook(runtime: Runtime, original: Any, tensor: Any, hook: Any) -> int:
    state = runtime.state(tensor)
    number = id(hook)
    target, slot = edge_of(state, tensor)
    if state.node is None:
        state.hooks[number] = hook
    else:
        target.hooks.setdefault(slot, {})[number] = hook  # type: ignore[union-attr]
    return number


def _remove_grad_hook(runtime: Runtime, original: Any, tensor: Any, number: int) -> bool:
    state = runtime.state(tensor)
    if state.node is None:
        return state.hooks.pop(number, None) is not None
    return state.node.hooks.get(state.slot, {}).pop(number, None) is not None


def _retain_grads(runtime: Runtime, original: Any, tensor: Any) -> None:
    import weakref

    state = known_state(tensor)
    if state is not None and state.node is not None:
        state.node.retained[state.slot] = weakref.ref(state)


def _deepcopy(runtime: Runtime, original: Any, tensor: Any, memo: dict[int, Any]) -> Any:
    state = runtime.state(tensor)
    kind = "parameters" if tensor.persistable else None
    made = runtime.create("copy", state.array.shape, state.array.dtype, state.array.value, kind)
    made.stop_gradient = tensor.stop_gradient
    if isinstance(tensor, paddle.base.framework.EagerParamBase):
        attributes = {k: v for k, v in tensor.__dict__.items() if k != ATTRIBUTE}
        made = type(tensor)(tensor.shape, tensor.dtype, trainable=not tensor.stop_gradient)
        made.__dict__.update(copy.deepcopy(attributes, memo))
        with runtime.ledger.allocating("parameters"):
            operation = runtime.ledger.begin("copy")
            array = allocate(runtime.ledger, state.array.shape, state.array.dtype, "copy")
            runtime.ledger.finish(operation)
        setattr(made, ATTRIBUTE, State(array))
    memo[id(tensor)] = made
    return made


def _clear_data(runtime: Runtime, original: Any, tensor: Any) -> None:
    """MoveMemoryHolder: the memory goes, also for a node of the graph that has saved the tensor."""
    runtime.state(tensor).array.storage = None


def _clear(runtime: Runtime, original: Any, tensor: Any) -> None:
    array = runtime.state(tensor).array
    runtime.state(tensor).array = Array(None, array.shape, array.strides, array.dtype)


_TRACED: dict[str, Method] = {
    "detach": _detach, "detach_": _detach_, "clone": _clone, "contiguous": _contiguous, "_copy_to": _copy_to,
    "copy_": _copy_, "_share_underline_tensor_to": _share_to, "_share_buffer_to": _share_buffer_to,
    "_unsafe_share_buffer_to": _share_to,
    "_slice": _slice, "_copy_gradient_from": _copy_gradient_from, "_register_backward_hook": _register_backward_hook,
    "__init__": _made, "set_tensor": _set_tensor, "set_value": _set_value, "_is_initialized": _is_initialized,
    "_is_dense_tensor_hold_allocation": _is_initialized,
    "_grad_ivar": _grad, "clear_gradient": _clear_gradient, "_zero_grads": _clear_gradient,
    "_register_grad_hook": _register_grad_hook, "_remove_grad_hook": _remove_grad_hook,
    "retain_grads": _retain_grads, "__deepcopy__": _deepcopy, "_clear_dataptr": _clear, "_clear": _clear,
    "_clear_data": _clear_data, "to_sparse_coo": sparse.followed, "to_sparse_csr": sparse.followed,
    "indices": sparse.followed, "crows": sparse.followed, "cols": sparse.followed,
    "__getitem__": get_item, "__setitem__": set_item,
    "numpy": sparse.by_itself(tensor_values.numpy), "item": tensor_values.item, "__array__": tensor_values.array,
    "__float__": tensor_values.as_float,
    "__int__": tensor_values.as_int, "__index__": tensor_values.as_index, "__bool__": tensor_values.as_bool,
    "__nonzero__": tensor_values.as_bool, "__str__": sparse.by_itself(tensor_values.text),
    "__repr__": sparse.by_itself(tensor_values.text), "__format__": tensor_values.formatted,
    "__long__": tensor_values.as_int,
    "_tensor_use_gpudnn": lambda runtime, original, tensor, *_: tensor,
    "_new_shared_tensor": _shared,
    "is_selected_rows": _is_selected_rows, "is_dense": lambda *args: not _is_selected_rows(*args),
    "_get_tensor_from_selected_rows": _values_of_rows,
    "is_contiguous": lambda runtime, original, tensor: runtime.state(tensor).array.is_contiguous,
}  # fmt: skip


def _write_grad(runtime: Runtime, original: Any, tensor: Any, value: Any) -> None:
    state = runtime.state(tensor)
    if (problem := no_gradient(state, value)) is not None:
        raise runtime.refused(problem)
    if value is None:
        runtime.of(StepWatch).gradient_used(tensor)
        state.grad = None
    elif state.grad is None:  # copied; into what is there otherwise (tensor_properties_set_grad)
        state.grad = runtime.state(runtime.create("copy", tuple(value.shape), name_of(value.dtype))).array
        state.grad.rows = runtime.state(value).array.rows
        if tensor.persistable and state.grad.storage is not None:
            state.grad.storage.record.kind = "gradients"
    state.grad_is_stale = False


def _is_leaf(runtime: Runtime, original: Any, tensor: Any) -> bool:
    state = known_state(tensor)
    return state is None or state.node is None


def _strides(runtime: Runtime, original: Any, tensor: Any) -> list[int]:
    return list(runtime.state(tensor).array.strides)


def _data(runtime: Runtime, original: Any, tensor: Any) -> Any:
    return _detach(runtime, original, tensor)


def _write_data(runtime: Runtime, original: Any, tensor: Any, value: Any) -> None:
    state = runtime.state(tensor)
    state.array = runtime.state(value).array
    state.writes += 1


_PROPERTIES: dict[str, tuple[Method, Method | None]] = {
    "grad": (_grad, _write_grad), "grad_": (_grad, _write_grad), "is_leaf": (_is_leaf, None),
    "strides": (_strides, None), "place": (lambda *_: core.CPUPlace(), None), "data": (_data, _write_data),
}  # fmt: skip


def patches() -> Iterator[Patch]:
    """Methods and properties of tensors and of parameters."""
    for name in (*_TRACED, *python_operators.NAMES):
        ORIGINAL[name] = getattr(_T, name, None)
    for name, traced in _TRACED.items():
        yield Patch(_T, name, traced)
    yield Patch(core.eager, "sparse_csr_tensor", sparse.followed)
    for name in python_operators.NAMES:
        yield Patch(_T, name, python_operators.traced(name))
    for name, (read, write) in _PROPERTIES.items():
        yield Patch(_T, name, read, write)
    parameter = paddle.base.framework.EagerParamBase
    yield Patch(parameter, "__deepcopy__", _deepcopy)
    yield Patch(parameter, "__str__", tensor_values.text)
    yield Patch(parameter, "__repr__", tensor_values.text)


def real(value: Any) -> Any:
    """A known value as a real tensor, computed outside the trace."""
    with paused():
        return value.get()
