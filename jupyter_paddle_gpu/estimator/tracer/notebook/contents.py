"""Keys and places that a list or a dictionary does not have, whatever was run before: the code says in one place all
that is in it (`names = ["a", "b"]`, `history = {"loss": []}`), and does nothing that would make it more."""

from __future__ import annotations

import ast
import linecache
import traceback
from collections.abc import Iterable, Iterator
from types import FrameType

from .. import call_stack
from .syntax import nodes

_READS = frozenset(("len", "print", "enumerate", "zip", "sorted", "sum", "max", "min", "range", "list", "tuple"))
"""Functions that leave what they are given as it is."""
_LOOKS = frozenset(("items", "keys", "values", "get", "index", "count"))
"""Methods that do."""
_Made = ast.List | ast.Tuple | ast.Dict


def lacks(problem: BaseException, sources: Iterable[str]) -> bool:
    """Whether an error is one of a key or a place that the code never gives what it is looked for in."""
    if not isinstance(problem, (KeyError, IndexError)) or problem.__traceback__ is None:
        return False
    *_, (frame, line) = traceback.walk_tb(problem.__traceback__)
    file, sources = frame.f_code.co_filename, list(sources)
    if call_stack.cell_of(file) is None:
        return False
    own = nodes("".join(linecache.getlines(file)))
    return any(
        isinstance(node, ast.Subscript)
        and isinstance(node.ctx, ast.Load)
        and isinstance(node.value, ast.Name)
        and node.lineno <= line <= (node.end_lineno or node.lineno)
        and _is_beyond(node, problem, frame, (own, sources))
        for node in own
    )


def _is_beyond(
    node: ast.Subscript, problem: BaseException, frame: FrameType, code: tuple[tuple[ast.AST, ...], list[str]]
) -> bool:
    """Whether the index of one of the line is the one that fails."""
    own, sources = code
    assert isinstance(node.value, ast.Name)
    name = node.value.id
    held = frame.f_locals.get(name, frame.f_globals.get(name))
    if isinstance(problem, KeyError):
        match node.slice:
            case ast.Constant(value=str(key)):
                return type(held) is dict and (key,) == problem.args and _is_fixed(name, sources, key)
        return False
    index = _index(node.slice, frame, own)
    if index is None or not isinstance(held, (list, tuple)) or type(held) not in (list, tuple):
        return False
    return not -len(held) <= index < len(held) and _is_fixed(name, sources)


def _index(node: ast.expr, frame: FrameType, own: tuple[ast.AST, ...]) -> int | None:
    """A number that stands there, or that a loop through such numbers counts."""
    if isinstance(node, ast.Name):
        counts = [one.iter for one in own if isinstance(one, ast.For) and ast.unparse(one.target) == node.id]
        known = all(
            isinstance(one, ast.Call)
            and ast.unparse(one.func) == "range"
            and all(isinstance(part, ast.Constant) for part in one.args)
            for one in counts
        )
        stored = [one for one in own if isinstance(one, ast.Name) and one.id == node.id and not _is_read(one)]
        value = frame.f_locals.get(node.id, frame.f_globals.get(node.id))
        return value if counts and known and len(stored) == len(counts) and type(value) is int else None
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError):
        return None
    return value if type(value) is int else None


def _is_read(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Load)


def _is_fixed(name: str, sources: list[str], key: str | None = None) -> bool:
    """Whether the code binds a name once, to what it lists there, and only looks at it elsewhere.

    Args:
        key: which other keys do not matter beside.
    """
    bound = made(name, [node for source in sources for node in nodes(source)], key)
    if len(bound) != 1 or not isinstance(bound[0], _Made):
        return False
    listed = bound[0].keys if isinstance(bound[0], ast.Dict) else bound[0].elts
    return not any(one is None or isinstance(one, ast.Starred) for one in listed)


def made(name: str, everything: list[ast.AST], key: str | None = None) -> list[ast.expr]:
    """What a name is bound to, where the code only looks at it elsewhere; nothing where it may be more than that.

    Args:
        key: which other keys do not matter beside.
    """
    named = [node for node in everything if isinstance(node, ast.Name) and node.id == name]
    values = [value for bound, value in _bindings(everything) if bound == name]
    read = sum(map(_is_read, named))
    others = {one.arg for one in everything if isinstance(one, ast.arg)}
    is_more = read != len(list(_looked_at(name, everything, key))) or len(named) - read != len(values)
    return [] if is_more or name in others else values


def _bindings(everything: list[ast.AST]) -> Iterator[tuple[str, ast.expr]]:
    """Names with what they alone are bound to: `names = []`, `losses, history = [], {}`."""
    for node in everything:
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ):
                yield name, value
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                pairs = zip(targets, values, strict=False)
                yield from ((one.id, value) for one, value in pairs if isinstance(one, ast.Name))


def _looked_at(name: str, everything: list[ast.AST], key: str | None) -> Iterator[ast.AST]:
    """Where a name is read and what it holds stays as it is."""
    for node in everything:
        match node:
            case ast.Subscript(value=ast.Name(id=own), ctx=ast.Load()) if own == name:
                yield node
            case ast.Subscript(value=ast.Name(id=own), ctx=ast.Store(), slice=ast.Constant(value=other)):
                if own == name and other != key:
                    yield node
            case ast.Attribute(value=ast.Name(id=own), attr=attr) if own == name and attr in _LOOKS:
                yield node
            case ast.For(iter=ast.Name(id=own)) if own == name:
                yield node
            case ast.Call(func=ast.Name(id=called), args=args) if called in _READS:
                yield from (one for one in args if isinstance(one, ast.Name) and one.id == name)
