"""Inside the step, for `--details`: the model's tree with its memory and FLOPs, and what is alive at the peak."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING, NamedTuple

from ...domain.estimates import AliveTensor, Estimate, LayerMemory
from .. import markup
from ..speech import Speech, count, operations, size

if TYPE_CHECKING:
    from rich.console import RenderableType

LEAST_SHARE = 0.02
"""Below this part of the step's parameters, activations and FLOPs alike a layer is counted in its parent's row only."""
MOST_LAYERS = 40
"""Rows of the tree; the smallest layers go first."""
MOST_TENSORS = 10
"""Rows of what is alive at the peak."""
MOST_INPUTS = 6
"""Tensors of a batch that are named; a step that makes numbers of its own (meters, rates) has hundreds."""


class Row(NamedTuple):
    """A layer, or `members` neighbours that are alike (the blocks of a transformer), with their sums."""

    depth: int
    name: str
    type: str
    parameter_bytes: int
    activation_bytes: int
    flops: int
    members: int = 1


def batch(estimate: Estimate, say: Speech) -> str:
    """A batch's size and its tensors: those with the batch in front where there are any, each kind once."""
    inputs = dict.fromkeys(estimate.inputs)
    leads = f"[{estimate.batch_size}"
    named = [one for one in inputs if f"{leads}," in one or f"{leads}]" in one] or list(inputs)
    if not named:
        return count(estimate.batch_size)
    shown = ", ".join(named[:MOST_INPUTS])
    if len(named) > MOST_INPUTS:
        shown = say("{tensors} and {count} more", tensors=shown, count=count(len(named) - MOST_INPUTS))
    return f"{count(estimate.batch_size)}  ({shown})"


def shown_layers(estimate: Estimate) -> tuple[Row, ...]:
    """The layers that matter in the model's own order, alike neighbours as one row; with each the layers above it."""
    layers = {layer.path: layer for layer in estimate.layers}
    root = layers.get("")
    if root is None:
        return ()
    children: dict[str, list[str]] = {path: [] for path in layers}
    for path in layers:
        if path:
            children.setdefault(path.rpartition(".")[0], []).append(path)
    rows = [row for row in _rows([""], 0, layers, children) if _weight(row, root) >= LEAST_SHARE]
    least = sorted((_weight(row, root) for row in rows), reverse=True)[:MOST_LAYERS][-1]
    # A parent weighs no less than its children, so that a cut by weight leaves no orphan.
    return tuple(row for row in rows if _weight(row, root) >= least)


def _rows(
    alike: list[str], depth: int, layers: dict[str, LayerMemory], children: dict[str, list[str]]
) -> Iterator[Row]:
    """The row of some alike layers and the rows below it, each over what corresponds in all of them."""
    same = [layers[path] for path in alike]
    first, last = (path.rpartition(".")[2] or "·" for path in (alike[0], alike[-1]))
    yield Row(
        depth=depth,
        name=first if first == last else f"{first}–{last}",
        type=same[0].type,
        parameter_bytes=sum(layer.parameter_bytes for layer in same),
        activation_bytes=sum(layer.activation_bytes for layer in same),
        flops=sum(layer.flops for layer in same),
        members=len(alike),
    )
    for group in _alike(children[alike[0]], layers, children):
        # The same places below every member; members are alike, so that they are there.
        places = [children[alike[0]].index(path) for path in group]
        yield from _rows([children[path][place] for path in alike for place in places], depth + 1, layers, children)


def _alike(paths: list[str], layers: dict[str, LayerMemory], children: dict[str, list[str]]) -> Iterator[list[str]]:
    """Neighbours with numbers for names and the same shape, together; the others alone."""

    def key(path: str) -> object:
        return _shape_of(path, layers, children) if path.rpartition(".")[2].isdigit() else path

    for _, group in itertools.groupby(paths, key):
        yield list(group)


def _shape_of(path: str, layers: dict[str, LayerMemory], children: dict[str, list[str]]) -> object:
    layer = layers[path]
    below = tuple(_shape_of(child, layers, children) for child in children[path])
    return (layer.type, layer.parameter_bytes, layer.flops, below)


