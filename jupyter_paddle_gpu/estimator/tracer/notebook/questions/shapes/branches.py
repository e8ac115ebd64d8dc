"""What a model takes that has a branch for each kind of data: pictures and rows of a table, two encoded sequences."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from itertools import product
from typing import Any

from ... import syntax
from ...syntax import nodes
from ..hints import Hints, Shape
from ..models import input_width
from ..numbers import ASSUMED, CELLS, SIDE, SMALL
from .constants import all_numbers
from .inputs import lengths_of
from .labels import labels_of
from .specified import Array

_LONG = re.compile(r"(?i)(^|_)(max|len|length|maxlen|seqlen|seq)(_|$)|max_?len")
_OTHERWISE = re.compile(
    r"(?i)epoch|iter|step|norm|grad|lr|rate|depth|layer|class|vocab|words|tokens|batch|num|dim|pool"
)
"""What numbers are called that say how long a sequence is, and those that say something else of the most there is."""
_CHEMICAL = re.compile(r"(?i)smi|drug|ligand|compound|mol")
_BIOLOGICAL = re.compile(r"(?i)prot|target|fasta|amino|pocket")
SMILES, PROTEIN = 100, 1_000
"""How many signs of a molecule's and of a protein's text models take that read both, where nothing says it: DeepDTA's,
https://doi.org/10.1093/bioinformatics/bty593."""


def encoded(size: int, count: int, found: Hints) -> Iterator[tuple[str, list[Array]]]:
    """Batches for a model that reads several texts, each by a table of its own, of which the cells say how long they
    are: by their names, else in their order."""
    for model in found.models.outer[:1]:
        names = list(inspect.signature(model.forward).parameters)
        tables = [one for one in model.sublayers() if type(one).__name__ == "Embedding"]
        if not 1 < len(names) < max(count, len(names) + 1) or len(tables) < len(names) or found.models.looks_entries_up:
            continue
        lengths = _lengths(names, found)
        if lengths is None or not found.models.takes_ids:
            continue
        source, sides = lengths
        given: list[Array] = [("int64", (size, side)) for side in sides]
        for label in labels_of(size, given[0], found):
            yield source, [*given, *[label] * (max(count, len(names) + 1) - len(names))]


def _lengths(names: list[str], found: Hints) -> tuple[str, list[int]] | None:
    """How long what is taken by each name is, and what says so; None where nothing tells them apart."""
    said = {name: int(value) for name, value in all_numbers(found).items()
            if value > 1 and _LONG.search(name) and not _OTHERWISE.search(name)}  # fmt: skip
    called = [names, *([list(found.unpacked[: len(names)])] if len(found.unpacked) > len(names) else [])]
    for own in called:
        by_name = [_of_name(name, said) for name in own]
        if all(by_name) and len(set(by_name)) > 1:
            return CELLS, [length for length in by_name if length is not None]
    if len(said) == len(names):
        return CELLS, list(said.values())
    tables = " ".join([*names, *found.unpacked, found.text])
    if not found.lengths and _CHEMICAL.search(tables) and _BIOLOGICAL.search(tables) and len(names) == 2:
        is_turned = _BIOLOGICAL.search(names[0]) is not None and _CHEMICAL.search(names[0]) is None
        return ASSUMED, [PROTEIN, SMILES] if is_turned else [SMILES, PROTEIN]
    return None


def _of_name(name: str, said: dict[str, int]) -> int | None:
    """The number that is called as a thing is (`max_smi_len` of `smiles`)."""
    words = [word for word in re.split(r"_|\d+", name.lower()) if len(word) > 2]
    for called, length in said.items():
        parts = [part for part in re.split(r"_|\d+", called.lower()) if len(part) > 2]
        if any(word.startswith(part) or part.startswith(word) for word in words for part in parts):
            return length
    return None


def branched(size: int, count: int, found: Hints) -> Iterator[tuple[str, list[Array]]]:
    """Batches for a model with a branch for each kind of data: the layer that each input goes to first says how wide it
    is; of rows nothing says whether they stand in a sequence, unless the model is one for sequences."""
    for model in found.models.outer[:2]:
        names = list(inspect.signature(model.forward).parameters)
        firsts = _entries(model, names, found)
        if not 1 < len(names) < count or len(firsts) < len(names):
            continue
        sides = list(dict.fromkeys(found.sides))
        channels = [one for one in firsts if hasattr(one, "_in_channels")]
        is_said = len(channels) == len(names) <= len(sides)
        ways = ((True, True), (False, True), (False, False))  # rows and ids in sequences, ids alone, neither
        for rows, ids in ways if found.models.reads_sequences(model) else ways[::-1]:
            deep = [ids if type(one).__name__ == "Embedding" else rows for one in firsts]
            given = [_input_of(size, found, one, number, is_deep=deep[number]) for number, one in enumerate(firsts)]
            arrays = [one for one in given if one is not None]
            if len(arrays) == len(names):
                for label in labels_of(size, arrays[0], found):
                    yield CELLS if is_said else ASSUMED, _placed(arrays, label, count, found)


