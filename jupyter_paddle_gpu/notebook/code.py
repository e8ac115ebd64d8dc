"""All cells of a notebook as one indexed syntax tree: who encloses whom, who binds which name, who is called where."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TypeVar

from ..domain.notebooks import Place
from .cells import ParsedCell

Function = ast.FunctionDef | ast.AsyncFunctionDef
Scope = ast.AST | None
"""The function or class that owns a name; None is the notebook's own namespace."""
N = TypeVar("N", bound=ast.AST)

UNKNOWN = ast.Constant(value=...)
"""Stands for a value that only running the code would give (a loop variable, a file handle)."""


class Code:
    """The index. Built once, only read afterwards.

    Attributes:
        nodes: every node in reading order.
        bindings: `(scope, name)` -> expressions bound to the name, in reading order.
        attributes: `(class, attribute)` -> expressions bound to `self.attribute` or in the class body.
        items: `(variable, key)` -> expressions bound to `variable["key"]`.
        imports: local name -> dotted path; `stars` the modules whose names were all imported.
    """

    def __init__(self, cells: Iterable[ParsedCell]) -> None:
        self.nodes: list[ast.AST] = []
        self.bindings: dict[tuple[Scope, str], list[ast.expr]] = defaultdict(list)
        self.attributes: dict[tuple[str, str], list[ast.expr]] = defaultdict(list)
        self.items: dict[tuple[str, str], list[ast.expr]] = defaultdict(list)
        self.imports: dict[str, str] = {}
        self.stars: list[str] = []
        self.functions: dict[str, list[Function]] = defaultdict(list)
        self.classes: dict[str, ast.ClassDef] = {}
        self._calls: dict[str, list[ast.Call]] = defaultdict(list)
        self._parent: dict[ast.AST, ast.AST] = {}
        self._cell: dict[ast.AST, int] = {}
        for parsed in cells:
            if parsed.tree is not None:
                self._add(parsed.tree, parsed.cell.index)
        for node in self.nodes:
            self._index(node)

    # --- structure

    def of_type(self, kind: type[N]) -> Iterator[N]:
        """Every node of a type, in reading order."""
        return (node for node in self.nodes if isinstance(node, kind))

    def parents(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around `node`, innermost first."""
        while (above := self._parent.get(node)) is not None:
            yield above
            node = above

    def position(self, node: ast.AST) -> tuple[int, int, int]:
        """Cell index, line and column: comparable in the order of the notebook."""
        return self.cell(node), getattr(node, "lineno", 1), getattr(node, "col_offset", 0)

    def cell(self, node: ast.AST) -> int:
        """Index of the cell among all cells."""
        return self._cell.get([node, *self.parents(node)][-1], 0)

    def place(self, node: ast.AST) -> Place:
        """Where `node` stands, for a fact."""
        cell, line, _ = self.position(node)
        return Place(cell, line)

    def scope(self, node: ast.AST) -> Scope:
        """The innermost function or class around `node`."""
        return next((n for n in self.parents(node) if isinstance(n, (Function, ast.ClassDef, ast.Lambda))), None)

    def scopes(self, node: ast.AST) -> Iterator[Scope]:
        """Where Python looks a name up from `node`: functions outwards (a class body only from itself), then None."""
        first = True
        for above in self.parents(node):
            if isinstance(above, (Function, ast.Lambda)) or (first and isinstance(above, ast.ClassDef)):
                yield above
            first = first and not isinstance(above, (Function, ast.ClassDef, ast.Lambda))
        yield None

    def owner(self, node: ast.AST) -> ast.ClassDef | None:
        """The class whose body or method `node` stands in."""
        return next((n for n in self.parents(node) if isinstance(n, ast.ClassDef)), None)

    def calls_of(self, function: Function) -> list[ast.Call]:
        """Calls that, by their name, reach `function`; those inside itself left out."""
        name = function.name
        parent = self._parent.get(function)
        method = isinstance(parent, ast.ClassDef)
        if isinstance(parent, ast.ClassDef) and name == "__init__":
            name, method = parent.name, False
        found = self._calls.get(name, [])
        return [
            call
            for call in found
            if (isinstance(call.func, ast.Attribute) if method else isinstance(call.func, ast.Name))
            and function not in self.parents(call)
        ]

    def is_method(self, function: Function) -> bool:
        """Whether the first parameter is given by the call's receiver."""
        static = any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in function.decorator_list)
        return isinstance(self._parent.get(function), ast.ClassDef) and not static

    def made(self, node: ast.expr, like: ast.AST) -> ast.expr:
        """Take in an expression that is written nowhere, as if it stood at `like`."""
        for part in ast.walk(node):
            if part not in self._parent:
                ast.copy_location(part, like)
                for child in ast.iter_child_nodes(part):
                    self._parent.setdefault(child, part)
        self._parent.setdefault(node, self._parent.get(like, like))
        return node

    # --- building

    def _add(self, tree: ast.Module, cell: int) -> None:
        self._cell[tree] = cell
        pending: list[ast.AST] = [tree]
        while pending:  # not recursive: a notebook may nest deeper than Python's stack
            node = pending.pop()
            self.nodes.append(node)
            children = list(ast.iter_child_nodes(node))
            for child in children:
                # The grammar's singletons (Load, Add …) have many parents and no place.
                if not isinstance(child, (ast.expr_context, ast.operator, ast.cmpop, ast.unaryop, ast.boolop)):
                    self._parent[child] = node
            pending.extend(reversed([child for child in children if child in self._parent]))

    def _index(self, node: ast.AST) -> None:  # noqa: PLR0912 - one arm a statement
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self._bind(target, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.NamedExpr(target=target, value=value):
                self._bind(target, value)
            case ast.AugAssign(target=target) | ast.For(target=target) | ast.AsyncFor(target=target):
                self._bind(target, UNKNOWN)
            case ast.withitem(optional_vars=ast.expr() as target):
                self._bind(target, UNKNOWN)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self.functions[node.name].append(node)
            case ast.ClassDef():
                self.classes[node.name] = node
            case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
                self._calls[name].append(node)
            case ast.Import(names=names):
                for alias in names:
                    self.imports[alias.asname or alias.name.split(".")[0]] = (
                        alias.name if alias.asname else alias.name.split(".")[0]
                    )
            case ast.ImportFrom(module=str() as module, names=names, level=0):
                for alias in names:
                    if alias.name == "*":
                        self.stars.append(module)
                    else:
                        self.imports[alias.asname or alias.name] = f"{module}.{alias.name}"

    def _bind(self, target: ast.expr, value: ast.expr) -> None:
        match target:
            case ast.Name(id=name):
                scope = self.scope(target)
                if scope is not None and self._is_global(scope, name):
                    scope = None
                self.bindings[scope, name].append(value)
                if isinstance(scope, ast.ClassDef):
                    self.attributes[scope.name, name].append(value)
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name):
                if (owner := self.owner(target)) is not None:
                    self.attributes[owner.name, name].append(value)
            case ast.Attribute(value=ast.Name(id=variable), attr=name):
                self.attributes[variable, name].append(value)
            case ast.Subscript(value=ast.Name(id=variable), slice=ast.Constant(value=str() as key)):
                self.items[variable, key].append(value)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                for part, item in zip(parts, self._unpacked(value, parts), strict=True):
                    self._bind(part, item)
            case _:
                pass

    def _unpacked(self, value: ast.expr, parts: list[ast.expr]) -> list[ast.expr]:
        if value is UNKNOWN or any(isinstance(part, ast.Starred) for part in parts):
            return [UNKNOWN] * len(parts)
        if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(parts):
            return value.elts
        items = (ast.Subscript(value=value, slice=ast.Constant(value=i), ctx=ast.Load()) for i in range(len(parts)))
        return [self.made(item, value) for item in items]

    def _is_global(self, scope: ast.AST, name: str) -> bool:
        body = getattr(scope, "body", None)
        return isinstance(body, list) and any(isinstance(s, ast.Global) and name in s.names for s in body)
