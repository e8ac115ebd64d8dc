"""Command lines that a program has read by a library: click, absl.

Each is told by a parser of Python's own, with the same options under the same names, so that what is known of such
(choices, documents, what the code compares an option with) holds for all. Python's own stands in `notebook/outside`.
"""

from __future__ import annotations

import re
from argparse import ArgumentError, ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from ...session import Session
from ...undecided.absent_data import AbsentData
from ..awaited import Awaited
from ..patch import Patch

_KINDS = {"int": int, "float": float}
_PLAIN = (str, int, float)
_NOT_NONE = re.compile(r"Flag --(\w+) must have a value other than None")
"""What absl says of each flag that is required."""


class Parsers:
    """The parser of a command line that was asked last, what it gave, and what a library missed in it, by the names
    that the program has for them."""

    last: ArgumentParser | None = None
    given: Namespace | None = None
    missing: tuple[str, ...] = ()

    def begin(self) -> ArgumentParser:
        """A library reads the command line: the parser that tells what it knows."""
        self.last, self.given, self.missing = ArgumentParser(add_help=False, conflict_handler="resolve"), None, ()
        return self.last


def _by_click(session: Session, original: Callable[..., Any], command: Any, context: Any, words: Any) -> Any:
    parsers, answers = session.of(Parsers), session.of(AbsentData).answers
    told_by = parsers.begin()
    for one in command.params:
        flags = [flag for flag in one.opts if flag.startswith("-")]
        is_flag, choices = bool(getattr(one, "is_flag", False)), getattr(one.type, "choices", None)
        told = {"help": getattr(one, "help", None), "default": one.default, "choices": choices}
        _tell(told_by, one.name, flags, is_flag=is_flag, kind=one.type.name, **told)
        if (answer := answers.get(one.name)) is not None:
            one.default, one.required = [answer] if getattr(one, "multiple", False) else answer, False
            if hasattr(one, "prompt"):
                one.prompt = None
    try:
        left = original(command, context, words)
    except Exception as problem:
        if type(problem).__name__ in {"MissingParameter", "Abort"}:  # those that were given were gone through before
            wanted = (one for one in command.params if one.required or getattr(one, "prompt", None))
            parsers.missing = tuple(one.name for one in wanted if one.name not in context.params)
        raise
    parsers.given = Namespace(**context.params)
    return left


def _by_absl(session: Session, original: Callable[..., Any], values: Any, *given: Any, **named: Any) -> Any:
    parsers, answers = session.of(Parsers), session.of(AbsentData).answers
    told_by = parsers.begin()
    by_module = values.flags_by_module_dict().items()
    own = [flag for module, flags in by_module if not module.startswith("absl.") for flag in flags]
    for one in own:
        told = {"help": one.help, "default": one.default, "choices": getattr(one.parser, "enum_values", None)}
        _tell(told_by, one.name, [f"--{one.name}"], is_flag=bool(one.boolean), kind=one.flag_type(), **told)
        if (answer := answers.get(one.name)) is not None:
            values.set_default(one.name, answer)
    try:
        left = original(values, *given, **named)
    except Exception as problem:
        parsers.missing = tuple(_NOT_NONE.findall(str(problem)))
        raise
    parsers.given = Namespace(**{one.name: one.value for one in own})
    return left


def _tell(parser: ArgumentParser, name: str, flags: list[str], *, is_flag: bool, kind: str, **told: Any) -> None:
    """Have a parser of Python's own know an option too."""
    default = told["default"] if isinstance(told["default"], _PLAIN) else None
    options: dict[str, Any] = {"help": str(told["help"] or "").replace("%", "%%"), "default": default}
    if flags or is_flag:
        options["dest"] = name
    if is_flag:
        options |= {"action": "store_true", "default": bool(default)}
    else:
        options["type"] = next((made for word, made in _KINDS.items() if kind.startswith(word)), None)
        options["choices"] = list(told["choices"]) if told["choices"] else None
        options |= {} if flags else {"nargs": "?"}
    with suppress(ValueError, TypeError, ArgumentError):
        parser.add_argument(*(flags or [f"--{name}" if is_flag else name]), **options)


def patches() -> Iterator[Patch]:
    """Where each library reads the words of a command line."""
    yield Patch(Awaited("click.core", "Command"), "parse_args", _by_click)
    yield Patch(Awaited("absl.flags._flagvalues", "FlagValues"), "__call__", _by_absl)
