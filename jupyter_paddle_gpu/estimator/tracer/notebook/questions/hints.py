"""What the cells and their saved outputs say of data: sizes of pictures, lengths of sequences, numbers by name, and how
many things a batch has."""

from __future__ import annotations

import argparse
import ast
import contextlib
import linecache
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from .. import syntax
from ..syntax import nodes, parsed
from .corpora import counts_characters, takes_characters
from .models import Models
from .taken_apart import items, keys, passed_on, unpacked

Shape = tuple[int, ...]
_SIDES = re.compile(
    r"(?i)(?:Resize|CenterCrop|RandomCrop|RandomResizedCrop|resize|thumbnail|crop_size|(?:image|img|input|target|crop|"
    r"resize|train)_?(?:size|shape|dim|sz)|imgsz)[\"']?\s*(?:\(|=|:)\s*(?:size\s*=\s*)?[\(\[]*\s*(\d{2,4})(?:\s*,\s*(\d{2,4}))?"
    r"(?!\d|\s*[-+*/%])"
)
"""Sides of pictures, no first part of a sum (`img_size = 320 + step * 32`)."""
NAMED = {
    "height": re.compile(r"(?i)^(img|image|input|target)?_?(h|height|rows)$"),
    "width": re.compile(r"(?i)^(img|image|input|target)?_?(w|width|cols)$"),
    "side": re.compile(r"(?i)^(img|image|input|target|crop|pic|edge)_?(size|shape|side|sz)$|^(size|crop|img|imgsz)$"),
    "length": re.compile(
        r"(?i)^(max|seq|sequence|sentence|sent|text|pad|src|tgt|source|target|context|input|time|window|padded)?_?"
        r"(seq|sequence|sent|sentence)?_?(len|length|maxlen|steps|size|window|num)$|"
        r"^(max_?l(en)?|time_?steps|n(um)?_steps|look_?back|block|block_?size|context|seq|window|history|lags?|n_?past)$"
    ),
    "rate": re.compile(r"(?i)^(target_?)?(sample_?rate|sampling_?rate|sr|fs)$"),
    "seconds": re.compile(r"(?i)^(max_?|clip_?|audio_?)?(seconds?|secs?|duration)$"),
    "points": re.compile(r"(?i)^(max|num|n)_?(point|points|pts)$"),
}


_PAIRS = re.compile(r"(?m)^[ \t]*\w+[ \t]*,[ \t]*\w+[ \t]*=(?!=)[^\n]*")
"""`resize_size, crop_size = (256, 224)`, which are two sides and no height and width."""
_LEAST_RATE = 4_000
"""Of sound, in hertz."""


@dataclass
class Hints:
    """What the cells and their outputs say.

    Attributes:
        printed: shapes that were printed.
        sides: heights and widths of pictures, the likeliest first.
        lengths: of sequences.
        numbers: constants by name.
        items: how many things a batch has; 0 where the loop does not tell.
        is_whole: whether the loop hands a batch on as one thing, which may be one tensor.
        text: all cells.
    """

    printed: list[Shape] = field(default_factory=list)
    sides: list[tuple[int, int]] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)
    items: int = 0
    is_whole: bool = False
    names: tuple[str, ...] = ()
    """Of a batch's things, where it is a dictionary."""
    unpacked: tuple[str, ...] = ()
    """What the loop calls a batch's things: `ids, types, lengths, labels = batch`."""
    text: str = ""
    has_classes: bool = False
    """Whether a loss is one of classes."""
    has_sequences: bool = False
    """Whether it is one of signs that stand in a row, with no place for each (CTC)."""
    has_boxes: bool = False
    """Whether the program, or what it calls, speaks of boxes around things."""
    counts_characters: bool = False
    """Whether the program sorts out the characters of a text, not its words."""
    tree: ast.Module = field(default_factory=lambda: ast.Module([], []))
    """The same, parsed."""
    said: dict[str, int] = field(default_factory=dict)
    """Numbers of saved outputs by the words before them."""
    partly: list[tuple[str, tuple[int | None, ...]] | None] = field(default_factory=list)
    """What the program's code says of a batch's things: type and shape, None for what nobody knows."""
    declared: list[tuple[str, tuple[int | None, ...]]] = field(default_factory=list)
    """What static programs declare that they are fed with."""
    answered: list[tuple[str, Shape]] = field(default_factory=list)
    """Type and shape of what was answered so far."""
    counted: dict[str, int] = field(default_factory=dict)
    """Numbers that were answered so far, by name."""
    sources: tuple[str, ...] = ()
    """All of the code, that of modules beside the cells too."""
    models: Models = field(default_factory=Models)
    """What the program holds now."""


