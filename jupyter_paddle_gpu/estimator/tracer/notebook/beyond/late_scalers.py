"""A scaler that a later round asks for what Paddle refuses (`if epoch < 1: scaler.update()` of three epochs), or a
learning rate that ends before the training does (`OneCycleLR(total_steps=EPOCHS)`, stepped with each batch).

The rounds behind the step are not run. But what a loop does with these often hangs on its count alone, and what they
take hangs on what was called before: so the round that fails is known.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from types import FrameType
from typing import Any, NamedTuple

from paddle.amp import AmpScaler
from paddle.io import DataLoader
from paddle.optimizer.lr import OneCycleLR

from ... import call_stack
from ...patches.data.loaders import Loaders
from ...session import Session

_STEPS = re.compile(r"\.(step|unscale_)\s*\(")
_HARMLESS = frozenset(("scale", "is_enable", "state_dict", "get_init_loss_scaling"))
"""Methods of a scaler that leave its state."""
_RATES = frozenset(("get_lr", "state_dict", "state_keys"))
"""The same of a scheduler."""
_UNSURE = ("data_", "dataset_", "stand_in_", "value_failed")
"""Notes that say that numbers or lengths of the program may be others."""
_LEAVING = (ast.Break, ast.Continue, ast.Return, ast.Raise, ast.Yield, ast.YieldFrom, ast.Try, ast.While, ast.Match)
"""By these a loop may not come to its later rounds, or an error may be no end."""
_FUNCTIONS = (ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_PLAIN = (ast.Compare, ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.Constant, ast.Name, ast.expr_context)
_OPERATORS = (ast.cmpop, ast.boolop, ast.operator, ast.unaryop)
_MOST = 200_000
"""Statements that are gone through."""
_READY, _UNSCALED, _STEPPED = range(3)
_REFUSED: Mapping[tuple[str, int], str] = {
    ("step", _STEPPED): "step() has already been called since the last update().",
    ("unscale_", _UNSCALED): "unscale_() has already been called on this optimizer since the last update().",
    ("unscale_", _STEPPED): "unscale_() is being called after step().",
}
"""What Paddle says, by what is called and the state that the optimizer has for a scaler (`amp/grad_scaler.py`)."""
_NEXT = {"step": _STEPPED, "unscale_": _UNSCALED}


class _UnknownError(Exception):
    """What the rounds do hangs on what is not known."""


class _Refused(NamedTuple):
    line: int
    problem: Exception


def look(session: Session, frames: Iterable[tuple[FrameType, int]], sources: Mapping[int, str]) -> None:
    """Remember the call that fails in a later round of the loops that a trace is about to leave.

    Args:
        frames: that the step is in, with the lines that they are at, from outside.
        sources: code of the cells by their index.
    """
    loaders = session.of(Loaders)
    if loaders.late is not None or any(code.startswith(_UNSURE) for code in session.notes):
        return
    for frame, line in frames:
        cell = call_stack.cell_of(frame.f_code.co_filename)
        if cell is not None and _STEPS.search(sources.get(cell, "")):
            with suppress(_UnknownError):
                found = _late(ast.parse(sources[cell]), line, frame)
                if found is not None:
                    loaders.late = cell, *found
                    return


def _late(tree: ast.Module, line: int, frame: FrameType) -> _Refused | None:
    """The call that is refused in the outermost loop around a line, of the function in which it stands."""
    around = [one for one in ast.walk(tree) if isinstance(one, ast.stmt) and _holds(one, line)]
    own = max((one.lineno for one in around if isinstance(one, _FUNCTIONS)), default=0)
    if any(isinstance(one, ast.Try) for one in around):
        return None
    loops = [one for one in around if isinstance(one, ast.For) and own < one.lineno < line]
    return _Rounds(frame, loops[0]).refused if loops else None


def _holds(node: ast.stmt, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


class _Rounds:
    """Goes through the rounds of a loop with nothing but the states of its scalers, and the steps of its schedulers.

    Attributes:
        refused: the first call that Paddle refuses; None where there is none.
    """

    def __init__(self, frame: FrameType, loop: ast.For) -> None:
        nodes = list(ast.walk(loop))
        self._frame, self._states, self._steps = frame, dict[tuple[str, str], int](), 0
        names = {one.id for one in nodes if isinstance(one, ast.Name)}
        self._scalers = {name for name in names if self._scales(name)}
        rates = {name: _value(name, frame) for name in names}
        # What was stepped before the loop comes on top: so many steps are one too many in any case.
        self._left = {name: int(one.total_steps) for name, one in rates.items() if isinstance(one, OneCycleLR)}
        self._followed = self._scalers | self._left.keys()
        self._known = dict[int, tuple[bool, frozenset[str]]]()
        self._bound = {one.id for one in nodes if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load)}
        calls = {id(one.func.value) for one in nodes if _is_method(one)}  # type: ignore[attr-defined]
        if any(isinstance(one, ast.Name) and one.id in self._followed and id(one) not in calls for one in nodes):
            raise _UnknownError  # it is given to something else
        self.refused: _Refused | None = None
        if self._followed and not self._followed & self._bound:
            if any(isinstance(one, _LEAVING) for one in nodes):
                raise _UnknownError
            self._loop(loop, {})

    def _scales(self, name: str) -> bool:
        value = _value(name, self._frame)
        return isinstance(value, AmpScaler) and value.is_enable() and value.is_use_dynamic_loss_scaling()

    def _concerns(self, node: ast.AST) -> bool:
        return self._about(node)[0]

    def _about(self, node: ast.AST) -> tuple[bool, frozenset[str]]:
        """Whether code concerns one of them, and the names that it binds: looked at once, however many the rounds."""
        if id(node) not in self._known:
            names = [one for one in ast.walk(node) if isinstance(one, ast.Name)]
            bound = frozenset(one.id for one in names if not isinstance(one.ctx, ast.Load))
            self._known[id(node)] = any(one.id in self._followed for one in names), bound
        return self._known[id(node)]

    def _loop(self, loop: ast.For, counts: dict[str, int]) -> None:
        count, rounds = self._counted(loop)
        for number in rounds:
            if count:
                counts[count] = number
            self._body(loop.body, counts)
            if self.refused is not None:
                return
        self._body(loop.orelse, counts)

    def _counted(self, loop: ast.For) -> tuple[str, Iterable[int]]:
        """The name that counts the rounds of a loop, and the counts."""
        match loop:
            case ast.For(target=ast.Name(id=name), iter=ast.Call(func=ast.Name(id="range"), args=args, keywords=[])):
                return name, range(*(self._number(one) for one in args))
            case ast.For(
                target=ast.Tuple(elts=[ast.Name(id=name), *_]),
                iter=ast.Call(func=ast.Name(id="enumerate"), args=[ast.Name(id=over)], keywords=[]),
            ):
                return name, range(self._length(over))
            case ast.For(iter=ast.Name(id=over)):
                return "", range(self._length(over))
        raise _UnknownError

    def _number(self, expression: ast.expr) -> int:
        match expression:
            case ast.Constant(value=int() as value):
                return value
            case ast.Name(id=name) if name not in self._bound and type(value := _value(name, self._frame)) is int:
                return value
        raise _UnknownError

    def _length(self, name: str) -> int:
        value = _value(name, self._frame)
        if name in self._bound or not isinstance(value, (list, tuple, DataLoader)):
            raise _UnknownError
        try:
            return len(value)
        except TypeError:  # a loader over samples that come one by one
            raise _UnknownError from None

    def _body(self, statements: list[ast.stmt], counts: dict[str, int]) -> None:
        for statement in statements:
            self._steps += 1
            if self._steps > _MOST:
                raise _UnknownError
            if self.refused is None:
                self._statement(statement, counts)

    def _statement(self, statement: ast.stmt, counts: dict[str, int]) -> None:
        concerns, bound = self._about(statement)
        if not concerns:
            for name in bound:
                counts.pop(name, None)
            return
        match statement:
            case ast.For():
                self._loop(statement, counts)
            case ast.If(test=test, body=body, orelse=orelse) if not self._concerns(test):
                self._body(body if self._holds(test, counts) else orelse, counts)
            case ast.With(items=items, body=body) if not any(map(self._concerns, items)):
                self._body(body, counts)
            case ast.Expr() | ast.Assign():
                for one in ast.walk(statement):
                    if isinstance(one, (*_FUNCTIONS, ast.IfExp, ast.BoolOp, ast.comprehension)):
                        raise _UnknownError
                    if isinstance(one, ast.Call) and _is_method(one):
                        self._call(one)
            case _:
                raise _UnknownError

    def _holds(self, test: ast.expr, counts: Mapping[str, int]) -> bool:
        """Whether a condition holds that hangs on counts and constants alone."""
        known = dict(counts)
        for one in ast.walk(test):
            if not isinstance(one, (*_PLAIN, *_OPERATORS)):
                raise _UnknownError
            if isinstance(one, ast.Name) and one.id not in known:
                known[one.id] = self._number(one)
        try:
            compiled = compile(ast.fix_missing_locations(ast.Expression(test)), "condition", "eval")
            return bool(eval(compiled, {"__builtins__": {}}, known))
        except (ArithmeticError, TypeError):
            raise _UnknownError from None

    def _call(self, call: ast.Call) -> None:
        match call:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=rate), attr=method)) if rate in self._left:
                if method == "step" and not (call.args or call.keywords):
                    self._left[rate] -= 1
                    if self._left[rate] < 0:
                        most = int(_value(rate, self._frame).total_steps)
                        ended = f"Tried to step {most + 1} times. However the number of total steps is {most}"
                        self.refused = self.refused or _Refused(call.lineno, ValueError(ended))
                elif method not in _RATES:
                    raise _UnknownError
            case ast.Call(func=ast.Attribute(value=ast.Name(id=scaler), attr=method)) if scaler in self._scalers:
                if method in _HARMLESS:
                    return
                match method, call.args:
                    case "update", []:
                        self._refresh(scaler)
                    case "minimize", [ast.Name(), *_]:
                        self._refresh(scaler)
                    case (("step" | "unscale_"), [ast.Name(id=optimizer)]) if optimizer not in self._bound:
                        said = _REFUSED.get((method, self._states.get((scaler, optimizer), _READY)))
                        if said is not None:
                            self.refused = _Refused(call.lineno, RuntimeError(said))
                        self._states[scaler, optimizer] = _NEXT[method]
                    case _:
                        raise _UnknownError

    def _refresh(self, scaler: str) -> None:
        self._states = {key: state for key, state in self._states.items() if key[0] != scaler}


def _is_method(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name())):
            return True
    return False


def _value(name: str, frame: FrameType) -> Any:
    return frame.f_locals.get(name, frame.f_globals.get(name))
