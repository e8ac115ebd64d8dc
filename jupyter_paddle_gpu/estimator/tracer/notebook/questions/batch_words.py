"""Numbers of the cells that a word beside them calls the batch's: in texts (JSON, YAML, a command line), behind a key
(`os.environ.get("BATCH", "32")`, `["SOLVER.BATCH", 32]`), within what a name is bound to (`batch = field(default=32)`);
and in which order places are tried, by what they are called.

The estimator imports this outside of the tracer too: standard library alone.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol, TypeVar

from .. import syntax

DIVIDES, REMAINS = "//", "%"
"""What numbers are called that divide samples into batches, or anything else."""
SIZES_LAYERS = "// of a layer"
"""The same of those that stand in what a layer is made with: most often they divide its width."""
DIVIDING = frozenset((DIVIDES, SIZES_LAYERS))
COUNTING = frozenset(("arange", "eye", REMAINS))
"""What counts a batch's samples (`labels = paddle.arange(512)`), or anything else: the step tells."""
_EVALUATES = re.compile(r"(?i)(^|[._-])(eval|evaluation|val|valid|validation|dev|test|infer|inference|predict)")
"""Keys of settings of what is done beside a training."""
_BATCH = re.compile(r"(?i)(^|_)(batch|bs|bsz|batchsize|minibatch)(_|$|size)|batch_?size")
_WORDED = re.compile(rb"""([A-Za-z_][\w.-]*)["']?\s*[:=,\s]\s*["']?(\d+)(?![\w.])""")
_DEFAULT = re.compile(rb"--([A-Za-z][\w-]*)[^\n]*\[default:\s*(\d+)\]")
"""What a usage says of an option (docopt): `--batch=<n>  samples of a step [default: 32]`."""
_TAKES = frozenset(
    ("int", "str", "float", "max", "min", "field", "Field", "get", "getenv", "pop", "setdefault", "Option", "Argument")
)
"""Calls that give a number on which they are handed."""


class Placed(Protocol):
    """A number that may size the batch (`batch_places.BatchPlace`, `domain.estimates.BatchPlace`)."""

    @property
    def how(self) -> str:
        """How it stands there."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def file(self) -> str:
        """The file of settings that holds it; empty: a cell."""


_Placed = TypeVar("_Placed", bound=Placed)


def attempts(places: Sequence[_Placed]) -> Iterator[list[_Placed]]:
    """Which of the places to change, the likeliest first: what only counts stays as long as the step does without, and
    so does what is not of the training."""
    sizing = [one for one in places if one.name not in COUNTING]
    if (training := of_training(sizing)) != sizing:
        yield training
    if any(one.name == SIZES_LAYERS for one in sizing):
        yield [one for one in sizing if one.name != SIZES_LAYERS]
    if sizing:
        yield sizing
    if any(one.name == DIVIDES for one in sizing):
        yield [one for one in sizing if one.name not in DIVIDING]
    if sizing != list(places):
        yield list(places)


def of_training(places: list[_Placed]) -> list[_Placed]:
    """Without settings of an evaluation, which stay as long as the step does without, and without all of a file where
    the command line says another number."""
    is_typed = any(one.how == "argument" and not one.file for one in places)
    return [one for one in places if not (one.file and (is_typed or evaluates(one.name)))] or places


def keyword(name: str, size: int, before: str) -> str:
    """A batch size as a call is given it that left it to its default.

    Args:
        before: what stands in the line in front of it.
    """
    return f"{'' if before.rstrip().endswith('(') else ', '}{name}={size}"


def evaluates(name: str) -> bool:
    """Whether a key of settings is of what is done beside a training."""
    return _EVALUATES.search(name) is not None


class Word(NamedTuple):
    """A number at bytes `column` to `end` of a line, and the word for it."""

    name: str
    line: int
    column: int
    end: int


def speaks_of_batch(name: str) -> bool:
    """Whether a name, a key or an option is that of a batch's size."""
    return _BATCH.search(re.sub(r"\W+", "_", name.lstrip("-"))) is not None


