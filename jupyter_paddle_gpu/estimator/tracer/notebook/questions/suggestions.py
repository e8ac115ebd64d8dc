"""What a batch of data that is not here may look like: from saved outputs, from transforms and constants in the cells,
from what the first layer takes.

Each suggestion is tried in a trace before it is made: what the model refuses is not suggested.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from itertools import islice, product, zip_longest
from typing import Any

from ...undecided.needs import Need
from .. import syntax
from .corpora import PUBLISHED, nodes
from .hints import Hints, Shape
from .numbers import ASSUMED, BATCH, CELLS, LAYER, PRINTED, batch_size, columns, values
from .shapes.boxes import boxed
from .shapes.branches import branched, encoded, framed
from .shapes.inputs import first_inputs, lengths_of
from .shapes.labels import COLUMN, compared, labels_of
from .shapes.signals import signals
from .shapes.specified import Array, Sourced, specification

Suggestion = tuple[str, str]
"""An answer, and where it comes from."""
HELD = "kernel"
_PAIR = 2
"""Things of a batch that are what a model takes and its labels."""
PARTS = 8
"""Batches of which a tensor of all rows is made, where nothing says how many there are."""
ROWS = 1_000
"""Rows of a table that is taken as one tensor: those that courses have mostly hold from 150 to 1,500."""
_TABLE = re.compile(r"\bread_(csv|excel|table)\(|\b(loadtxt|genfromtxt)\(|\bcsv\.(reader|DictReader)\(")
LIKELY = 4
"""Labels that are tried with each input of a batch before its others."""
MOST, MOST_PRINTED = 40, 8
"""Suggestions of one question that are tried."""


def of_need(need: Need, found: Hints) -> Iterator[tuple[Any, str]]:
    """What the answer may be, the likeliest first, each with where that comes from."""
    return batches(need, found) if need.kind == "batch" else values(need, found)


def batches(need: Need, found: Hints) -> Iterator[Suggestion]:
    """Descriptions of a batch, the likeliest first, each with where it comes from."""
    said = need.batch_size or batch_size(found)
    is_table = need.why == "tensor_unseen" and _TABLE.search(found.text) is not None
    graph = [rows for where, rows in [nodes(found.text)] if where == PUBLISHED and need.why == "tensor_unseen"]
    size = said or next(iter(graph), ROWS if is_table else BATCH)
    seen: set[str] = set()
    for source, arrays in _batches(need, found, size):
        text = _text(arrays, found.names)
        if text not in seen:
            seen.add(text)
            yield text, source if said else ASSUMED


def _batches(need: Need, found: Hints, size: int) -> Iterator[tuple[str, list[Array]]]:
    inputs = list(islice(first_inputs(size, found), 12))
    if need.why == "tensor_unseen" or _is_of_rows(found):
        tensors = [one for one in _tensors(need, found, size, inputs) if need.dtype in {"", one[1][0][0]}]
        if re.search(rf"\b{re.escape(need.name or '-')}\s*\[[^\]\n]*:", found.text):  # of all rows each batch is a part
            # As many as of what was described before, where that is of all rows.
            rows = next((shape[0] for _, shape in found.answered[:1] if shape), 0)
            fewer = [things for _, things in tensors if things[0][1] and things[0][1][0] < rows]
            yield from ((ASSUMED, [(dtype, (rows, *shape[1:])) for dtype, shape in things]) for things in fewer)
            yield from ((ASSUMED, [_longer(thing) for thing in things]) for _, things in tensors)
        yield from tensors
        return
    yield from _declared(size, found)
    given = list(dict.fromkeys((dtype, shape) for _, dtype, shape in inputs))
    source = {(dtype, shape): where for where, dtype, shape in reversed(inputs)}
    handed = _handed(found)
    count = len(found.partly) or (len(handed) + 1 if handed else found.items or 2)
    yield from _of_specifications(size, found)
    yield from islice(_by_parameters(size, handed, inputs, found), MOST_PRINTED)
    yield from islice(boxed(size, inputs, found), MOST_PRINTED)
    yield from islice(framed(size, count, found), MOST_PRINTED)
    yield from islice(encoded(size, count, found), MOST_PRINTED)
    yield from islice(_by_names(size, given, source, found), MOST_PRINTED)
    whole = list(islice(_whole(size, count, found), MOST_PRINTED))
    printed = [one for one in whole if not _is_wider(one[1])]
    yield from (one for one in printed if found.partly and _agrees(one[1], found))
    yield from islice(_completed(given, source, found, size), MOST_PRINTED)
    yield from printed
    yield from islice(branched(size, count, found), 2 * MOST_PRINTED)
    if count == _PAIR:
        yield from ((CELLS, one) for one in signals(size, found.numbers))
    if found.is_whole and not found.partly:
        yield from ((source[one], [one]) for one in given)
    for labels in range(1 if count > 1 else 0, max(count, 1)):
        for one in given:
            if not labels:
                yield source[one], [one] * count
                continue
            for label in labels_of(size, one, found):
                # Nothing says what else stands in a batch, nor whether a number of each sample has a column of its own.
                is_open = count > _PAIR or (label == ("float32", (size, 1)) and not COLUMN.search(found.text))
                yield ASSUMED if is_open else source[one], [*[one] * (count - labels), *[label] * labels]
    yield from (one for one in whole if one not in printed)


def _is_wider(batch: list[Array]) -> bool:
    """Whether something of a batch has more axes than what a model takes of it: shapes that were printed so one
    behind the other are rather those of two things that another cell made."""
    return max((len(shape) for _, shape in batch[1:]), default=0) > len(batch[0][1])


def _longer(thing: Array) -> Array:
    dtype, shape = thing
    return dtype, (PARTS * shape[0], *shape[1:]) if shape else shape


def _declared(size: int, found: Hints) -> Iterator[tuple[str, list[Array]]]:
    """Batches of what a static program declares that it is fed with, and single samples of it, which the program itself
    puts into a batch."""
    length = next(length for _, length in lengths_of(found))
    sides = [(dtype, [length if side is None else side for side in shape[1:]]) for dtype, shape in found.declared]
    if sides:
        yield CELLS, [(dtype, (size, *rest)) for dtype, rest in sides]
        yield CELLS, [(dtype, tuple(rest)) for dtype, rest in sides]


def _is_of_rows(found: Hints) -> bool:
    """Whether all but the number of rows is known of one tensor."""
    parts = [part[1] for part in found.partly if part is not None]
    return len(found.partly) == len(parts) == 1 and parts[0][:1] == (None,) and None not in parts[0][1:]


def _tensors(need: Need, found: Hints, size: int, inputs: list[Sourced]) -> Iterator[tuple[str, list[Array]]]:
    """What one tensor may look like, which the program makes of data, or hands to its model, without a loader."""
    given = [(dtype, shape) for _, dtype, shape in inputs]
    source = {(dtype, shape): where for where, dtype, shape in reversed(inputs)}
    if need.is_index:
        yield CELLS, [("int64", (size,))]
        return
    for dtype, row in filter(None, found.partly):  # how many rows it has, nobody knows
        rows = CELLS if need.batch_size else ASSUMED
        for where, length in lengths_of(found) if None in row[1:] else [(rows, size)]:
            first, *sides = row
            rest = (length if side is None else side for side in sides)
            yield where, [(dtype, (size if first is None else first, *rest))]
    yield from ((CELLS, [one]) for one in _cut(need, found, size))
    yield from _beside_answered(need, found)
    if predicted := found.models.predicted:  # of a label its loss has the other half
        yield from ((LAYER, [one]) for one in compared(predicted, found))
        return
    if _ADJACENT.search(need.name) and "adj" in found.text.lower():
        where, count = nodes(found.text)
        between: Array = "float32", (count, count)
        yield where, [between]
    for dtype, shape in found.answered[:1]:  # what is learnt of a tensor that was asked for before
        if shape[1:] == shape[:1]:  # what each node of a graph has
            for wide in dict.fromkeys(one[1][-1] for one in given if one[0] == "float32"):
                own: Array = "float32", (shape[0], wide)
                yield LAYER, [own]
        yield from ((LAYER, [one]) for one in labels_of(shape[0], (dtype, shape), found))
        yield ASSUMED, [("float32", (shape[0], shape[0]))]  # how nodes of a graph hang together
    yield from ((source[one], [one]) for one in dict.fromkeys(given))
    if found.models.takes_ids:  # what stands beside the ids is no id: a weight or a wanted number of each sample
        weights: list[Array] = [("float32", (size,)), ("float32", (size, 1))]
        yield from ((ASSUMED, [one]) for one in weights)
    for dtype, shape in dict.fromkeys(given):  # one sample, which the program itself puts into a batch
        yield source[dtype, shape], [(dtype, shape[1:])]
    for side in dict.fromkeys(found.sides) if _PICTURE.search(found.text) else ():  # in color, channels last; in gray
        shapes: tuple[Shape, ...] = (*side, 3), side
        yield from ((CELLS, [(need.dtype or "float32", shape)]) for shape in shapes)


_PICTURE = re.compile(r"\b(Image\.open|imread)\(")
"""What reads one picture."""


def _cut(need: Need, found: Hints, size: int) -> Iterator[Array]:
    """What is cut out of a matrix by places that the cells say: `prompts[i : i + 16, :LENGTH]`."""
    for node in syntax.walk(found.tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name == need.name:
                for part in ast.walk(value):
                    match part:
                        case ast.Subscript(slice=ast.Tuple(elts=[ast.Slice(), ast.Slice(lower=None, upper=upper)])):
                            wide = getattr(upper, "value", found.numbers.get(getattr(upper, "id", ""), 0))
                            if type(wide) is int and wide > 1:
                                yield "int64" if found.models.takes_ids else "float32", (size, wide)


_OF_LOSS = re.compile(r"(?i)loss|crit|entropy|mse|l1|bce|metric|acc")


def _is_input(need: Need, found: Hints) -> bool:
    """Whether a tensor is handed to a model beside others: `net(prompts, tokens)`."""
    for node in syntax.walk(found.tree):
        match node:
            case ast.Call(func=ast.Name(id=called), args=[_, _, *_] as given) if not _OF_LOSS.search(called):
                if any(isinstance(one, ast.Name) and one.id == need.name for one in given):
                    return True
    return False


def _beside_answered(need: Need, found: Hints) -> Iterator[tuple[str, list[Array]]]:
    """What stands beside a tensor that was described: the film of a user, numbers of the same samples."""
    for dtype, shape in found.answered[:1]:
        is_joined = len(shape) > 1 and need.dtype in {"", dtype} and _is_input(need, found)
        if dtype == "int64" and (found.models.looks_entries_up or is_joined):
            yield ASSUMED, [(dtype, shape)]
        if need.dtype and len(shape) == 1:
            yield LAYER, [(need.dtype, shape)]


_LENGTHS = re.compile(r"(?i)(^|_)((seq)?lens?|lengths?|ids?x?|index|indices)$(?<![a-z]_ids)|(user|item|movie)_ids$")
_LABELS = re.compile(r"(?i)label|target|class|(^|_)(y|gt|tags?|scores?|answers?)($|_)")
"""What things of a batch are called that are one whole number of each sample, and what its labels are."""


def _by_names(
    size: int, given: list[Array], source: dict[Array, str], found: Hints
) -> Iterator[tuple[str, list[Array]]]:
    """Batches of things with names, which say what is a length, what a label, and what the model takes."""
    names = found.names or (found.unpacked if any(map(_LENGTHS.search, found.unpacked)) else ())
    if not names:
        return
    own = [name for name in names if _LABELS.search(name)] or [names[-1]]
    labelled = [[(one, label) for label in labels_of(size, one, found)] for one in given]
    # The likeliest labels with each input first: for an input that the model refuses no label helps.
    likely, others = (
        [part for pairs in labelled for part in pairs[way]] for way in (slice(LIKELY), slice(LIKELY, None))
    )
    for one, label in (*likely, *others):
        number: Array = "int64", (size,)
        batch = [number if _LENGTHS.search(name) else label if name in own else one for name in names]
        if len(found.partly) in {0, len(batch)}:
            batch = [_filled(part, guess, found) for part, guess in zip_longest(found.partly, batch)]
            yield source[one] if len(names) == _PAIR else ASSUMED, batch


def _handed(found: Hints) -> list[str]:
    """By what names a network of several inputs takes what `fit` of its `paddle.Model` hands on of a batch, the labels
    behind them; empty where the program's own code says what a batch holds."""
    for model in found.models.wrapped[-1:]:
        names = [one.name for one in model._inputs or ()]
        if len(names) > 1 and model._loss is not None and len(found.partly) in {0, len(names) + 1}:
            return names
    return []


