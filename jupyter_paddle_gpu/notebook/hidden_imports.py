"""Packages that a program imports where its syntax trees do not show it: in a cell that is not valid Python, and in
modules whose names only running it tells (`importlib.import_module(arguments.backend + "_version")`)."""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from .cells import ParsedCell
from .code import Code
from .programs import IMPORTS, MAX_CHARACTERS, MAX_FILES

_IMPORT = re.compile(r"^[ \t]*(?:from|import)[ \t]+([A-Za-z_]\w*)", re.MULTILINE)


def in_broken_cells(cells: Iterable[ParsedCell]) -> set[str]:
    """What lines of cells import that Python cannot parse as a whole."""
    return {name for cell in cells if cell.tree is None for name in _IMPORT.findall(cell.cell.source)}


def in_modules_by_name(code: Code, folder: Path) -> set[str]:
    """What modules in and below the program's folder import, where the program imports some by a computed name."""
    if not any(map(_is_by_name, code.of_type(ast.Call))):
        return set()
    return {name for text in _texts(folder) for name in _IMPORT.findall(text)}


def _is_by_name(call: ast.Call) -> bool:
    named = call.args[:1]
    return bool(named) and not isinstance(named[0], ast.Constant) and ast.unparse(call.func) in IMPORTS


def _texts(folder: Path) -> Iterator[str]:
    left = MAX_CHARACTERS
    for path in islice(folder.rglob("*.py"), MAX_FILES):
        with contextlib.suppress(OSError):
            if path.stat().st_size <= left:
                text = path.read_text(encoding="utf-8", errors="replace")
                left -= len(text)
                yield text
