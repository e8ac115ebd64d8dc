"""Batches of pictures with boxes around things, as a loop takes them apart by names: `img, boxes, labels, scale`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...sites import name_of
from ...syntax import nodes
from ..hints import Hints
from ..numbers import ASSUMED
from .constants import all_numbers
from .specified import Array, Sourced

_BOXES = re.compile(r"(?i)box|rois?$")
_CLASSES = re.compile(r"(?i)label|cls|class|categor")
_SCORES = re.compile(r"(?i)score|weight|diffic|crowd")
_SIZES = re.compile(r"(?i)scale|shape|size|(^|_)(hw|wh|info)($|_)")
_SIDE = re.compile(r"(?i)im(g|age)?_?(size|side|dim)|input_?size")
_ZEROS = frozenset(("zeros", "ones", "full", "empty"))
_CORNERS = 4
MOST = 50
"""Boxes of a picture where nothing says how many there are at most: `num_max_boxes` of PaddleDetection's YOLOv3."""


def boxed(size: int, inputs: list[Sourced], found: Hints) -> Iterator[tuple[str, list[Array]]]:
    """Such batches: of each picture as many boxes as the code makes room for (`np.zeros((50, 4))`), and as many
    classes and scores; sides that a data set keeps (`self.img_size = 640`) come before those of the cells.

    Args:
        inputs: what the model may take.
    """
    names = found.unpacked
    kinds = [_kind(name) for name in names]
    if "boxes" not in kinds or kinds[0] or kinds.count("") > 1:
        return
    pictures = [(dtype, shape) for _, dtype, shape in inputs if len(shape) == 4]  # NCHW
    kept = set(_kept(found))
    boxes = _most(found)
    whole = "int32" if "int32" in found.text else "int64"
    each: dict[str, Array] = {
        "boxes": ("float32", (size, boxes, _CORNERS)),
        "classes": (whole, (size, boxes)),
        "scores": ("float32", (size, boxes)),
        "sizes": ("float32", (size, 2)),
    }
    for dtype, shape in sorted(pictures, key=lambda one: one[1][-1] not in kept):
        yield ASSUMED, [each.get(kind, (dtype, shape)) for kind in kinds]


def _kind(name: str) -> str:
    rows = (("scores", _SCORES), ("classes", _CLASSES), ("boxes", _BOXES), ("sizes", _SIZES))
    return next((kind for kind, words in rows if words.search(name)), "")


def _kept(found: Hints) -> Iterator[object]:
    """The sides that objects of the program's own keep."""
    for node in (node for source in found.sources for node in nodes(source)):
        match node:
            case ast.Assign(targets=[ast.Attribute(ast.Name("self"), attr)], value=ast.Constant(side)):
                yield from [side] if _SIDE.search(attr) else []


def _most(found: Hints) -> int:
    """How many boxes of a picture the code makes room for."""
    known = all_numbers(found)
    for node in (node for source in found.sources for node in nodes(source)):
        match node:
            case ast.Call(
                func=func, args=[ast.Tuple([rows, ast.Constant(value=4)]) | ast.List([rows, ast.Constant(4)]), *_]
            ):
                number = rows.value if isinstance(rows, ast.Constant) else known.get(getattr(rows, "id", ""), 0)
                if name_of(func) in _ZEROS and isinstance(number, int) and number > 1:
                    return number
    return MOST
