"""Which files the code may write, by the texts in it: one that none of them may name, and that is not here, is missing
wherever the program runs."""

from __future__ import annotations

import ast
import os
import re
import traceback
from collections.abc import Iterable, Iterator
from pathlib import PurePath

from ..syntax import nodes

_ELSEWHERE = re.compile(
    r"\b(wget|curl|urlretrieve|urllib|requests|\w*download\w*|get_path_from_url|shutil|zipfile|tarfile|extractall|"
    r"subprocess|system|get_ipython|__command__|os\.(rename|replace|link|symlink)|glob|listdir|gdown|snapshot)\b"
)
"""What brings files whose names do not stand in the code."""
_READ = frozenset((
    "load", "read_csv", "exists", "isfile", "isdir", "makedirs", "mkdir", "remove", "unlink", "rmtree", "getsize",
    "print", "info", "format_exc",
))  # fmt: skip
"""Calls that write no file of the name that they are given."""


_MAKES = re.compile(r"\b(makedirs|mkdir|copytree|mkdtemp|TemporaryDirectory)\b")
"""What makes folders."""
_NO_FOLDER = re.compile(r"Cannot save file into a non-existent directory: '(.+)'")
"""What pandas says of one."""


def lacks_folder(problem: BaseException, sources: Iterable[str]) -> bool:
    """Whether a file is to be written to a folder of the program's own that is not here and that no code makes."""
    if not isinstance(problem, OSError) or any(map(_MAKES.search, sources)):
        return False
    said = _NO_FOLDER.match(str(problem))
    name = said[1] if said else _written(problem)
    return bool(name) and not os.path.exists(name) and not may_write(sources, name)  # noqa: PTH110 - as `open` looks


def _written(problem: OSError) -> str:
    """The folder of a file that was to be opened for writing; empty where it was not."""
    named = isinstance(problem, FileNotFoundError) and isinstance(problem.filename, (str, os.PathLike))
    modes = [frame.f_locals.get("mode") for frame, _ in traceback.walk_tb(problem.__traceback__)]
    is_written = any(isinstance(mode, str) and set("wax") & set(mode) for mode in modes)
    return os.path.dirname(os.fspath(problem.filename)) if named and is_written else ""  # noqa: PTH120


def may_write(sources: Iterable[str], path: str) -> bool:
    """Whether the code may write this file, or one from elsewhere may come to be there, before it is read.

    A file of a path that leads out of the program's folder may be there on the machine where it runs.
    """
    sources = list(sources)
    asked = PurePath(path)
    if asked.is_absolute() or ".." in asked.parts or any(map(_ELSEWHERE.search, sources)):
        return True
    everything = [node for source in sources for node in nodes(source)]
    read = {id(part) for node in everything for part in _read(node)}
    used = {
        node.id
        for node in everything
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in read
    }

    def is_idle(target: ast.expr) -> bool:
        return isinstance(target, ast.Name) and target.id not in used

    for node in everything:
        if isinstance(node, ast.Assign) and all(map(is_idle, node.targets)):
            read |= {id(part) for part in ast.walk(node.value)}
    texts = (_pattern(node) for node in everything if id(node) not in read)
    return any(text is not None and _may_name(text, asked) for text in texts)


def _read(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a call that only reads."""
    if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in _READ:
        for one in (*node.args, *(word.value for word in node.keywords)):
            yield from ast.walk(one)


def _may_name(pattern: str, asked: PurePath) -> bool:
    """Whether a text may be the path, its last part without an ending that Paddle adds, or a folder that holds it."""
    texts = {str(asked), asked.name, str(asked.with_suffix("")), asked.stem, *map(str, asked.parents)} - {"."}
    return any(re.fullmatch(f"(.*/)?(?:{pattern})/?", text, re.DOTALL) for text in texts)


def _pattern(node: ast.AST) -> str | None:
    """What a text in the code may be; None where it is none, or says nothing of what it is."""
    match node:
        case ast.Constant(value=str(text)) if text.strip("./"):
            return re.escape(os.path.normpath(text))
        case ast.JoinedStr(values=values):
            found = "".join(re.escape(str(one.value)) if isinstance(one, ast.Constant) else ".*" for one in values)
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            found = f"{_part(left)}{_part(right)}"
        case ast.BinOp(op=ast.Mod(), left=ast.Constant(value=str(text))):
            found = re.sub(r"%[^a-zA-Z]*[a-zA-Z]", ".*", re.escape(text))
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)), attr="format")):
            found = ".*".join(map(re.escape, re.split(r"\{[^{}]*\}", text)))
        case _:
            return None
    return found if re.sub(r"\.\*|\W", "", found) else None


def _part(node: ast.AST) -> str:
    return _pattern(node) or ".*"
