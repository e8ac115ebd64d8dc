"""What kernels say of shapes and attributes that the program builder does not look at."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from ..memory.arrays import Array, Shape
from ..memory.dtypes import VAR_TYPE
from .rules import Arrays, Attributes

_WRITTEN = ("axes", "starts", "ends", "steps")
"""Attributes that say which part of a tensor an assignment writes to."""


def part(attrs: Attributes, shape: Shape) -> Shape:
    """Shape of the part of a tensor that is written to; a single place where tensors say which one."""
    sizes = [1 if axis in attrs.get("decrease_axes", ()) else size for axis, size in enumerate(shape)]
    for axis, start, end, step in zip(*(attrs.get(name, ()) for name in _WRITTEN), strict=False):
        sizes[axis] = len(range(*slice(start, end, step).indices(shape[axis])))
    return tuple(sizes)


def unlike(given: Shape, own: Shape) -> Exception | None:
    """What is said of a value that does not fit the part that it is written to (`CheckIsDimsMatch`,
    funcs/slice_utils.h)."""
    held, there = _significant(given), _significant(own)
    if not held or (len(held) <= len(there) and spreads(held, there)):
        return None
    said = f"The shape of tensor assigned value must match the shape of target shape: {list(given)}"
    return ValueError(f"(InvalidArgument) {said}, but now shape is {list(own)}.")


def spreads(value: Shape, whole: Shape) -> bool:
    """Whether each size of a value is that of the whole, or 1, counted from the last one."""
    return all(size in {own, 1} for size, own in zip(reversed(value), reversed(whole), strict=False))


def _significant(shape: Shape) -> Shape:
    """A shape from its first size that is not 1."""
    return tuple(itertools.dropwhile(lambda size: size == 1, shape))


def written(attrs: Attributes, operands: Arrays, numbers: Callable[[Array], Any]) -> Exception | None:
    """Axes that are not there, steps of nothing, a value of another shape than the part (funcs/slice_utils.h)."""
    shape = operands[0][0].shape
    axes, starts, ends, steps = (list(attrs.get(name) or ()) for name in _WRITTEN)
    rank = len(shape)
    for place, axis in enumerate(axes):
        if axis >= rank:
            return ValueError(
                "(InvalidArgument) The axis value should be less than the rank of input, but received "
                f"axes[{place}] = {axis}, rank of input is {rank}."
            )
    if 0 in steps:
        return ValueError("(InvalidArgument) Step should not be 0, but received step = 0.")
    if not all(isinstance(one, int) for one in (*starts, *ends, *steps)):  # tensors say them
        return None
    sizes = list(shape)
    for axis, start, end, step in itertools.zip_longest(axes, starts, ends, steps):
        if axis is not None and axis >= 0:  # an axis that is counted from the end is none here
            sizes[axis] = len(range(*slice(start or 0, end or 0, step or 1).indices(shape[axis])))
    kept = tuple(size for axis, size in enumerate(sizes) if axis not in set(attrs.get("decrease_axes") or ()))
    return unlike(operands[1][0].shape, kept) if len(operands) > 1 and operands[1] else None


def decoded(attrs: Attributes, operands: Arrays, numbers: Callable[[Array], Any]) -> Exception | None:
    """Lengths or transitions that are not the scores' (`ViterbiDecodeInferMeta`, of known sizes alone)."""
    (scores, *_), (transitions, *_), (lengths, *_) = operands[:3]
    if scores.shape[0] != lengths.shape[0]:
        return ValueError("(InvalidArgument) The batch size of Input and Length should be equal.")
    if scores.shape[2] != transitions.shape[0]:
        tags, there = transitions.shape[0], scores.shape[2]
        said = f"The number of tags of Input ({tags}) and Transition ({there}) should be equal."
        return ValueError(f"(InvalidArgument) {said}")
    return None


def strided(attrs: Attributes, operands: Arrays, numbers: Callable[[Array], Any]) -> Exception | None:
    """An offset before the memory (stride/as_strided_kernel.cc)."""
    offset = attrs.get("offset", 0)
    if offset >= 0:
        return None
    return ValueError(f"(InvalidArgument) The offset must be non-negative, but got {offset}.")


def put_at(attrs: Attributes, operands: Arrays, numbers: Callable[[Array], Any]) -> Exception | None:
    """Places to write to that are neither whole numbers nor truths (funcs/index_put_utils.h)."""
    wrong = next((one.dtype for one in operands[1] if one.dtype not in {"int64", "int32", "bool"}), None)
    if wrong is None:
        return None
    return ValueError(
        "(InvalidArgument) The type of data we are trying to retrieve (int64) does not match the type of data "
        f"({wrong}) currently contained in the container."
    )


