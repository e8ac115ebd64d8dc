"""What an error says that a program lacks of its surroundings."""

from __future__ import annotations

import ast
import linecache
import os
import re
import sys
from argparse import ArgumentError, ArgumentParser, Namespace, _get_action_name
from collections.abc import Collection, Iterator
from traceback import walk_tb
from types import FrameType, TracebackType
from typing import NamedTuple

from ...patches.processes.command_lines import Parsers, destination
from ..syntax import nodes, statements_at
from .answers import PLACE, WORDS, environment_names
from .endings import Lack
from .looked_for import is_own

READERS = frozenset(
    ("cleo", "clize", "cyclopts", "defopt", "docopt", "draccus", "fire", "jsonargparse", "plac", "tap", "tyro")
)
"""Libraries that read command lines in a way of their own."""
_FLAGS = frozenset(("FlagValues", "Values"))
"""What absl and optparse keep the values of all options in."""


def environment_of(problem: BaseException, source: str, line: int) -> list[str]:
    """The environment variables without which a statement failed."""
    last = next(iter(_back(problem)), None)
    if isinstance(problem, KeyError) and last is not None and _module(last[0]) == "os":
        return [str(problem.args[0])]
    if not isinstance(problem, (TypeError, AttributeError, ValueError)):
        return []
    failed = (statement(source, line), failing(problem, source, line))
    return [name for name in environment_names(failed) if name not in os.environ]


def statement(source: str, line: int) -> str:
    """The innermost statement at a line, or all that stand on it side by side: `import os; B = os.environ["B"]`."""
    here = statements_at(source, line)
    innermost = [node for node in here if node.lineno == max(one.lineno for one in here)]
    inside = {id(part) for node in innermost for part in ast.walk(node) if part is not node}
    return "\n".join(ast.unparse(node) for node in innermost if id(node) not in inside)


def failing(problem: BaseException, source: str, line: int) -> str:
    """The innermost statement that failed, in the cell or in a module that it imports."""
    for frame, number in _back(problem):
        if _module(frame) != "os":
            text = _source(frame)
            return statement(text, number) if text else statement(source, line)
    return statement(source, line)


def _back(problem: BaseException) -> list[tuple[FrameType, int]]:
    """The frames and lines of a traceback, the innermost first."""
    return list(walk_tb(problem.__traceback__))[::-1]


def _module(frame: FrameType) -> str | None:
    return frame.f_globals.get("__name__")


def _source(frame: FrameType) -> str:
    return "".join(linecache.getlines(frame.f_code.co_filename))


def arguments_of(problem: BaseException, parsers: Parsers) -> list[Lack]:
    """The arguments of a command line that the program cannot do without and that were not given, by the names that
    they are answered by; where a library reads it whose options are not known here, its words.

    Args:
        parsers: that read it.
    """
    said = _said_by_parser(problem)
    _, found, names = (said.message if said is not None else "").partition("required: ")
    if said is not None and found:
        parsers.last = said.parser
        missed = [_named(name, said.parser, parsers) for name in re.split(r", (?![^{]*})", names)]
    else:
        found_out = [*parsers.missing, *_left_out(problem, parsers.given), *unbound(problem, parsers)]
        missed = list(dict.fromkeys(parsers.aliases.get(name, name) for name in found_out))
    if not missed and _goes_without_subcommand(problem):
        missed = list(parsers.subcommands)
    lacks = [Lack("subcommand_missing" if one in parsers.subcommands else "argument_missing", one) for one in missed]
    return lacks or [Lack("words_missing", WORDS) for _ in _readers(problem)][:1]


class _Said(NamedTuple):
    """What a parser told before it left, and which one."""

    message: str
    parser: ArgumentParser


def _named(said: str, parser: ArgumentParser, parsers: Parsers) -> str:
    """The name that an argument is answered by which its parser calls so."""
    for action in parser._actions:
        if said in {_get_action_name(action), f"{{{','.join(map(str, action.choices or ()))}}}"}:
            return parsers.name_of(action, parser)
    return destination(said.split("/")[-1])


def _said_by_parser(problem: BaseException) -> _Said | None:
    for frame, _ in walk_tb(problem.__traceback__) if isinstance(problem, SystemExit) else ():
        message, parser = frame.f_locals.get("message"), frame.f_locals.get("self")
        if frame.f_code.co_name == "error" and isinstance(message, str) and isinstance(parser, ArgumentParser):
            return _Said(message, parser)
    return None


def _goes_without_subcommand(problem: BaseException) -> bool:
    """Whether a program ended for want of what a subcommand would have given it: `args.func(args)`."""
    return isinstance(problem, AttributeError) and isinstance(problem.obj, Namespace)


def _readers(problem: BaseException) -> Iterator[str]:
    """The libraries that read command lines and left for the program."""
    if isinstance(problem, SystemExit) and problem.code not in {None, 0}:
        modules = (str(_module(frame)).partition(".")[0] for frame, _ in _back(problem))
        yield from (one for one in modules if one in READERS)


