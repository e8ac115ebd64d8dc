"""Files and folders that are not here: the name by which a person says where they are, and where they may be.

A path is asked for by the notebook's own name for it (`DATA = "/data/flowers"`), else by one made of the text in the
cells (`train_csv` for `open("data/train.csv")`); the answer takes the place of either, in a job as well
(`runner/shells/sets`).
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ..sites import name_of
from ..syntax import nodes, parsed

TAKES_PATHS = frozenset(
    ("DatasetFolder", "ImageFolder", "Path", "exists", "glob", "iglob", "isdir", "isfile", "join", "listdir", "load",
     "open", "read_csv", "scandir", "walk")
)  # fmt: skip
"""Functions in whose arguments a plain word is a file or a folder."""
FOLDERS = ("", "data", "dataset", "datasets", "input", "work")
"""Where a file is looked for, below the notebook's folder."""
HOMES = ("/home/aistudio", "/home/aistudio/work", "/content", "/kaggle/working")
"""Where notebooks lie on AI Studio, Colab and Kaggle: elsewhere that is their own folder."""
_PARTS = 4
"""Of a path's last parts that many are looked for together."""


def path_name(text: str) -> str:
    """The name by which a path in the cells is asked for: `train_csv` for `data/train.csv`."""
    return re.sub(r"\W+", "_", os.path.basename(text.rstrip("/\\"))).strip("_")  # noqa: PTH119 - any system's path


def is_path(text: Any, call: str) -> bool:
    """Whether an argument of a call is written as a path."""
    return isinstance(text, str) and text.strip("./\\") != "" and (
        (bool(re.search(r"[/\\]|\.\w", text)) and not re.search(r"[\s:*?<>|{}]", text))
        or (text.isidentifier() and call in TAKES_PATHS)
    )  # fmt: skip


def asked_by(path: str, sources: Iterable[str], namespace: dict[str, Any]) -> tuple[str, str] | None:
    """The name that a missing path is asked by, and what it stands for now; None where the cells have none.

    A folder that is missing is asked for before the file in it: one answer stands for all of its files.
    """
    found: list[tuple[bool, int, str, str]] = []
    sources = list(sources)
    own = set(bound(sources))
    named = [(name, namespace[name]) for name in own if isinstance(namespace.get(name), str)]
    written = [(path_name(text), text) for text in _written(sources)]
    for is_literal, pairs in ((False, named), (True, [one for one in written if one[0] not in own])):
        for name, text in pairs:
            if name.isidentifier() and _leads_to(text, path):
                found.append((is_literal, len(text), name, text))
    folders = [one for one in found if not _is_same(one[3], path)]
    best = max(folders or found, key=lambda one: (not one[0], one[1]), default=None)
    return None if best is None else best[2:]


def remember(
    known: dict[str, dict[str, Any]], here: dict[str, Any], path: str, sources: Iterable[str], namespace: dict[str, Any]
) -> None:
    """Add the question for where a missing path is, if the cells have a name for it.

    Args:
        known: such questions by their names.
        here: a question at the place where it was looked for.
    """
    found = asked_by(path, sources, namespace)
    if found is not None:
        name, text = found
        suggestion, source = (".", "home") if text.rstrip("/") in HOMES else (near(text), "near")
        params = {**here.get("params", {}), "path": text, **({"source": source} if suggestion else {})}
        known.setdefault(name, {**here, "name": name, "kind": "path", "params": params, "suggestion": suggestion})


def near(text: str) -> str | None:
    """Where a file or folder of the same name lies at or below the notebook's folder."""
    parts = [part for part in re.split(r"[/\\]+", text) if part not in {"", ".", ".."}][-_PARTS:]
    for first in range(len(parts)):
        for folder in FOLDERS:
            place = Path(folder, *parts[first:])
            if place.exists():
                return str(place)
    return None


class Paths(ast.NodeTransformer):
    """Puts answers in the place of paths that stand in the cells.

    Args:
        others: names of arguments, and those that the cells bind, which have their answers by themselves.
    """

    def __init__(self, answers: dict[str, Any], others: Iterable[str] = ()) -> None:
        known = set(others)
        self._answers = {name: one for name, one in answers.items() if isinstance(one, str) and name not in known}

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """`open("data/train.csv")`."""
        self.generic_visit(node)
        node.args = [self._answered(one, name_of(node)) for one in node.args]
        for word in node.keywords:
            word.value = self._answered(word.value, name_of(node))
        return node

    def _answered(self, node: ast.expr, call: str) -> ast.expr:
        if isinstance(node, ast.Constant) and is_path(node.value, call):
            answer = self._answers.get(path_name(str(node.value)))
            if answer is not None and is_place(str(node.value), answer):
                return ast.copy_location(ast.Constant(answer), node)
        return node


def is_place(text: str, answer: str) -> bool:
    """Whether an answer may say where a path is: of a mere word (`out/model`), whose name may be that of anything, one
    that is a path itself or that is there."""
    is_file = "." in os.path.basename(text.rstrip("/\\")).strip(".")  # noqa: PTH119 - any system's path
    return is_file or re.search(r"[/\\]|^[.~]", answer) is not None or os.path.exists(answer)  # noqa: PTH110


def _leads_to(text: str, path: str) -> bool:
    """Whether it is the missing path, or a missing folder above it."""
    if not text.strip("./\\"):
        return False
    return _is_same(text, path) or (
        _absolute(path).startswith(_absolute(text) + os.sep) and not Path(text).expanduser().exists()
    )


def _is_same(text: str, path: str) -> bool:
    return _absolute(text) == _absolute(path)


def _absolute(text: str) -> str:
    return os.path.abspath(os.path.expanduser(text))  # noqa: PTH100, PTH111 - links are left as they are written


def bound(sources: Iterable[str]) -> Iterator[str]:
    """Names that the cells bind at top level, where a job's answer takes the place of the value."""
    for source in sources:
        for node in parsed(source).body:
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                yield node.targets[0].id


def _written(sources: Iterable[str]) -> Iterator[str]:
    """Paths among the arguments of calls."""
    for source in sources:
        for node in nodes(source):
            if isinstance(node, ast.Call):
                for given in (*node.args, *(word.value for word in node.keywords)):
                    if isinstance(given, ast.Constant) and is_path(given.value, name_of(node)):
                        yield str(given.value)
