"""Command lines that a program has read by a library: click, typer, absl.

Each is told by a parser of Python's own, with the same options under the same names, so that what is known of such
(choices, documents, what the code compares an option with) holds for all. Python's own stands in `notebook/outside`.
"""

from __future__ import annotations

import re
from argparse import Action, ArgumentError, ArgumentParser, Namespace, _SubParsersAction
from collections.abc import Callable, Iterable, Iterator, Mapping
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
SUBCOMMAND = "subcommand"
"""The name that a subcommand is answered by where the program has none for it, of an outermost parser."""
TRAINS = re.compile(r"(?i)train|tun|fit|learn")
"""What subcommands are called with which a program trains."""


def destination(flag: str) -> str:
    """The name under which a parser keeps an argument."""
    return re.sub(r"\W", "_", flag.strip().lstrip("-"))


class Parsers:
    """The parser of a command line that was asked last, what it gave, and what a library missed in it, by the names
    that the program has for them."""

    last: ArgumentParser | None = None
    given: Namespace | None = None
    missing: tuple[str, ...] = ()

    def __init__(self) -> None:
        self.subcommands: dict[str, list[str]] = {}
        """Of which of those that there are none was given, by the names that they are answered by."""
        self.reading: list[ArgumentParser] = []
        """Parsers of Python's own that hand on to one another, the innermost last."""
        self.depths: dict[ArgumentParser, int] = {}
        """How many stood before each that has read anything."""
        self.aliases: dict[str, str] = {}
        """The names of options by other ones that code has for them."""
        self.read: list[Any] | None = None
        """The options as getopt gave them; None where it reads none."""
        self.rest: list[str] | None = None
        """The words that getopt or optparse has left."""

    def with_subcommand(
        self, words: Iterable[str], name: str, choices: Iterable[Any], answers: Mapping[str, Any]
    ) -> list[str]:
        """The words of a command line, with the answer for a subcommand behind them where they have none; where there
        is no answer, it is missed."""
        found, known = list(words), sorted(map(str, choices), key=lambda one: not TRAINS.search(one))
        if known and not any(word in known for word in found):
            if (answer := answers.get(name)) in known:
                return [*found, answer]
            self.subcommands[name] = known
        return found

    def of(self, name: str) -> ArgumentParser | None:
        """The parser that takes what a name is answered with."""
        if name not in self.subcommands:
            return self.last
        parser = ArgumentParser(add_help=False)
        parser.add_argument(name, nargs="?", choices=self.subcommands[name])
        return parser

    def name_of(self, action: Action, parser: ArgumentParser) -> str:
        """The name that an argument is answered by: the program's own, if it has one."""
        if action.dest.isidentifier():
            return action.dest
        if isinstance(action, _SubParsersAction):
            return subcommand_of(parser.prog.split()[-1:], self.depths.get(parser, 0))
        return destination(action.option_strings[-1] if action.option_strings else action.dest)

    def begin(self) -> ArgumentParser:
        """A library reads the command line: the parser that tells what it knows."""
        self.last, self.given, self.missing = ArgumentParser(add_help=False, conflict_handler="resolve"), None, ()
        return self.last


def subcommand_of(last: list[str], depth: int) -> str:
    """The name that a subcommand is answered by.

    Args:
        last: what the subcommand is called to which it belongs.
        depth: how many of them stand before it.
    """
    return "_".join([*(destination(word) for word in last if depth > 0), SUBCOMMAND])


def _with_subcommand(
    session: Session, original: Callable[..., Any], command: Any, called: Any, words: Any, *given: Any, **named: Any
) -> Any:
    """A group of click's, which reads the words up to its subcommand."""
    parsers, answers = session.of(Parsers), session.of(AbsentData).answers
    name = subcommand_of([str(called)], int(bool((given and given[0]) or named.get("parent"))))
    words = parsers.with_subcommand(words, name, getattr(command, "commands", ()), answers)
    try:
        return original(command, called, words, *given, **named)
    finally:
        if name in parsers.subcommands and not command.invoke_without_command:
            parsers.missing = (*parsers.missing, name)


def _by_click(session: Session, original: Callable[..., Any], command: Any, context: Any, words: Any) -> Any:
    parsers, answers = session.of(Parsers), session.of(AbsentData).answers
    told_by = parsers.begin()
    for one in command.params:
        flags = [flag for flag in one.opts if flag.startswith("-")]
        kind, choices = _kind(one)
        told = {"help": getattr(one, "help", None), "default": one.default, "choices": choices}
        tell(told_by, one.name, flags, is_flag=bool(getattr(one, "is_flag", False)), kind=kind, **told)
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


def _kind(parameter: Any) -> tuple[str, list[Any] | None]:
    """What a value of an option of click's is called, and those that it may have; typer has its own words for both."""
    described = getattr(parameter, "type_descriptor", None)
    if described is None:
        return str(parameter.type.name), getattr(parameter.type, "choices", None)
    values = described.choices if described.is_choice else None
    kind = str(getattr(described.annotation, "__name__", ""))
    return kind, None if values is None else [getattr(one, "value", one) for one in values]


def _by_absl(session: Session, original: Callable[..., Any], values: Any, *given: Any, **named: Any) -> Any:
    parsers, answers = session.of(Parsers), session.of(AbsentData).answers
    told_by = parsers.begin()
    by_module = values.flags_by_module_dict().items()
    own = [flag for module, flags in by_module if not module.startswith("absl.") for flag in flags]
    for one in own:
        told = {"help": one.help, "default": one.default, "choices": getattr(one.parser, "enum_values", None)}
        tell(told_by, one.name, [f"--{one.name}"], is_flag=bool(one.boolean), kind=one.flag_type(), **told)
        if (answer := answers.get(one.name)) is not None:
            values.set_default(one.name, answer)
    try:
        left = original(values, *given, **named)
    except Exception as problem:
        parsers.missing = tuple(_NOT_NONE.findall(str(problem)))
        raise
    parsers.given = Namespace(**{one.name: one.value for one in own})
    return left


def tell(parser: ArgumentParser, name: str, flags: list[str], *, is_flag: bool, kind: str, **told: Any) -> None:
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
    """Where each library reads the words of a command line. Typer has a click of its own in newer versions."""
    for module in ("click.core", "typer._click.core"):
        yield Patch(Awaited(module, "Command"), "parse_args", _by_click)
        yield Patch(Awaited(module, "Command"), "make_context", _with_subcommand)
    yield Patch(Awaited("absl.flags._flagvalues", "FlagValues"), "__call__", _by_absl)
