"""What sizes the batch of a program: the numbers in its cells that could, and the cells with another number there.

Names, defaults of functions, fields of dataclasses and of configurations, defaults of parsers, arguments of calls come
first, where they speak of a batch; else whatever stands where a tensor's leading dimension does. All that hold the size
that the step's inputs have are changed together, in one further trace, which shows whether the inputs follow.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from .. import syntax
from .batch_words import COUNTING, DIVIDING, alone, evaluates, keyword, speaks_of_batch, words
from .leading_sizes import called_by, divisors, left_out, sizes_of_batches, whole_defaults
from .settings import digest_of, numbers_in
from .started import GIVEN, NUMBERS, Number

_DECLARES = re.compile(r"add_argument|option|argument|(DEFINE_\w+)")
"""Calls that say of an argument of a command line what it is: those of argparse, click and absl."""
_COUNT = re.compile(r"(?i)^(n|b|num|size|samples|rows|n_samples|num_samples)$")


@dataclass(frozen=True)
class BatchPlace:
    """A number that sizes the batch.

    Attributes:
        cell: index among all cells; -1 of a number in a file of settings.
        line: line in it, from 1.
        column, end: bytes of that line, in UTF-8, between which the number stands.
        how: `name`, `default` (of a function), `field` (of a class or a mapping), `parser`, `argument` (of a call, of a
            script), `keyword` (that a call leaves to the default of an imported function), `literal`.
        name: what it is called there; empty for a plain literal.
        default: of an option `name` that a script is not given, or of such a keyword; it would be written at `column`,
            which is `end`.
        file: the path of a file of settings, in which the number has the keys `name`.
        digest: what that file held (`settings.digest_of`).
        value: the number there.
    """

    cell: int
    line: int
    column: int
    end: int
    how: str
    name: str = ""
    default: int | None = None
    file: str = ""
    digest: str = ""
    value: int | None = None


def places(
    cells: list[dict[str, Any]],
    size: int,
    beside: Iterable[ast.Module] = (),
    settings: Mapping[str, bytes] | None = None,
) -> list[BatchPlace]:
    """Where the cells hold the batch size: by name, else the leading dimensions of what they make.

    Args:
        beside: what they import: its functions say what an argument is called.
        settings: what files of settings hold that were read, by path.
    """
    trees = {cell["index"]: tree for cell in cells if (tree := _parsed(cell["source"])) is not None}
    parameters: dict[str, list[str]] = {}
    known = [*beside, *trees.values()]
    for tree in known:
        parameters.update(_parameters(tree))
    each = (place for cell in cells for place in _in_cell(cell, trees.get(cell["index"]), size, parameters))
    by_place: dict[tuple[int, int, int], BatchPlace] = {}
    for place in each:
        by_place.setdefault((place.cell, place.line, place.column), place)
    found = list(by_place.values())
    named = [place for place in found if speaks_of_batch(place.name)]
    named += [place for cell in cells for place in _in_commands(cell, size)]
    named += [place for path, text in (settings or {}).items() for place in _in_settings(path, text, size)]
    if not named:
        named = list(_left_out(trees, known[: -len(trees) or None], size))
    counts = {one.id for tree in known for one in sizes_of_batches(tree) if isinstance(one, ast.Name)}
    sizing = [place for place in found if place.name not in COUNTING]
    leading = [
        one
        for one in sizing
        if (one.how == "literal" and one.name not in DIVIDING) or _COUNT.search(one.name) or one.name in counts
    ]
    return (
        named
        or (leading and leading + [place for place in found if place.name in COUNTING | DIVIDING])
        or _only(trees, cells, size)
    )


def _left_out(trees: Mapping[int, ast.Module], beside: Iterable[ast.Module], size: int) -> Iterator[BatchPlace]:
    """Where calls leave a batch size to the default of a function that a module beside the cells holds."""
    defaults = whole_defaults(beside, size)
    for cell, tree in trees.items() if defaults else ():
        for one in left_out(tree, defaults):
            if speaks_of_batch(one.name):
                yield BatchPlace(cell, one.line, one.column, one.column, "keyword", one.name, size)


def _only(trees: Mapping[int, ast.Module], cells: list[dict[str, Any]], size: int) -> list[BatchPlace]:
    """The one number of this size, wherever it stands; of several nobody knows which."""
    found = [
        BatchPlace(cell["index"], one.line, one.column, one.end, "literal")
        for cell in cells
        if cell["index"] in trees
        for one in alone(trees[cell["index"]], _lines(cell), size)
    ]
    return found if len(found) == 1 else []


def _lines(cell: dict[str, Any]) -> list[bytes]:
    return [line.encode() for line in cell["source"].split("\n")]


def counting(found: Iterable[BatchPlace], tried: list[BatchPlace]) -> list[BatchPlace]:
    """What counts as many, and stays unless the step needs it."""
    return [place for place in found if place.name in COUNTING and place not in tried]


def changed(
    request: dict[str, Any],
    found: Iterable[BatchPlace],
    counts: Iterable[BatchPlace],
    sizes: tuple[int, int],
    settings: Mapping[str, bytes],
) -> dict[str, Any]:
    """The parts of a request that are otherwise with another size at these places, in cells and files of settings.

    Args:
        counts: places that follow where the step needs it (`eager.counted`).
        sizes: the present one, and the other one.
    """
    sources = {cell["index"]: cell["source"].split("\n") for cell in request["cells"]}
    files = {place.file: settings[place.file].decode().split("\n") for place in found if place.file}
    for place in sorted(found, key=lambda one: (one.cell, one.line, -one.column)):
        lines = files[place.file] if place.file else sources[place.cell]
        line = lines[place.line - 1].encode()
        before = line[: place.column].decode()
        written = keyword(place.name, sizes[1], before) if place.how == "keyword" else str(sizes[1])
        lines[place.line - 1] = before + written + line[place.end :].decode()
    own = request.get("files") or {}
    at = [(one.cell, one.line) for one in counts]
    return {
        "cells": [{**cell, "source": "\n".join(sources[cell["index"]])} for cell in request["cells"]],
        "files": {**own, **{path: "\n".join(lines) for path, lines in files.items()}},
        "counts": {"size": sizes[0], "wanted": sizes[1], "places": at} if at else None,
    }


def is_batch_alone(tried: Iterable[BatchPlace], before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Whether of the step's inputs only the leading dimension is another one, and the model is the same: plain numbers
    may hold the length of a window as well, or how many features there are."""
    if any(place.how != "literal" for place in tried):
        return True
    if before["parameters"] != after["parameters"]:
        return False
    return set(map(_samples, before["inputs"])) == set(map(_samples, after["inputs"]))


