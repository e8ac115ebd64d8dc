"""Options that a program reads by Python's getopt and optparse: told by a parser of Python's own, as those of other
libraries are (`command_lines`), and given the answers, as in a job (`runner/shells/options`)."""

from __future__ import annotations

import ast
import getopt
import optparse
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from ...session import Session
from ...undecided.absent_data import AbsentData
from ...undecided.running_code import nodes_in
from ..patch import Patch
from .command_lines import Parsers, destination, tell

_NUMBERS = frozenset(("int", "float"))


class Option(NamedTuple):
    """An option of getopt's: how it is written, what code binds where it is given, whether it takes a value, and which
    type of number code makes of that."""

    flags: tuple[str, ...]
    bound: tuple[str, ...]
    takes: bool
    number: str

    @property
    def names(self) -> list[str]:
        """Those that it is answered by: its long form, else what code binds, else its letter."""
        long = [destination(flag) for flag in self.flags if flag.startswith("--")]
        return list(dict.fromkeys([*long, *self.bound, *map(destination, self.flags)]))


def options_of(short: str, long: Iterable[str], nodes: Iterable[ast.AST]) -> list[Option]:
    """The options that getopt is to read.

    Args:
        nodes: of the code, which says which of them are one (`elif option in ("-b", "--batch"): batch = int(value)`).
    """
    letters = short.lstrip("+-")
    takes = {f"-{letter}": letters[at + 1 : at + 2] == ":" for at, letter in enumerate(letters) if letter != ":"}
    takes |= {f"--{name.rstrip('=')}": name.endswith("=") for name in long}
    found: list[Option] = []
    for test, body in map(_chosen, nodes):
        texts = (one.value for one in ast.walk(test) if isinstance(one, ast.Constant)) if test is not None else ()
        flags = tuple(one for one in dict.fromkeys(texts) if isinstance(one, str) and takes.get(one) is not None)
        if flags:
            made = [one for statement in body for one in ast.walk(statement) if isinstance(one, ast.Assign)]
            found.append(Option(flags, tuple(filter(None, map(_target, made))), takes[flags[0]], _number(made)))
    known = {flag for one in found for flag in one.flags}
    return [*found, *(Option((flag,), (), takes[flag], "") for flag in takes if flag not in known)]


def _chosen(node: ast.AST) -> tuple[ast.AST | None, list[ast.stmt]]:
    match node:
        case ast.If(test=test, body=body):
            return test, body
        case ast.match_case(pattern=pattern, body=body):
            return pattern, body
    return None, []


def _target(made: ast.Assign) -> str:
    match made.targets:
        case [ast.Name(id=name) | ast.Attribute(attr=name) | ast.Subscript(slice=ast.Constant(value=str(name)))]:
            return name
    return ""


def _number(made: Iterable[ast.AST]) -> str:
    calls = (one for statement in made for one in ast.walk(statement) if isinstance(one, ast.Call))
    return next((one.func.id for one in calls if isinstance(one.func, ast.Name) and one.func.id in _NUMBERS), "")


def _by_getopt(
    session: Session, original: Callable[..., Any], words: Any, short: str, long: Any = (), *more: Any, **named: Any
) -> Any:
    """`getopt.getopt(sys.argv[1:], "b:", ["batch="])`."""
    found, rest = original(words, short, long, *more, **named)
    parsers, data = session.of(Parsers), session.of(AbsentData)
    told_by, given = parsers.begin(), dict[str, Any]()
    options = options_of(short, [long] if isinstance(long, str) else long, nodes_in(data.code))
    for one in options:
        name, *others = one.names
        flags = sorted(one.flags, key=len, reverse=True)
        tell(told_by, name, flags, is_flag=not one.takes, kind=one.number, help="", default=None, choices=None)
        told = [value if one.takes else True for flag, value in found if flag in one.flags]
        answer = next((held for each in one.names if (held := data.answers.get(each)) is not None), None)
        if answer is not None and not told and (one.takes or answer):
            told = [str(answer) if one.takes else True]
            found.append((flags[0], str(answer) if one.takes else ""))
        given |= dict.fromkeys((name, *others), told[-1] if told else None)
        parsers.aliases |= dict.fromkeys(others, name)
    parsers.given, parsers.read, parsers.rest = Namespace(**given), found, rest
    return found, rest


def _by_optparse(session: Session, original: Callable[..., Any], parser: Any, *words: Any, **named: Any) -> Any:
    """`OptionParser.parse_args()`."""
    parsers, answers = session.of(Parsers), session.of(AbsentData).answers
    told_by = parsers.begin()
    for one in parser._get_all_options():
        flags = [*one._long_opts, *one._short_opts]
        if one.dest is None or not flags:
            continue
        told = {"help": one.help, "default": parser.defaults.get(one.dest), "choices": one.choices}
        tell(told_by, one.dest, flags, is_flag=not one.takes_value(), kind=str(one.type or ""), **told)
        if (answer := answers.get(one.dest)) is not None:
            parser.defaults[one.dest] = str(answer) if one.takes_value() else answer
    values, rest = original(parser, *words, **named)
    parsers.given, parsers.rest = Namespace(**vars(values)), rest
    return values, rest


def patches() -> Iterator[Patch]:
    """Where both read."""
    yield Patch(getopt, "getopt", _by_getopt)
    yield Patch(getopt, "gnu_getopt", _by_getopt)
    yield Patch(optparse.OptionParser, "parse_args", _by_optparse)
