"""What a statement binds, fills and makes, as its text says it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...undecided import running_code
from ...undecided.own_changes import attributes, calls, outside_functions, own
from ...undecided.running_code import FILLS, whole

__all__ = ["Apart", "attributes", "bound_by", "calls", "own", "stored_into", "tensors_made"]


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
    found |= dict.fromkeys(_filled(statement))
    return [name for name in found if not name.startswith("__")]


class Apart(ast.NodeTransformer):
    """A cell's statements that bind several things, one at a time: what one of them lacks is not the others', and each
    has a name of its own (`x, y = paddle.to_tensor(rows), paddle.to_tensor(labels)`)."""

    def visit_Module(self, node: ast.Module) -> ast.AST:
        """What is in loops and functions stays."""
        node.body = [part for one in node.body for part in _apart(one)]
        return node


def _apart(statement: ast.stmt) -> list[ast.stmt]:
    match statement:
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)) if len(names) == len(values):
            bound = {one.id for one in names if isinstance(one, ast.Name)}
            read = {part.id for value in values for part in ast.walk(value) if isinstance(part, ast.Name)}
            is_plain = len(bound) == len(names) and not any(isinstance(one, ast.Starred) for one in values)
            if is_plain and bound.isdisjoint(read):  # `a, b = b, a` reads what it binds
                return [
                    ast.copy_location(ast.Assign([name], value), value)
                    for name, value in zip(names, values, strict=True)
                ]
    return [statement]


def tensors_made(node: ast.stmt) -> frozenset[str]:
    """The names and attributes that a statement binds to tensors which it makes of numbers, or fills with such: of
    `for row in rows: self.rows.append(paddle.to_tensor(row))` it is `self.rows`."""
    return frozenset(ast.unparse(one) for part in own(node) for one in running_code.tensors_made(part))


def _filled(statement: ast.stmt) -> Iterator[str]:
    """The names of what calls put something into: `words.append(row)`, `items[user].append(row)`,
    `[seen.setdefault(one, 0) for one in row]`."""
    parts = list(outside_functions(statement))
    targets = [part.target for part in parts if isinstance(part, ast.comprehension)]
    items = {part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)}
    for part in parts:
        match part:
            case ast.Call(func=ast.Attribute(value=ast.Name() | ast.Subscript() as held, attr=method)):
                filled = whole(held)
                if isinstance(filled, ast.Name) and method in FILLS and filled.id not in items:
                    yield filled.id


def stored_into(statement: ast.stmt) -> frozenset[str]:
    """Names and attributes of which a statement sets parts: `row[:3] = ...`, `for i in rows: self.sums[i] = ...`."""
    sets = (one for one in own(statement) if isinstance(one, (ast.Assign, ast.AugAssign)))
    targets = (one for found in sets for one in (found.targets if isinstance(found, ast.Assign) else [found.target]))
    return frozenset(ast.unparse(whole(one)) for one in targets if isinstance(one, ast.Subscript))


_NUMBERS = frozenset(("float32", "float64", "int32", "int64"))


def type_said(statement: ast.stmt) -> str | None:
    """The type of numbers that a statement gives to what it binds, in plain sight: `np.array(rows, dtype="float32")`,
    `rows.astype(np.int64)`."""
    said: ast.expr | None = None
    match getattr(statement, "value", None):
        case ast.Call(func=ast.Attribute(attr="astype"), args=[given, *_]):
            said = given
        case ast.Call(keywords=words):
            said = next((word.value for word in words if word.arg == "dtype"), None)
        case _:
            return None
    name = said.value if isinstance(said, ast.Constant) else getattr(said, "attr", None)
    return name if name in _NUMBERS else None
