"""`paddle.autograd.PyLayer`: the user's own forward and backward as a node of the graph. fleet's recompute is one."""

from __future__ import annotations

import weakref
from typing import Any

import paddle
from paddle.autograd.py_layer import PyLayerContext
from paddle.base import framework

from ..call_stack import was_entered
from ..memory.arrays import Array, State, allocate, new_tensor
from ..memory.dtypes import FLOATING, name_of
from .autograd import Edge, edge_of
from .refusals import external
from .saved_tensors import Container
from .tensors import Tensors


class Context(PyLayerContext):  # type: ignore[misc]  # Paddle is untyped here
    """What forward and backward are given as `ctx`."""

    def __init__(self, runtime: Tensors) -> None:
        self._runtime = runtime
        self._saved: Container | None = None
        self.not_inplace_tensors: tuple[Any, ...] = ()
        self.non_differentiable: tuple[Any, ...] = ()
        self.materialize_grads = True
        self.grad_in_dtype_consistent = True

    @property
    def container(self) -> Any:
        """What `save_for_backward` was given."""
        return () if self._saved is None else self._saved.read()

    @container.setter
    def container(self, saved: Any) -> None:
        self._saved = Container(self._runtime, saved)


class PyLayerNode:
    """A node whose gradient is the user's `backward`; same face as `autograd.Node`."""

    def __init__(self, kind: Any, context: Context, layer: str) -> None:
        self.kind, self.context, self.layer = kind, context, layer
        self.inputs: list[bool] = []
        """For each tensor that forward took: whether it wants a gradient."""
        self.outputs: list[tuple[tuple[int, ...], str]] = []
        self.edges: dict[int, Edge] = {}
        self.hooks: dict[int, dict[int, Any]] = {}
        self.retained: dict[int, weakref.ref[State]] = {}

    def backward(
        self, runtime: Tensors, incoming: dict[int, Array], release: bool, asked: frozenset[int] | None = None
    ) -> dict[int, Array]:
        """Call the user's backward on the gradients of the outputs; without gradients of its own."""
        grads: list[Any] = []
        for slot, meta in enumerate(self.outputs):
            array = incoming.get(slot)
            if array is None and self.context.materialize_grads:
                operation = runtime.ledger.begin("full")
                array = allocate(runtime.ledger, *meta, "full")
                runtime.ledger.finish(operation)
            grads.append(None if array is None else new_tensor(array))
        incoming.clear()
        tracer = framework.global_var._dygraph_tracer_
        before, layer = tracer._has_grad, runtime.ledger.layer
        tracer._has_grad, runtime.ledger.layer = False, self.layer
        context = self.context
        try:
            found = self.kind.backward(context, *grads)
        except Exception as problem:
            raise external(
                runtime, problem, f"Error message in backward of GradNodePyLayer_{self.kind.__name__}: "
            ) from problem
        finally:
            tracer._has_grad, runtime.ledger.layer = before, layer
        del grads
        if release:
            self.context = Context(runtime)
        items = _flat(found if isinstance(found, (list, tuple)) else (found,))
        if len(items) == sum(self.inputs) and len(items) != len(self.inputs):
            wanted = iter(items)
            items = [next(wanted) if want else None for want in self.inputs]
        _check_given(runtime, self.kind.__name__, items, self.inputs)
        return {
            slot: runtime.state(item).array
            for slot, item in enumerate(items)
            if isinstance(item, paddle.Tensor) and slot in self.edges
        }


def _check_given(runtime: Tensors, name: str, items: list[Any], wants: list[bool]) -> None:
    """Raise what Paddle says of a gradient for a tensor that wants none (`py_layer_node.cc`)."""
    if len(items) != len(wants):
        return
    for place, (item, want) in enumerate(zip(items, wants, strict=True)):
        if isinstance(item, paddle.Tensor) and not want:
            raise runtime.refused(
                ValueError(
                    f"(InvalidArgument) GradNodePyLayer_{name}'s backward function should return None at {place} "
                    "position, because it's forward Tensor's stopgradient is true."
                )
            )


def apply(runtime: Tensors, original: Any, kind: Any, *args: Any, **kwargs: Any) -> Any:
    """`PyLayer.apply`: forward without recording, then one node."""
    context = Context(runtime)
    tracer = framework.global_var._dygraph_tracer_
    recording = tracer._has_grad
    # Before forward, as eager_py_layer.cc does: a pipeline's recomputation has it put its outputs into an argument.
    tensors = [t for t in _flat([*args, *kwargs.values()]) if isinstance(t, paddle.Tensor)]
    wants = [recording and not t.stop_gradient for t in tensors]
    tracer._has_grad = False
    try:
        outputs = kind.forward(context, *args, **kwargs)
    except TypeError as problem:
        if not was_entered(problem):
            runtime.refused(problem)
        raise
    finally:
        tracer._has_grad = recording
    given_back = outputs if isinstance(outputs, (list, tuple)) else [outputs]
    if not any(isinstance(one, paddle.Tensor) for one in _flat(given_back)):
        # eager_py_layer.cc
        said = f"(InvalidArgument) {kind.__name__} : At least one output of `PyLayer.forward` is a `Tensor`."
        raise runtime.refused(ValueError(said))
    if not any(wants):
        return outputs
    node = PyLayerNode(kind, context, runtime.ledger.layer)
    node.inputs = wants
    for slot, (tensor, want) in enumerate(zip(tensors, wants, strict=False)):
        if want:
            node.edges[slot] = edge_of(runtime.state(tensor), tensor)
    given = {id(t) for t in tensors}
    made = _attach(runtime, outputs, node, given)
    del tensors
    return made


def _attach(runtime: Tensors, outputs: Any, node: PyLayerNode, given: set[int]) -> Any:
    if isinstance(outputs, (list, tuple)):
        return type(outputs)(_attach(runtime, item, node, given) for item in outputs)
    if not isinstance(outputs, paddle.Tensor):
        return outputs
    tensor = outputs
    skipped = any(tensor is other for other in node.context.non_differentiable)
    dtype = name_of(tensor.dtype)
    if id(tensor) in given:  # forward returned its own argument: a view of it
        tensor = new_tensor(runtime.state(tensor).array)
    if skipped or dtype not in FLOATING:  # it has a gradient all the same, of zeros (measured)
        node.outputs.append((runtime.state(tensor).array.shape, dtype))
        return tensor
    state = runtime.state(tensor)
    state.node, state.slot = node, len(node.outputs)
    node.outputs.append((state.array.shape, dtype))
    tensor.stop_gradient = False
    return tensor


def _flat(items: Any) -> list[Any]:
    found = []
    for item in items:
        if isinstance(item, (list, tuple)):
            found.extend(_flat(item))
        else:
            found.append(item)
    return found