def _placed(arrays: list[Array], label: Array, count: int, found: Hints) -> list[Array]:
    """A batch whose things stand where the loop takes them for a model (`net(mels, faces)` of `faces, mels, wanted`),
    the others being labels."""
    for node in syntax.walk(found.tree):
        match node:
            case ast.Call(args=[*given]) if len(given) == len(arrays) and all(
                isinstance(one, ast.Name) for one in given
            ):
                called = [one.id for one in given if isinstance(one, ast.Name)]
                if set(called) <= set(found.unpacked) and len(found.unpacked) == count:
                    own = dict(zip(called, arrays, strict=True))
                    return [own.get(name, label) for name in found.unpacked]
    return [*arrays, *[label] * (count - len(arrays))]


def _entries(model: Any, names: list[str], found: Hints) -> list[Any]:
    """The layer with weights that each argument of a model's `forward` goes to first: what its code calls with it
    (`self.text(words)`), else those of its parts in their order."""
    parts = {name: _leaves(part) for name, part in model.named_children()}
    called: dict[str, str] = {}
    whole = (node for made in _forward_of(model, found) for node in ast.walk(made) if isinstance(node, ast.Call))
    for node in sorted(whole, key=lambda one: (one.lineno, one.col_offset)):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=part), args=[*args]):
                given = [one.id for one in args if isinstance(one, ast.Name)]
                for name in given if parts.get(part) else ():
                    called.setdefault(name, part)
    if all(name in called for name in names):
        return [parts[called[name]][0] for name in names]
    return [leaves[0] for leaves in parts.values() if leaves][: len(names)]


def _leaves(part: Any) -> list[Any]:
    layers = part.sublayers(include_self=True)
    return [one for one in layers if hasattr(one, "input_size") or (not one._sub_layers and one.parameters())]


def _forward_of(model: Any, found: Hints) -> list[ast.FunctionDef]:
    """The code of a model's `forward`."""
    whole = (node for source in found.sources for node in nodes(source))
    kinds = (one for one in whole if isinstance(one, ast.ClassDef) and one.name == type(model).__name__)
    return [one for kind in kinds for one in kind.body if isinstance(one, ast.FunctionDef) and one.name == "forward"]


def _input_of(size: int, found: Hints, layer: Any, number: int, *, is_deep: bool) -> Array | None:
    """What a branch takes by its first layer.

    Args:
        number: of the branch; a picture's sides are those in the cells in their order.
        is_deep: whether rows and ids stand in sequences.
    """
    kind = type(layer).__name__
    length = next(length for _, length in lengths_of(found))
    inner = (length,) if is_deep else ()
    if hasattr(layer, "_in_channels"):
        sides = list(dict.fromkeys(found.sides))
        side = sides[min(number, len(sides) - 1)] if sides else (SIDE, SIDE)
        wide = int(layer._in_channels)
        return "float32", (size, wide, length) if "1D" in kind else (size, wide, *side)
    if kind in {"Linear", "BatchNorm1D"}:
        return "float32", (size, *inner, int(layer.weight.shape[0]))
    if kind == "Embedding":
        return "int64", (size, *inner)
    if (width := input_width(layer)) is not None:
        return "float32", (size, length, width)
    return None


def framed(size: int, count: int, found: Hints) -> Iterator[tuple[str, list[Array]]]:
    """Batches of sequences of pictures, or of other things of which the code of a model's `forward` says how many axes
    they have (`b, t, c, h, w = x.shape`)."""
    for model in found.models.outer[:2]:
        forward = _forward_of(model, found)
        axes = max((_axes(node) for made in forward for node in ast.walk(made)), default=0)
        first = next(
            (one for one in _leaves(model) if hasattr(one, "_in_channels") and "2D" in type(one).__name__), None
        )
        if axes != _FRAMED or first is None:
            continue
        sides = list(dict.fromkeys(found.sides)) or [(SMALL, SMALL)]
        known = [value for name, value in all_numbers(found).items() if _FRAMES.search(name) and value > 1]
        shapes: list[tuple[str, Shape]] = [
            (CELLS if known and found.sides and len({*known}) == 1 else ASSUMED, (size, frames, channels, *side))
            for frames, side in product([*map(int, known), FRAMES], sides[:2])
            for channels in dict.fromkeys((int(first._in_channels), 1, 3))
        ]
        for source, shape in shapes:
            frames = shape[1] * (1 if count > 1 else 2)  # those that are foretold stand behind those that are given
            yield source if count > 1 else ASSUMED, [("float32", (size, frames, *shape[2:]))] * max(count, 1)
        for source, shape in shapes if count == _PAIR else ():
            yield from ((source, [("float32", shape), label]) for label in labels_of(size, ("float32", shape), found))


def _axes(node: ast.AST) -> int:
    """Into how many sides the code takes a shape apart; 0 where it does not."""
    match node:
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Attribute(value=ast.Name(), attr="shape")):
            return len(names)
    return 0


_FRAMES = re.compile(
    r"(?i)(^|_)(t(_?in|_?out)?|frames?|in_?len|seq_?len|input_?(len|length|frames)|time_?steps?|n_?past)$"
)
"""What numbers of frames are called."""
_FRAMED, FRAMES = 5, 10
"""Axes of pictures in a sequence; how many there are where nothing says it."""
_PAIR = 2
