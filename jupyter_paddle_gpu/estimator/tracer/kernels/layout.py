"""Views, which share their operand's memory (Paddle's stride kernels, on by default since 2.6), and what moves data."""

from __future__ import annotations

from functools import wraps
from typing import Any

from paddle import _C_ops

from ..memory.arrays import Array, Shape, contiguous_strides
from ..memory.dtypes import SIZE, name_of
from ..memory.operators import ORIGINAL_OPS, call
from ..memory.values import Computed, Value
from . import shapes
from .gpu_flags import is_on
from .rules import (
    AXES,
    LISTED_AXES,
    WITHOUT_MEMORY,
    Arrays,
    Asked,
    Attributes,
    Choice,
    Meta,
    Number,
    Operator,
    Place,
    Rule,
    Strides,
    Traced,
    View,
    nothing,
)

_STRIDED = "FLAGS_use_stride_kernel"


def _by_stride_kernels(view: View) -> View:
    """A view that stride kernels alone make: without them, as before Paddle 2.6, its operator copies.

    Reshapes share memory either way (measured with the flag off).
    """

    @wraps(view)
    def seen(source: Array, shape: Shape, attrs: Attributes) -> Shape | None:
        return view(source, shape, attrs) if is_on(_STRIDED) else None

    return seen


def reshaped_strides(shape: Shape, strides: Shape, target: Shape) -> Shape | None:
    """Strides of a view of `target` shape over an array, None where its layout forces a copy.

    The rule of numpy, PyTorch's computeStride and Paddle's ReshapeStridedKernel: each group of target dimensions must
    cover a group of source dimensions that are contiguous among themselves.
    """
    if 0 in shape:
        return contiguous_strides(target)
    result = [0] * len(target)
    place = len(target) - 1
    base = strides[-1] if strides else 1
    source_count = target_count = 1
    for i in range(len(shape) - 1, -1, -1):
        source_count *= shape[i]
        if i == 0 or (shape[i - 1] != 1 and strides[i - 1] != source_count * base):
            while place >= 0 and (target_count < source_count or target[place] == 1):
                result[place] = target_count * base
                target_count *= target[place]
                place -= 1
            if target_count != source_count:
                return None
            if i > 0:
                base = strides[i - 1]
                source_count = target_count = 1
    while place >= 0:
        result[place] = base * target_count
        place -= 1
    return tuple(result)


def _reshape(source: Array, shape: Shape, attrs: Attributes) -> Shape | None:
    return reshaped_strides(source.shape, source.strides, shape)


def _laid_out(source: Array, shape: Shape, attrs: Attributes) -> Shape | None:
    """Gradients of reshapes: of a strided gradient a copy, though a view would do (measured)."""
    if source.shape == shape:
        return source.strides
    return contiguous_strides(shape) if source.is_contiguous else None


def _same(source: Array, shape: Shape, attrs: Attributes) -> Shape | None:
    return source.strides if shape == source.shape else reshaped_strides(source.shape, source.strides, shape)


@_by_stride_kernels
def _transpose(source: Array, shape: Shape, attrs: Attributes) -> Shape | None:
    return tuple(source.strides[axis] for axis in attrs["perm"])


@_by_stride_kernels
def _transpose_grad(source: Array, shape: Shape, attrs: Attributes) -> Shape | None:
    strides = [0] * len(shape)
    for position, axis in enumerate(attrs["perm"]):
        strides[axis] = source.strides[position]
    return tuple(strides)


@_by_stride_kernels
def _slice(source: Array, shape: Shape, attrs: Attributes) -> Shape | None:
    strides = list(source.strides)
    for axis, step in zip(attrs.get("axes", ()), attrs.get("strides", ()), strict=False):
        strides[axis] = source.strides[axis] * step
    dropped = {axis % len(source.shape) for axis in attrs.get("decrease_axis", ())}
    kept = tuple(stride for axis, stride in enumerate(strides) if axis not in dropped)
    return kept if len(kept) == len(shape) else contiguous_strides(shape)


