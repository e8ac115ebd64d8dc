"""Helpers that a notebook imports: a module of functions that read data and train, installed or beside it.

`train_iter, vocab = course.load(32)` and `course.train(net, train_iter)` are as much of a notebook as if a cell defined
them. Modules that lie beside the notebook, and an installed one that stands on its own, with nothing but libraries
below it, are looked at for trainings, and go on without their data as cells do (`within`). An installed package whose
modules import each other, or a folder of many modules, is a trainer of its own, and runs as it is.
"""

from __future__ import annotations

import ast
import linecache
import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from importlib.machinery import PathFinder
from pathlib import Path
from types import CodeType
from typing import Any

from ... import call_stack
from ...patches.absent_modules import Imports
from ...undecided import conversions
from ..questions.answers import Answers
from ..sites import Sites
from ..syntax import nodes
from . import within

_LARGEST = 400_000
"""Bytes of a module that is read: a book's helpers have a third of it."""
_LIBRARY = "paddle"
_LIBRARIES = f"{os.sep}site-packages{os.sep}"
MOST_OWN = 40
"""Modules beside the notebook that are its helpers; a repository of more is a trainer, and runs as it is."""


@dataclass(frozen=True)
class Helpers:
    """The helpers that cells import: of each module its path and its source.

    Attributes:
        answers: in place of what helpers assign that go on without their data; None: they run as they are.
    """

    modules: Mapping[str, tuple[str, str]]
    answers: Mapping[str, Any] | None = None

    @classmethod
    def of(cls, cells: Iterable[Mapping[str, Any]], answers: Mapping[str, Any] | None = None) -> Helpers:
        """Those of cells."""
        first = list({name: None for cell in cells for name in _imported(cell["source"])})
        found = _own(first)
        for name in first:
            path = None if name in found else _path_of(name)
            if path is not None and (source := _source_of(path, name)) is not None:
                found[name] = path, source
        return cls(found, answers)

    @property
    def sources(self) -> dict[str, str]:
        """Their sources by path."""
        return dict(self.modules.values())

    def imported_only(self, cells: Iterable[Mapping[str, Any]]) -> list[str]:
        """Sources of those that no cell names as a program."""
        code = "\n".join(cell["source"] for cell in cells)
        return [source for path, source in self.modules.values() if Path(path).name not in code]


def _own(first: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Modules that lie beside the notebook, and what these import of each other; none where they are many."""
    found: dict[str, tuple[str, str]] = {}
    waiting = list(first)
    while waiting:
        name = waiting.pop()
        path = None if name in found else _path_of(name)
        if path is None or _LIBRARIES in path or (source := _text_of(path)) is None:
            continue
        if len(found) >= MOST_OWN:
            return {}
        found[name] = path, source
        package = name if path.endswith("__init__.py") else name.rpartition(".")[0]
        waiting += [*_parents(name), *_imported(source, package)]
    return found


def _parents(name: str) -> Iterable[str]:
    parts = name.split(".")
    return (".".join(parts[:count]) for count in range(1, len(parts)))


def _imported(source: str, package: str = "") -> Iterable[str]:
    """What a source imports that may be a module, by its full name; of its own package where that is told."""
    for node in nodes(source):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (not node.level or package):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


def _path_of(name: str) -> str | None:
    """Where the code of a module lies that is no part of Python and of Paddle; None where none does."""
    top, *below = name.split(".")
    if top == _LIBRARY or top in sys.stdlib_module_names:
        return None
    with suppress(ImportError, ValueError, AttributeError, OSError):
        spec = PathFinder.find_spec(top)
        if spec is not None and not below:
            return spec.origin if (spec.origin or "").endswith(".py") else None
        for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
            for end in (".py", "/__init__.py"):
                if (path := Path(folder, *below[:-1], below[-1] + end)).is_file():
                    return str(path)
    return None


@lru_cache(maxsize=256)
def _text_of(path: str) -> str | None:
    with suppress(OSError, ValueError):
        file = Path(path)
        return file.read_text(encoding="utf-8") if file.stat().st_size < _LARGEST else None
    return None


@lru_cache(maxsize=256)
def _source_of(path: str, name: str) -> str | None:
    """The source of a module, where it is a helper: it uses Paddle, and no other module of its own package."""
    with suppress(OSError, ValueError):
        file = Path(path)
        source = file.read_text(encoding="utf-8") if file.stat().st_size < _LARGEST else ""
        top = name.partition(".")[0]
        if _LIBRARY in source:
            imported = {one.partition(".")[0] for one in _imported(source)}
            is_relative = any(isinstance(node, ast.ImportFrom) and node.level for node in nodes(source))
            return source if _LIBRARY in imported and top not in imported and not is_relative else None
    return None


def code_of(source: str, path: str, answers: Mapping[str, Any]) -> CodeType:
    """The code of a helper that goes on without its data, with answers in place of what it assigns. It is known as a
    cell's is."""
    name = call_stack.helper_name(path)
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    return _compiled(source, name, tuple(sorted(answers.items())))


@lru_cache(maxsize=32)
def _compiled(source: str, name: str, answers: tuple[tuple[str, Any], ...]) -> CodeType:
    tree: Any = ast.parse(source, name)
    rewriting = (
        *within.rewriting(Sites([], {name: source})),
        Answers(dict(answers)),
        conversions.Conversions(),
        Imports(),
    )
    for one in rewriting:
        tree = one.visit(tree)
    code: CodeType = compile(ast.fix_missing_locations(tree), name, "exec", dont_inherit=True)
    return code
