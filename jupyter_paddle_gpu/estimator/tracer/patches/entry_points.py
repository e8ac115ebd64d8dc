"""Entry points of eager mode that are neither operators nor methods: backward, gradients, data coming in."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from types import BuiltinFunctionType
from typing import Any

import numpy as np
import paddle
from paddle import _C_ops, _legacy_C_ops
from paddle.amp import grad_scaler
from paddle.autograd.py_layer import PyLayer
from paddle.base import core
from paddle.base.data_feeder import convert_dtype

from ..eager import amp, loss_scaling, pylayers, refusals, saved_tensors
from ..eager.autograd import Backward, edge_of
from ..eager.recorded_backward import RecordedBackward
from ..eager.runtime import Runtime
from ..graphs import gpu_operators
from ..kernels.registry import rule_of
from ..memory.arrays import contiguous_strides, new_tensor
from ..memory.dtypes import SIZE, name_of
from ..memory.operators import ORIGINAL_OPS, call
from ..memory.values import Known
from ..program.scratch import without_call_stacks
from ..step.resizing import Resizing
from ..step.steps import StepWatch
from ..undecided import absent_data, absent_tensors, unknowns
from .data import makings
from .patch import Patch


def run_backward(
    runtime: Runtime, original: Any, tensors: list[Any], grads: list[Any] | None, retain_graph: bool, *_: Any
) -> None:
    """`core.eager.run_backward`: Tensor.backward and paddle.autograd.backward."""
    _is_bool(runtime, retain_graph, 3)
    watch = runtime.of(StepWatch)
    watch.backward_begins(tensors)
    runtime.backward(tensors, list(grads or []), retain_graph)
    watch.gradients_arrived()
    amp.after_backward(runtime)


def run_partial_grad(  # noqa: PLR0917 - Paddle's signature
    runtime: Runtime, original: Any, outputs: list[Any], inputs: list[Any], grad_outputs: list[Any],
    retain_graph: bool, create_graph: bool, only_inputs: bool = True, allow_unused: bool = False,
    no_grad_vars: Sequence[Any] = (), *_: Any,
) -> list[Any]:  # fmt: skip
    """`paddle.grad`."""
    refusals.check_asked(runtime, outputs, inputs, list(no_grad_vars))
    edges = [edge_of(runtime.state(tensor), tensor) for tensor in inputs]
    if not allow_unused:
        given = [tensor for tensor in outputs if not tensor.stop_gradient]
        refusals.check_used(runtime, [edge_of(runtime.state(tensor), tensor) for tensor in given], edges)
    with runtime.ledger.during("backward"):
        # GeneralGrad runs on a copy of the graph (general_grad.h): what its nodes saved stays with the graph itself.
        if create_graph:
            runtime.differentiates_twice = True
            recorded = RecordedBackward(runtime, edges)
            recorded.run(runtime.roots(outputs, grad_outputs))
            return [_graph_of(recorded.captured.get(edge), tensor) for edge, tensor in zip(edges, inputs, strict=False)]
        backward = Backward(runtime, retain_graph=True, capture=dict.fromkeys(edges))
        backward.run(runtime.roots(outputs, grad_outputs))
    runtime.of(StepWatch).gradients_given(outputs, [tensor for tensor in inputs if tensor.is_leaf])
    found = []
    for edge in edges:
        grad = backward.captured.get(edge)
        found.append(None if grad is None else new_tensor(grad))
    return found


def _graph_of(grad: Any, tensor: Any) -> Any:
    return call("full_like", tensor, 0.0, tensor.dtype, core.CPUPlace()) if grad is None else grad


def get_all_grads(runtime: Runtime, original: Any, tensors: list[Any]) -> list[Any]:
    """Gradients of parameters, None where there is none."""
    return [tensor.grad for tensor in tensors]


def clear_gradients(runtime: Runtime, original: Any, tensors: list[Any], set_to_zero: bool = True) -> None:
    """`core.clear_gradients`: all at once."""
    for tensor in tensors:
        tensor.clear_gradient(set_to_zero)


_NO_NUMBERS = (
    "(InvalidArgument) Input object type error or incompatible array data type. tensor.set() supports array with bool, "
    "float16, float32, float64, int8, int16, int32, int64, uint8 or uint16, please check your input or input array "
    "data type."
)
"""What Paddle says of an array of text, dates or long numbers (pybind/tensor_py.h)."""


def to_tensor(  # noqa: PLR0917 - Paddle's signature
    runtime: Runtime, original: Any, data: Any, dtype: Any = None, place: Any = None, stop_gradient: bool = True
) -> Any:
    """`paddle.to_tensor`: the numbers stay where they are, the tensor counts."""
    if isinstance(data, paddle.Tensor):
        made = data._copy_to(place, False)
        if dtype is not None and name_of(dtype) != name_of(data.dtype):
            made = made.astype(dtype)
        made.stop_gradient = stop_gradient
        return made
    if absent_data.is_unseen(data):
        given, data = data, absent_tensors.tensor_of(data)
        if isinstance(data, absent_data.Unseen):
            tensor = absent_data.Unseen(data, dtype=dtype and name_of(dtype))
            tensor.__dict__["_is_tensor"] = True
            makings.remember(tensor, functools.partial(paddle.to_tensor, given, dtype, place, stop_gradient))
            return tensor
    _check(runtime, data, dtype)
    is_known = not unknowns.is_unknown(data)
    array = np.asarray(_plain(data))
    if array.dtype == np.object_:
        raise ValueError("Failed to convert input data to a regular ndarray")
    if dtype is not None and array.dtype.kind in "US":  # texts are no numbers, of whatever type they are to be
        try:
            convert_dtype(array.dtype)
        except TypeError as problem:
            raise runtime.refused(problem) from None
    wanted = _element_type(array, data, dtype)
    if wanted not in SIZE:
        raise runtime.refused(ValueError(_NO_NUMBERS))
    if wanted != "bfloat16" and str(array.dtype) != wanted:
        array = array.astype(wanted)
    shape, value = runtime.of(Resizing).arriving(tuple(array.shape), wanted, Known(array) if is_known else None)
    made = runtime.create("to_tensor", shape, wanted, value, "inputs")
    made.stop_gradient = stop_gradient
    return made


def _check(runtime: Runtime, data: Any, dtype: Any) -> None:
    """Raise what Paddle says of data, or of a type, that makes no tensor (`tensor/creation.py`)."""
    is_scalar = np.isscalar(data) and not isinstance(data, str)
    is_array = isinstance(data, (np.ndarray, np.generic, list, tuple, core.DenseTensor)) or hasattr(data, "__array__")
    if not (is_scalar or is_array):
        message = (
            f"Can't constructs a 'paddle.Tensor' with data type {type(data)}, data type must be "
            "scalar|list|tuple|np.ndarray|paddle.Tensor"
        )
        raise runtime.refused(TypeError(message))
    if dtype is not None:
        convert_dtype(dtype)


def _is_bool(runtime: Runtime, value: Any, position: int) -> None:
    """Raise what eager mode's functions say of an argument that is no bool."""
    if not isinstance(value, bool):
        message = f"(InvalidType) argument (position {position}) must be bool, but got {type(value).__name__}"
        raise runtime.refused(TypeError(message))