@_by_stride_kernels
def _unbind(source: Array, shape: Shape, attrs: Attributes) -> Shape | None:
    axis = attrs.get("axis", 0) % len(source.shape)
    return tuple(stride for i, stride in enumerate(source.strides) if i != axis)


def _axes(attrs: Attributes) -> list[int] | None:
    axes = attrs.get("axis")
    return [axes] if isinstance(axes, int) else None if axes is None else [int(axis) for axis in axes]


def _squeeze(source: Array, shape: Shape, attrs: Attributes) -> Shape | None:
    """The strides that stay (SqueezeStridedKernel)."""
    rank = len(source.shape)
    gone = {axis % rank for axis in _axes(attrs) or range(rank)} if rank else set()
    kept = tuple(s for axis, s in enumerate(source.strides) if axis not in gone or source.shape[axis] != 1)
    return kept if len(kept) == len(shape) else reshaped_strides(source.shape, source.strides, shape)


def _unsqueeze(source: Array, shape: Shape, attrs: Attributes) -> Shape | None:
    """A new dimension has the stride that the one at its place would step by (UnsqueezeStridedKernel)."""
    sizes, strides = list(source.shape), list(source.strides)
    for given in _axes(attrs) or ():
        axis = given + len(sizes) + 1 if given < 0 else given
        strides.insert(axis, sizes[axis] * strides[axis] if axis < len(sizes) else 1)
        sizes.insert(axis, 1)
    return tuple(strides) if tuple(sizes) == shape else reshaped_strides(source.shape, source.strides, shape)


@_by_stride_kernels
def _as_strided(source: Array, shape: Shape, attrs: Attributes) -> Shape | None:
    return tuple(attrs["stride"])


@_by_stride_kernels
def _diagonal(source: Array, shape: Shape, attrs: Attributes) -> Shape | None:
    first, second = (attrs.get(name, default) % len(source.shape) for name, default in (("axis1", 0), ("axis2", 1)))
    kept = [s for axis, s in enumerate(source.strides) if axis not in (first, second)]
    return (*kept, source.strides[first] + source.strides[second])


@_by_stride_kernels
def _part(source: Array, shape: Shape, attrs: Attributes) -> Shape | None:
    """The real or imaginary part: every second number (RealStridedKernel)."""
    return tuple(2 * stride for stride in source.strides)


def _parts(source: Array, shape: Shape, attrs: Attributes) -> Shape | None:
    return contiguous_strides(shape) if source.is_contiguous else None


def _dimensions(attrs: Attributes, operands: Arrays, place: Place) -> Meta | None:
    """The shape that was asked for; the builder says the operand's."""
    return tuple(attrs["dims"]), operands[0][0].dtype


