"""Shapes of arrays that a program says in words: `rows = np.load(path)  # (973, 20, 1, 28, 28)`, a comment above it,
behind `print(rows.shape)`, or an `assert` of it."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from ...sites import name_of
from ...syntax import nodes, parsed
from ..hints import Shape, constants

_SHAPE = re.compile(r"[\[(]\s*(\w+(?:\s*,\s*\w+)*)\s*,?\s*[\])]")
_DTYPE = re.compile(r"\b(u?int(?:8|16|32|64)|float(?:16|32|64))\b")
_LABELS = re.compile(r"(?i)label|target|class|(^|_)(y|gt|tags?)($|_)")
_TABLES = re.compile(r"(?i)^(read_\w+|DataFrame|listdir|glob|open)$")
"""Calls that give no array."""


class Stated(NamedTuple):
    """An array of which words tell the shape.

    Attributes:
        text: its description, as an answer.
        said: what says so.
    """

    name: str
    text: str
    cell: int
    line: int
    said: str


def arrays(cells: list[dict[str, Any]]) -> list[Stated]:
    """The arrays that cells get from elsewhere and of which words beside it say the shape, each once."""
    code = ast.Module([part for cell in cells for part in parsed(cell["source"]).body], [])
    numbers = constants(code)
    told = {name: one for cell in cells for name, one in _shown(cell["source"], numbers)}
    found: dict[str, Stated] = {}
    for cell in cells:
        for name, line, end in _got(cell["source"]):
            shape, said = _beside(cell["source"], line, end, numbers) or told.get(name) or ((), "")
            if shape and name not in found:
                dtype = _DTYPE.search(said)
                kind = dtype[1] if dtype else "int64" if _LABELS.search(name) and len(shape) < 3 else "float32"
                found[name] = Stated(name, f"{kind}[{','.join(map(str, shape))}]", cell["index"], line, said)
    return list(found.values())


def _got(source: str) -> Iterator[tuple[str, int, int]]:
    """Names that a cell's own statements bind to what a call gives, with their first and last line."""
    for node in parsed(source).body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                calls = [one for one in ast.walk(value) if isinstance(one, ast.Call)]
                if calls and not (isinstance(value, ast.Call) and _TABLES.match(name_of(value.func))):
                    yield name, node.lineno, node.end_lineno or node.lineno


def _shown(source: str, numbers: dict[str, int]) -> Iterator[tuple[str, tuple[Shape, str]]]:
    """What is said where a shape is shown or asserted: `print(x.shape)  # (60000, 28, 28)`,
    `assert x.shape == (60000, 28, 28)`."""
    for node in nodes(source):
        match node:
            case ast.Assert(test=ast.Compare(ast.Attribute(ast.Name(id=name), "shape"), [ast.Eq()], [shape])):
                if sizes := _sizes(ast.unparse(shape), numbers):
                    yield name, (sizes, ast.unparse(node.test))
            case ast.Expr(value=value):
                names = {
                    one.value.id
                    for one in ast.walk(value)
                    if isinstance(one, ast.Attribute) and one.attr == "shape" and isinstance(one.value, ast.Name)
                }
                behind = _comments(source).get(node.end_lineno or node.lineno, "") if len(names) == 1 else ""
                if sizes := _sizes(behind, numbers):
                    yield names.pop(), (sizes, behind)


def _beside(source: str, line: int, end: int, numbers: dict[str, int]) -> tuple[Shape, str] | None:
    """What comments say in a statement's lines, or in lines of their own right above it."""
    comments, lines = _comments(source), source.splitlines()
    above = line - 1
    while above and lines[above - 1].lstrip().startswith("#"):
        above -= 1
    for number in (*range(line, end + 1), *range(line - 1, above, -1)):
        if sizes := _sizes(comments.get(number, ""), numbers):
            return sizes, comments[number]
    return None


def _sizes(text: str, numbers: dict[str, int]) -> Shape:
    """The one shape that a text tells; nothing where it tells none or several. Names in it are those of numbers."""
    found = {
        tuple(int(one) if one.isdecimal() else numbers.get(one, 0) for one in re.split(r"\s*,\s*", said))
        for said in _SHAPE.findall(text)
        if "," in said or re.search(rf"\(\s*{said}\s*,\s*\)", text)
    }
    shapes = [one for one in found if all(one)]
    return shapes[0] if len(shapes) == 1 else ()


@lru_cache(maxsize=64)
def _comments(source: str) -> dict[int, str]:
    """Comments by their lines."""
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    except (tokenize.TokenError, SyntaxError):
        return {}
    return {one.start[0]: one.string.lstrip("# ") for one in tokens if one.type == tokenize.COMMENT}