def _plain(data: Any) -> Any:
    if isinstance(data, (list, tuple)):
        return [_plain(item) for item in data]
    return data.numpy() if isinstance(data, paddle.Tensor) else data


def _element_type(array: np.ndarray[Any, Any], data: Any, dtype: Any) -> str:
    """The rules of `_to_tensor_non_static`: Python floats and float64 arrays of Python values become the default."""
    if dtype is not None:
        return name_of(dtype)
    name = str(array.dtype)
    is_of_numpy = isinstance(data, (np.ndarray, np.generic)) and not isinstance(data, unknowns.UnknownFloat)
    if name in {"float16", "float32", "float64"} and not is_of_numpy:
        return str(paddle.get_default_dtype())
    return name


def coalesce_tensor(
    runtime: Runtime, original: Any, tensors: list[Any], outputs: list[Any], flat: Any, *attrs: Any
) -> Any:
    """Puts parameters into one flat buffer and makes them views of it (RNN layers do so for cuDNN)."""
    buffer = runtime.state(flat).array
    for tensor in tensors:
        state = runtime.state(tensor)
        state.array = buffer.view(state.array.shape, contiguous_strides(state.array.shape))
    return outputs, flat


_ENTRIES: tuple[tuple[Any, str, Callable[..., Any]], ...] = (
    (core.eager, "run_backward", run_backward),
    (core.eager, "run_partial_grad", run_partial_grad),
    (core.eager, "get_all_grads", get_all_grads),
    (core, "clear_gradients", clear_gradients),
    (_legacy_C_ops, "coalesce_tensor", coalesce_tensor),
    (core.eager, "register_saved_tensors_hooks", saved_tensors.register),
    (core.eager, "reset_saved_tensors_hooks", saved_tensors.reset),
    (paddle.tensor.creation, "_to_tensor_non_static", to_tensor),
    (paddle.amp, "auto_cast", amp.auto_cast),
    (paddle.amp, "decorate", amp.decorate),
    (core.Tracer, "_amp_level", amp.level_shown),
    (core.Tracer, "_amp_dtype", amp.dtype_shown),
    (core.Tracer, "_get_amp_op_list", amp.lists_shown),
    (grad_scaler, "_dygraph_tracer", loss_scaling.device_of_scaler),
    (grad_scaler, "amp_global_state", loss_scaling.state_of_autocast),
    (grad_scaler.AmpScaler, "_unscale", loss_scaling.unscaling),
    (core.eager, "get_grads_lists", loss_scaling.gradients_by_type),
    (_legacy_C_ops, "check_finite_and_unscale", loss_scaling.unscale),
    (PyLayer, "apply", pylayers.apply),
)