def _samples(described: str) -> str:
    """What of an input as it is described (`float32[32, 13]`) is not the size of its batch."""
    return re.sub(r"\[\d+", "[", described)


def as_data(found: Iterable[BatchPlace]) -> list[dict[str, Any]]:
    """For the answer."""
    return [asdict(place) for place in found]


def _parsed(source: str) -> ast.Module | None:
    try:
        return ast.parse(source)
    except SyntaxError:
        return None


def _parameters(tree: ast.Module) -> Iterator[tuple[str, list[str]]]:
    """What the functions, the methods and the classes of a source are called with, by place."""
    for node in syntax.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield (
                node.name,
                [
                    one.target.id
                    for one in node.body
                    if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
                ],
            )
            for part in node.body:
                if isinstance(part, ast.FunctionDef) and part.name == "__init__":
                    yield node.name, _called(part)
        elif isinstance(node, ast.FunctionDef):
            yield node.name, _called(node)


def _called(function: ast.FunctionDef) -> list[str]:
    names = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
    return names[1:] if names[:1] in (["self"], ["cls"]) else names


def _in_cell(
    cell: dict[str, Any], tree: ast.Module | None, size: int, parameters: dict[str, list[str]]
) -> Iterator[BatchPlace]:
    if tree is None:
        return
    found: dict[tuple[int, int], BatchPlace] = {}
    for how, name, value in _numbers(tree, parameters):
        if isinstance(value, ast.Constant) and type(value.value) is int and value.value == size:
            place = (value.lineno, value.col_offset)
            if place not in found and value.end_col_offset is not None:
                found[place] = BatchPlace(cell["index"], *place, value.end_col_offset, how, name)
    lines = _lines(cell)
    for word in words(tree, lines, size):
        place = (word.line, word.column)
        if place not in found or not speaks_of_batch(found[place].name):
            found[place] = BatchPlace(cell["index"], *place, word.end, "field", word.name)
    yield from found.values()
    for name, given in _given(tree):
        digits = str(size).encode()
        line, end = lines[given.lineno - 1], (given.end_col_offset or 1) - 1
        begin = end - len(digits)
        if speaks_of_batch(name) and line[begin:end] == digits and not line[begin - 1 : begin].isdigit():
            yield BatchPlace(cell["index"], given.lineno, begin, end, "argument", name)
    typed = [
        (at, one) for at, begin, end in _lines_of_a_shell(tree) for one in GIVEN.finditer(lines[at - 1], begin, end)
    ]
    named = ((at, re.sub(r"\W+", "_", one[1].decode()), one) for at, one in typed if int(one[2]) == size)
    # A part of an f-string has its own place or that of the whole.
    yield from {
        BatchPlace(cell["index"], at, *one.span(2), "argument", name): None
        for at, name, one in named
        if speaks_of_batch(name)
    }


