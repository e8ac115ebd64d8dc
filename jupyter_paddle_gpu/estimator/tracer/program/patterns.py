"""Calls that differ in sizes alone: what was built for one of them serves the others.

An optimizer updates each shape of a model's parameters, an activation comes behind each shape of its maps. Of an
operator whose rule says `keeps_sizes` a call is known by the pattern of its sizes: which of them are equal; of one that
draws numbers by how many sizes its first argument has. A rule may say of each call which sizes mean something of their
own, as those of a convolution's kernel do, or that it does not keep them. A part of a tensor has the same template
wherever it begins: loops over time or over pixels read and write one for each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..kernels.rules import Meta
from .templates import Step, Template

Fixed = frozenset[tuple[int, int]]
"""Sizes that mean something of their own: numbers of operands, and of their dimensions."""
_PARTS = {
    "slice": (1, 2, 3, None),
    "strided_slice": (1, 2, 3, 4),
    "set_value_": (4, 1, 2, 3),
    "set_value_with_tensor_": (5, 2, 3, 4),
}
"""Arguments of operators that read or write a part of their first: its axes, where it begins and ends, its steps."""
_PLAIN = 1
"""Sizes up to it mean something of their own: one is broadcast, none is empty, -1 is not known."""


def pattern_of(metas: Sequence[Meta], fixed: Fixed = frozenset()) -> tuple[tuple[Meta, ...], tuple[int, ...]] | None:
    """(shapes and types with a number for each different size, those sizes in that order). None where a size is one of
    the fixed ones and another one as well: which of them a result has, its shape does not say."""
    numbers: dict[int, int] = {}
    own: set[int] = set()

    def told(operand: int, place: int, size: int) -> int:
        if size <= _PLAIN:
            return size
        if (operand, place) in fixed:
            own.add(size)
            return -size
        return numbers.setdefault(size, len(numbers) + _PLAIN + 1)

    pattern = tuple(
        (tuple(told(operand, place, size) for place, size in enumerate(shape)), dtype)
        for operand, (shape, dtype) in enumerate(metas)
    )
    return None if own & numbers.keys() else (pattern, tuple(numbers))


def pattern_of_draw(args: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """What tells such calls without tensors from each other, by the key of their arguments: neither sizes nor what the
    numbers are drawn between. None where the first argument is another one than sizes."""
    if not args or type(args[0]) is not tuple or not all(type(size) is int and size > 0 for size in args[0]):
        return None
    return len(args[0]), *("number" if isinstance(one, float) else one for one in args[1:])


def is_made_of(template: Template, sizes: tuple[int, ...]) -> bool:
    """Whether all sizes of a template are those of its operands."""
    known = {*sizes, *range(-1, _PLAIN + 1)}
    return not template.is_dynamic and all(known.issuperset(shape) for shape, _ in template.metas.values())


def resized(template: Template, sizes: dict[int, int], called: tuple[Any, list[Meta], list[bool]]) -> Template:
    """A template for a call with other sizes.

    Args:
        sizes: by each that it was built for the one in its place.
        called: the call, shapes and types of its tensors, and which of them want a gradient.
    """
    others = {
        slot: (tuple(sizes.get(size, size) for size in shape), dtype) for slot, (shape, dtype) in template.metas.items()
    }

    def moved(step: Step) -> Step:
        gradient = step.gradient
        if gradient is None:
            return step
        origin = None if gradient.origin is None else (*called, gradient.origin[-1])
        return replace(step, gradient=replace(gradient, metas=others, origin=origin, parts={}, deeper={}, lists={}))

    return replace(template, steps=[moved(step) for step in template.steps], metas=others, is_checked=False)


def redrawn(template: Template, shape: tuple[int, ...]) -> Template:
    """A template for a call that draws other numbers: what they are drawn between is none of its attributes."""

    def moved(step: Step) -> Step:
        attrs = {name: one for name, one in step.attrs.items() if not isinstance(one, float)}
        return replace(step, attrs={**attrs, "shape": list(shape)})

    metas = {slot: (shape, dtype) for slot, (_, dtype) in template.metas.items()}
    return replace(template, steps=[moved(step) for step in template.steps], metas=metas, is_checked=False)


def at_origin(name: str, args: Sequence[Any], metas: Sequence[Meta]) -> dict[int, list[int]]:
    """Where a part of a tensor would begin and end if it began at zero, by the arguments that say so.

    Empty of other operators, and of a part that is empty, goes backward, or hangs on a tensor: Paddle may refuse it.
    """
    places = _PARTS.get(name)
    if places is None or not metas or len(args) <= max(one or 0 for one in places):
        return {}
    axes, starts, ends = (args[place] for place in places[:3] if place is not None)
    steps = [1] * len(axes) if places[3] is None else args[places[3]]
    given, (shape, _) = [axes, starts, ends, steps], metas[0]
    if not all(isinstance(one, (list, tuple)) and all(type(number) is int for number in one) for one in given):
        return {}
    counts = []
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        is_inside = -len(shape) <= axis < len(shape) and step > 0 and start < shape[axis]
        counts.append(len(range(*slice(start, end, step).indices(shape[axis]))) if is_inside else 0)
    if not all(counts) or not any(starts):
        return {}
    ends = [(count - 1) * step + 1 for count, step in zip(counts, steps, strict=True)]
    return {places[1] or 0: [0] * len(starts), places[2] or 0: ends}
