"""Sources as trees that nobody changes: each is parsed and gone through once, however many ask."""

from __future__ import annotations

import ast
from functools import lru_cache


@lru_cache(maxsize=256)
def parsed(source: str) -> ast.Module:
    """The source as a tree; an empty one where it is no Python."""
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError):
        return ast.Module([], [])


@lru_cache(maxsize=256)
def nodes(source: str) -> tuple[ast.AST, ...]:
    """All nodes of a source, as `ast.walk` has them."""
    return _gone_through(parsed(source))


@lru_cache(maxsize=64)
def walk(tree: ast.AST) -> tuple[ast.AST, ...]:
    """All nodes of a whole program that nobody changes, for who has no source of it: a dozen places look for something
    in each, whenever a question comes up."""
    return _gone_through(tree)


def _gone_through(tree: ast.AST) -> tuple[ast.AST, ...]:
    found = [tree]
    for node in found:  # which grows meanwhile
        found += children(node)
    return tuple(found)


@lru_cache(maxsize=4096)
def statements_at(source: str, line: int) -> tuple[ast.stmt, ...]:
    """The statements that a line of a source is in, the outer ones first: it is asked for each statement that fails."""
    own = (node for node in nodes(source) if isinstance(node, ast.stmt))
    return tuple(node for node in own if node.lineno <= line <= (node.end_lineno or node.lineno))


def children(node: ast.AST) -> list[ast.AST]:
    """As `ast.iter_child_nodes`, which takes three times as long."""
    found: list[ast.AST] = []
    for value in node.__dict__.values():
        if isinstance(value, list):
            found += [item for item in value if isinstance(item, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found
