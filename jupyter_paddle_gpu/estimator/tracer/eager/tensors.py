"""The session as far as tensors go: what is known of each, how one is made, how gradients are summed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from ..memory.arrays import ATTRIBUTE, Array, Shape, State, adopt, allocate, lay_out, new_tensor
from ..memory.ledger import Ledger
from ..memory.values import Value
from ..program.inference import Inference
from ..session import Session
from ..session import current as _session
from . import sparse_gradients
from .counted import Counted

_IN_C = {
    "bool": "bool", "int8": "int8_t", "uint8": "uint8_t", "int16": "int16_t", "int32": "int", "int64": "int64_t",
}  # fmt: skip
"""Types of which gradients do not add up, by their names in C++."""

Convert = Callable[[str, Any, Any], tuple[Any, Any]]
Resize = Callable[[str, Any], Any]


class Tensors(Session):
    """A session whose tensors are arrays that have storages and no data.

    Attributes:
        before_call: called before each operator runs.
        evaluate: computes a known value for real, outside the trace.
        convert: mixed precision: casts the arguments of an operator.
        resize: another size of data that is asked for: the arguments of an operator that makes some.
        counted: tensors that count samples, where those of a step are to be other ones.
        keeps_factors: whether Paddle's build for the device keeps both operands of a product.
        dropped_factors: whether one was let go of that such a build would have kept.
        differentiates_twice: whether the program asks for a graph of gradients, or says that it will.
        builds_graph: static mode is on: operators are put into a program of Paddle's own.
        in_graph: called in static mode by what is not followed in it.
        reads_by_brackets: `x[index]` runs, which eager mode does by other kernels than `gather_nd`: they keep a strided
            index.
    """

    def __init__(self, inference: Inference, target: str = "gpu") -> None:
        super().__init__(target)
        self.ledger = Ledger()
        self.inference = inference
        self.before_call: Callable[[], None] | None = None
        self.in_graph: Callable[[], NoReturn] | None = None
        self.evaluate: Callable[[Value], Any] | None = None
        self.convert: Convert | None = None
        self.resize: Resize | None = None
        self.counted: Counted | None = None
        self.keeps_factors = target == "cpu"
        self.dropped_factors = False
        self.differentiates_twice = False
        self.reads_by_brackets = self.builds_graph = False

    def state(self, tensor: Any) -> State:
        """What we know about a tensor; one that we never saw is adopted."""
        return tensor.__dict__.get(ATTRIBUTE) or adopt(tensor, self.ledger)

    def create(self, name: str, shape: Shape, dtype: str, value: Value | None = None, kind: str | None = None) -> Any:
        """A fresh tensor, made by an operation of its own."""
        operation = self.ledger.begin(name)
        with self.ledger.allocating(kind or self.ledger.kind):
            array = allocate(self.ledger, shape, dtype, name)
        array.value = value
        operation.bytes_moved = array.nbytes
        self.ledger.finish(operation)
        return new_tensor(array)

    def cast(self, name: str, operands: tuple[Any, ...]) -> tuple[Any, ...]:
        """The operands as mixed precision gives them to an operator."""
        return operands if self.convert is None else tuple(self.convert(name, operands, {})[0])

    def run(
        self, name: str, metas: Sequence[tuple[Shape, str]], reads: Sequence[Any], *, flops: int, gpu: tuple[int, int]
    ) -> list[Any]:
        """Fresh tensors, made by one operation of which the program builder says nothing.

        Args:
            metas: shapes and types of the results.
            reads: its operands, which are laid out before.
            gpu: the least and the most bytes that its kernel takes while it runs.
        """
        if self.before_call is not None:
            self.before_call()
        arrays = [self.state(tensor).array for tensor in reads]
        for array in arrays:
            lay_out(self.ledger, array)
        operation = self.ledger.begin(name)
        made = [allocate(self.ledger, shape, dtype, name) for shape, dtype in metas]
        operation.flops = flops
        operation.bytes_moved = sum(array.nbytes for array in (*arrays, *made))
        operation.workspace_low, operation.workspace_high = gpu
        self.ledger.finish(operation)
        return [new_tensor(array) for array in made]

    def add_gradient(self, present: Array, grad: Array) -> Array:
        """TensorAdd (gradient_accumulator.cc): `present += grad` in place, strided ones are laid out anew first."""
        if present.dtype in _IN_C:
            place = "Place(gpu:0)" if self.target == "gpu" else "Place(cpu)"
            said = (
                f"Gradient accumulation of data type ({_IN_C[present.dtype]}) on place ({place}) is not supported in "
            )
            raise self.refused(NotImplementedError(f"(Unimplemented) {said}imperative mode"))
        lay_out(self.ledger, grad)
        lay_out(self.ledger, present)
        if present.rows is not None or grad.rows is not None:
            return sparse_gradients.added(self.ledger, present, grad)
        operation = self.ledger.begin("add_")
        operation.flops = present.numel
        operation.bytes_moved = 3 * present.nbytes
        self.ledger.finish(operation)
        return present


def current() -> Tensors | None:
    """The session of the running trace."""
    return _session()  # type: ignore[return-value]  # every one that is entered is made as a `Runtime`


def running() -> Tensors:
    """The session of the running trace, where there must be one."""
    found = current()
    assert found is not None
    return found
