"""How much the loops of a program have gathered when they end, where its code says it: `plt.plot(range(4), losses)` of
a list that three epochs filled.

A trace leaves the loops long before. What a list holds then is known where it is empty at first, one loop alone appends
to it in each of its rounds, or in each of a loop within, nothing else changes it, and the loops count to numbers that
the code gives or go through a loader whose data is here.
"""

from __future__ import annotations

import ast
import linecache
import operator
from collections.abc import Callable, Iterator, Sequence
from math import prod
from types import FrameType

from paddle.io import DataLoader

from ... import call_stack
from ..syntax import nodes, parsed

_READS = frozenset(("len", "sum", "max", "min", "print", "range", "enumerate", "zip", "list", "sorted", "str", "round"))
"""Of Python's, what changes no list that it is given."""
_LIBRARIES = frozenset(("np", "numpy", "plt", "pyplot", "ax", "axes", "pd", "paddle"))
"""Names of what changes none either."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_MOST = 1_000_000
_LINES = frozenset(("plot", "semilogx", "semilogy", "loglog"))
_COMPUTED = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}
_BY_TEXT = frozenset(("globals", "locals", "vars", "setattr", "exec", "eval"))
"""What may bind a name that stands in a text."""


def unlike(sources: Sequence[str], frame: FrameType, *, has_data: Callable[[], bool]) -> tuple[int, int] | None:
    """How many places there are along x and along y in the call of a plot that a frame is at; None where they are as
    many, or where the code does not say it.

    Args:
        has_data: says whether what the loaders read is here.
    """
    if call_stack.cell_of(frame.f_code.co_filename) is None:
        return None
    source = "".join(linecache.getlines(frame.f_code.co_filename))
    calls = [one for one in nodes(source) if isinstance(one, ast.Call) and _is_at(one, frame.f_lineno)]
    match calls:
        case [ast.Call(args=[x, y, *_])] if sources.count(source) == 1:
            program = _Program(sources, source, frame, has_data=has_data())
            found = program.length(x), program.length(y)
            return None if None in found or found[0] == found[1] else found  # type: ignore[return-value]
    return None


def _holds(node: ast.FunctionDef | ast.AsyncFunctionDef, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def _is_at(call: ast.Call, line: int) -> bool:
    """Whether it is the call of a plot (`plt.plot(x, y)`) that stands at a line."""
    return getattr(call.func, "attr", "") in _LINES and call.lineno <= line <= (call.end_lineno or line)


class _Program:
    """The code around one call.

    Args:
        has_data: whether what the loaders read is here, so that they know how many batches there are.
    """

    def __init__(self, sources: Sequence[str], source: str, frame: FrameType, *, has_data: bool) -> None:
        self._has_data = has_data
        self._all = [node for one in sources for node in nodes(one)]
        self._at = sources.index(source), frame.f_lineno
        self._frame = frame
        modules = [_flat(parsed(one).body) for one in sources]
        within = [one for one in nodes(source) if isinstance(one, _FUNCTIONS[:2]) and _holds(one, frame.f_lineno)]
        # A list of a function's own is a new one with each call; one of the module's may be filled by several calls.
        own = [_flat(one.body) if number == self._at[0] else [] for one in within for number in range(len(sources))]
        self._bodies = modules if not within else own if len(within) == 1 else []
        self._constants = modules if not within else [*modules, *self._bodies]

    def length(self, node: ast.expr) -> int | None:
        """How many entries something has; None where the code does not say it."""
        match node:
            case ast.Call(func=ast.Name(id="list"), args=[inner], keywords=[]):
                return self.length(inner)
            case ast.Call(func=ast.Name(id="range") | ast.Attribute(attr="arange"), args=args, keywords=[]):
                ends = [self._number(one) for one in args]
                is_known = 0 < len(ends) < 4 and None not in ends and ends[2:] != [0]
                return len(range(*ends)[:_MOST]) if is_known else None  # type: ignore[arg-type]
            case ast.List(elts=elts) if elts and all(isinstance(one, ast.Constant) for one in elts):
                return len(elts)
            case ast.Name(id=name):
                return self._gathered(name)
        return None

    def _number(self, node: ast.expr) -> int | None:
        match node:
            case ast.Constant(value=int(number)):
                return number
            case ast.Name(id=name) if isinstance(self._only(name, self._constants), ast.Constant):
                # What it holds, which may be an answer in place of what stands there.
                value = self._frame.f_locals.get(name, self._frame.f_globals.get(name))
                return value if type(value) is int else None
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)], keywords=[]):
                return self._batches(name) or self._gathered(name)
            case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _COMPUTED:
                first, second = self._number(left), self._number(right)
                return None if first is None or second is None else _COMPUTED[type(sign)](first, second)
        return None

    def _only(self, name: str, bodies: list[list[ast.stmt]]) -> ast.expr | None:
        """What alone the name is bound to, in no loop or condition of these; None where it is bound otherwise too."""
        by_text = any(isinstance(node, ast.Name) and node.id in _BY_TEXT for node in self._all)
        bound = [node for node in self._all if _binds(node, name, by_text=by_text)]
        values = [value for body in bodies for one in body for value in _assigned(one, name)]
        return values[0] if len(bound) == len(values) == 1 else None

    def _gathered(self, name: str) -> int | None:
        """The entries of a list once the loop has ended that appends to it."""
        value = self._only(name, self._bodies)
        is_empty = isinstance(value, ast.List) and not value.elts
        filled = [(number, one, filling) for number, body in enumerate(self._bodies) for one in body
                  if isinstance(one, ast.For) and (filling := list(_filling(one, name)))]  # fmt: skip
        if value is None or not is_empty or len(filled) != 1:
            return None
        number, loop, filling = filled[0]
        made = next(at for at, body in enumerate(self._bodies) for one in body if value in _assigned(one, name))
        is_between = (made, value.lineno) < (number, loop.lineno) and (number, loop.end_lineno or 0) < self._at
        is_whole = not any(one.orelse or _may_end(one) for loops, _ in filling for one in loops)
        if not is_between or not is_whole or not self._is_read_alone(name, [one for _, one in filling]):
            return None
        rounds = [[self._rounds(one.iter) for one in loops] for loops, _ in filling]
        return None if any(None in one for one in rounds) else sum(map(prod, rounds))  # type: ignore[arg-type]

    def _rounds(self, through: ast.expr) -> int | None:
        """How often a loop turns: through a range, or a loader's batches."""
        match through:
            case ast.Call(func=ast.Name(id="enumerate" | "tqdm") | ast.Attribute(attr="tqdm"), args=[inner, *_]):
                return self._rounds(inner)
            case ast.Call(func=ast.Name(id=name), args=[], keywords=[]) | ast.Name(id=name):
                return self._batches(name)
            case ast.Call():
                return self.length(through)
        return None

    def _batches(self, name: str) -> int | None:
        """How many batches a loader gives that the program makes once."""
        loader = self._frame.f_locals.get(name, self._frame.f_globals.get(name))
        if not self._has_data or not isinstance(loader, DataLoader) or self._only(name, self._constants) is None:
            return None
        try:
            return len(loader)
        except Exception:  # one over a stream, and what a program's own sampler says
            return None

    def _is_read_alone(self, name: str, appended: list[ast.stmt]) -> bool:
        """Whether nothing but these statements may change the list."""
        allowed = {id(one.value.func.value) for one in appended}  # type: ignore[attr-defined]
        for node in self._all:
            match node:
                case ast.Call(func=func, args=args, keywords=words) if _only_reads(func):
                    allowed |= {id(one) for one in (*args, *(word.value for word in words))}
                case ast.Subscript(value=value, ctx=ast.Load()) | ast.For(iter=value) | ast.comprehension(iter=value):
                    allowed.add(id(value))
                case ast.FormattedValue(value=value):
                    allowed.add(id(value))
        read = [one for one in self._all if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)]
        return all(id(one) in allowed for one in read if one.id == name)