def _by_parameters(size: int, handed: list[str], inputs: list[Sourced], found: Hints) -> Iterator[Any]:
    """Batches of what a network takes by the names of its parameters, and the labels of its loss."""
    for where, dtype, shape in inputs if handed else ():
        things = [("int64", (size,)) if _LENGTHS.search(name) else (dtype, shape) for name in handed]
        for label in labels_of(size, (dtype, shape), found):
            yield where, [_filled(*one, found) for one in zip_longest(found.partly, [*things, label])]


def _filled(part: tuple[str, tuple[int | None, ...]] | None, guess: Array, found: Hints) -> Array:
    """A thing as the program's own code says it, with the length of a sequence where that hangs on the data."""
    if part is None:
        return guess
    length = next(length for _, length in lengths_of(found))
    return part[0], tuple(length if side is None else side for side in part[1])


_ADJACENT = re.compile(r"(?i)^(norm\w*_)?(adj\w*|a|a_?hat|lap\w*|graph|edges?)(_\w+)?$")
"""What cells call how the nodes of a graph hang together."""


def _completed(
    given: list[Array], source: dict[Array, str], found: Hints, size: int
) -> Iterator[tuple[str, list[Array]]]:
    """Batches of which the program's own code says a part; the rest is what the first layer takes, and labels."""
    yield from _of_one_length(found)
    choices: list[list[Array]] = []
    assumed: set[Array] = set()
    for number, part in enumerate(found.partly):
        labels = list(labels_of(size, choices[0][0], found)) if number and choices[0] else []
        if part is None:
            is_last = number == len(found.partly) - 1
            table = [("float32", (size, wide)) for wide in columns(found) if not is_last]
            choices.append([*table, *labels] if number else given)
            continue
        dtype, shape = part
        if not number and part == ("int64", (size,)) and found.models.first and not found.models.takes_ids:
            # A row of an array that is not here looks like a number to the code that puts rows into a batch.
            choices.append([*given, ("int64", (size,))])
            continue
        as_long = {(dtype, tuple(length if side is None else side for side in shape)): where
                   for where, length in reversed(list(lengths_of(found)))}  # fmt: skip
        known = [(dtype, one) for _, one in given if _matches(one, shape)]
        if None not in shape:
            choices.append([(dtype, tuple(side or 0 for side in shape))])
        elif number:  # labels that are as long as the text they are of
            choices.append(list(dict.fromkeys([*reversed(as_long), *labels])))
            assumed |= {one for one, where in as_long.items() if where == ASSUMED}
        else:
            choices.append(list(dict.fromkeys(known)))
    if choices and all(choices):
        for one in product(*choices):
            yield source.get(one[0], CELLS) if assumed.isdisjoint(one) else ASSUMED, list(one)