def _in_commands(cell: dict[str, Any], size: int) -> Iterator[BatchPlace]:
    """What a script that the cell starts is given, and what a configuration holds that it writes."""
    number: Number
    for number in cell.get(NUMBERS) or ():
        if number.value == size and speaks_of_batch(number.name):
            default = number.value if number.column == number.end else None
            yield BatchPlace(cell["index"], number.line, number.column, number.end, "argument", number.name, default)


def only_setting(settings: Mapping[str, bytes]) -> list[BatchPlace]:
    """Where files of settings speak of a batch, where they do so with but one number for a training."""
    found = [place for path, text in settings.items() for place in _in_settings(path, text)]
    training = [place for place in found if not evaluates(place.name)]
    return training if len({place.value for place in training}) == 1 else []


def _in_settings(path: str, text: bytes, size: int | None = None) -> Iterator[BatchPlace]:
    try:
        text.decode()
    except UnicodeDecodeError:
        return
    by_place: dict[tuple[int, int, int, int], str] = {}
    for one in numbers_in(text):
        if (size is None or one.value == size) and any(speaks_of_batch(key) for key in one.name.split(".")[-2:]):
            at = one.line, one.column, one.end, one.value
            if at not in by_place or evaluates(by_place[at]):  # an anchor of several is the training's
                by_place[at] = one.name
    for (line, column, end, value), name in by_place.items():
        yield BatchPlace(-1, line, column, end, "field", name, file=path, digest=digest_of(text), value=value)


def _given(tree: ast.Module) -> Iterator[tuple[str, ast.Constant]]:
    """What a script is given in `sys.argv` or in a list that starts it (`["python", "train.py", …]`): `--batch-size 8`,
    `--batch-size=8`, `-o TrainReader.batch_size=8`."""
    arguments: set[ast.AST] = set()
    for node in syntax.walk(tree):
        given: list[ast.expr] = []
        match node:
            case ast.Assign(targets=[ast.Attribute(attr="argv")], value=ast.List(elts=[_, *given]) as value):
                arguments.add(value)  # it comes by itself, too
            case ast.List(elts=words) | ast.Tuple(elts=words) if node not in arguments and any(
                _text(one).endswith(".py") for one in words
            ):
                given = words
        before = ""
        for word in given:
            text = _text(word)
            name, is_pair, _ = text.rpartition("=")
            if isinstance(word, ast.Constant):
                yield re.sub(r"\W+", "_", name if is_pair else before).strip("_"), word
            before = "" if is_pair else text


