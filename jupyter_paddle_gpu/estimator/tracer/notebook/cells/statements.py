"""What a statement binds, fills and makes, as its text says it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...undecided import running_code
from ...undecided.running_code import FILLS, whole


def bound_by(statement: ast.stmt) -> list[str]:
    """Names that a statement binds, or fills."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [statement.name]
    found: dict[str, None] = {}
    for node in own(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found[node.id] = None
        elif isinstance(node, ast.alias):
            found[(node.asname or node.name).partition(".")[0]] = None
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            held = whole(node)
            found |= {held.id: None} if isinstance(held, ast.Name) else {}
        elif (filled := _filled(node)) is not None:
            found[filled] = None
    return [name for name in found if not name.startswith("__")]


def attributes(node: ast.stmt) -> list[str]:
    """The attributes of objects that a statement binds or fills: `self.rows = ...`, `self.rows.append(...)`."""
    found: dict[str, None] = {}
    for part in own(node):
        target: ast.AST | None = None
        if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store):
            target = part
        elif isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store):
            target = whole(part)
        elif isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr in FILLS:
            target = part.func.value
        if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
            found[f"{target.value.id}.{target.attr}"] = None
    return list(found)


def tensors_made(node: ast.stmt) -> frozenset[str]:
    """The names and attributes that a statement binds to tensors which it makes of numbers, or fills with such: of
    `for row in rows: self.rows.append(paddle.to_tensor(row))` it is `self.rows`."""
    return frozenset(ast.unparse(one) for part in own(node) for one in running_code.tensors_made(part))


def _filled(node: ast.AST) -> str | None:
    """The name of what a call puts something into."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)) if method in FILLS:
            return name
    return None


def own(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a statement outside of functions and comprehensions, whose names are their own."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(
            child, (ast.FunctionDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
        ):
            yield from own(child)


def stored_into(statement: ast.stmt) -> frozenset[str]:
    """Names and attributes of which a statement sets parts: `row[:3] = ...`, `for i in rows: self.sums[i] = ...`."""
    sets = (one for one in own(statement) if isinstance(one, (ast.Assign, ast.AugAssign)))
    targets = (one for found in sets for one in (found.targets if isinstance(found, ast.Assign) else [found.target]))
    return frozenset(ast.unparse(whole(one)) for one in targets if isinstance(one, ast.Subscript))
