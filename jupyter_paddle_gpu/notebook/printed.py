"""What saved outputs say of a notebook's data: shapes that were printed, numbers with words before them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..domain.notebooks import Printed

MOST = 64
"""Shapes, and numbers, that are kept."""
LONGEST = 20_000
"""Characters of one output that are read."""
_SHAPE = re.compile(
    r"[\[(](\d{1,7}(?:\s*,\s*\d{1,7})+),?[\])]"
    r"|(?<=[\])])[^\S\n]*(?:\w+\.Size\()?[\[(](\d{1,7}),?[\])]"
    r"|\((\d{1,7}),\)"
)
"""A shape; of one dimension it is one right behind another, as in `(32, 13) [32]`, or as Python writes it: `(32,)`."""
_NUMBER = re.compile(r"([^\W\d][^\n:={}\[\]()]{0,40}?)\s*[:=]?\s+?[:=]?\s*(\d{1,9})(?![\d.])")


def printed_in(cells: list[Mapping[str, Any]]) -> Printed:
    """The shapes and numbers of all outputs, in their order."""
    shapes: dict[tuple[int, tuple[int, ...]], None] = {}
    numbers: dict[str, int] = {}
    for index, cell in enumerate(cells):
        for text in _texts(cell):
            found_here = ["".join(parts) for parts in _SHAPE.findall(text)]
            # A summary shows the shapes of all layers, of which the first is that of the data.
            for found in found_here[:1] if "Output Shape" in text else found_here:
                shape = tuple(int(size) for size in found.split(","))
                if len(shape) <= 5 and len(shapes) < MOST and all(shape):
                    shapes[index, shape] = None
            for words, number in _NUMBER.findall(text):
                if len(numbers) < MOST:
                    numbers.setdefault(words.strip().lower(), int(number))
    return Printed(shapes=tuple(shape for _, shape in shapes), numbers=numbers)


def _texts(cell: Mapping[str, Any]) -> Iterator[str]:
    outputs = cell.get("outputs")
    for output in outputs if isinstance(outputs, list) else ():
        if not isinstance(output, Mapping):
            continue
        text = output.get("text") or (output.get("data") or {}).get("text/plain") or ""
        yield ("".join(map(str, text)) if isinstance(text, list) else str(text))[:LONGEST]
