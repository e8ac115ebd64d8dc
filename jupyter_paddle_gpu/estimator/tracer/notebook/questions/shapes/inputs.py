"""What the first layer of a model takes: pictures, rows of a table, sequences, sound."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ....undecided.made_up import is_of_sound
from ..hints import MINIMAL, NAMED, Hints, Shape
from ..models import input_width
from ..numbers import ASSUMED, CELLS, LAYER, LENGTH, PRINTED, SIDE, fields
from .constants import cuts, windows
from .sounds import sounds
from .specified import Sourced, specified, summarised


def first_inputs(size: int, found: Hints) -> Iterator[Sourced]:
    """What the first layer of a model takes."""
    yield from specified(size, found)
    yield from summarised(size, found)
    for weight in found.models.by_hand:
        of_rows = len(weight) == 2
        yield from _rows(size, weight[0], found) if of_rows else _pictures(size, weight[1], len(weight) - 2, found)
    is_of_pictures = any(type(layer).__name__.startswith("Conv") for layer in found.models.first)
    if "one_hot(" in found.text and not (found.models.takes_ids or is_of_pictures):  # a recurrent layer from scratch
        yield from ((source, "int64", (size, length)) for source, length in lengths_of(found))
    for layer in found.models.first:
        kind = type(layer).__name__
        yield from sounds(size, layer, found)
        if kind.startswith("Conv") and hasattr(layer, "_in_channels"):
            rank = 1 if "1D" in kind else 3 if "3D" in kind else 2
            yield from _pictures(size, int(layer._in_channels), rank, found)
        elif kind == "Linear":
            yield from _rows(size, int(layer.weight.shape[0]), found)
        elif kind == "Embedding":
            lengths: list[tuple[str, Shape]] = [(source, (size, length)) for source, length in lengths_of(found)]
            short: list[tuple[str, Shape]] = [(ASSUMED, shape) for shape in ((size, 1), (size,), (size, 2))]
            if len(lengths) == 1 and found.models.looks_entries_up:  # no cell speaks of a sequence
                lengths, short = short[1:2], [*lengths, *short]
            yield from ((source, "int64", shape) for source, shape in (*lengths, *short))
        elif (width := input_width(layer)) is not None:
            for source, length in lengths_of(found):
                yield source, "float32", (size, length, width)


def _pictures(size: int, channels: int, rank: int, found: Hints) -> Iterator[Sourced]:
    for source, shapes in ((PRINTED, found.printed), (CELLS, _written(found.text))):
        for shape in shapes:
            if rank > 1 and min(shape[-rank:], default=0) < 2:  # an order of axes (`perm=[1, 0, 2]`)
                continue
            if len(shape) == rank + 2 and shape[1] == channels:
                yield source, "float32", (size, *shape[1:])
            if len(shape) == rank + 1 and shape[0] == channels:
                yield source, "float32", (size, *shape)
    points = [value for name, value in found.numbers.items() if NAMED["points"].match(name)]
    for number in points:  # clouds, which the model turns round itself
        yield CELLS, "float32", (size, number, 3)
        yield CELLS, "float32", (size, 3, number)
    if rank == 1:
        for source, length in (*((CELLS, number) for number in cuts(found)), *lengths_of(found)):
            yield source, "float32", (size, channels, length)
            if channels > 1:  # rows of so many numbers, which the model turns round itself
                yield source, "float32", (size, length, channels)
        return
    sides = list(dict.fromkeys([*found.sides, *_reshaped(found.text, channels)]))
    for high, wide in sides[:4]:  # which of several is meant, nobody knows
        yield (
            CELLS if len(sides) == 1 else ASSUMED,
            "float32",
            (size, channels, *([64] if rank == 3 else []), high, wide),
        )
    if len(sides) < 2 and not is_of_sound(found.text):
        for side in (28, 32, SIDE, 64) if channels == 1 else (SIDE, 32, 28, 64):  # one channel: most often digits
            yield ASSUMED, "float32", (size, channels, *([64] if rank == 3 else []), side, side)


_SCHEDULED = re.compile(r"\b(boundaries|milestones|values|\w*(epochs?|steps?|lrs?))\s*=\s*[\[(][^\])]*[\])]")
"""Rounds at which something changes (`boundaries=[30, 100, 200]`), which are no shape."""


def _written(text: str) -> list[Shape]:
    """Shapes that stand in the cells, as in `summary((1, 1, 100, 100))` and `# [N, 1, 100, 100]`."""
    text = _SCHEDULED.sub("", text)
    found = re.findall(r"(?<!\w)[\[(]\s*(?:-1|None|\d+|[BbNn]|bs|batch\w*)((?:\s*,\s*\d+){2,4})\s*,?\s*[\])]", text)
    return [(1, *(int(size) for size in re.findall(r"\d+", sizes))) for sizes in found]


def _reshaped(text: str, channels: int) -> list[tuple[int, int]]:
    """`reshape([-1, 1, 28, 28])`, `reshape((1, 96, 96))`."""
    found = re.findall(rf"reshape\w*\([^)]*?\b{channels}\s*,\s*(\d+)\s*,\s*(\d+)", text)
    return [(int(high), int(wide)) for high, wide in found]


def _rows(size: int, width: int, found: Hints) -> Iterator[Sourced]:
    yield LAYER, "float32", (size, width)
    if found.items == 1:  # a table with what is to be foretold in its last column
        yield LAYER, "float32", (size, width + 1)
    for channels in (1, 3):
        root = round((width / channels) ** 0.5)
        if channels * root * root == width and root > MINIMAL:
            yield LAYER, "float32", (size, channels, root, root)
    for high, wide in found.sides:
        for channels in (1, 3):
            yield CELLS, "float32", (size, channels, high, wide)
    for source, length in lengths_of(found):
        yield source, "float32", (size, length, width)


def lengths_of(found: Hints) -> Iterator[tuple[str, int]]:
    """How long sequences may be, the likeliest first."""
    for length in dict.fromkeys((*fields(found), *found.lengths, *windows(found))):
        yield CELLS, length
    yield ASSUMED, LENGTH
