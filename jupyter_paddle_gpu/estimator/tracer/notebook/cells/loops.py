"""Loops of a notebook: gone through again where accumulation wants more steps, left where the training is to go on
behind them."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

import paddle

from ...patience import Patience
from ...session import current
from ...step.changes import Changes
from ...step.steps import StepWatch
from ..sites import Sites
from .passing import is_endless, returned

LOOP = "__loop__"
"""The name under which a notebook's loops find `loop`."""

TURNS = "__turns__"
"""The name under which its `while` loops find `Turns`."""

STATISTIC = Patience(5_000, math.inf)
"""How long one of Paddle's data sets is gone through by a loop that trains nothing and keeps nothing: its items are all
of one shape."""


def loop(items: Callable[[], Iterable[Any]], trains: bool = True) -> Iterator[Any]:
    """What a loop of the notebook goes through; `trains`: whether it may hold a step.

    The loop that trains ends once its step was seen and an evaluation is to be reached; the loops around it, and later
    passes of the same one, do not.
    """
    session = current()
    if session is None:
        yield from items()
        return
    changes, watch = session.of(Changes), session.of(StepWatch)
    if trains:
        watch.next_epoch()
    began, passes = changes.attempts, 0
    watch.loops += 1
    try:
        while True:
            through = items()
            statistic = _Statistic(watch) if _is_of_paddle(through) else None
            iterator = iter(through)
            del through
            # No name holds the item here: it is to go when the program lets it go.
            while held := list(islice(iterator, 1)):
                before = watch.updates
                yield held.pop()
                if statistic is not None and statistic.is_known():
                    return
                if _is_left(watch, before, trains):
                    with watch.leaving():  # what is gone through goes with its last name
                        del iterator
                    return
            passes += 1
            if not changes.wants_more(began, passes):
                return
    finally:
        watch.loops -= 1


def _is_left(watch: StepWatch, before: int, trains: bool) -> bool:
    """Whether a loop is left behind a round.

    Args:
        before: updates before that round.
        trains: whether it may hold a step.
    """
    # Behind the last round of the outermost loop an error ends the job, too.
    is_last = watch.loops == 1 and watch.rest.is_on and watch.updates > before and not watch.rest.is_open()
    is_last = is_last or (trains and watch.updates > before and watch.beyond.hastens(watch.runtime.ledger.now))
    is_left = not watch.rest.has_short and (is_last or (watch.loops > 1 and watch.may_leave(before)))
    watch.beyond.rounds += is_left and watch.beyond.is_on
    return is_left


class Turns:
    """The turns of a `while` that trains: `with __turns__() as turns: while turns.go_on() and condition:`."""

    def __init__(self) -> None:
        session = current()
        self._watch = None if session is None else session.of(StepWatch)
        self._before: int | None = None

    def __enter__(self) -> Turns:
        """The program comes to the loop."""
        if self._watch is not None:
            self._watch.next_epoch()
            self._watch.loops += 1
        return self

    def __exit__(self, *_: object) -> None:
        """It is through with it."""
        if self._watch is not None:
            self._watch.loops -= 1

    def go_on(self) -> bool:
        """Whether there is another turn, as far as the trace is concerned."""
        if self._watch is None:
            return True
        before, self._before = self._before, self._watch.updates
        return before is None or not _is_left(self._watch, before, True)


def _is_of_paddle(items: Iterable[Any]) -> bool:
    """Whether it is one of Paddle's data sets, or of a class made of one."""
    modules = [kind.__module__ for kind in type(items).__mro__] if isinstance(items, paddle.io.Dataset) else []
    return any(name.startswith(("paddle.vision.datasets", "paddle.text.datasets")) for name in modules)


class _Statistic:
    """A loop that goes through a data set for its numbers, as for the mean of its pictures."""

    def __init__(self, watch: StepWatch) -> None:
        self._watch, self._updates = watch, watch.updates
        self._waiting = STATISTIC.begins(watch.runtime.ledger.now)
        self._held: int | None = None

    def is_known(self) -> bool:
        """Whether it has gone on for long, and holds what it held behind its first item; called behind each."""
        if self._held is None:
            self._held = self._watch.runtime.ledger.held()
        if not self._waiting.is_over(self._watch.runtime.ledger.now):
            return False
        self._waiting = STATISTIC.begins(self._watch.runtime.ledger.now)
        return self._watch.updates == self._updates and self._watch.runtime.ledger.held() <= self._held


class Loops(ast.NodeTransformer):
    """Sends every `for` of a notebook through `loop`, and has every `while` that trains ask `Turns`."""

    def __init__(self, sites: Sites | None = None) -> None:
        self._sites = sites

    def visit_For(self, node: ast.For) -> ast.AST:
        """`for item in items:` as `for item in __loop__(lambda: items):`."""
        trains = self._sites is None or self._sites.held(node).trains
        self.generic_visit(node)
        if not any(isinstance(part, _ONCE) for part in ast.walk(node.iter)):
            again = ast.Lambda(ast.arguments([], [], None, [], [], None, []), node.iter)
            given = [again] if trains else [again, ast.Constant(False)]
            node.iter = ast.copy_location(ast.Call(ast.Name(LOOP, ast.Load()), list(given), []), node.iter)
        return node

    def visit_While(self, node: ast.While) -> Any:
        """`while condition:`; where nothing ends it but `return`, that is done behind it."""
        trains = self._sites is None or self._sites.held(node).trains
        then = returned(node)
        is_open = then is None and is_endless(node)
        self.generic_visit(node)
        if not trains or node.orelse or is_open or any(isinstance(part, _ONCE) for part in ast.walk(node.test)):
            return node
        name = f"{TURNS}{node.lineno}_{node.col_offset}"
        called = ast.Call(ast.Attribute(ast.Name(name, ast.Load()), "go_on", ast.Load()), [], [])
        node.test = ast.copy_location(ast.BoolOp(ast.And(), [called, node.test]), node.test)
        made = ast.withitem(ast.Call(ast.Name(TURNS, ast.Load()), [], []), ast.Name(name, ast.Store()))
        through = ast.copy_location(ast.With([made], [node]), node)
        return through if then is None else [through, then]

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """A lambda does not see the names of a class: only its methods are rewritten."""
        node.body = [
            self.visit(part) if isinstance(part, (ast.FunctionDef, ast.ClassDef)) else part for part in node.body
        ]
        return node


class TrainingLoops(Loops):
    """Sends those loops through `loop` that train, so that they can be left."""

    def visit_For(self, node: ast.For) -> ast.AST:
        """`for batch in loader:`; one with an `else` is not left, as that would run."""
        trains = self._sites is None or self._sites.held(node).trains
        return super().visit_For(node) if trains and not node.orelse else node


class Statistics(Loops):
    """Sends those alone through `loop` that go through something by its name and train nothing themselves."""

    def visit_For(self, node: ast.For) -> ast.AST:
        """`for picture, label in data:`."""
        attributes = {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}
        return super().visit_For(node) if isinstance(node.iter, ast.Name) and not attributes & _TRAINS else node

    def visit_While(self, node: ast.While) -> Any:
        """`while` goes on as it is."""
        return self.generic_visit(node)


_TRAINS = frozenset(("backward", "grad", "step", "minimize", "train_batch", "fit"))

_ONCE = (ast.Yield, ast.YieldFrom, ast.Await, ast.NamedExpr)