def _of_one_length(found: Hints) -> Iterator[tuple[str, list[Array]]]:
    """Batches of which the program's code says all but how long a sequence of ids is: what stands beside it (a mask, a
    label for each id) is as long."""
    parts = [part for part in found.partly if part is not None]
    open_sides = [shape.count(None) for _, shape in parts]
    is_of_ids = any(dtype == "int64" and None in shape for dtype, shape in parts)
    if is_of_ids and len(parts) == len(found.partly) and open_sides.count(1) > 1 and max(open_sides) == 1:
        for source, length in lengths_of(found):
            yield source, [(dtype, tuple(length if side is None else side for side in shape)) for dtype, shape in parts]


def _matches(shape: Shape, known: tuple[int | None, ...]) -> bool:
    return len(shape) == len(known) and all(b in {None, a} for a, b in zip(shape, known, strict=True))


def _of_specifications(size: int, found: Hints) -> Iterator[tuple[str, list[Array]]]:
    """Batches that a `paddle.Model` specifies, as far as the program's own code says nothing else."""
    for model in found.models.wrapped:
        specified = [specification(spec, size) for spec in [*(model._inputs or ()), *(model._labels or ())]]
        whole = [one for one in specified if one is not None]
        if not model._labels or len(whole) < len(specified):
            continue
        if len(found.partly) != len(whole) or _agrees(whole, found):
            yield CELLS, whole