def hints(
    cells: list[dict[str, Any]], printed: dict[str, Any], namespace: dict[str, Any], loader: str, beside: Iterable[str]
) -> Hints:
    """Read the cells, and the configurations that a script is given.

    Args:
        printed: `shapes` and `numbers` (by what stands before them) of the notebook's saved outputs.
        loader: what is asked for.
        beside: sources that the cells import or run.
    """
    configurations = list(_configurations(namespace))
    if script := "".join(linecache.getlines(str(namespace.get("__file__", "")))):  # it stands for the cell that runs it
        cells = [*cells, {"source": script}]
    text = "\n".join([*(cell["source"] for cell in cells), *configurations])
    found = Hints(printed=[tuple(shape) for shape in printed.get("shapes", ())], text=text)
    found.tree = ast.Module([part for cell in cells for part in parsed(cell["source"]).body], [])
    found.said = dict(printed.get("numbers", {}))
    sources = ["\n".join(cell["source"] for cell in cells), *beside]
    found.sources = tuple(sources)
    defaults = _defaults(sources)
    found.numbers = _configured(configurations) | defaults | constants(found.tree)
    found.numbers |= {name: value for name, value in namespace.items() if type(value) is int and value > 0}
    found.sides = [*_bound_sides(namespace), *_width_first(found.tree)]
    found.sides += [
        (int(high), int(wide or high)) for high, wide in _SIDES.findall(_PAIRS.sub("", _without_unnamed(text)))
    ]
    height = next((v for n, v in found.numbers.items() if NAMED["height"].match(n)), None)
    width = next((v for n, v in found.numbers.items() if NAMED["width"].match(n)), None)
    given = dict(_given(found.tree, found.numbers))
    height = height or next((v for n, v in given.items() if NAMED["height"].match(n) and v >= MINIMAL), None)
    if height:
        found.sides.insert(0, (height, width or height))
    found.lengths = [value for name, value in found.numbers.items() if NAMED["length"].match(name) and value > 1]
    found.lengths += [
        value for name, value in _given(found.tree, found.numbers) if NAMED["length"].match(name) and value > 1
    ]
    found.lengths += [value for name, value in found.numbers.items() if NAMED["points"].match(name)]
    found.lengths += _padded(found.tree, found.numbers)
    rates = [value for name, value in found.numbers.items() if NAMED["rate"].match(name) and value >= _LEAST_RATE]
    seconds = [value for name, value in found.numbers.items() if NAMED["seconds"].match(name)]
    found.lengths += [rate * second for rate in rates for second in (*seconds, 1)]
    found.sides += [
        (value, value) for name, value in defaults.items() if NAMED["side"].match(name) and value >= MINIMAL
    ]
    trees = [found.tree, *map(parsed, sources[1:])]
    found.names = next(filter(None, (keys(tree, loader) for tree in trees)), ())
    found.unpacked = next(filter(None, (unpacked(tree, loader) for tree in trees)), ())
    found.items = len(found.names) or next(filter(None, (items(tree, loader) for tree in trees)), 0)
    if not found.items:
        found.items, found.is_whole = passed_on(trees, loader)
    spoken = (sources[0], *_spoken_of(sources[0], tuple(sources[1:])))
    found.has_classes = any(map(_OF_CLASSES.search, spoken))
    found.has_sequences = any(map(_OF_SEQUENCES.search, spoken))
    found.has_boxes = any(map(_OF_BOXES.search, (text, *spoken)))
    found.counts_characters = counts_characters(found.tree) or any(map(takes_characters, map(parsed, spoken[1:])))
    return found


@lru_cache(maxsize=16)
def _without_unnamed(text: str) -> str:
    """The text without the functions that nothing in it names: a size that only one of them knows is none."""
    tree = parsed(text)
    names = {one.id for one in syntax.walk(tree) if isinstance(one, ast.Name)}
    lines = text.splitlines()
    for part in tree.body:
        if isinstance(part, ast.FunctionDef) and part.name not in names and not part.decorator_list:
            lines[part.lineno - 1 : part.end_lineno] = [""] * ((part.end_lineno or part.lineno) - part.lineno + 1)
    return "\n".join(lines)


@lru_cache(maxsize=16)
def _spoken_of(text: str, beside: tuple[str, ...]) -> tuple[str, ...]:
    """Of modules the code that cells come to by the names which they speak of, and what stands in no definition: a
    package of helpers has losses of other chapters as well."""
    names = set(_WORD.findall(text))
    found: list[str] = []
    waiting = [(getattr(part, "name", ""), part, source) for source in beside for part in parsed(source).body]
    while now := [one for one in waiting if not one[0] or one[0] in names]:
        waiting = [one for one in waiting if one not in now]
        found += [ast.get_source_segment(source, part) or "" for _, part, source in now]
        names.update(word for part in found[-len(now) :] for word in _WORD.findall(part))
    return tuple(found)


_WORD = re.compile(r"\w+")


_CONFIGURATION = frozenset((".yml", ".yaml", ".json", ".toml"))
_OF_CLASSES = re.compile(r"(?i)(?<!binary_)cross_?entropy|nll_?loss|CTCLoss|(?<!B)CELoss")
_OF_SEQUENCES = re.compile(r"CTCLoss|ctc_loss")
_OF_BOXES = re.compile(r"(?i)b?box|anchor")
MOST_CHARACTERS = 100_000
"""Of a configuration that is read."""


