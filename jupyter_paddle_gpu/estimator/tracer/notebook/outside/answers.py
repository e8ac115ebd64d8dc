"""Answers in place of what a program asks of its surroundings."""

from __future__ import annotations

import ast
import os
import re
import shlex
import sys
from argparse import ArgumentParser, _SubParsersAction
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ...patches.processes.command_lines import Parsers, destination
from ...session import current
from ..syntax import nodes

INPUT = "input"
"""The name that an `input()` is answered by where the notebook gives what it returns none."""
PLACE = "argv_"
"""How the name begins that an argument of a script is answered by which it reads by its place."""
WORDS = "arguments"
"""The name that all words of a script's command line are answered by, where a library reads them whose options are not
known here."""
_DECLARES = re.compile(r"add_argument|option|argument|DEFINE_\w+")
"""How calls are named that say of an argument what it is: those of argparse, click and absl."""
_READS = frozenset(("getenv", "get", "pop"))


def environment_names(sources: Iterable[str]) -> list[str]:
    """Names of the environment variables that code reads: `os.environ["A"]`, `os.environ.get("A")`, `getenv("A")`."""
    found: dict[str, None] = {}
    for source in sources:
        for node in nodes(source):
            if name := variable(node):
                found[name] = None
    return list(found)


def variable(node: ast.AST) -> str:
    """The environment variable that an expression reads; empty: none."""
    if isinstance(node, ast.Subscript) and is_environment(node.value):
        key: ast.expr | None = node.slice
    elif isinstance(node, ast.Call):
        func = node.func
        called = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
        owner = func.value if isinstance(func, ast.Attribute) else None
        is_read = called == "getenv" or (called in _READS and owner is not None and is_environment(owner))
        key = node.args[0] if is_read and node.args else None
    else:
        return ""
    return key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else ""


