"""What a loop that trains does in some later rounds alone: `if (step + 1) % 100 == 0: print(loss.numpy()[0])`.

A trace ends long before. Behind the step that is known such a part is done at once, with the count that it will be done
with, so that an error there is told. The count is that of a `for` whose rounds are known, or one that it adds up.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from copy import deepcopy
from itertools import islice
from typing import NamedTuple, TypeAlias

from ...session import current
from ...step.rest import Rest
from ...step.steps import StepWatch

LATE, COUNT, DONE = "__late__", "__count__", "__done__"
"""The names under which a notebook's cells find `late`, `count` and `done`."""
_MOST = 100_000
"""Rounds for which a condition is asked."""
_LEAVES = (ast.Break, ast.Return, ast.Raise, ast.Yield, ast.YieldFrom)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_WRAPPERS = frozenset(("tqdm", "trange", "track"))
_PLAIN = frozenset(("len", "int", "max", "min", "bool"))
_Condition: TypeAlias = Callable[[int], object]


GATHERS = frozenset(("append", "appendleft", "extend", "insert", "add", "put"))
"""Methods by which a list, a set or a queue grows."""


class _Count(NamedTuple):
    """A name that counts the rounds of a loop, and the expression of the counts."""

    name: str
    counts: ast.expr


def is_any(loops: Iterable[ast.AST]) -> bool:
    """Whether one of the loops that train does anything in some rounds alone; an expression (`a if i else b`) is come
    to in the round of the step."""
    return any(_conditions(loop) or _chooses(loop) for loop in loops)


def _chooses(loop: ast.AST) -> bool:
    names = {one.name for one in _counts(loop)} if isinstance(loop, ast.For) else set()
    tests = [one.test for part in getattr(loop, "body", ()) for one in ast.walk(part) if isinstance(one, ast.IfExp)]
    return any(isinstance(one, ast.Name) and one.id in names for test in tests for one in ast.walk(test))


def rewriting(has_rest: bool) -> tuple[ast.NodeTransformer, ...]:
    """What has such parts done at once, where what is behind the step is followed."""
    return (LateRounds(),) if has_rest else ()


class LateRounds(ast.NodeTransformer):
    """`if step % 9 == 8: body` as `if __late__(place, step % 9 == 8, ...): step = __count__(place, step); body`, and
    `__done__(place)` behind the body."""

    def visit_For(self, node: ast.For) -> ast.AST:
        """Those of the loop, and of loops within it."""
        for condition, counted in _conditions(node):
            _rewrite(condition, counted)
        return self.generic_visit(node)


def late(
    place: str, holds: object, is_so: _Condition, counts: Callable[[], Iterable[int]], *, gathers: bool = False
) -> object:
    """Whether a condition on a count holds: once the step is known it does, if it will in a later round and has not
    until then.

    Args:
        gathers: whether something grows by it, so that it is to have grown more where the step is left later.
    """
    rest = _rest()
    if rest is None or place in rest.done:
        return holds
    if holds:
        rest.done.add(place)
    elif rest.is_on or (gathers and rest.is_awaited):
        with suppress(Exception):  # what a program's own objects answer
            rounds = list(islice(counts(), _MOST))
            found = next((one for one in rounds if is_so(one)), None)
            if found == rounds[-1] and rest.wants_short():
                return holds
            if rest.is_on:
                rest.done.add(place)
            if found is not None:
                rest.counts[place] = found
                rest.begins_part(place)
                return True
    return holds


def count(place: str, present: int) -> int:
    """The count with which a part is done."""
    rest = _rest()
    return present if rest is None else rest.counts.pop(place, present)


def done(place: str) -> None:
    """A part is through that hangs on a count."""
    rest = _rest()
    if rest is not None:
        rest.ends_part(place)


def _rest() -> Rest | None:
    session = current()
    return None if session is None else session.of(StepWatch).rest