def _retyped(attrs: Attributes, operands: Arrays, place: Place) -> Meta | None:
    """As many elements of the type as there is memory along the last axis; the builder says the operand's."""
    x, dtype = operands[0][0], name_of(attrs["dtype"])
    return (*x.shape[:-1], x.shape[-1] * SIZE[x.dtype] // SIZE[dtype]), dtype


def _expanded(arrays: list[Array]) -> Value | None:
    """Of the tensor that another is expanded to, the shape counts: whoever asks for the numbers can have them."""
    value = arrays[0].value
    return None if value is None else Computed(_C_ops.expand, (value, list(arrays[1].shape)), {})


def _equal_parts(session: Traced, original: Any, x: Any, count: int, axis: Any) -> Any:
    """A split into parts of one size; what does not divide is refused by its own name."""
    axis, rank = int(axis), len(x.shape)
    if count >= 0 and (not count or not -rank <= axis < rank or x.shape[axis] % count):  # fewer end the process
        return session.call("split_with_num", ORIGINAL_OPS["split_with_num"], (x, count, axis), {})
    return call("split", x, [x.shape[axis] // count] * count, axis)


def _one_buffer(session: Traced, original: Any, tensors: Any, dtype: Any, *rest: Any) -> Any:
    """Tensors go into one buffer; their own memory goes. DataParallel and tensor fusion use it."""
    total = sum(session.state(tensor).array.numel for tensor in tensors)
    return list(tensors), session.create("coalesce_tensor", (total,), name_of(dtype))


def _bounded(session: Traced, original: Any, x: Any, axes: Any, *given: Any) -> Any:
    """`paddle.slice` reads bounds out of tensors and says so by flags of -1, for which the program builder leaves the
    shape open: they are numbers by then."""
    starts, ends, flags, *rest = given
    return session.call("slice", original, (x, axes, starts, ends, [1] * len(flags), *rest), {})


def _windows(session: Traced, original: Any, x: Any, *window: int) -> Any:
    """`Tensor.unfold(axis, size, step)` is a view of windows along an axis; the program builder does not have it."""
    array, (axis, size, step) = session.state(x).array, window
    axis %= len(array.shape)
    shape, strides = list(array.shape), list(array.strides)
    if size > shape[axis]:  # stride/tensor_unfold_kernel.cc
        said = f"(InvalidArgument) paddle.unfold size({size}) must be less than shape[axis]({shape[axis]})."
        raise session.refused(ValueError(said))
    shape[axis] = (shape[axis] - size) // step + 1
    shape.append(size)
    strides.append(strides[axis])
    strides[axis] *= step
    return call("as_strided", x, shape, strides, 0)


_SOURCE = "stride kernels (`phi/kernels/stride`), tested against numpy's strides; gradients: measured"
_NUMBERS = f"{_SOURCE} (`test_products.py`)"
_BOUNDS = {2: Number(list), 3: Number(list), 4: Number(list)}
_COPIES = "strided operands: measured (`test_strided_operands.py`)"

OPERATORS = (
    Operator(
        "reshape",
        _SOURCE,
        Rule(view=_reshape, numbers={1: Number(list, "shape")}, choice=Choice.PASSES, asked=Asked.TYPE_OF_ONE),
        gradient=Rule(view=_laid_out),
        second=Rule(view=_reshape),
    ),
    Operator("flatten", _SOURCE, Rule(view=_reshape, choice=Choice.PASSES), gradient=Rule(view=_laid_out)),
    Operator("view_shape", _SOURCE, Rule(view=_reshape), gradient=Rule(view=_reshape)),
    Operator(
        "squeeze",
        _SOURCE,
        Rule(view=_squeeze, numbers={1: AXES}, choice=Choice.PASSES),
        gradient=Rule(view=_laid_out),
        second=Rule(fills_zeros=True),
    ),
    Operator(
        "unsqueeze",
        _SOURCE,
        Rule(view=_unsqueeze, numbers={1: AXES}, choice=Choice.PASSES),
        gradient=Rule(view=_laid_out),
        second=Rule(fills_zeros=True),
    ),
    Operator(
        "transpose",
        _SOURCE,
        Rule(view=_transpose, numbers={1: Number(tuple, "perm")}, choice=Choice.PASSES, keeps_sizes=True),
        gradient=Rule(view=_transpose_grad),
    ),
    Operator(
        "slice",
        _SOURCE,
        Rule(instead=_bounded, view=_slice, numbers=_BOUNDS, choice=Choice.PASSES),
        gradient=Rule(strides=Strides.READ, flops=nothing),
    ),
    Operator(
        "strided_slice",
        _SOURCE,
        Rule(view=_slice, numbers=_BOUNDS, choice=Choice.PASSES),
        gradient=Rule(strides=Strides.READ),
    ),
    Operator(
        "unbind",
        f"{_SOURCE}; `eager_gen.py`",
        Rule(view=_unbind, asked=Asked.EACH_CALL),
        gradient=Rule(fills_zeros=True),
    ),
    Operator(
        "as_strided",
        _SOURCE,
        Rule(view=_as_strided, result=_dimensions, refuses=shapes.strided),
        gradient=Rule(strides=Strides.READ),
    ),
    Operator("diagonal", _SOURCE, Rule(view=_diagonal, asked=Asked.EACH_CALL), gradient=Rule(strides=Strides.READ)),
    Operator("share_data", _SOURCE, Rule(view=_same, choice=Choice.PASSES)),
    Operator("share_data_", _SOURCE, Rule(view=_same)),
    Operator("contiguous", "it copies", Rule(choice=Choice.PASSES)),
    Operator(
        "view_dtype",
        f"{_SOURCE} (`test_products.py`)",
        Rule(view=_parts, result=_retyped),
        gradient=Rule(view=_parts),
    ),
    Operator("real imag", _NUMBERS, Rule(view=_part, asked=Asked.EACH_CALL)),
    Operator("as_real as_complex", _NUMBERS, Rule(view=_parts, asked=Asked.EACH_CALL)),
    Operator(
        "concat",
        f"{_COPIES}; `eager_gen.py`: the builder has it for the gradient of a split",
        Rule(strides=Strides.KEPT, flops=nothing, fills_zeros=True, choice=Choice.CHAINS, asked=Asked.EACH_CALL),
        gradient=Rule(flops=nothing),
        second=Rule(fills_zeros=True),
    ),
    Operator(
        "stack",
        f"{_COPIES}; `eager_gen.py`: the builder has it for the gradient of an unbind",
        Rule(strides=Strides.KEPT, flops=nothing, fills_zeros=True, reads_as={0: 0}, asked=Asked.EACH_CALL),
    ),
    Operator(
        "split",
        f"{_COPIES}; `eager_gen.py`",
        Rule(strides=Strides.KEPT, flops=nothing, asked=Asked.EACH_CALL),
        gradient=Rule(fills_zeros=True),
    ),
    Operator("split_with_num", "`tensor/manipulation.py`", Rule(instead=_equal_parts)),
    Operator("coalesce_tensor coalesce_tensor_", "`tensor_fusion_helper.py`, `parallel.py`", Rule(instead=_one_buffer)),
    Operator("tensor_unfold", _SOURCE, Rule(instead=_windows)),
    Operator(
        "expand",
        f"{_COPIES}; `eager_gen.py`",
        Rule(
            strides=Strides.KEPT,
            flops=nothing,
            numbers={1: Number(list, "shape", in_row=True)},
            choice=Choice.PASSES,
            asked=Asked.EACH_CALL,
        ),
        gradient=Rule(fills_zeros=True),
    ),
    Operator(
        "expand_as",
        "only a shape of the second operand is read",
        Rule(value=_expanded, choice=Choice.PASSES, asked=Asked.EACH_CALL),
    ),
    Operator(
        "tile",
        _COPIES,
        Rule(
            strides=Strides.KEPT,
            flops=nothing,
            numbers={1: Number(list, "repeat_times", in_row=True)},
            choice=Choice.PASSES,
            asked=Asked.TYPE_OF_ONE,
        ),
    ),
    Operator("diag_embed", _COPIES, Rule(strides=Strides.KEPT, asked=Asked.EACH_CALL)),
    Operator("flip", _COPIES, Rule(strides=Strides.KEPT, numbers={1: LISTED_AXES}, asked=Asked.TYPE_OF_ONE)),
    Operator("roll", _COPIES, Rule(strides=Strides.KEPT, numbers={1: Number(list, "shifts")}, asked=Asked.TYPE_OF_ONE)),
    Operator("meshgrid", _COPIES, Rule(strides=Strides.KEPT, asked=Asked.EACH_CALL)),
    Operator("tril triu", _COPIES, Rule(strides=Strides.KEPT)),
    Operator(
        "crop",
        WITHOUT_MEMORY,
        Rule(numbers={1: Number(list, "shape"), 2: Number(list, "offsets")}, asked=Asked.EACH_CALL),
    ),
    Operator("broadcast_tensors diag reshape_", WITHOUT_MEMORY, Rule(asked=Asked.EACH_CALL)),
)