def places_of(problem: BaseException, parsers: Parsers) -> list[str]:
    """The arguments that a script reads by their places in `sys.argv`, or in what getopt and optparse leave, and that
    were not given: `argv_1` is the first."""
    for frame, number in _back(problem) if isinstance(problem, (IndexError, ValueError)) else ():
        rest = parsers.rest
        names = {**frame.f_globals, **frame.f_locals} if rest is not None else {}
        left = {name for name, value in names.items() if value is rest and value is not None}
        for of, length in ((_WORDS, len(sys.argv)), (left, len(rest or ()))):
            wanted = max((_wanted(node, number, problem, of) for node in nodes(_source(frame))), default=0)
            if wanted > length:
                return [f"{PLACE}{len(sys.argv) + place}" for place in range(wanted - length)]
    return []


_WORDS = frozenset(("sys.argv", "argv"))


def _wanted(node: ast.AST, line: int, problem: BaseException, of: Collection[str]) -> int:
    """How many words there are to be for the statement at a line.

    Args:
        of: how they are called.
    """
    match node:
        case ast.Subscript(value=value, slice=ast.Constant(value=int(place)), lineno=first, end_lineno=last):
            is_here = isinstance(problem, IndexError) and first <= line <= (last or first)
            return place + 1 if is_here and ast.unparse(value) in of else 0
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=value, lineno=first, end_lineno=last):
            is_here = isinstance(problem, ValueError) and first <= line <= (last or first)
            is_rest = isinstance(value, ast.Subscript) and ast.unparse(value.slice) == "1:"
            words = value.value if isinstance(value, ast.Subscript) and is_rest else value
            return len(names) + is_rest if is_here and ast.unparse(words) in of else 0
    return 0


def usage_of(problem: BaseException) -> ArgumentError | None:
    """What a parser says of a command line that it does not take (`unrecognized arguments: --widht 300`), in place of
    the exit that it says it by."""
    said = _said_by_parser(problem) if problem.__context__ is None else None
    return None if said is None else ArgumentError(None, said.message).with_traceback(problem.__traceback__)


def _left_out(problem: BaseException, given: Namespace | None) -> Iterator[str]:
    """The arguments that are None where something else was needed: `open(args.config)`, or `open(config)` in a function
    that is called with them."""
    read = {} if given is None else vars(given)
    is_left_out = isinstance(problem, TypeError) and "NoneType" in str(problem)
    for frame, line in walk_tb(problem.__traceback__) if is_left_out else ():
        names = {**frame.f_globals, **frame.f_locals}
        for node in nodes(statement(_source(frame), line)):
            match node:
                case ast.Attribute(value=ast.Name(id=name), attr=attr) if isinstance(names.get(name), Namespace):
                    if getattr(names[name], attr, "") is None:
                        yield attr
                case ast.Attribute(value=ast.Name(id=name), attr=attr) if type(names.get(name)).__name__ in _FLAGS:
                    if read.get(attr, "") is None:
                        yield attr
                case ast.Name(id=name) if read.get(name, "") is None and names.get(name, "") is None:
                    yield name
                case ast.Constant(value=str(text)) if text.startswith("-") and read.get(destination(text), "") is None:
                    yield destination(text)


def unbound(problem: BaseException, parsers: Parsers) -> list[str]:
    """The option that was not given, which code binds a name for only where it is (`NameError`), or takes by its flag
    (`dict(options)["--batch"]`)."""
    match problem:
        case NameError():
            name = problem.name or next(iter(re.findall(r"'(\w+)'", str(problem))), "")
        case KeyError(args=[str(flag)]) if flag.startswith("-"):
            name = destination(flag)
        case _:
            return []
    is_read = parsers.read is not None and parsers.given is not None
    return [name] if is_read and vars(parsers.given).get(name, "") is None else []


def behind_exit(problem: BaseException) -> Exception | None:
    """The error that a program handled by leaving (`except Exception: sys.exit(1)`), with the way to that exit as its
    traceback; None where it left by itself, or well."""
    handled = problem.__context__
    if not isinstance(problem, SystemExit) or problem.code in {None, 0} or not isinstance(handled, Exception):
        return None
    steps, step, joined = [], problem.__traceback__, handled.__traceback__
    while step is not None:  # not `walk_tb`, which leaves the place within a line out
        steps.append(step)
        step = step.tb_next
    for one in reversed(steps):
        joined = TracebackType(joined, one.tb_frame, one.tb_lasti, one.tb_lineno)
    return handled.with_traceback(joined)


def ends_in_order(problem: BaseException) -> bool:
    """Whether a library leaves for the program, which has done all that it does (`app.run(main)`)."""
    if not isinstance(problem, SystemExit) or problem.code not in {None, 0}:
        return False
    inner = next((frame for frame, _ in _back(problem) if _module(frame) != "_sitebuiltins"), None)
    return inner is not None and not is_own(inner.f_code.co_filename)


def awaits_input(problem: BaseException) -> bool:
    """Whether a person was to type something: a file that ends too early is another thing."""
    return isinstance(problem, EOFError) and str(problem).startswith("EOF when reading a line")