def words(tree: ast.Module, lines: list[bytes], size: int) -> Iterator[Word]:
    """All such numbers that are of this size."""
    flags = dict(_flags(tree))
    for node in syntax.walk(tree):
        match node:
            case ast.Call(args=parts) | ast.List(elts=parts) | ast.Tuple(elts=parts):
                for key, value in itertools.pairwise(parts):
                    name = flags.get(_text(key), _text(key))
                    if speaks_of_batch(name):
                        yield from _number(name, value, lines, size)
            case ast.Assign(targets=[ast.Name(id=name) | ast.Attribute(attr=name)], value=value):
                yield from _within(name, value, lines, size)
            case ast.AnnAssign(target=ast.Name(id=name) | ast.Attribute(attr=name), value=ast.expr() as value):
                yield from _within(name, value, lines, size)
            case ast.keyword(arg=str(name), value=value):
                yield from _within(name, value, lines, size)
            case ast.Dict(keys=keys, values=values):
                for word, value in zip(keys, values, strict=True):
                    yield from _within(_text(word), value, lines, size)
            case ast.Constant(value=str(text)) if any(mark in text for mark in ("\n", "{", "--")):
                yield from _in_text(node, lines, size)


def alone(tree: ast.Module, lines: list[bytes], size: int) -> Iterator[Word]:
    """Every number of this size that no layer is made with: who has but one of them has the batch's."""
    made = {
        id(part)
        for node in syntax.walk(tree)
        if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", ""))[:1].isupper()
        and isinstance(node.func, ast.Attribute)
        for part in ast.walk(node)
    }  # fmt: skip
    for node in syntax.walk(tree):
        if isinstance(node, ast.Constant) and id(node) not in made:
            yield from _number("", node, lines, size)


def _flags(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """How a parser's option for it may be given (`-b`, `--batch`), with the name that tells."""
    for node in syntax.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "add_argument":
            names = list(filter(None, map(_text, node.args)))
            told = next(filter(speaks_of_batch, names), "")
            yield from ((name, told) for name in names if told)


def _within(name: str, value: ast.expr, lines: list[bytes], size: int) -> Iterator[Word]:
    """`batch = int(os.getenv("N") or 32)`, `batch_size = 4 if debug else 32`."""
    if not speaks_of_batch(name):
        return
    match value:
        case ast.Constant():
            yield from _number(name, value, lines, size)
        case ast.Call(func=ast.Name(id=called) | ast.Attribute(attr=called)) if called in _TAKES:
            for one in (*value.args, *(word.value for word in value.keywords)):
                yield from _within(name, one, lines, size)
        case ast.BoolOp(values=parts):
            for one in parts:
                yield from _within(name, one, lines, size)
        case ast.IfExp(body=body, orelse=other):
            yield from _within(name, body, lines, size)
            yield from _within(name, other, lines, size)
        case ast.NamedExpr(value=inner):
            yield from _within(name, inner, lines, size)


def _number(name: str, node: ast.expr, lines: list[bytes], size: int) -> Iterator[Word]:
    """The digits of a number, or of a text that is one."""
    if not isinstance(node, ast.Constant) or isinstance(node.value, bool) or str(node.value) != str(size):
        return
    if node.lineno != node.end_lineno or node.end_col_offset is None:
        return
    digits, within = str(size).encode(), lines[node.lineno - 1][node.col_offset : node.end_col_offset]
    if within.count(digits) == 1:
        column = node.col_offset + within.index(digits)
        yield Word(name, node.lineno, column, column + len(digits))


def _in_text(node: ast.Constant, lines: list[bytes], size: int) -> Iterator[Word]:
    """`'{"batch_size": 32}'`, `"--batch 32"`."""
    for number in range(node.lineno, (node.end_lineno or node.lineno) + 1):
        begin = node.col_offset if number == node.lineno else 0
        end = node.end_col_offset if number == node.end_lineno else None
        line = lines[number - 1]
        end = len(line) if end is None else end
        for one in (*_WORDED.finditer(line, begin, end), *_DEFAULT.finditer(line, begin, end)):
            if int(one[2]) == size and speaks_of_batch(one[1].decode()):
                yield Word(one[1].decode(), number, *one.span(2))


def _text(node: ast.expr | None) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
