"""Answers in place of what a notebook assigns."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any


class Answers(ast.NodeTransformer):
    """Binds names to given values wherever they are assigned."""

    def __init__(self, answers: dict[str, Any]) -> None:
        self.answers = answers
        self.used: set[str] = set()

    def visit_Assign(self, node: ast.Assign) -> Any:
        """`name = ...`."""
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Name) and node.targets[0].id in self.answers:
            name = node.targets[0].id
            self.used.add(name)
            node.value = ast.copy_location(ast.Constant(self.answers[name]), node.value)
            return self.generic_visit(node)
        match node:  # `words, width = len(vocabulary), 4`
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=parts)) if len(names) == len(parts):
                for number, one in enumerate(names):
                    if isinstance(one, ast.Name) and one.id in self.answers and not _starred([*names, *parts]):
                        parts[number] = ast.copy_location(ast.Constant(self.answers[one.id]), parts[number])
        # `loader, width = load(8)`: the others are what the call gives.
        given = [one.id for target in node.targets for one in _names(target) if one.id in self.answers]
        self.used.update(given)
        behind = [ast.Assign([ast.Name(name, ast.Store())], ast.Constant(self.answers[name])) for name in given]
        return [self.generic_visit(node), *(_at(node, one) for one in behind)]

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """`name: int = ...`."""
        if isinstance(node.target, ast.Name) and node.target.id in self.answers and node.value is not None:
            self.used.add(node.target.id)
            node.value = ast.copy_location(ast.Constant(self.answers[node.target.id]), node.value)
        return self.generic_visit(node)


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


def _at(place: ast.stmt, made: ast.stmt) -> ast.stmt:
    """A statement where another one stands."""
    for part in ast.walk(made):
        ast.copy_location(part, place)
    return made
