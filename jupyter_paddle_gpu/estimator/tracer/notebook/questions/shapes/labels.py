"""What the labels of a batch may look like, by the loss, by the model's last layers and by what the program makes of a
sample.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ... import syntax
from ..hints import Hints, Shape
from .constants import windows
from .specified import Array

SIGNS = 8
"""Of a line of text that is read, or of words that are heard, where nothing says how many."""


def labels_of(size: int, given: Array, found: Hints) -> Iterator[Array]:
    """Labels of a batch of what is given, the likeliest first."""
    shape = given[1]
    classes = [("int64", (size, 1)), ("int64", (size,))]
    is_wrapped = "np.array([" in found.text.replace(" ", "")
    is_number = re.search(r"np\.array\(\s*\[?\s*int|\bint\(", found.text) and not is_wrapped
    if is_number or _gives_entries(found):
        classes.reverse()
    wide: list[Array] = [("float32", (size, out)) for out in found.models.last_widths]
    numbers = list(dict.fromkeys([*wide, ("float32", (size, 1)), ("float32", (size,))]))
    dense: list[Array] = []
    if len(shape) >= 4:
        dense = [("int64", (size, *shape[2:])), ("int64", (size, 1, *shape[2:])), ("float32", shape)]
        dense += [("int64", (size, max(shape[1:])))]
        dense += [("float32", (size, shape[1], *sides)) for sides in found.sides if sides != shape[2:]]
        dense += [("float32", (size, out, *shape[2:])) for out in found.models.last_channels if out != shape[1]]
    elif len(shape) == 2 and (found.has_classes or given[0] != "int64"):  # a number for each id is no one's label
        dense = [("int64", shape), ("int64", (*shape, 1)), ("float32", shape)]
    elif len(shape) == 3:
        foretold = [number for name, number in found.numbers.items() if _FORETOLD.search(name)]
        foretold += [number for number in windows(found) if number not in {shape[1], *foretold}]
        dense = [("float32", shape), ("int64", shape[:2])]
        dense += [("float32", (size, number, shape[2])) for number in foretold]
    if found.has_boxes:  # a class and four corners for each thing
        dense.insert(0, ("float32", (size, 1, 5)))
    if found.has_sequences:  # signs that stand in a row, of the type that `ctc_loss` takes
        yield "int32", (size, SIGNS)
    yield from [*classes, *dense, *numbers] if found.has_classes else [*numbers, *dense[::-1], *classes]


_FORETOLD = re.compile(
    r"(?i)^(pred(iction)?|label|horizon|out(put)?|forecast|tgt|target)_?(len(gth)?|steps?|size|win(dow)?)?$"
)
"""What numbers of steps are called that a series is foretold for."""
COLUMN = re.compile(r"reshape\(\s*[\[(]?\s*-1\s*,\s*1\b|newaxis|\[\s*:\s*,\s*None\s*\]|expand_dims")
"""How numbers are put into a column of their own."""


def _gives_entries(found: Hints) -> bool:
    """Whether the label of a sample is an entry of something (`return self.x[i], self.y[i]`), and nothing speaks of
    columns: a batch has one number for each sample then."""
    given = (node.value.elts[-1] for part in syntax.walk(found.tree)
             if isinstance(part, ast.FunctionDef) and part.name == "__getitem__" for node in ast.walk(part)
             if isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple) and node.value.elts)  # fmt: skip
    return any(isinstance(one, ast.Subscript) for one in given) and not COLUMN.search(found.text)


def compared(predicted: Shape, found: Hints) -> Iterator[Array]:
    """What a loss compares predictions of a shape with: a class for each row of them, or as many numbers."""
    rows = predicted[:-1] or predicted
    classes = [("int64", rows), ("int64", (*rows, 1))]
    yield from [*classes, ("float32", predicted)] if found.has_classes else [("float32", predicted), *classes]