def widths(attrs: Attributes, operands: Arrays, numbers: Callable[[Array], Any]) -> Exception | None:
    """An input or a state of another width than a cell's weights, lengths that are no whole numbers
    (`cpu/rnn_functor.h`)."""
    lengths = operands[3][0].dtype if len(operands) > 3 and operands[3] else "int32"
    if lengths not in {"int32", "int64"}:
        return ValueError(
            f"(InvalidArgument) The dtype of Tensor must be int32 or int64, but received: {VAR_TYPE[lengths].value}"
        )
    pairs = zip((*operands[0][:1], *operands[1][:1]), operands[2], strict=False)
    unlike = ((x.shape[-1], weight.shape[-1]) for x, weight in pairs if x.shape[-1] != weight.shape[-1])
    first, second = next(unlike, (0, 0))
    if first == second:
        return None
    return ValueError(
        "(InvalidArgument) The first matrix width should be same as second matrix height,but received first matrix "
        f"width {first}, second matrix height {second}"
    )


def cells(attrs: Attributes, operands: Arrays, numbers: Callable[[Array], Any]) -> Exception | None:
    """A batch of no samples, by cells with gates or in two directions (cpu/rnn_functor.h); and as `widths`."""
    if operands[0][0].shape[1] == 0 and attrs["mode"] in {"LSTM", "GRU"}:
        return RuntimeError("(PreconditionNotMet) Tensor holds no memory. Call Tensor::mutable_data firstly.")
    if operands[0][0].shape[1] == 0 and attrs["is_bidirec"]:
        return ValueError("(InvalidArgument) The input size should not be 0.")
    return widths(attrs, operands, numbers)


def repeats(attrs: Attributes, operands: Arrays, numbers: Callable[[Array], Any]) -> Exception | None:
    """Counts that are not one for each place of the axis, or no whole numbers
    (impl/repeat_interleave_kernel_impl.h)."""
    x, counts = operands[0][0], operands[1][0]
    places = x.shape[attrs.get("axis", 0)] if x.shape else 1
    if counts.numel != places:
        return ValueError(
            "(InvalidArgument) The length of Input(RepeatsTensor) must be the same as length of Input(X) in axis. But "
            f"received: [{counts.numel}], required: [{places}]."
        )
    if counts.dtype not in {"int32", "int64"}:
        return ValueError(
            f"(InvalidArgument) Input(RepeatsTensor) holds the wrong type, it holds {counts.dtype}, but desires to be "
            "int32 or int64"
        )
    return None


_SIDES = (("depth", 2, ("front", "back"), 4), ("height", 1, ("top", "bottom"), 2), ("width", 0, ("left", "right"), 0))
"""Axes in the order in which they are looked at: name, place from the last one, sides, their place among all sides."""


def mirrored(attrs: Attributes, operands: Arrays, numbers: Callable[[Array], Any]) -> Exception | None:
    """A reflection of more than there is (cpu/pad3d_kernel.cc)."""
    sides = attrs.get("paddings")
    if attrs.get("mode") != "reflect" or not isinstance(sides, (list, tuple)) or len(sides) != 6:
        return None
    shape = operands[0][0].shape
    sizes = shape[1:4] if attrs.get("data_format") == "NDHWC" else shape[2:5]
    for axis, place, names, first in _SIDES:
        size = sizes[2 - place]
        for name, pad in zip(names, sides[first : first + 2], strict=True):
            if pad >= size:
                return ValueError(
                    f"(InvalidArgument) The {axis} of Input(X)'s dimension should be greater than pad_{name} in "
                    f"reflect mode, but received depth({size}) and pad_{name}({pad})."
                )
    return None


def transduced(attrs: Attributes, operands: Arrays, numbers: Callable[[Array], Any]) -> Exception | None:
    """Labels that are no rows (impl/warprnnt_kernel_impl.h)."""
    rank = len(operands[1][0].shape)
    return (
        None
        if rank == 2
        else ValueError(f"(InvalidArgument) The rank of Input(Label) should be 2 but received {rank}.")
    )


def images_of_aligned_boxes(attrs: Attributes, operands: Arrays, numbers: Callable[[Array], Any]) -> Exception | None:
    """The same of aligned ones (cpu/roi_align_kernel.cc)."""
    if images_of_boxes(attrs, operands, numbers) is None:
        return None
    counts, images = operands[2][0].numel, operands[0][0].shape[0]
    return ValueError(
        "(InvalidArgument) The batch size of rois and the batch size of images must be the same. But received the "
        f"batch size of rois is {counts}, and the batch size of images is {images}"
    )


def images_of_boxes(attrs: Attributes, operands: Arrays, numbers: Callable[[Array], Any]) -> Exception | None:
    """Counts of boxes for more or fewer images than there are (cpu/roi_pool_kernel.cc); how many counts
    `distribute_fpn_proposals` gives nobody says before."""
    if len(operands) < 3 or not operands[2] or operands[2][0].numel in {0, operands[0][0].shape[0]}:
        return None
    return ValueError("(InvalidArgument) The boxes_batch_size and imgs batch_size must be the same.")
