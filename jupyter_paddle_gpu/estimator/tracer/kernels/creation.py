"""Tensors out of nothing, random numbers, casts."""

from __future__ import annotations

from typing import Any

import numpy as np
import paddle
from paddle.base import core
from paddle.base.framework import EagerParamBase

from ..memory.arrays import contiguous_strides, resize
from ..memory.dtypes import name_of
from ..memory.operators import ORIGINAL_OPS, call
from ..memory.values import Computed, Known
from . import bounds
from .rules import Amp, Choice, Number, Operator, Rule, Sparse, Strides, Traced, nothing

_OF_NUMPY = {
    getattr(paddle, name): name for name in ("bool", "int32", "int64", "float32", "float64", "complex64", "complex128")
}
"""What `paddle.assign` takes of numpy's types."""


def _filled(session: Traced, original: Any, like: Any, dtype: Any = None, place: Any = None, **_: Any) -> Any:
    """A tensor of ones or zeros, by shape or like another."""
    value = 1.0 if original.__name__.startswith("ones") else 0.0
    if isinstance(like, paddle.Tensor):
        return call("full_like", like, value, dtype if dtype is not None else like.dtype, core.CPUPlace())
    return call("full", list(like), value, dtype if dtype is not None else paddle.float32, core.CPUPlace())


def _like(session: Traced, original: Any, *args: Any, **named: Any) -> Any:
    """Its numbers hang on none of the other one's."""
    made = session.call("full_like", ORIGINAL_OPS["full_like"], args, named)
    number = named.get("value", args[1] if len(args) > 1 else None)
    if isinstance(number, (bool, int, float)):
        known = Computed(ORIGINAL_OPS["full"], (list(made.shape), number, made.dtype, core.CPUPlace()), {})
        session.state(made).array.value = known
    return made


def _filled_in_place(session: Traced, original: Any, out: Any, *rest: Any) -> Any:
    """It allocates where the tensor has no memory yet."""
    session.state(out)
    return out


def _full(session: Traced, original: Any, shape: Any, value: Any, *rest: Any, **named: Any) -> Any:
    """Eager mode takes a number as text (`"-inf"`), the program's builder does not."""
    args = (shape, float(value) if isinstance(value, str) else value, *rest)
    return session.call("full", ORIGINAL_OPS["full"], args, named)


def _written(session: Traced, original: Any, out: Any, shape: Any, dtype: Any, *rest: Any) -> Any:
    """Constants are written in place: known numbers (`paddle.rank(x) > 1`, `paddle.assign([3])`) but in a parameter,
    which is what training makes of it. The tensor has their shape and type then (`paddle.assign(array, output)`)."""
    numbers, array, kind = rest[0], session.state(out).array, name_of(dtype)
    if (tuple(shape), kind) != (array.shape, array.dtype) and not isinstance(out, EagerParamBase):
        array.dtype = kind
        resize(out, array, tuple(shape))
    elif tuple(shape) != array.shape:  # an initializer of an array: the parameter has the array's shape then
        array.shape, array.strides = tuple(shape), contiguous_strides(tuple(shape))
        out.get_tensor()._set_dims(list(shape))
        if array.storage is not None:
            array.storage.record.bytes, array.storage.record.shape = array.nbytes, array.shape
    is_plain = not isinstance(out, EagerParamBase) and out.dtype in _OF_NUMPY
    written = np.array(numbers, _OF_NUMPY[out.dtype]).reshape(out.shape) if is_plain else None
    session.state(out).array.value = None if written is None else Known(written)
    return out


def _assigned(session: Traced, original: Any, x: Any, out: Any) -> Any:
    """`paddle.assign(x, out)`: what is written to has the shape of what is written (a `ParameterList`'s entry)."""
    state, shape = session.state(out), tuple(x.shape)
    if shape == state.array.shape or name_of(x.dtype) != state.array.dtype:
        return session.call("assign_out_", ORIGINAL_OPS["assign_out_"], (x, out), {})
    state.array = session.state(call("assign", x)).array
    if out.persistable and state.array.storage is not None:
        state.array.storage.record.kind = "parameters"
    out.get_tensor()._set_dims(list(shape))
    return out


def _count(session: Traced, original: Any, x: Any) -> Any:
    """The number of elements is known from the shape alone; of what is no tensor it is refused."""
    if not isinstance(x, paddle.Tensor):
        return session.call("numel", ORIGINAL_OPS["numel"], (x,), {})
    return session.create("numel", (), "int64", Known(np.array(session.state(x).array.numel)))


def _sizes(session: Traced, original: Any, x: Any) -> Any:
    """The shape is known without data; of what is no tensor it is refused."""
    if not isinstance(x, paddle.Tensor):
        return session.call(original.__name__, ORIGINAL_OPS[original.__name__], (x,), {})
    sizes = np.array(x.shape, "int64" if original.__name__ == "shape64" else "int32")
    return session.create("shape", sizes.shape, str(sizes.dtype), Known(sizes))


_NO_WORK = "they compute nothing"

OPERATORS = (
    Operator("zeros ones zeros_like ones_like", "`tensor/creation.py`", Rule(instead=_filled)),
    Operator("full_", "`tensor/creation.py`", Rule(instead=_filled_in_place)),
    Operator("assign_value_", "`nn/initializer/assign.py`", Rule(instead=_written)),
    Operator("assign_out_", "`tensor/creation.py`; measured", Rule(instead=_assigned)),
    Operator("numel", _NO_WORK, Rule(instead=_count)),
    Operator("shape shape64", _NO_WORK, Rule(instead=_sizes)),
    Operator(
        "full",
        "`program/reader.py`: the builder passes attributes as constants",
        Rule(instead=_full, flops=nothing, amp=Amp.NEVER, choice=Choice.FILLS, is_constant=True),
    ),
    Operator(
        "full_int_array", "`program/reader.py`: the builder passes attributes as constants", Rule(is_constant=True)
    ),
    Operator(
        "full_like",
        "measured (`test_strided_operands.py`)",
        Rule(instead=_like, strides=Strides.KEPT, flops=nothing, amp=Amp.NEVER, choice=Choice.FILLS),
    ),
    Operator("arange", "its shape is its value", Rule(flops=nothing, counts_up=True)),
    Operator(
        "gaussian uniform", "random numbers are drawn in each step", Rule(flops=nothing, draws=True, keeps_sizes=True)
    ),
    Operator("bernoulli poisson randint randperm", "random numbers are drawn in each step", Rule(draws=True)),
    Operator(
        "multinomial",
        "random numbers are drawn in each step",
        Rule(draws=True, numbers={1: Number(int, "num_samples")}),
    ),
    Operator("data", _NO_WORK, Rule(flops=nothing)),
    Operator(
        "increment",
        "`static/increment` of the old interface calls its number `step` (`paddle.incubate.LookAhead`)",
        Rule(attributes=(("step", 1.0),)),
    ),
    Operator(
        "one_hot",
        "shapes of operand and result (`test_dependent_shapes.py`)",
        Rule(numbers={1: Number(int, "num_classes")}, flops=nothing, choice=Choice.MARKS, refuses=bounds.columns),
    ),
    Operator("assign", "it copies", Rule(flops=nothing, amp=Amp.NEVER, choice=Choice.PASSES)),
    Operator(
        "cast",
        "measured (`test_strided_operands.py`, `test_sparse_gradients.py`)",
        Rule(
            strides=Strides.KEPT,
            flops=nothing,
            keeps_types=True,
            amp=Amp.NEVER,
            sparse=Sparse.SAME_TYPE,
            choice=Choice.PASSES,
        ),
    ),
)
