"""What Paddle's own code refuses for nothing but constants of the program's: `Dropout(1.5)`, `reduction="avg"`.

The conditions under which its function raises, and under which it would have returned before, are looked at: where each
is of values that stand in the program's code, or of what the function takes where nothing is given, no batch has a part
in it.
"""

from __future__ import annotations

import ast
import builtins
import types
from collections.abc import Callable, Iterator
from traceback import walk_tb
from types import FrameType
from typing import Any

import paddle

from ... import call_stack
from ...session import current
from ...undecided.absent_data import AbsentData, is_unseen
from ..outside.looked_for import source_of
from ..syntax import nodes
from .closed import Code, is_of_script, is_program

_SCOPES = (ast.FunctionDef, ast.ClassDef, ast.Lambda)
_SIMPLE = (
    ast.BoolOp, ast.UnaryOp, ast.Compare, ast.Tuple, ast.List, ast.Set, ast.BinOp, ast.JoinedStr, ast.FormattedValue,
)  # fmt: skip
_FIXED = (
    bool, type(None), type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodDescriptorType,
    paddle.nn.Layer,
)  # fmt: skip
"""What is the same with all data."""
_DEEPEST = 8


def is_of_guards(problem: BaseException, is_constant: Callable[[Any], bool]) -> bool:
    """Whether Paddle raises it under conditions of constants alone, and the program comes there with any batch.

    Args:
        is_constant: whether a value stands in the program's code.
    """
    steps = list(walk_tb(problem.__traceback__))
    frame, line = steps[-1] if steps else (None, 0)
    if frame is None or not frame.f_code.co_filename.startswith(call_stack.PADDLE):
        return False
    if any(map(is_unseen, frame.f_locals.values())):  # of which not even the type is known
        return False
    guarded = _Guarded(frame, line, is_constant)
    return guarded.is_known() and is_come_to(problem)


def is_of_names(problem: BaseException) -> bool:
    """Whether the program speaks of a name that there is not, or of an attribute that an object of its own, a layer or
    a module has not, with any batch."""
    if isinstance(problem, NameError) and not isinstance(problem, UnboundLocalError):
        return is_come_to(problem)
    if not isinstance(problem, AttributeError):
        return False
    held = problem.obj
    is_own = isinstance(held, (paddle.nn.Layer, types.ModuleType)) or call_stack.is_own(type(held))
    return is_own and is_come_to(problem)


def is_come_to(problem: BaseException) -> bool:
    """Whether the program's own code comes with any batch to where it ends."""
    steps = walk_tb(problem.__traceback__)
    return all(_comes_to(*one) for one in steps if is_program(one[0].f_code.co_filename))


def is_straight(problem: BaseException) -> bool:
    """Whether what the program's own networks, and functions on the way to where it ends, do hangs on no batch: there
    is no condition in them but those of constants and of what a layer holds."""
    session = current()
    code = None if session is None else Code.of(session.of(AbsentData).code, is_any=True)
    if session is None or code is None or not is_come_to(problem):
        return False
    defined = [one for one in nodes(session.of(AbsentData).code) if isinstance(one, ast.FunctionDef)]
    names = {"forward", *(frame.f_code.co_name for frame, _ in walk_tb(problem.__traceback__))}
    names -= {"__init__", "__getitem__", "__len__"}
    seen: set[str] = set()
    while new := [one for one in defined if one.name in names - seen]:
        seen |= names
        for one in new:
            names |= {getattr(part, "attr", getattr(part, "id", "")) for part in ast.walk(one)}
            counts = _counts(one)
            tests = [part.test for part in ast.walk(one) if isinstance(part, (ast.If, ast.IfExp, ast.While))]
            atoms = (atom for test in tests if not code.is_closed(test) for atom in _atoms(test))
            if not all(_is_of_layer(atom, counts) for atom in atoms):
                return False
    return True


def _counts(function: ast.FunctionDef) -> frozenset[str]:
    """The names that count the rounds of loops over what a layer holds: `for i, layer in enumerate(self.layers)`."""
    found: set[str] = set()
    for node in ast.walk(function):
        if isinstance(node, (ast.For, ast.comprehension)):
            names = {one.id for one in ast.walk(node.iter) if isinstance(one, ast.Name)}
            if names <= {"self", "range", "enumerate", "len", "zip", "reversed"}:
                found |= {one.id for one in ast.walk(node.target) if isinstance(one, ast.Name)}
    return frozenset(found)


