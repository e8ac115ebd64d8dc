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
    found: list[ast.AST] = [parsed(source)]
    for node in found:  # which grows meanwhile
        found += children(node)
    return tuple(found)


def children(node: ast.AST) -> list[ast.AST]:
    """As `ast.iter_child_nodes`, which takes three times as long."""
    found: list[ast.AST] = []
    for value in node.__dict__.values():
        if isinstance(value, list):
            found += [item for item in value if isinstance(item, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found
