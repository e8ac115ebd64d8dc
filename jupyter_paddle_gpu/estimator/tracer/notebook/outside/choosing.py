"""Options of a command line that decide whether a program trains at all: `--mode train`, `--do_train`."""

from __future__ import annotations

import ast
import re
from argparse import Action, ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any

from ...patches.processes.command_lines import Parsers
from ..questions.documented import CODE
from ..questions.outer import Candidate, by_code
from ..syntax import nodes
from .answers import destination

OUTSIDE = frozenset(("argument_missing", "argument_trains", "environment_missing"))
"""Questions for what decides outside of the code which parts of it are reached."""

_TRAINS = re.compile(r"(?i)^(pre-?|fine-?)?(train|tun|fit)(ing|e|er)?$|^finetune$")
"""What the choice is called with which a program trains."""
_FLAG = re.compile(r"(?i)^((do|is|run|to)_?)?(pre|fine)?(train|tune|fit)(ing)?(_?mode)?$")
"""What flags are called with which it does."""


def questions(parsers: Parsers, cells: Sequence[dict[str, Any]], sources: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The question for the first such option, at the line that adds it to the parser.

    Args:
        cells: list of {index, source}.
        sources: all of the code.
    """
    for name, candidates in islice(of_training(parsers.last, parsers.given, sources), 1):
        added = (
            (cell["index"], line) for cell in cells for line in map(partial(_added_in, name), nodes(cell["source"]))
        )
        cell, line = next((one for one in added if one[1]), (cells[-1]["index"], 1))
        own = {"name": name, "why": "argument_trains", "params": {}, "candidates": candidates}
        yield {"kind": "value", "cell": cell, "line": line, "suggestion": None, **own}


def _added_in(name: str, node: ast.AST) -> int:
    """The line in which a call adds the option to a parser; 0: it is no such call."""
    match node:
        case ast.Call(func=ast.Attribute(attr="add_argument"), args=[*flags], lineno=line):
            named = (destination(str(one.value)) for one in flags if isinstance(one, ast.Constant))
            return line if name in named else 0
    return 0


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
