"""What of the modules beside a notebook its code speaks of: a library has trainings of other chapters, too."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from .cells import ParsedCell

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_BY_NAME = frozenset(("globals", "eval", "exec", "import_module", "__import__", "vars"))
"""Functions by which code comes to what it does not speak of."""


def mentioned(cells: Sequence[ParsedCell], beside: Sequence[ParsedCell]) -> tuple[ParsedCell, ...]:
    """The modules with those of their functions and classes alone that cells come to by names.

    What is decorated stays, as it may be looked up in a registry, and so does everything where code finds things by
    names that it makes.
    """
    trees = [one.tree for one in (*cells, *beside) if one.tree is not None]
    if any(map(_finds_in_modules, trees)):
        return tuple(beside)
    waiting = [part for one in beside if one.tree is not None for part in one.tree.body]
    words = {word for cell in cells if cell.tree is not None for word in _words(cell.tree)}
    left_out = {id(part) for part in waiting}
    while found := [part for part in waiting if id(part) in left_out and _is_kept(part, words)]:
        left_out -= set(map(id, found))
        words |= {word for part in found for word in _words(part)}
    return tuple(one if one.tree is None else one._replace(tree=_without(one.tree, left_out)) for one in beside)


def _finds_in_modules(tree: ast.Module) -> bool:
    """Whether something of a module is found by a name that is made: `getattr(models, args.arch)`."""
    imported = {one.asname or one.name for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))
                for one in node.names}  # fmt: skip
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr="import_module" as name)) if (
                name in _BY_NAME
            ):
                return True
            case ast.Call(func=ast.Name(id="getattr"), args=[ast.Name(id=of), given, *_]) if of in imported:
                if not isinstance(given, ast.Constant):
                    return True
    return False


def _without(tree: ast.Module, left_out: set[int]) -> ast.Module:
    return ast.Module([part for part in tree.body if id(part) not in left_out], [])


def _is_kept(part: ast.stmt, words: set[str]) -> bool:
    return not isinstance(part, _DEFINITIONS) or bool(part.decorator_list) or part.name in words


def _words(node: ast.AST) -> Iterator[str]:
    """Names that code speaks of, also as texts: `getattr(lib, "train")`."""
    for one in ast.walk(node):
        match one:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.alias(name=name):
                yield name.rpartition(".")[2]
            case ast.Constant(value=str() as text) if text.isidentifier():
                yield text
