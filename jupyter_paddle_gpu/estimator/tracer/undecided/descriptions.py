"""What data looks like, in words: `float32[10,3,224,224] int64[10,1]` stands for a batch that nobody has here."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .unknowns import unknown

_ITEM = re.compile(r"(?:(\w+(?:\.\w+)*)\s*[:=]\s*)?(u?int(?:8|16|32|64)|b?float(?:16|32|64)|bool)\s*\[([\d,\s]*)\]")
DESCRIPTION = re.compile(rf"\s*(?:{_ITEM.pattern}[\s,;]*)+")
"""`float32[10,3,224,224] int64[10,1]`; with names (`ids: int64[8,128]`) a batch is a dictionary, which holds
another one where these have dots (`image.pixels: float32[8,3,32,32]`)."""


class Named(dict[str, Any]):
    """A batch of things with names, taken out by key (`batch["x"]`) or as attributes (`batch.x`)."""

    def __getattr__(self, name: str) -> Any:
        if name not in self:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'", name=name, obj=self)
        return self[name]


def like(batch: Any, things: dict[str, Any]) -> dict[str, Any]:
    """Things of a batch by their names, taken out as those of the batch are."""
    return Named(things) if isinstance(batch, Named) else things


def is_description(value: Any) -> bool:
    """Whether an answer says what data looks like."""
    return isinstance(value, str) and DESCRIPTION.fullmatch(value) is not None


def described(text: str, batch_size: int | None = None) -> Any:
    """The arrays of a description: a list, a dictionary where they have names, one array where there is but one.

    Args:
        batch_size: takes the place of the first array's leading dimension, wherever it leads.
    """
    items = [(name, dtype, [int(size) for size in sizes.split(",") if size.strip()])
             for name, dtype, sizes in _ITEM.findall(text)]  # fmt: skip
    present = next((sizes[0] for _, _, sizes in items if sizes), None)
    arrays = []
    for name, dtype, sizes in items:
        shape = (batch_size, *sizes[1:]) if batch_size and sizes and sizes[0] == present else tuple(sizes)
        # One number for all: a batch of pictures takes no memory of its own.
        arrays.append((name, np.broadcast_to(np.zeros(1, dtype.replace("bfloat16", "float32")), shape or (1,))))
    if items and all(name for name, _ in arrays):
        return _nested(arrays)
    return [array for _, array in arrays]


def _nested(things: list[tuple[str, Any]]) -> dict[str, Any]:
    """A dictionary of things with names, and of further ones by the dots in these."""
    found: dict[str, Any] = {}
    for name, thing in things:
        *way, last = name.split(".")
        held = found
        for part in way:
            inner = held.get(part)
            held[part] = held = inner if isinstance(inner, dict) else {}
        held[last] = thing
    return found


def each(batch: Any, change: Callable[[Any], Any]) -> Any:
    """A batch that was described, with each of its arrays changed."""
    if isinstance(batch, dict):
        return Named({name: each(one, change) for name, one in batch.items()})
    return [each(one, change) for one in batch] if isinstance(batch, list) else change(batch)


def unknown_batch(text: str, batch_size: int | None = None) -> Any:
    """One batch as arrays whose numbers nobody knows."""
    return each(described(text, batch_size), unknown)


def size_of(text: str) -> int:
    """The leading dimension of a description."""
    batch = described(text)
    while isinstance(batch, (dict, list)):
        batch = next(iter(batch.values() if isinstance(batch, dict) else batch))
    return int(batch.shape[0])


def shapes_of(text: Any) -> list[tuple[str, tuple[int, ...]]]:
    """Type and shape of each thing of a description; nothing where it is none."""
    return [(dtype, shape) for _, dtype, shape in parts_of(text)]


def parts_of(text: Any) -> list[tuple[str, str, tuple[int, ...]]]:
    """The same with the name of each thing, empty where it has none."""
    return [
        (name, dtype, tuple(int(size) for size in sizes.split(",") if size.strip()))
        for name, dtype, sizes in (_ITEM.findall(text) if is_description(text) else ())
    ]


def said(things: Iterable[tuple[str, str, tuple[int, ...]]]) -> str:
    """Things with their names, types and shapes in the words of an answer."""
    return " ".join(
        f"{name}{': ' if name else ''}{dtype}[{','.join(map(str, shape))}]" for name, dtype, shape in things
    )