def _text(node: ast.expr) -> str:
    return str(node.value) if isinstance(node, ast.Constant) else ""


def _lines_of_a_shell(tree: ast.Module) -> Iterator[tuple[int, int, int]]:
    """Line and bytes of texts that start a script: `os.system("python train.py --batch-size 8")`, `f"python …"`."""
    for node in syntax.walk(tree):
        if isinstance(node, (ast.Constant, ast.JoinedStr)) and node.lineno == node.end_lineno:
            parts = node.values if isinstance(node, ast.JoinedStr) else [node]
            if any(".py " in _text(part) for part in parts):
                yield node.lineno, node.col_offset, node.end_col_offset or 0


def _numbers(tree: ast.Module, parameters: dict[str, list[str]]) -> Iterator[tuple[str, str, ast.expr]]:
    """How, under which name, and which expression."""
    in_classes = {id(part) for node in syntax.walk(tree) if isinstance(node, ast.ClassDef) for part in node.body}
    for node in syntax.walk(tree):
        how = "field" if id(node) in in_classes else "name"
        match node:
            case ast.Assign(targets=[target], value=value):
                yield from _assigned(how, target, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                yield from _assigned(how, target, value)
            case ast.arguments():
                yield from _defaults(node)
            case ast.Dict(keys=keys, values=values):
                for key, value in zip(keys, values, strict=True):
                    if isinstance(key, ast.Constant) and isinstance(key.value, str):
                        yield "field", key.value, value
            case ast.Call():
                yield from _arguments(node, parameters)
    yield from (("literal", "", one) for one in sizes_of_batches(tree))
    yield from (("literal", name, one) for name, one in divisors(tree))


def _assigned(how: str, target: ast.expr, value: ast.expr) -> Iterator[tuple[str, str, ast.expr]]:
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for one, held in zip(target.elts, value.elts, strict=False):
            yield from _assigned(how, one, held)
    match target:
        case ast.Name(id=name):
            yield how, name, value
        case ast.Attribute(attr=name) | ast.Subscript(slice=ast.Constant(value=str() as name)):
            yield "field", name, value


def _defaults(node: ast.arguments) -> Iterator[tuple[str, str, ast.expr]]:
    names = [argument.arg for argument in (*node.posonlyargs, *node.args)]
    for name, value in zip(names[len(names) - len(node.defaults) :], node.defaults, strict=True):
        yield "default", name, _given_by(value)
    for argument, default in zip(node.kwonlyargs, node.kw_defaults, strict=True):
        if default is not None:
            yield "default", argument.arg, _given_by(default)


def _given_by(default: ast.expr) -> ast.expr:
    """What an option is by default that stands for a parameter's default: `batch: int = typer.Option(32)`."""
    match default:
        case ast.Call(func=func, args=args, keywords=words) if called_by(func) in {"Option", "Argument"}:
            named = [word.value for word in words if word.arg == "default"]
            return next(iter([*named, *args]), default)
    return default


def _arguments(node: ast.Call, parameters: dict[str, list[str]]) -> Iterator[tuple[str, str, ast.expr]]:
    called, given = called_by(node.func), node.args
    if (declared := _DECLARES.fullmatch(called)) is not None:
        is_absl = declared[1] is not None  # a name, a default, a help
        flags = [text for one in node.args[: 1 if is_absl else None] if (text := _text(one))]
        for value in [*node.args[1 : 2 * is_absl], *(word.value for word in node.keywords if word.arg == "default")]:
            if flags:
                yield "parser", re.sub(r"\W", "_", max(flags, key=len).lstrip("-")), value
        return
    for word in node.keywords:
        yield "argument", word.arg or "", word.value
    if called == "partial" and node.args:
        called, given = called_by(node.args[0]), node.args[1:]
    if called in parameters:
        yield from (("argument", name, one) for name, one in zip(parameters[called], given, strict=False))
    if called in COUNTING:
        yield from (("literal", called, one) for one in node.args)