def _configurations(namespace: dict[str, Any]) -> Iterator[str]:
    """The text of the configurations among the program's arguments, as they are typed and as they were answered."""
    parsed_arguments = (vars(one).values() for one in namespace.values() if isinstance(one, argparse.Namespace))
    answered = [value for values in parsed_arguments for value in values if isinstance(value, str)]
    for argument in dict.fromkeys([*sys.argv[1:], *answered]):
        path = Path(argument.rpartition("=")[2])
        with contextlib.suppress(OSError, ValueError):
            if path.suffix in _CONFIGURATION and path.is_file():
                yield path.read_text(encoding="utf-8", errors="replace")[:MOST_CHARACTERS]


_SETTING = re.compile(r"""(?m)^\s*["']?(\w+)["']?\s*[:=]\s*(\d{1,7})\s*(?:,|#.*)?$""")
"""A whole number with its name in a line of a configuration, in YAML, JSON or TOML."""


def _configured(configurations: Iterable[str]) -> dict[str, int]:
    """Numbers of configurations by their names, the first of each."""
    found: dict[str, int] = {}
    for name, number in (one for text in configurations for one in _SETTING.findall(text)):
        if int(number) > 0:
            found.setdefault(name, int(number))
    return found


def constants(tree: ast.Module) -> dict[str, int]:
    """Numbers that names are bound to anywhere in the cells, also within functions."""
    found: dict[str, int] = {}
    for node in syntax.walk(tree):
        if not isinstance(node, ast.Assign):
            continue
        target, value = node.targets[0], node.value
        are_several = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
        pairs = zip(target.elts, value.elts, strict=False) if are_several else [(target, value)]  # type: ignore[attr-defined]
        for name, number in pairs:
            match name, number:
                case ast.Name(id=bound), ast.Constant(value=int() as known) if known > 0:
                    found.setdefault(bound, known)
    return found


def _defaults(sources: Iterable[str]) -> dict[str, int]:
    """Numbers of arguments of a command line that are not given: `add_argument("--points", default=1024)`."""
    found: dict[str, int] = {}
    for node in (node for source in sources if "add_argument" in source for node in nodes(source)):
        match node:
            case ast.Call(func=ast.Attribute(attr="add_argument"), args=[*flags], keywords=words):
                named = [one.value for one in flags if isinstance(one, ast.Constant) and isinstance(one.value, str)]
                given = {word.arg: word.value for word in words}
                match given.get("default"):
                    case ast.Constant(value=int() as number) if named and number > 0 and number is not True:
                        found.setdefault(re.sub(r"\W", "_", named[-1].lstrip("-")), number)
    return found


def _given(tree: ast.Module, known: dict[str, int]) -> Iterator[tuple[str, int]]:
    """Numbers that calls in the cells give by name: `Novel(batch_size=1024, num_steps=32)`, `max_len=longest - 2`."""
    for node in syntax.walk(tree):
        match node:
            case ast.keyword(arg=str() as name, value=ast.Constant(value=int() as number)) if number is not True:
                yield name, number
            case ast.keyword(
                arg=str() as name,
                value=ast.BinOp(ast.Name(id=of), (ast.Add() | ast.Sub()) as sign, ast.Constant(value=int() as more)),
            ) if of in known:
                yield name, known[of] + (more if isinstance(sign, ast.Add) else -more)


def _padded(tree: ast.Module, known: dict[str, int]) -> Iterator[int]:
    """How long lists are made by what is put behind them: `ids + [0] * (MAX - len(ids))`."""
    for node in syntax.walk(tree):
        match node:
            case ast.BinOp(
                left=ast.List(),
                op=ast.Mult(),
                right=ast.BinOp(left=ast.Name(id=name), op=ast.Sub(), right=ast.Call(func=ast.Name(id="len"))),
            ) if known.get(name, 0) > 1:
                yield known[name]


def _bound_sides(namespace: dict[str, Any]) -> Iterator[tuple[int, int]]:
    """Heights and widths that names are bound to: what a program has worked out says more than how it is written."""
    for name, value in namespace.items():
        if not NAMED["side"].match(name):
            continue
        if type(value) is int and value >= MINIMAL:
            yield value, value
        elif isinstance(value, (list, tuple)) and len(value) >= 2 and all(type(one) is int for one in value):
            pair = [one for one in value if one > MINIMAL] or list(value)
            yield pair[0], pair[-1]


def _width_first(tree: ast.Module) -> Iterator[tuple[int, int]]:
    """Heights and widths of `cv2.resize(picture, (width, height))` and of Pillow's `picture.resize((width, height))`:
    both give the width first."""
    for node in syntax.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=of, attr="resize"), args=args, keywords=words):
                is_opencv = isinstance(of, ast.Name) and of.id == "cv2"
                for given in (*args[is_opencv:][:1], *(word.value for word in words if word.arg in {"dsize", "size"})):
                    match given:
                        case ast.Tuple(elts=[ast.Constant(value=int() as wide), ast.Constant(value=int() as high)]):
                            yield high, wide


GENERIC = frozenset(("num", "n", "size", "len", "length", "count", "number", "nums", "total", "max", ""))
MINIMAL = 8
"""Pixels of a side below which a number is none."""
