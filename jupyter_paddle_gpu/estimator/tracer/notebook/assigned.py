"""What a program assigns to libraries: `paddle.Tensor.shift = paddle.Tensor.max`, `setattr(paddle.nn.Layer, ...)`."""

from __future__ import annotations

import ast
import contextlib
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import ModuleType
from typing import Any

from .syntax import nodes

_MISSING = object()


def places(sources: Iterable[str]) -> list[tuple[str, str]]:
    """What code assigns to imported modules and their classes: the owner's dotted path, and the name."""
    found: dict[tuple[str, str], None] = {}
    for source in sources:
        names = _imported(source)
        for node in nodes(source) if names else ():
            for owner, name in _assigned(node):
                path = _path(owner, names)
                if path:
                    found[path, name] = None
    return list(found)


def _assigned(node: ast.AST) -> Iterator[tuple[ast.expr, str]]:
    match node:
        case ast.Assign(targets=targets):
            yield from ((one.value, one.attr) for one in targets if isinstance(one, ast.Attribute))
        case ast.Call(func=ast.Name(id="setattr"), args=[owner, ast.Constant(value=str(name)), _]):
            yield owner, name


def _path(node: ast.expr, names: Mapping[str, str]) -> str:
    match node:
        case ast.Name(id=name):
            return names.get(name, "")
        case ast.Attribute(value=owner, attr=name) if above := _path(owner, names):
            return f"{above}.{name}"
    return ""


def _imported(source: str) -> dict[str, str]:
    """What names stand for that a source imports, by dotted paths."""
    found: dict[str, str] = {}
    for node in nodes(source):
        if isinstance(node, ast.Import):
            found.update({one.asname: one.name for one in node.names if one.asname})
            found.update({top: top for one in node.names if not one.asname for top in [one.name.partition(".")[0]]})
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.update({one.asname or one.name: f"{node.module}.{one.name}" for one in node.names})
    return found


def kept(found: Iterable[tuple[str, str]]) -> Callable[[], None]:
    """Puts back what libraries have now at the places."""
    owners = [(owner, name) for path, name in found if (owner := _at(path)) is not None]
    before = [(owner, name, vars(owner).get(name, _MISSING)) for owner, name in owners]

    def put() -> None:
        for owner, name, value in before:
            if vars(owner).get(name, _MISSING) is not value:
                with contextlib.suppress(AttributeError, TypeError):
                    delattr(owner, name) if value is _MISSING else setattr(owner, name, value)

    return put


def _at(path: str) -> Any:
    """The module or class of a library at a dotted path; None where it is not imported."""
    parts = path.split(".")
    count = next((end for end in range(len(parts), 0, -1) if ".".join(parts[:end]) in sys.modules), 0)
    found = sys.modules.get(".".join(parts[:count]))
    for name in parts[count:]:
        found = vars(found or object).get(name)
    return found if isinstance(found, (ModuleType, type)) else None
