"""What a model takes that has a branch for each kind of data: pictures and rows of a table, two encoded sequences."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from functools import partial
from typing import Any

from ..hints import Hints
from ..numbers import ASSUMED, CELLS
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
    """Batches for a model with a branch for each kind of data: its parts' first layers say the channels of pictures, in
    order the sizes in the cells, or how wide rows are."""
    for model in found.models.outer[:2]:
        taken = len(inspect.signature(model.forward).parameters)
        leaves = [[leaf for leaf in part.sublayers(include_self=True) if not leaf._sub_layers and leaf.parameters()]
                  for part in model.children()]  # fmt: skip
        if not 1 < taken < count:
            continue
        firsts = [one[0] for one in leaves if one][:taken]
        given = [one for one in map(partial(_rows_of, size, found), firsts) if one is not None]
        channels = [int(one._in_channels) for one in firsts if hasattr(one, "_in_channels")]
        sides = list(dict.fromkeys(found.sides))
        if len(channels) == taken and sides:
            chosen = [sides[min(number, len(sides) - 1)] for number in range(taken)]
            given = [("float32", (size, wide, *side)) for wide, side in zip(channels, chosen, strict=True)]
        if len(given) < taken:
            continue
        for label in labels_of(size, given[0], found):
            yield CELLS if channels else ASSUMED, [*given, *[label] * (count - taken)]


def _rows_of(size: int, found: Hints, layer: Any) -> Array | None:
    """What the first layer of a branch takes that is no picture: rows, or sequences of them."""
    kind = type(layer).__name__
    if kind in {"Linear", "BatchNorm1D"}:
        return "float32", (size, int(layer.weight.shape[0]))
    if hasattr(layer, "input_size"):
        return "float32", (size, next(length for _, length in lengths_of(found)), int(layer.input_size))
    return None