def _flat(body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements that run in each case, with those of `with` and of `if __name__ == "__main__"`."""
    found = list[ast.stmt]()
    for one in body:
        is_main = isinstance(one, ast.If) and "__name__" in ast.unparse(one.test) and not one.orelse
        found += _flat(one.body) if isinstance(one, ast.With) or is_main else [one]  # type: ignore[attr-defined]
    return found


def _assigned(statement: ast.stmt, name: str) -> Iterator[ast.expr]:
    """What a statement binds the name to: `losses = []`, `losses, scores = [], []`."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=other)], value=value) if other == name:
            yield value
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)) if len(names) == len(values):
            yield from (value for one, value in zip(names, values, strict=True) if getattr(one, "id", "") == name)


def _binds(node: ast.AST, name: str, *, by_text: bool) -> bool:
    match node:
        case ast.Name(id=other, ctx=ast.Store() | ast.Del()) | ast.arg(arg=other):
            return other == name
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            return name in names
        case ast.FunctionDef(name=other) | ast.ClassDef(name=other) | ast.ExceptHandler(name=other):
            return other == name
        case ast.alias(name=other, asname=known):
            return (known or other.partition(".")[0]) in {name, "*"}
        case ast.Constant(value=str(text)):  # `globals()["losses"]`
            return by_text and text == name
    return False


def _filling(loop: ast.For, name: str) -> Iterator[tuple[list[ast.For], ast.stmt]]:
    """What appends to a list in each round of a loop, with the loops around it, the outermost first."""
    for part in _flat(loop.body):
        if _appends(part, name):
            yield [loop], part
        elif isinstance(part, ast.For):
            yield from (([loop, *inner], one) for inner, one in _filling(part, name))


def _appends(statement: ast.stmt, name: str) -> bool:
    match statement:
        case ast.Expr(ast.Call(func=ast.Attribute(value=ast.Name(id=other), attr="append"), args=[_], keywords=[])):
            return other == name
    return False


def _only_reads(func: ast.expr) -> bool:
    """Whether what is called changes no list that it is given."""
    if isinstance(func, ast.Name):
        return func.id in _READS
    while isinstance(func, (ast.Attribute, ast.Subscript)):
        func = func.value
    return isinstance(func, ast.Name) and func.id in _LIBRARIES


def _may_end(loop: ast.For) -> bool:
    """Whether the loop may be left before its last round, or a round before its end."""
    waiting: list[tuple[ast.AST, bool]] = [(one, True) for one in loop.body]
    while waiting:
        node, is_own = waiting.pop()
        if isinstance(node, (ast.Return, ast.Raise, ast.Yield, ast.YieldFrom, ast.Await)):
            return True
        if is_own and isinstance(node, (ast.Break, ast.Continue)):
            return True
        if not isinstance(node, _FUNCTIONS):
            is_inner = is_own and not isinstance(node, _LOOPS)
            waiting += [(one, is_inner) for one in ast.iter_child_nodes(node)]
    return False
