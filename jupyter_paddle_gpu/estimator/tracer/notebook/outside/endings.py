"""What a program says that it cannot be without, where it ends itself for want of it: `if not args.data:
parser.error(...)`, `assert args.width`, `if "BATCH" not in os.environ: raise ...`, `if len(sys.argv) < 2: usage()`."""

from __future__ import annotations

import argparse
import ast
import linecache
import optparse
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from types import FrameType, SimpleNamespace, TracebackType
from typing import NamedTuple

from ...patches.processes.command_lines import Parsers, destination
from ..syntax import nodes, statements_at
from .answers import PLACE, WORDS, is_environment, variable

_MOST_PLACES = 9
_ENDS = frozenset(("exit", "quit", "error", "_exit"))
"""Functions that end a program, and a parser's."""


class Lack(NamedTuple):
    """One thing: the code of its question, and the name that it is answered by; where whoever missed it says so, the
    type of number that the program makes of it (`int`, `float`), and those values of which it is one."""

    why: str
    name: str
    number: str = ""
    choices: tuple[str, ...] = ()


class Ended(NamedTuple):
    """A condition under which a program ended itself, whether it held then, and where it stands."""

    test: ast.expr
    holds: bool
    frame: FrameType
    source: str


def lacks(problem: BaseException, parsers: Parsers) -> list[Lack]:
    """What would have to be given so that the program does not end itself there; nothing where it ended otherwise.

    Args:
        parsers: with the command line as it was given.
    """
    if found := next(filter(None, (wanted_by(ended, parsers) for ended in conditions(problem))), None):
        return found
    without = parsers.subcommands if isinstance(problem, SystemExit) else ()  # it showed how it is called, and left
    return [Lack("subcommand_missing", name) for name in without]


def wanted_by(ended: Ended, parsers: Parsers) -> list[Lack]:
    """What would have to be given so that a condition comes out otherwise."""
    defaults = {action.dest: action.default for action in parsers.last._actions} if parsers.last is not None else {}
    given = vars(parsers.given) if parsers.given is not None else {}
    absent = {name for name, value in given.items() if not value and value == defaults.get(name, value)}
    left_out = _Absent(absent, ended, parsers)
    if not left_out.is_any(ended.test):
        return []  # it is of something else: data that is not here would count as asked for by that
    found = dict.fromkeys(_wanted(ended.test, ended.holds, left_out))
    return [Lack("subcommand_missing", one.name) if one.name in parsers.subcommands else one for one in found]


def conditions(problem: BaseException) -> Iterator[Ended]:
    """The innermost first. Of a function that does nothing but end the program (`usage()`), those of its call."""
    is_within = False
    for frame, line in reversed(_steps(problem.__traceback__)):
        source = "".join(linecache.getlines(frame.f_code.co_filename))
        if not source:  # `exit()` is Python's own
            continue
        here = statements_at(source, line)
        ends = max(here, key=lambda one: (one.lineno, one.col_offset), default=None)
        if isinstance(ends, ast.Assert):
            yield Ended(ends.test, False, frame, source)
            return
        if not _is_ending(ends, is_within=is_within):
            return
        is_within = True
        functions = [one.lineno for one in here if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef))]
        choices = [one for one in here if isinstance(one, ast.If) and one.lineno >= max(functions, default=0)]
        for one in sorted(choices, key=lambda one: (-one.lineno, -one.col_offset)):
            yield Ended(one.test, any(part.lineno <= line <= _end(part) for part in one.body), frame, source)
        if choices:
            return


def _steps(step: TracebackType | None) -> list[tuple[FrameType, int]]:
    """The way to an error through the program's own code: a parser ends it from within."""
    found = []
    while step is not None:
        if step.tb_frame.f_code.co_filename not in {argparse.__file__, optparse.__file__}:
            found.append((step.tb_frame, step.tb_lineno))
        step = step.tb_next
    return found


def _end(node: ast.AST) -> int:
    return getattr(node, "end_lineno", None) or 0


def _is_ending(node: ast.stmt | None, *, is_within: bool) -> bool:
    """Whether a statement raises, or calls what ends the program.

    Args:
        is_within: whether what it calls has ended it.
    """
    match node:
        case ast.Raise():
            return True
        case ast.Expr(value=ast.Call(func=ast.Name(id=called) | ast.Attribute(attr=called))):
            return is_within or called in _ENDS
    return False


