"""Answers in place of what a notebook assigns."""

from __future__ import annotations

import ast
import contextlib
import os
import re
from collections.abc import Callable, Collection, Iterator
from typing import Any, TypeVar


class Answers(ast.NodeTransformer):
    """Binds names to given values wherever they are assigned.

    Args:
        arguments: names of arguments of a command line, which have their answers from the parser: a name of the code's
            own that is alike is none of theirs (`config = json.load(open(args.config))`), unless a plain value stands
            there.
    """

    def __init__(self, answers: dict[str, Any], arguments: Collection[str] = ()) -> None:
        self.answers = answers
        self._arguments = arguments
        self.used: set[str] = set()

    def visit_Assign(self, node: ast.Assign) -> Any:
        """`name = ...`."""
        if not isinstance(node.value, ast.Constant) and self._is_of_argument(node.targets):
            return self.generic_visit(node)
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Name) and node.targets[0].id in self.answers:
            self._give(node.targets[0].id, node)
            return self.generic_visit(node)
        match node:  # `words, width = len(vocabulary), 4`
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=parts)) if len(names) == len(parts):
                for number, one in enumerate(names):
                    if isinstance(one, ast.Name) and self._gives(one.id, node) and not _starred([*names, *parts]):
                        parts[number] = _constant(self.answers[one.id], parts[number])
        # `loader, width = load(8)`: the others are what the call gives.
        given = [one.id for target in node.targets for one in _names(target) if one.id in self.answers]
        self.used.update(given)
        given = [name for name in given if self._gives(name, node)]
        behind = [ast.Assign([ast.Name(name, ast.Store())], _constant(self.answers[name], node)) for name in given]
        return [self.generic_visit(node), *(_at(node, one) for one in behind)]

    def _is_of_argument(self, targets: list[ast.expr]) -> bool:
        names = {one.id for target in targets for one in _names(target)} & self.answers.keys()
        return bool(names) and names <= set(self._arguments)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """`name: int = ...`."""
        if isinstance(node.target, ast.Name) and node.target.id in self.answers and node.value is not None:
            self._give(node.target.id, node)
        return self.generic_visit(node)

    def _give(self, name: str, node: ast.Assign | ast.AnnAssign) -> None:
        """The answer as what is assigned."""
        self.used.add(name)
        if node.value is not None and self._gives(name, node):
            node.value = _typed(node.value, _of_variable(name, self.answers[name]))

    def _gives(self, name: str, node: ast.Assign | ast.AnnAssign) -> bool:
        """Whether the answer is what is assigned: where the statement reads it from the environment, the program makes
        of its text what it needs (`BATCH = int(os.environ["BATCH"])`)."""
        if name not in self.answers:
            return False
        return os.environ.get(name) != str(self.answers[name]) or not _reads_variable(node, name)


def _of_variable(name: str, answer: Any) -> Any:
    """An answer for a variable, which is a text, as a library gives it that reads one: a number where it is one."""
    is_number = isinstance(answer, str) and os.environ.get(name) == answer and _NUMBER.fullmatch(answer) is not None
    return ast.literal_eval(answer) if is_number else answer


_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?")


def _typed(value: ast.expr, answer: Any) -> ast.expr:
    """The answer in place of an expression; where that waits for a person (`int(input("width? "))`), in place of what
    is typed: the program makes of the text what it needs."""
    person = _Person(ast.copy_location(ast.Constant(str(answer)), value))
    made = person.visit(value)
    return made if person.is_asked else _constant(answer, value)


def _constant(answer: Any, place: ast.AST) -> ast.expr:
    """An answer as an expression; one that is written as a list is one, but in the place of a text."""
    is_list = isinstance(answer, str) and _LIST.match(answer) is not None
    if is_list and not (isinstance(place, ast.Constant) and isinstance(place.value, str)):
        with contextlib.suppress(SyntaxError):
            made = ast.parse(answer.strip(), mode="eval").body
            if isinstance(made, (ast.List, ast.Tuple)) and all(isinstance(one, _PARTS) for one in ast.walk(made)):
                return _at(place, made)
    return ast.copy_location(ast.Constant(answer), place)


_LIST = re.compile(r"\s*[\[(]")
_PARTS = (ast.List, ast.Tuple, ast.Constant, ast.UnaryOp, ast.USub, ast.Load)


class _Person(ast.NodeTransformer):
    """Puts a text in place of what a person types."""

    def __init__(self, typed: ast.expr) -> None:
        self._typed = typed
        self.is_asked = False

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """`input("width? ")`."""
        if isinstance(node.func, ast.Name) and node.func.id == "input":
            self.is_asked = True
            return self._typed
        return self.generic_visit(node)


def _reads_variable(node: ast.AST, name: str) -> bool:
    """Whether code has the environment variable of that name in it."""
    parts = list(ast.walk(node))
    called = {part.attr if isinstance(part, ast.Attribute) else getattr(part, "id", "") for part in parts}
    is_named = any(isinstance(part, ast.Constant) and part.value == name for part in parts)
    return is_named and not called.isdisjoint({"environ", "getenv"})


def _starred(parts: list[ast.expr]) -> bool:
    """Whether one of them stands for several."""
    return any(isinstance(part, ast.Starred) for part in parts)


def _names(target: ast.expr) -> Iterator[ast.Name]:
    """The names that a target binds."""
    if isinstance(target, (ast.Tuple, ast.List)):
        for one in target.elts:
            yield from _names(one)
    elif isinstance(target, ast.Name):
        yield target


_Node = TypeVar("_Node", bound=ast.AST)


def _at(place: ast.AST, made: _Node) -> _Node:
    """A statement or an expression where another one stands."""
    for part in ast.walk(made):
        ast.copy_location(part, place)
    return made


_LATER_SIZES = re.compile(r"(?<=,)\d+")
"""Sizes in a batch that is described, but for the first of each part: how many samples there are sizes no layer."""


def blamed(answers: dict[str, Any], changes: Callable[[dict[str, Any]], bool]) -> list[str]:
    """The answers to which an error is due: with another value there is another error, or none. All of them where that
    cannot be told.

    Args:
        changes: whether the error is another one with other answers.
    """
    if len(answers) < 2:
        return list(answers)
    others = {name: _other(value) for name, value in answers.items()}
    found = [name for name, other in others.items() if other is not None and changes({**answers, name: other})]
    return found or list(answers)


def _other(value: Any) -> Any:
    """Another answer of the same kind; None where nobody knows one."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if not isinstance(value, str):
        return None
    if value.isdecimal():
        return str(int(value) + 1)
    other = _LATER_SIZES.sub(lambda size: str(int(size[0]) + 1), value)
    return None if other == value or "[" not in value else other
