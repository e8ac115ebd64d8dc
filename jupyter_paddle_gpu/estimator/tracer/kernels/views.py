"""Operators whose result shares its operand's memory in dygraph (Paddle's stride kernels, on by default since 2.6)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..memory.arrays import Array, Shape, contiguous_strides

Rule = Callable[[Array, Shape, dict[str, Any]], "Shape | None"]


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


def _reshape(source: Array, shape: Shape, attrs: dict[str, Any]) -> Shape | None:
    return reshaped_strides(source.shape, source.strides, shape)


def _laid_out(source: Array, shape: Shape, attrs: dict[str, Any]) -> Shape | None:
    """Gradients of reshapes: of a strided gradient a copy, though a view would do (measured)."""
    if source.shape == shape:
        return source.strides
    return contiguous_strides(shape) if source.is_contiguous else None


def _same(source: Array, shape: Shape, attrs: dict[str, Any]) -> Shape | None:
    return source.strides if shape == source.shape else reshaped_strides(source.shape, source.strides, shape)


def _transpose(source: Array, shape: Shape, attrs: dict[str, Any]) -> Shape | None:
    return tuple(source.strides[axis] for axis in attrs["perm"])


def _transpose_grad(source: Array, shape: Shape, attrs: dict[str, Any]) -> Shape | None:
    strides = [0] * len(shape)
    for position, axis in enumerate(attrs["perm"]):
        strides[axis] = source.strides[position]
    return tuple(strides)


def _slice(source: Array, shape: Shape, attrs: dict[str, Any]) -> Shape | None:
    strides = list(source.strides)
    for axis, step in zip(attrs.get("axes", ()), attrs.get("strides", ()), strict=False):
        strides[axis] = source.strides[axis] * step
    dropped = {axis % len(source.shape) for axis in attrs.get("decrease_axis", ())}
    kept = tuple(stride for axis, stride in enumerate(strides) if axis not in dropped)
    return kept if len(kept) == len(shape) else contiguous_strides(shape)


def _unbind(source: Array, shape: Shape, attrs: dict[str, Any]) -> Shape | None:
    axis = attrs.get("axis", 0) % len(source.shape)
    return tuple(stride for i, stride in enumerate(source.strides) if i != axis)


def _split(source: Array, shape: Shape, attrs: dict[str, Any]) -> Shape | None:
    return source.strides


def _axes(attrs: dict[str, Any]) -> list[int] | None:
    axes = attrs.get("axis")
    return [axes] if isinstance(axes, int) else None if axes is None else [int(axis) for axis in axes]


def _squeeze(source: Array, shape: Shape, attrs: dict[str, Any]) -> Shape | None:
    """The strides that stay (SqueezeStridedKernel)."""
    rank = len(source.shape)
    gone = {axis % rank for axis in _axes(attrs) or range(rank)} if rank else set()
    kept = tuple(s for axis, s in enumerate(source.strides) if axis not in gone or source.shape[axis] != 1)
    return kept if len(kept) == len(shape) else reshaped_strides(source.shape, source.strides, shape)


def _unsqueeze(source: Array, shape: Shape, attrs: dict[str, Any]) -> Shape | None:
    """A new dimension has the stride that the one at its place would step by (UnsqueezeStridedKernel)."""
    sizes, strides = list(source.shape), list(source.strides)
    for given in _axes(attrs) or ():
        axis = given + len(sizes) + 1 if given < 0 else given
        strides.insert(axis, sizes[axis] * strides[axis] if axis < len(sizes) else 1)
        sizes.insert(axis, 1)
    return tuple(strides) if tuple(sizes) == shape else reshaped_strides(source.shape, source.strides, shape)


def _expand(source: Array, shape: Shape, attrs: dict[str, Any]) -> Shape | None:
    missing = len(shape) - len(source.shape)
    return (0,) * missing + tuple(
        0 if have == 1 and want != 1 else stride
        for have, want, stride in zip(source.shape, shape[missing:], source.strides, strict=False)
    )


def _as_strided(source: Array, shape: Shape, attrs: dict[str, Any]) -> Shape | None:
    return tuple(attrs["stride"])


def _diagonal(source: Array, shape: Shape, attrs: dict[str, Any]) -> Shape | None:
    first, second = (attrs.get(name, default) % len(source.shape) for name, default in (("axis1", 0), ("axis2", 1)))
    kept = [s for axis, s in enumerate(source.strides) if axis not in (first, second)]
    return (*kept, source.strides[first] + source.strides[second])


def _part(source: Array, shape: Shape, attrs: dict[str, Any]) -> Shape | None:
    """The real or imaginary part: every second number (RealStridedKernel)."""
    return tuple(2 * stride for stride in source.strides)


def _parts(source: Array, shape: Shape, attrs: dict[str, Any]) -> Shape | None:
    return contiguous_strides(shape) if source.is_contiguous else None


RULES: dict[str, Rule] = {
    "reshape": _reshape, "flatten": _reshape, "view_shape": _reshape,
    "squeeze": _squeeze, "unsqueeze": _unsqueeze,
    "transpose": _transpose, "slice": _slice, "strided_slice": _slice, "unbind": _unbind,
    "as_strided": _as_strided, "diagonal": _diagonal,
    "share_data": _same, "detach": _same, "share_data_": _same,
    "view_dtype": _parts, "real": _part, "imag": _part, "as_real": _parts, "as_complex": _parts,
    "reshape_grad": _laid_out, "flatten_grad": _laid_out, "squeeze_grad": _laid_out, "unsqueeze_grad": _laid_out,
    "transpose_grad": _transpose_grad, "view_shape_grad": _reshape, "view_dtype_grad": _parts,
    "reshape_double_grad": _reshape,
}  # fmt: skip
"""Forward operators and gradient operators (over the incoming gradient) that give views."""
READ_STRIDES = frozenset({"slice_grad", "strided_slice_grad", "as_strided_grad", "diagonal_grad"})
"""Gradients of views that write a strided gradient into a view of the result: no copy of it is made (measured)."""


def view_of(name: str, source: Array, meta: tuple[Shape, str], attrs: dict[str, Any]) -> Array | None:
    """The view of this shape and type that operator `name` makes, None where it allocates a result."""
    rule = RULES.get(name)
    if rule is None or source.storage is None:
        return None
    shape, dtype = meta
    strides = rule(source, shape, attrs)
    return None if strides is None else source.view(shape, strides, dtype)