class _Absent:
    """What was left out of all that a condition may be made of.

    Args:
        arguments: of the command line, by the names that the program has for them.
        ended: where the condition stands.
        parsers: that read the command line.
    """

    def __init__(self, arguments: set[str], ended: Ended, parsers: Parsers) -> None:
        self._arguments, self._parsers = arguments, parsers
        self._names = {**ended.frame.f_globals, **ended.frame.f_locals}
        self._bound = {
            node.targets[0].id: read
            for node in nodes(ended.source)
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)
            if (read := [name for part in ast.walk(node.value) if (name := variable(part))])
        }
        """The environment variables by the names that are bound to them."""
        self._options = {
            node.targets[0].id
            for node in nodes(ended.source)
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and _is_dictionary(node.value)
        }
        """Names to which what getopt has read is bound as a dictionary."""

    def is_any(self, test: ast.expr) -> bool:
        """Whether a condition is made of anything that could be left out."""
        parts = list(ast.walk(test))
        names = {getattr(one, "id", getattr(one, "attr", "")) for one in parts}
        texts = {one.value for one in parts if isinstance(one, ast.Constant) and isinstance(one.value, str)}
        names |= texts | set(map(destination, texts))
        if any(self._names.get(name) is not None for name in self._left(names)):
            return True
        return not names.isdisjoint({*self._arguments, *self._bound, "argv", "environ", "getenv"})

    def is_so(self, test: ast.expr) -> bool:
        """What a condition says where the program ended, as far as that can be asked; else that it held."""
        with suppress(Exception):  # what a program's own objects answer
            return bool(eval(compile(ast.Expression(test), "<condition>", "eval"), self._names))
        return True

    def of(self, test: ast.expr, holds: bool) -> Iterator[Lack]:
        """That of a condition which is no combination of others."""
        least = _least(test, not holds)
        yield from (Lack("place_missing", f"{PLACE}{number}") for number in range(len(sys.argv), least))
        names = {one.id for one in ast.walk(test) if isinstance(one, ast.Name)}
        said = {one.value for one in ast.walk(test) if isinstance(one, ast.Constant) and isinstance(one.value, str)}
        for name in self._left(names | set(map(destination, said))):
            if self._names[name] is self._parsers.read or isinstance(self._names[name], dict):
                yield Lack("words_missing", WORDS)
            else:
                more = self._more(test, name, not holds)
                yield from (Lack("place_missing", f"{PLACE}{len(sys.argv) + number}") for number in range(more))
        match test:
            case ast.Compare(left=ast.Constant(value=str() as name), comparators=[where]) if is_environment(where):
                yield from self._variable(name)
        for node in ast.walk(test):
            yield from self._variable(variable(node))
            match node:
                case (
                    ast.Attribute(attr=name)
                    | ast.Name(id=name)
                    | ast.Subscript(slice=ast.Constant(value=str() as name))
                ):
                    if name in self._arguments and not self.is_so(node):
                        yield Lack("argument_missing", name)
                case ast.Constant(value=str() as flag) if flag.startswith("-") and flag != "-":
                    if destination(flag) in self._arguments:
                        yield Lack("argument_missing", destination(flag))
            if isinstance(node, ast.Name) and node.id in self._bound and not self.is_so(node):
                yield from (one for name in self._bound[node.id] for one in self._variable(name))

    def _left(self, names: set[str]) -> list[str]:
        """Those that are bound to what getopt or optparse has read, or left."""
        held = (self._parsers.read, self._parsers.rest)
        found = [name for name in sorted(names) if any(self._names.get(name) is one for one in held if one is not None)]
        found = [name for name in found if isinstance(self._names[name], list)]
        if self._parsers.read is None:
            return found
        options = dict(self._parsers.read)
        read = [name for name in sorted(names & self._options) if self._names.get(name) == options]
        return [*found, *(read if names.isdisjoint(self._arguments) else ())]  # else it is of that argument

    def _more(self, test: ast.expr, name: str, is_so: bool) -> int:
        """How many more words a list must have for a condition to come out so; 0: none help."""
        code, words = compile(ast.Expression(test), "<condition>", "eval"), self._names[name]
        for number in range(1, _MOST_PLACES):
            with suppress(Exception):  # what a program's own objects answer
                if bool(eval(code, {**self._names, name: [*words, *[""] * number]})) is is_so:
                    return number
        return 0

    def _variable(self, name: str) -> Iterator[Lack]:
        if name and name not in os.environ:
            yield Lack("environment_missing", name)


def _is_dictionary(value: ast.expr) -> bool:
    """Whether an expression is `dict(options)`, or `dict(getopt.getopt(...)[0])`."""
    match value:
        case ast.Call(func=ast.Name(id="dict"), args=[ast.Name() | ast.Subscript(value=ast.Call())], keywords=[]):
            return True
    return False


def _wanted(test: ast.expr, holds: bool, absent: _Absent) -> Iterator[Lack]:
    """What would have to be given so that a condition is otherwise."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            yield from _wanted(inner, not holds, absent)
        case ast.BoolOp(op=op, values=values):
            parts = [list(_wanted(one, holds, absent)) for one in values if absent.is_so(one) is holds]
            if isinstance(op, ast.Or) is holds:  # each of them alone is reason enough
                yield from (one for part in parts for one in part)
            elif all(parts):  # one of them given is enough: rather that of a training
                yield from min(parts, key=lambda part: not any("train" in one.name for one in part), default=[])
        case _:
            yield from absent.of(test, holds)


def _least(test: ast.expr, is_so: bool) -> int:
    """The fewest words of `sys.argv` with which a test of their number comes out so; 0: it is of something else."""
    calls = [one for one in ast.walk(test) if isinstance(one, ast.Call)]
    names = {one.id for one in ast.walk(test) if isinstance(one, ast.Name)}
    is_of_words = bool(calls) and names <= {"len", "sys", "argv"} and names & {"sys", "argv"}
    if not is_of_words or any(ast.unparse(one.func) != "len" for one in calls):
        return 0
    code = compile(ast.Expression(test), "<condition>", "eval")
    for number in range(len(sys.argv) + 1, len(sys.argv) + _MOST_PLACES):
        words = [*sys.argv, *[""] * (number - len(sys.argv))]
        known = {"__builtins__": {"len": len}, "sys": SimpleNamespace(argv=words), "argv": words}
        if bool(eval(code, known)) is is_so:
            return number
    return 0
