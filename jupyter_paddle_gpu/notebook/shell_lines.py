"""Lines of a shell: the programs of Python that one starts, also behind `nohup`, `time` or `nice`, by `-m`, or through
a script of the shell beside the notebook (`bash run.sh`)."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec

from ..domain.notebooks import Command

LAUNCHER = "paddle.distributed.launch"
MAX_DEPTH, MAX_BYTES = 3, 100_000
"""Scripts of the shell that start each other, and bytes of one, that are read."""
_PYTHON = re.compile(r"(?:\S*/)?python[\d.]*w?$")
_SHELL = re.compile(r"(?:\S*/)?(?:bash|sh|zsh|source|\.)$")
_INTERPRETER_OPTION_WITH_VALUE = frozenset({"-W", "-X"})
_WRAPPERS = {
    "nohup": 0, "time": 0, "exec": 0, "env": 0, "sudo": 0, "nice": 0, "ionice": 0, "stdbuf": 0, "timeout": 1,
}  # fmt: skip
"""Programs that start what is written behind them, with the number of words of their own."""
_WRAPPER_OPTION_WITH_VALUE = frozenset({"-n", "-c", "-k", "-s", "-u", "-o", "-e", "-i"})
_CUT = re.compile(r"\s*(?:&&|;|\|\||\|)\s*")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)(?::?-([^}]*))?\})")

Kind = Literal["python", "launch", "module"]


class Shell:
    """Reads lines that a notebook has a shell run.

    Args:
        folder: the notebook's.
    """

    def __init__(self, folder: Path) -> None:
        self._here = folder

    def goes(self, folder: str) -> None:
        """The notebook goes to a folder."""
        self._here /= folder

    def commands(self, text: str, cell: int, line: int, *, is_alone: bool = False) -> Iterator[Command]:
        """The commands of one line.

        Args:
            is_alone: a shell of its own runs them, so that what `cd` changes ends with them.
        """
        gone = Path()
        for one in self._commands(text, cell, line, "", 0):
            if one.kind == "folder":
                if not is_alone:
                    gone /= one.path
                    yield one
            elif gone != Path():  # the notebook stands there by now
                inside = os.path.relpath(one.folder, gone)
                yield msgspec.structs.replace(one, folder="" if inside == "." else inside)
            else:
                yield one
        self._here /= gone

    def _commands(self, text: str, cell: int, line: int, inside: str, depth: int) -> Iterator[Command]:
        """Those of a line in a folder; `depth`: how many scripts of the shell it stands in."""
        for part in _CUT.split(text):
            words = _unwrapped(words_of(part))
            if words[:1] == ["cd"] and len(words) == 2:
                inside = str(Path(inside) / words[1])
                yield Command(kind="folder", cell=cell, line=line, path=words[1])
            elif (script := _script_of_a_shell(words)) is not None:
                yield from self._of_script(script, inside, cell, line, depth + 1)
            elif (found := self._program(words, inside)) is not None:
                kind, path, arguments = found
                yield Command(kind=kind, cell=cell, line=line, path=path, arguments=tuple(arguments), folder=inside)

    def _of_script(self, path: str, inside: str, cell: int, line: int, depth: int) -> Iterator[Command]:
        """What a script of the shell runs, with the values of its own variables."""
        values: dict[str, str] = {}
        for text in self._lines(Path(inside) / path) if depth <= MAX_DEPTH else ():
            filled = _VARIABLE.sub(lambda found: values.get(found[1] or found[2], found[3] or found[0]), text)
            assigned = words_of(filled.strip().removeprefix("export "))
            if len(assigned) == 1 and _ASSIGNMENT.match(assigned[0]):
                name, _, values[name] = assigned[0].partition("=")
                continue
            for one in self._commands(filled, cell, line, inside, depth):
                if one.kind == "folder":
                    inside = str(Path(inside) / one.path)
                else:
                    yield one

    def _lines(self, path: Path) -> list[str]:
        place = self._here / path
        with contextlib.suppress(OSError, ValueError):
            if place.is_file() and place.stat().st_size <= MAX_BYTES:
                text = place.read_text(encoding="utf-8", errors="replace")
                return re.sub(r"\\\r?\n", " ", text).splitlines()
        return []

    def _program(self, words: list[str], folder: str) -> tuple[Kind, str, list[str]] | None:
        """(kind, path, arguments) of `python script.py …`, `python -m module …`, of the launcher, or of `fleetrun`."""
        if words and words[0].rpartition("/")[2] == "fleetrun":
            return _launched(words[1:])
        if not words or not _PYTHON.match(words[0]):
            return None
        rest = words[1:]
        while rest and rest[0].startswith("-") and rest[0] != "-m":
            rest = rest[2 if rest[0] in _INTERPRETER_OPTION_WITH_VALUE else 1 :]
        if rest[:2] == ["-m", LAUNCHER]:
            return _launched(rest[2:])
        if rest[:1] == ["-m"] and len(rest) > 1:
            return self._module(rest[1], rest[2:], folder)
        if rest and rest[0].endswith(".py"):
            return "python", rest[0], rest[1:]
        return None

    def _module(self, name: str, arguments: list[str], folder: str) -> tuple[Kind, str, list[str]] | None:
        """A module beside the notebook; those of libraries are left alone."""
        path = name.replace(".", "/")
        for end in (".py", "/__main__.py"):
            with contextlib.suppress(OSError, ValueError):
                if (self._here / folder / (path + end)).is_file():
                    return "module", path + end, arguments
        return None


def words_of(text: str) -> list[str]:
    """The words of a line, up to where its output is redirected."""
    try:
        words = shlex.split(text, comments=True)
    except ValueError:  # an open quote
        words = text.split()
    redirected = (at for at, word in enumerate(words) if re.match(r"\d?>|<|&$", word))
    return words[: next(redirected, len(words))]


def _unwrapped(words: list[str]) -> list[str]:
    """Without variables and without what only starts the rest (`nohup`, `nice -n 5`)."""
    while words and (_ASSIGNMENT.match(words[0]) or os.path.basename(words[0]) in _WRAPPERS):  # noqa: PTH119
        own = _WRAPPERS.get(os.path.basename(words[0]), 0)  # noqa: PTH119
        words = words[1:]
        while words and words[0].startswith("-"):
            words = words[2 if words[0] in _WRAPPER_OPTION_WITH_VALUE else 1 :]
        words = words[own:]
    return words


def _launched(words: list[str]) -> tuple[Kind, str, list[str]] | None:
    at = next((at for at, word in enumerate(words) if word.endswith(".py")), None)
    return None if at is None else ("launch", words[at], words[at + 1 :])


def _script_of_a_shell(words: list[str]) -> str | None:
    """The file of `bash run.sh`, `source run.sh`, `./run.sh`."""
    if words and words[0].endswith(".sh"):
        return words[0]
    rest = [word for word in words[1:] if not word.startswith("-")]
    return rest[0] if words and _SHELL.match(words[0]) and rest and rest[0].endswith(".sh") else None
