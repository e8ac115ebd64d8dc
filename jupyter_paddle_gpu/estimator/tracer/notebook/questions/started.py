"""Cells that start scripts or write files, as they were typed: there stand the numbers that a job's copy changes.

In the cells that are traced a command is a call (`sites.COMMAND`), whose text has no places in the notebook.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..sites import COMMAND, name_of
from ..syntax import nodes

NUMBERS = "numbers"
"""Under this name a cell has the numbers of its commands."""
GIVEN = re.compile(rb"""([A-Za-z_][\w.-]*)(?:=|\s+)["']?(\d+)(?![\w.])""")
"""`--batch-size 8`, `--batch-size=8`, `TrainReader.batch_size=8`."""
_ATTACHED = re.compile(rb"(?<!\S)-([A-Za-z])(\d+)(?![\w.])")
"""`-b8`."""
_CONFIGURED = re.compile(rb"""([A-Za-z_][\w.-]*)["']?\s*[:=]\s*(\d+)(?![\w.])""")
"""A line of YAML, JSON or TOML."""


class Number(NamedTuple):
    """A number that has a name; bytes `column` to `end` of a line are its digits, and none where it is the default of
    an option that could be written there."""

    name: str
    value: int
    line: int
    column: int
    end: int


class _Command(NamedTuple):
    """What a cell calls in a command's place, as far as it is needed; `here` is the folder to which the notebook has
    gone by then."""

    kind: str
    cell: int
    line: int
    path: str
    arguments: tuple[str, ...]
    folder: str
    here: str = ""

    @property
    def place(self) -> str:
        return os.path.normpath(os.path.join(self.here, self.folder, self.path))  # noqa: PTH118 - keeps no `..`


def as_typed(cells: list[dict[str, Any]], beside: Mapping[str, str]) -> list[dict[str, Any]]:
    """The cells for who looks for numbers: a script that is written is the cell's own code, at the lines where it
    stands; what scripts are given or could be, and what other files hold, is in `NUMBERS`.

    Args:
        beside: the scripts' sources by their paths.
    """
    here = ""
    commands: list[list[_Command]] = []
    for cell in cells:
        commands.append([])
        for one in _commands(cell):
            commands[-1].append(one._replace(here=here))
            here = commands[-1][-1].place if one.kind == "folder" else here
    written = {one.place for own in commands for one in own if one.kind == "write"}
    scripts = {path: source for path, source in beside.items() if path not in written}
    pairs = zip(cells, commands, strict=True)
    return [_as_typed(cell, own, scripts, beside) if cell.get("typed") else cell for cell, own in pairs]


def _commands(cell: dict[str, Any]) -> Iterator[_Command]:
    for node in nodes(cell["source"]):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == COMMAND:
            yield _Command(*(ast.literal_eval(one) for one in node.args[:6]))


def _as_typed(
    cell: dict[str, Any], commands: list[_Command], scripts: Mapping[str, str], all_of: Mapping[str, str]
) -> dict[str, Any]:
    typed = cell["typed"].split("\n")
    numbers: list[Number] = []
    source = cell["source"]
    for one in commands:
        if one.kind == "cell" or (one.kind == "write" and one.path.endswith(".py")):
            source = "\n" * one.line + "\n".join(typed[one.line :])
        elif one.kind == "write":
            numbers += _numbers(typed, range(one.line, len(typed)), _CONFIGURED)
        elif one.kind not in {"folder", "variable"}:
            lines = _continued(typed, one.line - 1)
            short = dict(_short(all_of.get(one.place, "")))
            given = [*_numbers(typed, lines, GIVEN), *_numbers(typed, lines, _ATTACHED)]
            numbers += [number._replace(name=short.get(number.name, number.name)) for number in given]
            numbers += _not_given(one, typed, lines, scripts.get(one.place, ""))
    return {**cell, "source": source, NUMBERS: list(dict.fromkeys(numbers))}


def _not_given(command: _Command, lines: list[str], among: range, script: str) -> Iterator[Number]:
    """Options of a script, with numbers as defaults, behind its name in the line that starts it."""
    named = re.compile(rb"""(?<!\S)["']?%b["']?(?=\s|[;&|>]|$)""" % re.escape(command.path.encode()))
    ends = [(at, found.end()) for at in among for found in named.finditer(lines[at].encode())]
    given = {argument.partition("=")[0] for argument in command.arguments}
    for flags, default in _options(script):
        if len(ends) == 1 and given.isdisjoint(flags):
            yield Number(flags[-1], default, ends[0][0] + 1, ends[0][1], ends[0][1])


def _short(script: str) -> Iterator[tuple[str, str]]:
    """What a script's options of one letter are called at length: `b` of `add_argument("-b", "--batch-size")` and of
    `click.option("-b", "--batch-size")`."""
    for node in nodes(script):
        if isinstance(node, ast.Call) and name_of(node.func) in _DECLARING:
            words = [one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            names = [re.sub(r"\W+", "_", word.lstrip("-")) for word in words]
            yield from ((name, max(names, key=len)) for name in names if len(name) == 1)


_DECLARING = frozenset(("add_argument", "add_option", "option", "Option"))


def _options(script: str) -> Iterator[tuple[Sequence[str], int]]:
    for node in nodes(script):
        match node:
            case ast.Call(func=ast.Attribute(attr="add_argument"), args=words, keywords=more):
                flags = [one.value for one in words if isinstance(one, ast.Constant) and isinstance(one.value, str)]
                values = [one.value for one in more if one.arg == "default"]
                if flags and flags[-1].startswith("-") and values and isinstance(values[0], ast.Constant):
                    default = values[0].value
                    if type(default) is int:
                        yield flags, default


def _continued(lines: list[str], first: int) -> range:
    """Of a command all its lines."""
    last = first
    while lines[last].endswith("\\") and last + 1 < len(lines):
        last += 1
    return range(first, last + 1)


def _numbers(lines: list[str], among: range, pattern: re.Pattern[bytes]) -> list[Number]:
    return [
        Number(re.sub(r"\W+", "_", found[1].decode()), int(found[2]), at + 1, found.start(2), found.end(2))
        for at in among
        for found in pattern.finditer(lines[at].encode())
    ]