def _rewrite(node: ast.If, counted: _Count) -> None:
    place = ast.Constant(f"{node.lineno}:{node.col_offset}:{ast.unparse(node.test)}")
    given = ast.arguments([], [ast.arg(counted.name)], None, [], [], None, [])
    none = ast.arguments([], [], None, [], [], None, [])
    asked = [ast.Lambda(given, deepcopy(node.test)), ast.Lambda(none, counted.counts)]
    told = ast.Call(ast.Name(COUNT, ast.Load()), [place, ast.Name(counted.name, ast.Load())], [])
    bound = ast.Assign([ast.Name(counted.name, ast.Store())], told)
    words = [ast.keyword("gathers", ast.Constant(True))] if any(_gathered(node.body)) else []
    test = ast.Call(ast.Name(LATE, ast.Load()), [place, node.test, *asked], words)
    through = ast.Expr(ast.Call(ast.Name(DONE, ast.Load()), [place], []))
    for part in (*ast.walk(test), *ast.walk(bound), *ast.walk(through)):
        if not hasattr(part, "lineno"):
            ast.copy_location(part, node.test)
    body = ast.Try([ast.copy_location(bound, node.body[0]), *node.body], [], [], [through])
    node.test, node.body = test, [ast.copy_location(body, node.body[0])]


def _conditions(loop: ast.AST) -> list[tuple[ast.If, _Count]]:
    """The conditions of a loop that hang on one of its counts alone."""
    if not isinstance(loop, ast.For) or any(isinstance(one, _LEAVES) for one in _own(loop.body)):
        return []
    counts = {one.name: one for one in _counts(loop)}
    grown = Counter(_gathered(loop.body))
    found = []
    for node in _own(loop.body):
        if isinstance(node, ast.If) and not isinstance(node.test, ast.Constant):
            names = {one.id for one in ast.walk(node.test) if isinstance(one, ast.Name)} & counts.keys()
            own = Counter(_gathered(node.body))
            read = {one.id for part in node.body for one in ast.walk(part) if isinstance(one, ast.Name)}
            hangs = own and any(grown[name] > own[name] for name in read)  # on what it finds, which is too little
            if len(names) == 1 and all(map(_is_plain, ast.walk(node.test))) and not hangs:
                found.append((node, counts[names.pop()]))
    return found


def _gathered(body: list[ast.stmt]) -> Iterator[str]:
    """The names of what grows: `losses.append(...)`, `self.losses.append(...)`."""
    for node in _own(body):
        match node:
            case ast.Call(func=ast.Attribute(value=grown, attr=called)) if called in GATHERS:
                yield next((one.id for one in ast.walk(grown) if isinstance(one, ast.Name)), "")
            case ast.AugAssign(target=ast.Name(id=name), value=ast.List()):
                yield name


def _is_plain(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in _PLAIN
    return not isinstance(node, (ast.NamedExpr, ast.Await, ast.Lambda))


def _own(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """What runs in the loop itself, not in functions that it defines."""
    waiting: list[ast.AST] = list(reversed(body))
    while waiting:
        node = waiting.pop()
        yield node
        waiting += [one for one in ast.iter_child_nodes(node) if not isinstance(one, _FUNCTIONS)]


def _counts(loop: ast.For) -> Iterator[_Count]:
    through = _unwrapped(loop.iter)
    items, first = through, ast.Constant(1)
    match loop.target, through:
        case ast.Name(id=name), ast.Call(func=ast.Name(id="range")):
            yield _Count(name, through)
        case ast.Tuple(elts=[target, *_]), ast.Call(
            func=ast.Name(id="enumerate"), args=[items, *start], keywords=words
        ):
            start += [word.value for word in words]
            if isinstance(target, ast.Name):
                yield _Count(target.id, _through(_unwrapped(items), start[0] if start else ast.Constant(0)))
    for node in loop.body:
        match node:
            case ast.AugAssign(target=ast.Name(id=name), op=ast.Add(), value=ast.Constant(value=1)):
                yield _Count(name, _through(_unwrapped(items), first))


def _unwrapped(node: ast.expr) -> ast.expr:
    """What is gone through, without a bar of progress: `tqdm(loader)`."""
    while isinstance(node, ast.Call) and node.args:
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if called not in _WRAPPERS:
            break
        node = node.args[0]
    return node


def _through(items: ast.expr, first: ast.expr) -> ast.expr:
    """`range(first, first + len(items))`; a loader that is called for its batches has their number itself."""
    held = items.func if isinstance(items, ast.Call) and not (items.args or items.keywords) else items
    size = ast.Call(ast.Name("len", ast.Load()), [held], [])
    return ast.Call(ast.Name("range", ast.Load()), [first, ast.BinOp(first, ast.Add(), size)], [])