def _modern(name: str) -> Callable[..., Any]:
    """An operator of the old interface (attributes as name, value pairs) by its successor; activations use it."""

    def operator(runtime: Runtime, original: Any, *args: Any) -> Any:
        count = next((place for place, arg in enumerate(args) if isinstance(arg, str)), len(args))
        args = (*args[: _TAKES.get(name, count)], *args[count:])
        count = min(count, _TAKES.get(name, count))
        given = dict(zip(args[count::2], args[count + 1 :: 2], strict=True))
        order = rule_of(name).attributes
        if given and given.keys() <= dict(order).keys():
            return call(name, *args[:count], *(given.get(attribute, default) for attribute, default in order))
        if given:
            runtime.note("legacy_operator", op=name)
        return call(name, *args[:count])

    return operator


def _operator(name: str) -> Callable[..., Any]:
    """An operator function: what eager mode does in its place, or what the runtime makes of the call."""

    instead, form = rule_of(name).instead, rule_of(name).form

    def operator(runtime: Runtime, original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if runtime.builds_graph:
            with without_call_stacks():
                if form is not None and runtime.target == "gpu" and not kwargs:
                    with contextlib.suppress(RuntimeError):  # what it is refused for, a GPU's program may meet later
                        return gpu_operators.build(name, args, str)
                return original(*args, **kwargs)
        if instead is not None:
            return instead(runtime, original, *args, **kwargs)
        try:
            return runtime.call(name, original, args, kwargs)
        except TypeError:
            known = absent_tensors.with_sizes(args)
            if known is None:
                raise
        return runtime.call(name, original, known, kwargs)

    return operator


def operators() -> Iterator[Patch]:
    """Paddle's operator functions, wherever its modules and its tensor class hold them."""
    for name in dir(_C_ops):
        original = getattr(_C_ops, name)
        if not name.startswith("_") and isinstance(original, BuiltinFunctionType):
            ORIGINAL_OPS[name] = original
            yield Patch(_C_ops, name, _operator(name), everywhere=True)


def _gradient(runtime: Runtime, original: Callable[..., Any], operation: Any, *args: Any) -> Any:
    """`call_vjp`: of an operator that only a GPU has, too."""
    if runtime.target != "gpu" or gpu_operators.form_of(operation.name().partition(".")[2]) is None:
        return original(operation, *args)
    return gpu_operators.gradient(str, operation, *args)


def patches() -> Iterator[Patch]:
    """What eager mode does beside operators and methods."""
    yield Patch(core, "call_vjp", _gradient)
    yield from (Patch(owner, name, traced) for owner, name, traced in _ENTRIES)
    traced_here = {name for owner, name, _ in _ENTRIES if owner is _legacy_C_ops}
    for name in dir(_legacy_C_ops):
        if not name.startswith("_") and name not in traced_here and hasattr(_C_ops, name):
            yield Patch(_legacy_C_ops, name, _modern(name))
    for name, successor in _RENAMED.items():
        yield Patch(_legacy_C_ops, name, _modern(successor))


_TAKES = {"accuracy": 3}
"""Of operators of the old interface that are handed tensors to write to: how many they read."""
_RENAMED = {"hard_swish": "hardswish"}
"""Operators of the old interface whose successor has another name: activations of `paddle.nn.BatchNorm(act=...)`."""