def compute(estimate: Estimate, say: Speech) -> str:
    """`4.94 G (forward 1.65 G, backward 3.26 G)`."""
    whole = operations(estimate.flops_per_step)
    if not estimate.flops_backward:
        return whole
    return say(
        "{whole} (forward {forward}, backward {backward})",
        whole=whole,
        forward=operations(estimate.flops_forward),
        backward=operations(estimate.flops_backward),
    )


def traffic(estimate: Estimate, say: Speech) -> str:
    """`461 MiB, 10.2 FLOPs a byte`."""
    return say(
        "{moved}, {intensity} FLOPs a byte",
        moved=size(estimate.bytes_moved),
        intensity=f"{estimate.arithmetic_intensity or 0:.1f}",
    )


def rich(estimate: Estimate, say: Speech) -> list[RenderableType]:
    """Both tables for a terminal."""
    from rich.text import Text

    from ..drawing import FittingTable

    parts: list[RenderableType] = []
    for table in _tables(estimate, say):
        rows = [[Text(cell) for cell in row] for row in table.rows]
        fitting = FittingTable(
            table.heads,
            rows,
            optional=table.optional,
            folding=range(table.figures),
            right=range(table.figures, len(table.heads)),
            title=table.title,
        )
        parts += [Text(), fitting]
    return parts


def html(estimate: Estimate, say: Speech) -> str:
    """Both tables for a cell."""
    return "".join(
        markup.section(
            table.title,
            markup.table(([escape(cell).replace("  ", "&emsp;") for cell in row] for row in table.rows), table.heads),
        )
        for table in _tables(estimate, say)
    )


class Table(NamedTuple):
    """What is drawn as one: `figures` is the first column of numbers, `optional` what a narrow terminal leaves out."""

    title: str
    heads: tuple[str, ...]
    rows: list[tuple[str, ...]]
    figures: int
    optional: tuple[int, ...]


def _tables(estimate: Estimate, say: Speech) -> Iterator[Table]:
    if layers := shown_layers(estimate):
        heads: tuple[str, ...] = (
            say("Layer"),
            say("Type"),
            say("Parameters"),
            say("Activations"),
            say("FLOPs forward"),
        )
        yield Table(say("By layer"), heads, [_layer_row(row) for row in layers], figures=2, optional=(1, 4))
    if alive := estimate.alive_at_peak[:MOST_TENSORS]:
        heads = (say("Made by"), say("Layer"), say("Tensor"), say("Size"))
        rows = [_tensor_row(one, layer_name(estimate, one.layer)) for one in alive]
        yield Table(say("Largest at the peak"), heads, rows, figures=3, optional=(1,))


def layer_name(estimate: Estimate, path: str) -> str:
    """A layer as people call it: a path without a word (`2`, `0.1`) says nothing without the layer's type."""
    if not path.replace(".", "").isdigit():
        return path
    return next((f"{path}: {one.type}" for one in estimate.layers if one.path == path), path)


def _tensor_row(alive: AliveTensor, layer: str) -> tuple[str, ...]:
    return (alive.op or alive.kind, layer, _shape(alive.dtype, alive.shape), size(alive.bytes))


def _layer_row(row: Row) -> tuple[str, ...]:
    kind = row.type if row.members == 1 else f"{row.type} × {row.members}"
    sizes = (size(row.parameter_bytes), size(row.activation_bytes), operations(row.flops))
    return ("  " * row.depth + row.name, kind, *sizes)


def _shape(dtype: str, shape: tuple[int, ...]) -> str:
    return f"{dtype}[{', '.join(map(str, shape))}]" if dtype else ""


def _weight(row: Row, root: LayerMemory) -> float:
    """The largest of the row's shares of what the whole model has."""
    return max(
        row.parameter_bytes / max(root.parameter_bytes, 1),
        row.activation_bytes / max(root.activation_bytes, 1),
        row.flops / max(root.flops, 1),
    )