def _agrees(batch: list[Array], found: Hints) -> bool:
    """Whether a batch is as the program's own code says, as far as that says anything."""
    pairs = zip(found.partly, batch, strict=False)
    return all(part is None or (part[0] == dtype and _matches(shape, part[1])) for part, (dtype, shape) in pairs)


def _whole(size: int, count: int, found: Hints) -> Iterator[tuple[str, list[Array]]]:
    """Batches whose shapes were printed one behind the other, or those of all data."""
    shapes = [shape for shape in found.printed if shape[0] == size]
    for of_data in _runs([shape for shape in found.printed if shape[0] > size], count):
        if len({shape[0] for shape in of_data}) == 1:
            shapes += [(size, *shape[1:]) for shape in of_data]
    for run in _runs(shapes, count):
        if run:
            first = [("float32", run[0]), ("int64", run[0])] if len(run[0]) < 3 else [("float32", run[0])]
            for given in first[::-1] if found.models.takes_ids else first:
                for dtype in ("float32", "int64"):
                    yield PRINTED, [given, *((dtype, shape) for shape in run[1:])]


def _runs(shapes: list[Shape], count: int) -> list[list[Shape]]:
    return [shapes[start : start + count] for start in range(len(shapes) - count + 1)]


def _text(arrays: Sequence[Array], names: Sequence[str]) -> str:
    said = [f"{dtype}[{','.join(map(str, shape))}]" for dtype, shape in arrays]
    named = [f"{name}: {one}" for name, one in zip(names, said, strict=False)]
    return " ".join(named if len(named) == len(names) == len(said) else said)