def bound_to(variables: Collection[str], sources: Iterable[str]) -> set[str]:
    """The names that code binds to what it reads of environment variables: `rows = os.environ.get("ROWS")`."""
    return {
        target.id
        for source in sources
        for node in nodes(source)
        if isinstance(node, ast.Assign) and any(variable(one) in variables for one in ast.walk(node.value))
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def is_environment(node: ast.expr) -> bool:
    """Whether it is `os.environ`."""
    return (isinstance(node, ast.Attribute) and node.attr == "environ") or (
        isinstance(node, ast.Name) and node.id == "environ"
    )


@contextmanager
def environment(answers: dict[str, Any], sources: list[str]) -> Iterator[None]:
    """Answers as environment variables: those that the program reads by that name, and those that it never binds."""
    before = dict(os.environ)
    os.environ.update({name: str(answers[name]) for name in _of_environment(answers, sources)})
    try:
        yield
    finally:
        for name in set(os.environ) - set(before):
            del os.environ[name]
        os.environ.update({name: value for name, value in before.items() if os.environ.get(name) != value})


def argument_names(sources: Iterable[str]) -> set[str]:
    """Names of the arguments that parsers in the code take."""
    calls = (node for source in sources if _DECLARES.search(source) for node in nodes(source))
    return {
        name
        for node in calls
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _DECLARES.fullmatch(node.func.attr)
        for name in _names_of(node)
    }


@contextmanager
def arguments(answers: Mapping[str, Any], parsers: Parsers) -> Iterator[None]:
    """Answers as what a parser takes for arguments that were not given, wherever it stands: in a module, too."""
    parse = ArgumentParser.parse_known_args

    def parsing(parser: ArgumentParser, args: Any = None, namespace: Any = None, **named: Any) -> Any:
        if current() is None:  # who looks for suggestions reads documents by it
            return parse(parser, args, namespace, **named)
        parsers.depths[parser] = len(parsers.reading)
        parsers.last, words = parser, list(sys.argv[1:] if args is None else args)
        for action in parser._actions:
            name = parsers.name_of(action, parser)
            if isinstance(action, _SubParsersAction):
                words = parsers.with_subcommand(words, name, action.choices, answers)
            elif name in answers:
                action.default, action.required = answers.get(name), False
                action.nargs = action.nargs if action.option_strings else "?"
        parsers.reading.append(parser)
        try:
            found = parse(parser, words, namespace, **named)
        finally:
            parsers.reading.pop()
        parsers.given = found[0]
        return found

    ArgumentParser.parse_known_args = parsing  # type: ignore[method-assign,assignment]
    try:
        yield
    finally:
        ArgumentParser.parse_known_args = parse  # type: ignore[method-assign]


def _of_environment(answers: dict[str, Any], sources: list[str]) -> list[str]:
    if not answers:
        return []
    whole = [node for source in sources for node in nodes(source)]
    declared = {node.target for node in whole if isinstance(node, ast.AnnAssign) and node.value is None}
    names = (node for node in whole if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    bound = {node.id for node in names if node not in declared}
    read = {*environment_names(sources), *map(_text_of, whole)}
    fields = {name for node in whole for name in _fields_of(node)}
    return [name for name in answers if name in read or name not in bound or _is_of_field(name, fields)]


def _text_of(node: ast.AST) -> str | None:
    """A text by which a library, or a function, may look a variable up: what a call has first (`env.int("batch")`), and
    any that is written as variables are."""
    match node:
        case ast.Call(args=[ast.Constant(value=str(text)), *_]):
            return text
        case ast.Constant(value=str(text)) if text.isupper():
            return text
    return None


def _fields_of(node: ast.AST) -> Iterator[str]:
    """What a class of settings reads from the environment (`class Settings(BaseSettings)`), in small letters."""
    if isinstance(node, ast.ClassDef) and any(ast.unparse(base).endswith("Settings") for base in node.bases):
        declared = (one.target for one in node.body if isinstance(one, ast.AnnAssign))
        yield from (target.id.lower() for target in declared if isinstance(target, ast.Name))


def _is_of_field(name: str, fields: set[str]) -> bool:
    """Whether it may be the variable of a declared field, behind prefixes: `TRAIN_BATCH` of `batch: int`."""
    words = name.lower().split("_")
    return any("_".join(words[first:]) in fields for first in range(len(words)))


class OutsideAnswers(ast.NodeTransformer):
    """Puts answers into `input()` and into the arguments of a parser, which may read them before it parses."""

    def __init__(self, answers: dict[str, Any]) -> None:
        self._answers = answers

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """`input("...")`, `parser.add_argument("--data", required=True)`."""
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == INPUT and INPUT in self._answers:
            return ast.copy_location(ast.Constant(str(self._answers[INPUT])), node)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "add_argument":
            self._argument(node)
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        """`sys.argv = ["train.py"]`, with which a script begins: what it was not given stands behind it."""
        self.generic_visit(node)
        if ast.unparse(node.targets[0]) == "sys.argv" and isinstance(words := node.value, ast.List):
            given = shlex.split(str(self._answers.get(WORDS) or ""))
            while given or (answer := self._answers.get(f"{PLACE}{len(words.elts)}")) is not None:
                word = given.pop(0) if given else str(answer)
                words.elts.append(ast.copy_location(ast.Constant(word), node))
        return node

    def _argument(self, node: ast.Call) -> None:
        name = next((name for name in _names_of(node) if name in self._answers), None)
        if name is None:
            return
        flags = _flags(node)
        node.keywords = [word for word in node.keywords if word.arg not in {"required", "default"}]
        if not flags[0].startswith("-"):
            node.keywords = [word for word in node.keywords if word.arg != "nargs"]
            node.keywords.append(ast.keyword("nargs", ast.Constant("?")))
        node.keywords.append(ast.keyword("default", ast.Constant(self._answers[name])))


def _flags(call: ast.Call) -> list[str]:
    is_absl = isinstance(call.func, ast.Attribute) and call.func.attr.startswith("DEFINE_")  # behind the name, its help
    words = call.args[:1] if is_absl else call.args
    return [one.value for one in words if isinstance(one, ast.Constant) and isinstance(one.value, str)]


def _names_of(call: ast.Call) -> list[str]:
    """The names by which a parser may keep the argument of a call of `add_argument`."""
    named = [word.value.value for word in call.keywords if word.arg == "dest" and isinstance(word.value, ast.Constant)]
    return [*(name for name in named if isinstance(name, str)), *map(destination, reversed(_flags(call)))]