class _Guarded:
    """A line of one of Paddle's functions that raises."""

    def __init__(self, frame: FrameType, line: int, is_constant: Callable[[Any], bool]) -> None:
        self._frame, self._line, self._is_constant = frame, line, is_constant
        self._function = _function(frame)
        parts = [] if self._function is None else list(ast.walk(self._function))
        self._stored: dict[str, list[ast.expr | None]] = {}
        plain = {id(one.targets[0]): one.value for one in parts if isinstance(one, ast.Assign)}
        for one in parts:
            if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load) and one.lineno < line:
                self._stored.setdefault(one.id, []).append(plain.get(id(one)))

    def is_known(self) -> bool:
        """Whether all that leads there is known."""
        return self._function is not None and self._comes_to(self._function.body)

    def _comes_to(self, body: list[ast.stmt]) -> bool:
        for one in body:
            if not one.lineno <= self._line <= (one.end_lineno or 0):
                if one.lineno < self._line and self._may_leave(one):
                    return False
                continue
            match one:
                case ast.Raise():
                    return True
                case ast.Assert(test=test):
                    return self._is_fixed(test)
                case ast.If(test=test, body=inner, orelse=orelse):
                    return self._is_fixed(test) and self._comes_to(inner if self._is_in(inner) else orelse)
            return False
        return False

    def _is_in(self, body: list[ast.stmt]) -> bool:
        return bool(body) and body[0].lineno <= self._line <= (body[-1].end_lineno or 0)

    def _may_leave(self, node: ast.stmt) -> bool:
        """Whether a statement before the line may return with another batch; another error there is a stop as well."""
        if isinstance(node, _SCOPES) or not any(isinstance(part, ast.Return) for part in ast.walk(node)):
            return False
        if isinstance(node, ast.If) and self._is_fixed(node.test):  # it was gone through, and always is
            return any(map(self._may_leave, (one for one in [*node.body, *node.orelse] if one not in _returns(node))))
        return True

    def _is_fixed(self, node: ast.AST, depth: int = 0) -> bool:
        """Whether an expression is the same with every batch."""
        parts: list[ast.expr] = []
        match node:
            case ast.Constant() | ast.Compare(ops=[ast.Is() | ast.IsNot()], comparators=[ast.Constant()]):
                return True
            case ast.Name(id=name) if name in self._stored:
                made = self._stored[name]
                if name in _arguments(self._frame) or None in made:
                    return False
                parts = [one for one in made if one is not None]
            case ast.Name() | ast.Attribute():
                return self._is_plain(node)
            case ast.Call(func=ast.Name(id="isinstance"), args=[_, kind]):
                parts = [kind]
            case ast.Call(func=called, args=args, keywords=words):
                parts = [called, *args, *(one.value for one in words)]
            case _ if isinstance(node, _SIMPLE):
                parts = [one for one in ast.iter_child_nodes(node) if isinstance(one, ast.expr)]
            case _:
                return False
        return depth < _DEEPEST and all(self._is_fixed(one, depth + 1) for one in parts)

    def _is_plain(self, node: ast.expr) -> bool:
        """Whether a name, or an attribute, is bound to what stands in the code, or to Paddle's own."""
        try:
            value = _value(node, self._frame)
        except LookupError:
            return False
        return isinstance(value, _FIXED) or self._is_constant(value)


def _returns(node: ast.If) -> list[ast.stmt]:
    return [one for one in [*node.body, *node.orelse] if isinstance(one, ast.Return)]


def _arguments(frame: FrameType) -> tuple[str, ...]:
    code = frame.f_code
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _value(node: ast.expr, frame: FrameType) -> Any:
    """What a name or an attribute of one is bound to, as far as that is looked up without running code."""
    if isinstance(node, ast.Name):
        return {**vars(builtins), **frame.f_globals, **frame.f_locals}[node.id]
    held = _value(node.value, frame) if isinstance(node, ast.Attribute) else None
    if held is None or isinstance(held, paddle.Tensor):  # which differs from batch to batch
        raise LookupError
    name = node.attr if isinstance(node, ast.Attribute) else ""
    found = getattr(held, "__dict__", {}).get(name, getattr(type(held), name, LookupError))
    if found is LookupError or isinstance(found, property):
        raise LookupError
    return found


def _function(frame: FrameType) -> ast.FunctionDef | None:
    """The definition of a frame's function."""
    found = [one for one in nodes(source_of(frame.f_code.co_filename)) if isinstance(one, ast.FunctionDef)]
    first = frame.f_code.co_firstlineno
    return next((one for one in found if one.name == frame.f_code.co_name and first in _lines(one)), None)


def _lines(node: ast.FunctionDef) -> range:
    return range(min([node.lineno, *(one.lineno for one in node.decorator_list)]), node.lineno + 1)


def _comes_to(frame: FrameType, line: int) -> bool:
    """Whether the program's own code comes to a line with any batch: under no condition but those of constants and of
    what a layer holds (`if self.training:`, `if mask is not None:`)."""
    session = current()
    code = None if session is None else Code.of(session.of(AbsentData).code)
    for node in nodes(source_of(frame.f_code.co_filename)):
        if not isinstance(node, (ast.If, ast.IfExp, ast.While, ast.Try)):
            continue
        if not node.lineno <= line <= (node.end_lineno or 0):
            continue
        if isinstance(node, ast.Try):
            if not any(one.lineno <= line <= (one.end_lineno or 0) for one in node.body):
                return False
            continue
        is_known = is_of_script(node.test) or (code is not None and code.is_closed(node.test))
        if not is_known and not all(map(_is_of_layer, _atoms(node.test))):
            return False
    return True


def _atoms(test: ast.expr) -> Iterator[ast.expr]:
    """The conditions that one is made of."""
    match test:
        case ast.BoolOp(values=values):
            for one in values:
                yield from _atoms(one)
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            yield from _atoms(inner)
        case _:
            yield test


def _is_of_layer(test: ast.expr, counts: frozenset[str] = frozenset()) -> bool:
    """Whether a condition is of what a layer holds, or whether something is given at all."""
    match test:
        case ast.Compare(ops=[ast.Is() | ast.IsNot()]) | ast.Constant() | ast.Attribute(value=ast.Name(id="self")):
            return True
        case ast.Name(id=name):
            return name in counts
        case ast.Call(func=ast.Name(id="len"), args=[held]):
            return _is_of_layer(held, counts)
        case ast.Compare() | ast.BinOp():
            parts = [one for one in ast.iter_child_nodes(test) if isinstance(one, ast.expr)]
            return all(_is_of_layer(one, counts) for one in parts)
    return False
