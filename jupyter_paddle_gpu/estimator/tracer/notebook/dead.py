"""Arms of conditions that never run: `if False:`, `if args.train:` where no run trains, `if __name__ == "__main__":` of
a module that is imported; and what stands behind one that always leaves its function (`if args.eval: ...; return`)."""

from __future__ import annotations

import argparse
import ast
import operator
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from .syntax import nodes, parsed

PLAIN = (bool, int, float, str, type(None))
"""Values by which a condition is known."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_LEAVE = (ast.Return, ast.Raise, ast.Continue, ast.Break)
"""What nothing behind it in the same block is come to after."""
_BLOCKS = (ast.stmt, ast.ExceptHandler, ast.match_case)
"""What holds statements, or is one."""
_COMPARED = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Is: operator.is_, ast.IsNot: operator.is_not,
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip
_BINDS = ("exec(", "globals()")
"""What binds names that stand nowhere."""
IMPORTED = {"__name__": "imported"}
"""What a module that is imported knows."""


class UnknownError(Exception):
    """A condition hangs on more than what is known."""


def settled(sources: Iterable[str], namespace: Mapping[str, Any]) -> dict[str, Any]:
    """What conditions may be told by: names that the code binds once and in no loop, to a plain value or to the
    arguments of a command line of which it changes none. What functions call by such a name is another thing."""
    sources = tuple(sources)
    bound: dict[str, int] = {}
    changed: set[str] = set()
    for source in sources:
        for node in nodes(source):
            match node:
                case ast.Attribute(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()):
                    changed.add(name)
                case ast.Global(names=names):
                    changed.update(names)
        for node in _outside(parsed(source)):
            match node:
                case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                    bound[name] = bound.get(name, 0) + 1
                case ast.For() | ast.AsyncFor() | ast.While():  # `for phase in ("train", "val"):`, the last is left
                    changed.update(_bound(node))
    known = {**_written(sources), **{name: value for name, value in namespace.items() if _is_known(value)}}
    return {name: known[name] for name, count in bound.items() if count == 1 and name in known.keys() - changed}


def of_command_line(sources: Iterable[str], given: argparse.Namespace | None) -> dict[str, argparse.Namespace]:
    """By the name that the code binds them to: the arguments that were parsed, also where the block around that ended
    for want of data and left all of unknown content that it binds."""
    if given is None:
        return {}
    return {
        node.targets[0].id: given
        for source in sources
        for node in _outside(parsed(source))
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Call)
        and str(getattr(node.value.func, "attr", getattr(node.value.func, "id", ""))).endswith("parse_args")
    }


def without(known: Mapping[str, Any], asked: Collection[str]) -> dict[str, Any]:
    """What is known but for what is asked for, also among the arguments of a command line."""
    return {
        name: argparse.Namespace(**{part: one for part, one in vars(value).items() if part not in asked})
        if isinstance(value, argparse.Namespace)
        else value
        for name, value in known.items()
        if name not in asked
    }


def _outside(tree: ast.AST) -> Iterator[ast.AST]:
    """What stands outside of functions."""
    open_still = [tree]
    while open_still:
        node = open_still.pop()
        yield node
        open_still += [one for one in ast.iter_child_nodes(node) if not isinstance(one, _FUNCTIONS)]


def _is_known(value: Any) -> bool:
    return type(value) in PLAIN or isinstance(value, argparse.Namespace)


def _written(sources: Iterable[str]) -> dict[str, Any]:
    """What names outside of functions and classes are bound to as constants: a run that ended before it came there
    (`mode = "predict"` behind a download) has no value for them. None where code may bind names that are not read."""
    if any(word in source for source in sources for word in _BINDS):
        return {}
    found: dict[str, Any] = {}
    open_still: list[ast.AST] = [parsed(source) for source in sources]
    while open_still:
        for part in ast.iter_child_nodes(open_still.pop()):
            match part:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=value)) if _is_known(value):
                    found[name] = value
                case ast.stmt() if not isinstance(part, (*_FUNCTIONS, ast.ClassDef)):
                    open_still.append(part)
    return found


def _bound(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}


def alive(tree: ast.AST, known: Mapping[str, Any]) -> ast.AST:
    """The tree without arms that never run; itself where it has none."""
    pruning = _Pruning(known)
    if not any(pruning.decided(node) is not None for node in ast.walk(tree) if isinstance(node, ast.If)):
        return tree
    return pruning.visit(_copied(tree))  # type: ignore[no-any-return]


def _copied(node: ast.AST) -> ast.AST:
    """A tree with statements of its own, in which arms can be left out; expressions are shared."""
    fields = {
        name: [_copied(one) if isinstance(one, _BLOCKS) else one for one in value] if isinstance(value, list) else value
        for name, value in ast.iter_fields(node)
    }
    return ast.copy_location(type(node)(**fields), node)


def decided(test: ast.expr, known: Mapping[str, Any]) -> bool | None:
    """Which way a condition goes each time; None where that is not known."""
    try:
        return bool(_value(test, known))
    except UnknownError:
        return None


class _Pruning(ast.NodeTransformer):
    def __init__(self, known: Mapping[str, Any]) -> None:
        self._known = known

    def decided(self, node: ast.If) -> bool | None:
        return decided(node.test, self._known)

    def visit_If(self, node: ast.If) -> Any:
        held = self.decided(node)
        self.generic_visit(node)
        if held is None:
            return node
        return (node.body if held else node.orelse) or ast.copy_location(ast.Pass(), node)

    def generic_visit(self, node: ast.AST) -> ast.AST:
        if not isinstance(node, _FUNCTIONS):
            return _without_rest(super().generic_visit(node))
        outer, bound = self._known, _bound(node)
        own = {one.arg for one in ast.walk(node.args) if isinstance(one, ast.arg)} - bound
        # Arguments of a command line are handed on by their own name.
        self._known = {
            name: value
            for name, value in outer.items()
            if name not in bound and (name not in own or isinstance(value, argparse.Namespace))
        }
        try:
            return _without_rest(super().generic_visit(node))
        finally:
            self._known = outer


def _without_rest(node: ast.AST) -> ast.AST:
    """A statement without what stands in its blocks behind where they are left."""
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list):
            end = next((at for at, one in enumerate(block, 1) if isinstance(one, _LEAVE)), len(block))
            setattr(node, name, block[:end])
    return node


def _value(node: ast.expr, known: Mapping[str, Any]) -> Any:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name) if type(known.get(name, known)) in PLAIN:
            return known[name]
        case ast.Attribute(value=ast.Name(id=name), attr=part) if isinstance(known.get(name), argparse.Namespace):
            value = vars(known[name]).get(part, known)
            if type(value) in PLAIN:
                return value
        case ast.UnaryOp(op=ast.Not(), operand=of):
            return not _value(of, known)
        case ast.BoolOp(op=joint, values=parts):
            return _joined(isinstance(joint, ast.And), [decided(one, known) for one in parts])
        case ast.Compare(left=left, ops=[compared], comparators=[right]) if type(compared) in _COMPARED:
            try:
                return _COMPARED[type(compared)](_value(left, known), _value(right, known))
            except TypeError:
                raise UnknownError from None
    raise UnknownError


def _joined(is_and: bool, parts: list[bool | None]) -> bool:
    """What `and`, or `or`, comes to: one part may decide it."""
    if (not is_and) in parts:
        return not is_and
    if None in parts:
        raise UnknownError
    return is_and
