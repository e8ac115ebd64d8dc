"""Options of a command line that decide whether a program trains at all: `--mode train`, `--do_train`."""

from __future__ import annotations

import ast
import re
from argparse import Action, ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any

from ...patches.processes.command_lines import SUBCOMMAND, Parsers, destination
from ..questions.documented import CODE
from ..questions.outer import Candidate, arguments, by_code, words
from ..syntax import nodes
from .answers import WORDS
from .lacking import READERS

OUTSIDE = frozenset(
    (
        "argument_missing",
        "argument_trains",
        "environment_missing",
        "setting_missing",
        "subcommand_missing",
        "words_missing",
    )
)
"""Questions for what decides outside of the code which parts of it are reached."""

_TRAINS = re.compile(r"(?i)^(pre-?|fine-?)?(train|tun|fit)(ing|e|er)?$|^finetune$")
"""What the choice is called with which a program trains."""
_FLAG = re.compile(r"(?i)^((do|is|run|to)_?)?(pre|fine)?(train|tune|fit)(ing)?(_?mode)?$")
"""What flags are called with which it does."""


def questions(parsers: Parsers, cells: Sequence[dict[str, Any]], sources: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The question for the first such option, or for a subcommand that was not given, at the line that adds it to the
    parser.

    Args:
        cells: list of {index, source}.
        sources: all of the code.
    """
    for why, name, candidates in islice(_asked(parsers, sources), 1):
        added = (
            (cell["index"], line) for cell in cells for line in map(partial(_added_in, name), nodes(cell["source"]))
        )
        cell, line = next((one for one in added if one[1]), (cells[-1]["index"], 1))
        own = {"name": name, "why": why, "params": {}, "candidates": candidates}
        yield {"kind": "value", "cell": cell, "line": line, "suggestion": None, **own}


def _asked(parsers: Parsers, sources: Sequence[str]) -> Iterator[tuple[str, str, list[Candidate]]]:
    """The code of the question, its name, and what the answer may be."""
    for name, candidates in of_training(parsers.last, parsers.given, sources):
        yield "argument_trains", name, candidates
    for name in parsers.subcommands:
        yield "subcommand_missing", name, arguments(name, parsers.of(name), sources)
    is_script = any("\nsys.argv = [" in source for source in sources)
    if is_script and any(_imports_reader(node) for source in sources for node in nodes(source)):
        yield "words_missing", WORDS, words(sources)


def _imports_reader(node: ast.AST) -> bool:
    match node:
        case ast.Import(names=names):
            return any(one.name in READERS for one in names)
        case ast.ImportFrom(module=module):
            return module in READERS
    return False


def _added_in(name: str, node: ast.AST) -> int:
    """The line in which a call adds the option, or subcommands, to a parser; 0: it is no such call."""
    match node:
        case ast.Call(func=ast.Attribute(attr="add_argument"), args=[*flags], lineno=line):
            named = (destination(str(one.value)) for one in flags if isinstance(one, ast.Constant))
            return line if name in named else 0
        case ast.Call(func=ast.Attribute(attr="add_subparsers" | "group"), lineno=line):
            return line if name == SUBCOMMAND or any(_is_text(one.value, name) for one in node.keywords) else 0
    return 0


def _is_text(node: ast.expr, text: str) -> bool:
    return isinstance(node, ast.Constant) and node.value == text


def of_training(
    parser: ArgumentParser | None, given: Namespace | None, sources: Sequence[str]
) -> Iterator[tuple[str, list[Candidate]]]:
    """The names of options that are given otherwise than to train, with what they are to be for it.

    Args:
        parser: that read the command line; None: none did.
        given: what it read.
        sources: all of the code, which compares an option without choices with texts.
    """
    for action in parser._actions if parser is not None else ():
        if action.option_strings and action.dest != "help" and action.dest in vars(given or Namespace()):
            held = getattr(given, action.dest)
            values = [one for one in _values(action, sources) if one != held]
            if values and not _trains(held):
                yield action.dest, [(value, CODE) for value in values]


def _values(action: Action, sources: Sequence[str]) -> list[object]:
    if action.nargs == 0:
        return [action.const] if action.const is True and _FLAG.search(action.dest) else []
    if isinstance(action.default, bool):  # `--train` with a type that reads a text as one
        return [True] if _FLAG.search(action.dest) else []
    return [one for one in action.choices or by_code(action.dest, sources) if _trains(one)]


def _trains(value: object) -> bool:
    return isinstance(value, str) and bool(_TRAINS.search(value))
